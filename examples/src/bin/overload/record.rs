//! All that was seen of a run.

use std::time::Duration;

use crate::client::Guard;
use crate::load::Reading;
use crate::plan::Plan;
use crate::stats::Tally;

/// All that was seen of a run, so far or to its end.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) plan: Plan,
    /// The adaptive limit's readings first.
    pub(crate) lanes: [(Guard, Vec<Reading>); 3],
}

/// Calls that ended, and how long it took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stretch {
    pub(crate) tally: Tally,
    pub(crate) lasted: Duration,
}

impl Record {
    pub(crate) fn of(plan: Plan, guards: [Guard; 3]) -> Self {
        Self {
            plan,
            lanes: guards.map(|guard| (guard, Vec::new())),
        }
    }

    /// Returns the readings of the adaptive limit.
    pub(crate) fn adaptive(&self) -> &[Reading] {
        &self.lanes[0].1
    }

    /// Returns how far the run has come.
    pub(crate) fn elapsed(&self) -> Duration {
        self.adaptive()
            .last()
            .map_or(Duration::ZERO, |last| last.at)
    }
}

impl Stretch {
    pub(crate) fn of<'a>(readings: impl IntoIterator<Item = &'a Reading>) -> Self {
        let mut stretch = Self::default();
        for reading in readings {
            stretch.tally.add_all(&reading.tally);
            stretch.lasted += reading.spans;
        }
        stretch
    }

    /// Returns so many calls as a rate per second.
    pub(crate) fn per_second(&self, calls: usize) -> f64 {
        if self.lasted.is_zero() {
            0.0
        } else {
            calls as f64 / self.lasted.as_secs_f64()
        }
    }
}
