//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) const HELP: &str = "\
Shows an adaptive limit find the capacity of a dependency that slows down and recovers, beside a fixed limit that is
too low and one that is too high. Everything runs on the loopback interface.

Usage: overload [--quick] [--chart PATH] [--scrape PATH]

  --quick        runs for 8 seconds instead of 22
  --chart PATH   writes the chart there, an SVG file [default: target/overload.svg]
  --scrape PATH  writes there what Prometheus would scrape at the end
  --help         prints this

With a terminal it shows a live view, which `q` leaves early; without one it prints a table.
";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Args {
    Help,
    Run(Run),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) quick: bool,
    pub(crate) chart: PathBuf,
    pub(crate) scrape: Option<PathBuf>,
}

impl Args {
    /// Reads the arguments that follow the program's name.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut arguments = arguments.into_iter();
        let mut run = Run {
            quick: false,
            chart: PathBuf::from("target/overload.svg"),
            scrape: None,
        };
        let path = |option: &str, value: Option<OsString>| {
            let path = value.filter(|path| !path.is_empty());
            path.map(PathBuf::from)
                .ok_or_else(|| format!("`{option}` needs a path"))
        };
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                Some("--help" | "-h") => return Ok(Self::Help),
                Some("--quick") => run.quick = true,
                Some("--chart") => run.chart = path("--chart", arguments.next())?,
                Some("--scrape") => run.scrape = Some(path("--scrape", arguments.next())?),
                _ => {
                    return Err(format!(
                        "unknown argument `{}`; there are `--quick`, `--chart PATH`, `--scrape PATH` and `--help`",
                        argument.display()
                    ));
                }
            }
        }
        Ok(Self::Run(run))
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
            Ok(Args::Run(Run {
                quick,
                chart: chart.into(),
                scrape: None,
            }))
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
        for option in ["--chart", "--scrape"] {
            let told = format!("`{option}` needs a path");
            assert_eq!(parse(&[option]), Err(told));
        }
    }
}
