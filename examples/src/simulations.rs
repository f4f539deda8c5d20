//! The report on the whole gallery: docs/simulations.md and its charts.

use std::fmt::Write;

use resilience::Error;
use resilience::sim::{Contender, ContenderResult, Report, Scenario, Simulation, algorithms};

use crate::gallery::GALLERY;
use crate::{pictures, remedies};

/// A scenario's part of the report.
#[derive(Clone, Debug)]
pub struct Section {
    /// The scenario's name.
    pub name: String,
    /// Its text in the page.
    pub text: String,
    /// Its chart, an SVG image.
    pub chart: String,
    /// The limits of the algorithms in one picture, of the scenarios that docs/algorithms.md shows.
    pub limits: Option<String>,
    /// The regret of each algorithm.
    regrets: Vec<f64>,
    /// The regret of each of the contenders of [`remedies`].
    pub(crate) remedies: Vec<f64>,
}

impl Section {
    /// Returns the regret of a built-in algorithm with its defaults.
    pub(crate) fn regret(&self, algorithm: &str) -> f64 {
        let all = algorithms().iter().zip(&self.regrets);
        let mut found = all.filter(|(name, _)| **name == algorithm);
        found.next().map_or(f64::NAN, |(_, regret)| *regret)
    }
}

/// Returns the scenarios of the gallery.
///
/// # Errors
///
/// If a file has mistakes.
pub fn scenarios() -> Result<Vec<Scenario>, Error> {
    let read = |(name, text): &(&str, &str)| Scenario::parse(&format!("{name}.toml"), text);
    GALLERY.iter().map(read).collect()
}

/// Runs a scenario with all built-in algorithms, and with the remedies for the classic ones.
///
/// # Errors
///
/// If the settings of the scenario cannot be used.
pub fn section(scenario: &Scenario, heard: impl FnMut(&str)) -> Result<Section, Error> {
    let mut report = Simulation::new(scenario)
        .contenders(algorithms().iter().copied().map(Contender::algorithm))
        .contender(Contender::unlimited())
        .contenders(remedies::contenders()?)
        .on_progress(heard)
        .run()?;
    // They are for another page: this one has the algorithms and no limit at all.
    let others = report.results.split_off(algorithms().len() + 1);
    Ok(Section {
        name: report.scenario.clone(),
        text: text(&report),
        chart: report.chart(),
        limits: pictures::SHOWN
            .contains(&&*report.scenario)
            .then(|| pictures::limits(&report)),
        regrets: regrets(&report.results),
        remedies: regrets(&others),
    })
}

fn regrets(results: &[ContenderResult]) -> Vec<f64> {
    let regrets = results.iter().map(|result| result.regret);
    regrets.map(|regret| regret.unwrap_or(f64::NAN)).collect()
}

fn text(report: &Report) -> String {
    let name = &report.scenario;
    let mut text = format!("## {name}\n\n{}", capital(&report.about));
    let _ = write!(text, ".\n\n![{name}](simulations/{name}.svg)\n\n");
    text.push_str(&row(&Report::HEADS));
    text.push_str(&rule(Report::HEADS.len()));
    for result in &report.results {
        text.push_str(&row(&result.cells()));
    }
    let best: Vec<String> = report
        .phases
        .iter()
        .filter_map(|phase| phase.best_fixed.map(|best| best.to_string()))
        .collect();
    let each = if best.len() > 1 {
        ", phase by phase"
    } else {
        ""
    };
    let _ = writeln!(text, "\nBest fixed limit{each}: {}.", best.join(", "));
    text
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}

pub(crate) fn row(cells: &[impl AsRef<str>]) -> String {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// The line below the heads of a table with so many columns: all but the first to the right.
pub(crate) fn rule(columns: usize) -> String {
    format!("|---|{}\n", "--:|".repeat(columns - 1))
}

/// Returns the whole page.
pub fn page(sections: &[Section]) -> String {
    let names: Vec<&str> = algorithms().iter().copied().chain(["none"]).collect();
    let mut page = String::from(
        "# Simulations\n\n\
         How the built-in algorithms do in the scenarios of examples/scenarios, beside no limit at all. This page is made by\n\
         `ci/simulate` and is the same, byte for byte, for the same code; what its columns mean is told in\n\
         [the simulator's guide](simulator.md#what-is-reported). All settings but those in the scenario's file are the defaults.\n\n\
         Regret is 0 for what is as good as the best fixed limit of each phase, and 1 for what is useless.\n\n",
    );
    let heads: Vec<&str> = ["scenario"]
        .into_iter()
        .chain(names.iter().copied())
        .collect();
    page.push_str(&row(&heads));
    page.push_str(&rule(heads.len()));
    for section in sections {
        let link = format!("[{0}](#{0})", section.name);
        let regrets = section.regrets.iter().map(|regret| shown(*regret));
        page.push_str(&row(&[link].into_iter().chain(regrets).collect::<Vec<_>>()));
    }
    let column = |index: usize| sections.iter().map(move |section| section.regrets[index]);
    let mean = |index| column(index).sum::<f64>() / sections.len().max(1) as f64;
    let worst = |index| column(index).fold(f64::NEG_INFINITY, f64::max);
    for (name, of) in [
        ("**mean**", &mean as &dyn Fn(usize) -> f64),
        ("**worst**", &worst),
    ] {
        let cells = (0..names.len()).map(|index| shown(of(index)));
        page.push_str(&row(&[name.to_owned()]
            .into_iter()
            .chain(cells)
            .collect::<Vec<_>>()));
    }
    for section in sections {
        page.push('\n');
        page.push_str(&section.text);
    }
    page
}

pub(crate) fn shown(regret: f64) -> String {
    let text = format!("{regret:.3}");
    if text == "-0.000" {
        "0.000".to_owned()
    } else {
        text
    }
}
