//! The command line.

use std::time::Duration;

pub(crate) const HELP: &str = "\
Serves a page on the loopback interface that shows limits as they move, in front of dependencies that this program plays
itself under a load of its own.

Usage: live [--port PORT] [--for SECONDS]

  --port PORT      where to listen; 0 for a free one [default: 3000]
  --for SECONDS    ends after so long, or with ctrl-c [default: 600]
  --help           prints this
";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Args {
    Help,
    Run(Run),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) port: u16,
    pub(crate) lasts: Duration,
}

impl Args {
    /// Reads the arguments that follow the program's name.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut arguments = arguments.into_iter();
        let mut run = Run {
            port: 3000,
            lasts: Duration::from_secs(600),
        };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().unwrap_or_default();
            match argument.as_str() {
                "--help" | "-h" => return Ok(Self::Help),
                "--port" => {
                    let text = value();
                    run.port = text.parse().map_err(|_| {
                        format!("`--port` takes a number from 0 to 65535, not `{text}`")
                    })?;
                }
                "--for" => {
                    let text = value();
                    let seconds = text
                        .parse()
                        .ok()
                        .filter(|seconds| (1..=86_400).contains(seconds));
                    let seconds = seconds.ok_or_else(|| {
                        format!("`--for` takes seconds from 1 to 86400, not `{text}`")
                    })?;
                    run.lasts = Duration::from_secs(seconds);
                }
                _ => {
                    return Err(format!(
                        "unknown argument `{argument}`; there are `--port PORT`, `--for SECONDS` and `--help`"
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
        Args::parse(arguments.iter().map(ToString::to_string))
    }

    #[test]
    fn arguments_are_read_and_what_is_wrong_is_said() {
        let run = |port, seconds| {
            Ok(Args::Run(Run {
                port,
                lasts: Duration::from_secs(seconds),
            }))
        };
        assert_eq!(parse(&[]), run(3000, 600));
        assert_eq!(parse(&["--for", "5", "--port", "0"]), run(0, 5));
        assert_eq!(parse(&["--port", "0", "-h"]), Ok(Args::Help));
        for (arguments, told) in [
            (&["--port", "70000"][..], "not `70000`"),
            (&["--port"], "not ``"),
            (&["--for", "0"], "from 1 to 86400, not `0`"),
            (&["--fort", "0"], "unknown argument `--fort`"),
        ] {
            let error = parse(arguments).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }
}
