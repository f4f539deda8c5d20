//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use examples::gallery::{self, GALLERY};
use examples::simulations;
use resilience::sim::{Contender, Scenario, algorithms};

pub(crate) const HELP: &str = "\
Runs limits in front of simulated dependencies, in virtual time. docs/simulator.md tells how scenarios are written and
what the numbers mean.

Usage: simulate SCENARIO… [--algorithm LIST] [--seed N] [--seconds N] [--chart PATH] [--json PATH] [--no-search]
       simulate table [SCENARIO…] [--algorithm LIST] [--seeds N]
       simulate list
       simulate report [--into FOLDER] [SCENARIO…]

  SCENARIO          a file, or the name of one of the gallery
  --algorithm LIST  what to run, with commas between: algorithms, each with settings if you like, `fixed:N`, `none`;
                    such as `vegas,aimd:latency_threshold=60ms;increase_by=2,fixed:30` [default: the scenario's algorithm, or all]
  --seed N          the seed of all that is random, instead of the scenario's
  --seconds N       ends after so much virtual time
  --chart PATH      draws limit and calls in flight there, an SVG file; of several scenarios PATH is a folder
  --json PATH       writes the report there; of several scenarios an array
  --no-search       leaves out the search for the best fixed limit, and with it regret

  table             prints the regret of each contender in each scenario [default: of the gallery]
  --seeds N         averages over so many seeds, from the scenario's on
  list              prints the gallery
  report            writes docs/simulations.md, docs/remedies.md and the charts of docs; of some scenarios only their charts,
                    and prints their text
  --into FOLDER     writes there instead of into docs
  --help            prints this
";

/// What was asked for.
#[derive(Debug)]
pub(crate) enum Args {
    Help,
    List,
    Report {
        into: PathBuf,
        scenarios: Vec<Scenario>,
    },
    Table {
        scenarios: Vec<Scenario>,
        contenders: Vec<Contender>,
        seeds: u64,
    },
    Run(Run),
}

#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) scenarios: Vec<Scenario>,
    /// `None` for what the scenario says, or all algorithms.
    pub(crate) contenders: Option<Vec<Contender>>,
    pub(crate) chart: Option<PathBuf>,
    pub(crate) json: Option<PathBuf>,
    pub(crate) search: bool,
}

/// All that may stand on the command line.
#[derive(Default)]
struct Given {
    names: Vec<OsString>,
    /// The options, as they were written.
    options: Vec<String>,
    chart: Option<PathBuf>,
    json: Option<PathBuf>,
    into: Option<PathBuf>,
    contenders: Option<Vec<Contender>>,
    seed: Option<u64>,
    seeds: Option<u64>,
    seconds: Option<u64>,
}

/// The options, and what may be told to do with them.
const OPTIONS: [(&str, &[&str]); 8] = [
    ("--algorithm", &["run", "table"]),
    ("--seed", &["run", "table"]),
    ("--seconds", &["run", "table"]),
    ("--seeds", &["table"]),
    ("--chart", &["run"]),
    ("--json", &["run"]),
    ("--no-search", &["run"]),
    ("--into", &["report"]),
];

impl Args {
    /// Reads the arguments that follow the program's name.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let Some(mut given) = Given::read(arguments)? else {
            return Ok(Self::Help);
        };
        let command = match given.names.first().and_then(|name| name.to_str()) {
            None if given.names.is_empty() => {
                let more = "`simulate list` prints the gallery, `simulate --help` more";
                return Err(format!("which scenario? {more}"));
            }
            Some(command @ ("list" | "report" | "table")) => command.to_owned(),
            _ => "run".to_owned(),
        };
        for option in &given.options {
            let (_, commands) = OPTIONS
                .iter()
                .find(|(known, _)| known == option)
                .expect("unknown ones were refused");
            if !commands.contains(&&*command) {
                return Err(format!("`{option}` means nothing for `{command}`"));
            }
        }
        if command != "run" {
            given.names.remove(0);
        }
        let mut scenarios = Vec::new();
        for name in &given.names {
            scenarios.push(open(name)?);
        }
        if command == "table" && scenarios.is_empty() {
            scenarios = simulations::scenarios().map_err(|error| error.to_string())?;
        }
        if let Some(seed) = given.seed {
            scenarios = scenarios
                .into_iter()
                .map(|scenario| scenario.with_seed(seed))
                .collect();
        }
        if let Some(seconds) = given.seconds {
            let seconds = Duration::from_secs(seconds);
            scenarios = scenarios
                .into_iter()
                .map(|scenario| scenario.shortened(seconds))
                .collect();
        }
        Ok(match &*command {
            "list" => Self::List,
            "report" => Self::Report {
                into: given.into.unwrap_or_else(|| "docs".into()),
                scenarios,
            },
            "table" => Self::Table {
                scenarios,
                contenders: given.contenders.unwrap_or_else(all_algorithms),
                seeds: given.seeds.unwrap_or(1),
            },
            _ => Self::Run(Run {
                scenarios,
                contenders: given.contenders,
                chart: given.chart,
                json: given.json,
                search: !given.options.iter().any(|option| option == "--no-search"),
            }),
        })
    }
}

/// All built-in algorithms.
pub(crate) fn all_algorithms() -> Vec<Contender> {
    algorithms()
        .iter()
        .copied()
        .map(Contender::algorithm)
        .collect()
}

impl Given {
    /// Reads all arguments; `None` if help is asked for.
    fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Self>, String> {
        let mut arguments = arguments.into_iter();
        let mut given = Self::default();
        while let Some(argument) = arguments.next() {
            // What is no text is a path: the options are all plain.
            let option = match argument.to_str() {
                Some("--help" | "-h") => return Ok(None),
                Some("--algorithms") => "--algorithm".to_owned(),
                Some(option) if option.starts_with('-') => option.to_owned(),
                _ => {
                    given.names.push(argument);
                    continue;
                }
            };
            let mut value = |what: &str| {
                let value = arguments.next().filter(|value| !value.is_empty());
                value.ok_or_else(|| format!("`{option}` needs {what}"))
            };
            match &*option {
                "--no-search" => {}
                "--chart" => given.chart = Some(value("a path")?.into()),
                "--json" => given.json = Some(value("a path")?.into()),
                "--into" => given.into = Some(value("a folder")?.into()),
                "--algorithm" => {
                    let list = value("a list of algorithms")?;
                    given.contenders = Some(read_contenders(&list.to_string_lossy())?);
                }
                "--seed" => given.seed = Some(number(&option, &value("a number")?, 0)?),
                "--seeds" => given.seeds = Some(number(&option, &value("a number")?, 1)?),
                "--seconds" => given.seconds = Some(number(&option, &value("a number")?, 1)?),
                _ => {
                    let known = OPTIONS.map(|(known, _)| known);
                    return Err(unknown("option", &option, &known));
                }
            }
            given.options.push(option);
        }
        Ok(Some(given))
    }
}

fn number(option: &str, value: &OsString, least: u64) -> Result<u64, String> {
    let text = value.to_string_lossy();
    let number = text.parse().ok().filter(|number| *number >= least);
    number.ok_or_else(|| format!("`{option}` is `{text}`, expected a whole number from {least} on"))
}

fn read_contenders(list: &str) -> Result<Vec<Contender>, String> {
    let mut contenders = Vec::new();
    for text in split(list) {
        let name = text.split(':').next().unwrap_or_default().trim();
        let folded = name.to_lowercase().replace(['-', '_'], "");
        let known = ["fixed", "none"].contains(&name) || algorithms().contains(&&*folded);
        if !known && !name.is_empty() {
            let names: Vec<&str> = algorithms()
                .iter()
                .copied()
                .chain(["fixed:N", "none"])
                .collect();
            return Err(unknown("algorithm", name, &names));
        }
        contenders.push(Contender::parse(text).map_err(|error| error.to_string())?);
    }
    Ok(contenders)
}

/// Splits at commas, but for those in the braces of a setting.
fn split(list: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0_i32);
    for (at, letter) in list.char_indices() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[from..]);
    parts
}

/// Opens a file, or a scenario of the gallery.
fn open(name: &OsString) -> Result<Scenario, String> {
    let text = name.to_string_lossy();
    let opened = match gallery::find(&text) {
        Some(found) => found,
        None if text.contains(['/', '\\']) || text.ends_with(".toml") => Scenario::read(name),
        None => {
            let names: Vec<&str> = GALLERY.iter().map(|(name, _)| *name).collect();
            let hint = near(&text, &names)
                .unwrap_or_else(|| "`simulate list` prints the gallery".to_owned());
            return Err(format!(
                "no scenario `{text}`, and a file would end in `.toml`; {hint}"
            ));
        }
    };
    opened.map_err(|error| error.to_string())
}

fn unknown(what: &str, given: &str, names: &[&str]) -> String {
    let hint = near(given, names).unwrap_or_else(|| format!("there are {}", names.join(", ")));
    format!("unknown {what} `{given}`; {hint}")
}

fn near(given: &str, names: &[&str]) -> Option<String> {
    let distance = |name: &&&str| strsim::damerau_levenshtein(given, name);
    let nearest = names.iter().min_by_key(distance)?;
    (distance(&nearest) <= 1 + nearest.len() / 4).then(|| format!("did you mean `{nearest}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Args, String> {
        Args::parse(arguments.iter().map(OsString::from))
    }

    #[test]
    fn what_is_asked_for_is_understood() {
        let Args::Run(run) = parse(&[
            "chart",
            "--algorithm",
            "vegas:baseline=quantile(0.1,9),fixed:30",
            "--json",
            "a.json",
            "noise",
        ])
        .unwrap() else {
            panic!("a run");
        };
        assert_eq!((run.scenarios.len(), run.contenders.unwrap().len()), (2, 2));
        assert!(run.chart.is_none() && run.json.is_some() && run.search);
        assert!(matches!(parse(&["list"]), Ok(Args::List)));
        assert!(matches!(
            parse(&["table", "chart", "--seeds", "3"]),
            Ok(Args::Table { seeds: 3, .. })
        ));
        assert!(matches!(parse(&["report"]), Ok(Args::Report { .. })));
        assert!(matches!(parse(&["chart", "-h"]), Ok(Args::Help)));
    }

    #[test]
    fn what_is_wrong_is_said_with_the_nearest_name() {
        for (arguments, expected) in [
            (
                &["chrat"][..],
                "no scenario `chrat`, and a file would end in `.toml`; did you mean `chart`?",
            ),
            (
                &["chart", "--algorithm", "vega"],
                "unknown algorithm `vega`; did you mean `vegas`?",
            ),
            (
                &["chart", "--algorithm", "fixed"],
                "`fixed`: a fixed limit is a whole number from 1 to 1000000",
            ),
            (
                &["chart", "--jason", "x"],
                "unknown option `--jason`; did you mean `--json`?",
            ),
            (
                &["chart", "--seed", "one"],
                "`--seed` is `one`, expected a whole number",
            ),
            (&["chart", "--chart"], "`--chart` needs a path"),
            (
                &["table", "--chart", "x.svg"],
                "`--chart` means nothing for `table`",
            ),
            (&["nowhere/x.toml"], "cannot read `nowhere/x.toml`"),
            (&[], "which scenario?"),
        ] {
            let message = parse(arguments).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
}
