//! Runs limits in front of simulated dependencies: files of yours, or the gallery of examples/scenarios.
//!
//! `cargo run --release -p examples --bin simulate -- chart --algorithm knee,vegas --chart chart.svg`

mod args;

use std::error::Error;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use args::{Args, Run};
use examples::gallery::GALLERY;
use examples::parallel::each;
use examples::simulations::{Section, page, scenarios, section};
use examples::{pictures, remedies};
use resilience::sim::{Contender, Report, Scenario, Simulation};

fn main() -> ExitCode {
    let done = match Args::parse(std::env::args_os().skip(1)) {
        Ok(Args::Help) => write!(io::stdout(), "{}", args::HELP).map_err(Into::into),
        Ok(Args::List) => list(),
        Ok(Args::Report { into, scenarios }) => report(&into, &scenarios),
        Ok(Args::Table {
            scenarios,
            contenders,
            seeds,
        }) => table(&scenarios, &contenders, seeds),
        Ok(Args::Run(asked)) => run(&asked),
        Err(message) => {
            eprintln!("simulate: {message}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read the output has seen enough.
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("simulate: {error}");
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn list() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    for scenario in scenarios()? {
        let seconds = scenario.duration().as_secs();
        writeln!(
            out,
            "{:<18} {seconds:>5} s  {}",
            scenario.name(),
            scenario.about()
        )?;
    }
    Ok(())
}

fn run(asked: &Run) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout();
    let single = asked.scenarios.len() == 1;
    // Before the runs: where there is no place for what they make, nobody should wait to hear of it.
    let files = [&asked.json, if single { &asked.chart } else { &None }];
    let folders = files.into_iter().flatten().filter_map(|file| file.parent());
    let charts = asked.chart.as_deref().filter(|_| !single);
    for folder in folders.chain(charts) {
        fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make `{}`: {error}", folder.display()))?;
    }
    let mut reports = Vec::new();
    for scenario in &asked.scenarios {
        let mut progress = Progress::new();
        let contenders = match (&asked.contenders, scenario.algorithm()) {
            (Some(asked), _) => asked.clone(),
            (None, Some(algorithm)) => vec![Contender::algorithm(algorithm)],
            (None, None) => args::all_algorithms(),
        };
        let simulation = Simulation::new(scenario)
            .contenders(contenders)
            .on_progress(|text| progress.show(text));
        let simulation = if asked.search {
            simulation
        } else {
            simulation.without_search()
        };
        let report = simulation.run()?;
        progress.clear();
        write!(
            out,
            "{}{report}",
            if reports.is_empty() { "" } else { "\n" }
        )?;
        if let Some(path) = chart_path(asked.chart.as_deref(), &report, single) {
            write_file(&path, &report.chart())?;
        }
        reports.push(report);
    }
    if let Some(path) = &asked.json {
        let json = if single {
            serde_json::to_string_pretty(&reports[0])?
        } else {
            serde_json::to_string_pretty(&reports)?
        };
        write_file(path, &(json + "\n"))?;
    }
    Ok(())
}

fn chart_path(asked: Option<&Path>, report: &Report, single: bool) -> Option<PathBuf> {
    let asked = asked?;
    Some(if single {
        asked.to_owned()
    } else {
        asked.join(format!("{}.svg", report.scenario))
    })
}

fn write_file(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write `{}`: {error}", path.display()))
}

/// Prints the regret of each contender in each scenario, averaged over some seeds.
fn table(
    scenarios: &[Scenario],
    contenders: &[Contender],
    seeds: u64,
) -> Result<(), Box<dyn Error>> {
    let rows = each(
        scenarios,
        |scenario| -> Result<Vec<f64>, resilience::Error> {
            let mut regrets = vec![0.0; contenders.len()];
            for seed in 0..seeds {
                let scenario = scenario.clone().with_seed(scenario.seed() + seed);
                let simulation = Simulation::new(&scenario).contenders(contenders.iter().cloned());
                for (sum, result) in regrets.iter_mut().zip(simulation.run()?.results) {
                    *sum += result.regret.unwrap_or(f64::NAN) / seeds as f64;
                }
            }
            eprintln!("{}", scenario.name());
            Ok(regrets)
        },
    );
    let rows: Vec<Vec<f64>> = rows.into_iter().collect::<Result<_, _>>()?;
    let mut out = io::stdout().lock();
    let mut line = |name: &str, cells: Vec<String>| {
        let cells: Vec<String> = cells
            .iter()
            .zip(contenders)
            .map(|(cell, contender)| format!("  {cell:>0$}", contender.name().len().max(6)))
            .collect();
        writeln!(out, "{name:<18}{}", cells.concat())
    };
    let show = |regrets: Vec<f64>| {
        regrets
            .iter()
            .map(|regret| format!("{regret:.3}"))
            .collect()
    };
    line(
        "regret",
        contenders
            .iter()
            .map(|contender| contender.name().to_owned())
            .collect(),
    )?;
    for (scenario, row) in scenarios.iter().zip(&rows) {
        line(scenario.name(), show(row.clone()))?;
    }
    let sorted: Vec<Vec<f64>> = (0..contenders.len())
        .map(|column| {
            let mut regrets: Vec<f64> = rows.iter().map(|row| row[column]).collect();
            regrets.sort_by(f64::total_cmp);
            regrets
        })
        .collect();
    let of = |value: &dyn Fn(&[f64]) -> f64| sorted.iter().map(|regrets| value(regrets)).collect();
    line(
        "mean",
        show(of(&|regrets| {
            regrets.iter().sum::<f64>() / regrets.len() as f64
        })),
    )?;
    line("median", show(of(&|regrets| regrets[regrets.len() / 2])))?;
    line("worst", show(of(&|regrets| regrets[regrets.len() - 1])))?;
    Ok(())
}

/// Writes the pages about the gallery and their charts; of some scenarios only the charts, and prints their text.
fn report(into: &Path, only: &[Scenario]) -> Result<(), Box<dyn Error>> {
    let (folder, algorithms) = (into.join("simulations"), into.join("algorithms"));
    for folder in [&folder, &algorithms] {
        fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make `{}`: {error}", folder.display()))?;
    }
    let whole = only.is_empty();
    let all = if whole { scenarios()? } else { only.to_vec() };
    let sections = each(&all, |scenario| {
        let section = section(scenario, |_| {});
        eprintln!("{}", scenario.name());
        section
    });
    let sections: Vec<Section> = sections.into_iter().collect::<Result<_, _>>()?;
    for section in &sections {
        write_file(
            &folder.join(format!("{}.svg", section.name)),
            &section.chart,
        )?;
        if let Some(limits) = &section.limits {
            write_file(&algorithms.join(format!("{}.svg", section.name)), limits)?;
        }
        if !whole {
            writeln!(io::stdout(), "{}", section.text)?;
        }
    }
    if whole {
        remove_others(&folder)?;
        write_file(&into.join("simulations.md"), &page(&sections))?;
        write_file(&into.join("remedies.md"), &remedies::page(&sections))?;
        let knee = pictures::knee().ok_or("knee infers nothing for its picture")?;
        write_file(&algorithms.join("knee.svg"), &knee)?;
    }
    Ok(())
}

/// Removes the charts of scenarios that are no more.
fn remove_others(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let known = path
            .file_stem()
            .is_some_and(|stem| GALLERY.iter().any(|(name, _)| stem == *name));
        if !known && path.extension().is_some_and(|ending| ending == "svg") {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// What is being done, on the last line of a terminal.
struct Progress {
    terminal: bool,
}

impl Progress {
    fn new() -> Self {
        Self {
            terminal: io::stderr().is_terminal(),
        }
    }

    fn show(&mut self, text: &str) {
        if self.terminal {
            eprint!("\r\x1b[K{text}");
        }
    }

    fn clear(&mut self) {
        if self.terminal {
            eprint!("\r\x1b[K");
        }
    }
}
