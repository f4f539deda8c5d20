//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) const HELP: &str = "\
Shows an adaptive limit find the capacity of a dependency that slows down and recovers, beside a fixed limit that is
too low and one that is too high. Everything runs on the loopback interface.

Usage: overload [--quick] [--chart PATH]

  --quick        runs for 8 seconds instead of 22
  --chart PATH   writes the chart there, an SVG file [default: target/overload.svg]
  --help         prints this

With a terminal it shows a live view, which `q` leaves early; without one it prints a table.
";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Args {
    Help,
    Run { quick: bool, chart: PathBuf },
}

impl Args {
    /// Reads the arguments that follow the program's name.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut arguments = arguments.into_iter();
        let (mut quick, mut chart) = (false, PathBuf::from("target/overload.svg"));
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                Some("--help" | "-h") => return Ok(Self::Help),
                Some("--quick") => quick = true,
                Some("--chart") => {
                    chart = arguments
                        .next()
                        .filter(|path| !path.is_empty())
                        .ok_or("`--chart` needs a path")?
                        .into();
                }
                _ => {
                    return Err(format!(
                        "unknown argument `{}`; there are `--quick`, `--chart PATH` and `--help`",
                        argument.display()
                    ));
                }
            }
        }
        Ok(Self::Run { quick, chart })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Args, String> {
        Args::parse(arguments.iter().map(OsString::from))
    }

    #[test]
    fn arguments_are_read_in_any_order() {
        let run = |quick, chart: &str| {
            Ok(Args::Run {
                quick,
                chart: chart.into(),
            })
        };
        assert_eq!(parse(&[]), run(false, "target/overload.svg"));
        assert_eq!(
            parse(&["--chart", "a b.svg", "--quick"]),
            run(true, "a b.svg")
        );
        assert_eq!(parse(&["--quick", "--help"]), Ok(Args::Help));
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(
            parse(&["--fast"])
                .unwrap_err()
                .contains("unknown argument `--fast`")
        );
        assert_eq!(parse(&["--chart"]).unwrap_err(), "`--chart` needs a path");
    }
}
