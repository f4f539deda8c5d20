//! What the remedies for the classic algorithms are worth: docs/remedies.md.

use std::fmt::Write;

use resilience::Error;
use resilience::sim::Contender;

use crate::simulations::{Section, row, rule, shown};

/// A remedy, off and on, as settings of a contender.
struct Remedy {
    /// How it is set, in the page.
    name: &'static str,
    /// The algorithms that have it.
    of: &'static [&'static str],
    /// What is set for the run without it, and for the one with it; nothing for the defaults.
    off: &'static str,
    on: &'static str,
}

const CLASSIC: &[&str] = &["gradient2", "aimd", "vegas"];
const DEFAULTS: &str = "";

const REMEDIES: &[Remedy] = &[
    Remedy {
        name: "`deviations` with `cutOnDrop`",
        of: &["gradient2", "vegas"],
        off: "deviations=skipZeroLatency,dropsTeachNothing,cutOnce,wholeCuts,exactAverages,minimumDecides,noQueueGrowsMost",
        on: DEFAULTS,
    },
    Remedy {
        name: "`deviations` with `cutOnce`",
        of: CLASSIC,
        off: "deviations=skipZeroLatency,cutOnDrop,dropsTeachNothing,wholeCuts,exactAverages,minimumDecides,noQueueGrowsMost",
        on: DEFAULTS,
    },
    Remedy {
        name: "`oncePerRtt=true`",
        of: CLASSIC,
        off: DEFAULTS,
        on: "once_per_rtt=true",
    },
    Remedy {
        name: "`growthBound=inFlight(1.2)`",
        of: CLASSIC,
        off: DEFAULTS,
        on: "growth_bound=inFlight(1.2)",
    },
    Remedy {
        name: "`growthBound=bdp(2, 600)`",
        of: CLASSIC,
        off: DEFAULTS,
        on: "growth_bound=bdp(2, 600)",
    },
    Remedy {
        name: "`oncePerRtt=true` and `growthBound=bdp(2, 600)`",
        of: CLASSIC,
        off: DEFAULTS,
        on: "once_per_rtt=true;growth_bound=bdp(2, 600)",
    },
];

impl Remedy {
    /// What differs from the defaults.
    fn settings(&self) -> &'static str {
        if self.on == DEFAULTS {
            self.off
        } else {
            self.on
        }
    }

    /// What the run that is not the defaults' is called in a table.
    fn head(&self) -> String {
        match self.on {
            DEFAULTS => self.name.replace("`deviations` with", "without"),
            _ => self.name.replace("=true", ""),
        }
    }
}

/// The classic algorithms, each with and without each of its remedies; the defaults are run for the other page already.
fn runs() -> impl Iterator<Item = (&'static str, &'static Remedy)> {
    CLASSIC.iter().flat_map(|&algorithm| {
        let has = move |remedy: &&Remedy| remedy.of.contains(&algorithm);
        REMEDIES
            .iter()
            .filter(has)
            .map(move |remedy| (algorithm, remedy))
    })
}

/// What has to run in a scenario.
///
/// # Errors
///
/// If there is no such setting.
pub fn contenders() -> Result<Vec<Contender>, Error> {
    runs()
        .map(|(algorithm, remedy)| Contender::parse(&format!("{algorithm}:{}", remedy.settings())))
        .collect()
}

/// The regrets of an algorithm in a scenario: with the defaults, then with what differs for each remedy.
fn regrets(section: &Section, algorithm: &str) -> Vec<f64> {
    let mut regrets = vec![section.regret(algorithm)];
    let all = runs().zip(&section.remedies);
    regrets.extend(
        all.filter(|((of, _), _)| *of == algorithm)
            .map(|(_, regret)| *regret),
    );
    regrets
}

/// Returns a scenario's row in the table of an algorithm.
fn scenario_row(section: &Section, algorithm: &str) -> String {
    let link = format!("[{0}](simulations.md#{0})", section.name);
    let regrets = regrets(section, algorithm).into_iter().map(shown);
    row(&[link].into_iter().chain(regrets).collect::<Vec<_>>())
}

/// Returns a scenario's rows in the page, one for each of the classic algorithms.
pub fn rows(section: &Section) -> Vec<String> {
    CLASSIC
        .iter()
        .map(|algorithm| scenario_row(section, algorithm))
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn worst(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn change(off: f64, on: f64) -> String {
    format!("{} → {}", shown(off), shown(on))
}

/// The scenario with the greatest gain, and what it is from and to.
fn greatest(
    sections: &[Section],
    off: &[f64],
    on: &[f64],
    gain: impl Fn(f64, f64) -> f64,
) -> String {
    let gains = off.iter().zip(on).map(|(off, on)| gain(*off, *on));
    let found = sections.iter().zip(gains).enumerate();
    // The first of equals.
    let found = found.max_by(|(i, (_, a)), (j, (_, b))| a.total_cmp(b).then(j.cmp(i)));
    match found {
        // Less is not shown by three places.
        Some((index, (section, gain))) if gain >= 0.0005 => {
            let change = change(off[index], on[index]);
            format!("[{0}](simulations.md#{0}): {change}", section.name)
        }
        _ => "nothing".to_owned(),
    }
}

/// The row of a remedy in the table of all: `off` and `on` are the regrets in each scenario.
fn summary_row(
    sections: &[Section],
    algorithm: &str,
    remedy: &Remedy,
    off: &[f64],
    on: &[f64],
) -> String {
    row(&[
        format!("`{algorithm}`"),
        remedy.name.to_owned(),
        change(mean(off), mean(on)),
        change(worst(off), worst(on)),
        greatest(sections, off, on, |off, on| off - on),
        greatest(sections, off, on, |off, on| on - off),
    ])
}

/// Returns the whole page.
pub fn page(sections: &[Section]) -> String {
    let mut page = String::from(
        "# Remedies for the classic algorithms\n\n\
         What each small remedy for `gradient2`, `aimd` and `vegas` does to their regret in the\n\
         [gallery](simulations.md): 0 is as good as the best fixed limit of each phase, 1 is useless. In each row only that\n\
         remedy is turned off and on (off → on) and all else is as by default: `cutOnDrop` and `cutOnce` are on then, the others\n\
         off. [Algorithms](algorithms.md#remedies) tells what they do. This page is made by `ci/simulate`.\n\n\
         `aimd` has no `cutOnDrop`: it is nothing else.\n\n",
    );
    page.push_str(&row(&[
        "algorithm",
        "remedy",
        "mean",
        "worst",
        "helps most in",
        "harms most in",
    ]));
    page.push_str("|---|---|--:|--:|---|---|\n");
    for &algorithm in CLASSIC {
        let regrets: Vec<Vec<f64>> = sections
            .iter()
            .map(|section| regrets(section, algorithm))
            .collect();
        let column = |index: usize| {
            regrets
                .iter()
                .map(|regrets| regrets[index])
                .collect::<Vec<f64>>()
        };
        let remedies = runs().filter(|(of, _)| *of == algorithm);
        for ((_, remedy), index) in remedies.zip(1..) {
            let (defaults, other) = (column(0), column(index));
            let (off, on) = match remedy.on {
                DEFAULTS => (other, defaults),
                _ => (defaults, other),
            };
            page.push_str(&summary_row(sections, algorithm, remedy, &off, &on));
        }
    }
    for &algorithm in CLASSIC {
        let _ = write!(page, "\n## {algorithm}\n\n");
        let remedies = runs().filter(|(of, _)| *of == algorithm);
        let heads = ["scenario", "defaults"].map(str::to_owned);
        let heads: Vec<String> = heads
            .into_iter()
            .chain(remedies.map(|(_, remedy)| remedy.head()))
            .collect();
        page.push_str(&row(&heads));
        page.push_str(&rule(heads.len()));
        for section in sections {
            page.push_str(&scenario_row(section, algorithm));
        }
    }
    page
}
