//! Windows that were recorded, told to an algorithm again.

use super::recording::Entry;
use crate::event::Reason;
use crate::limit::algorithm::{Algorithm, Bounds, Decision};
use crate::limit::settings::LimitSettings;
use crate::limit::tape::Player;
use crate::limit::window::Window;

/// What an algorithm made of the windows of a [`Recording`](super::Recording).
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    steps: Vec<Step>,
}

/// A window, what was decided from it then, and what the replay decided.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// The window.
    pub window: Window,
    /// The limit that was decided on then, in calls, with its fraction.
    pub recorded_limit: f64,
    /// Why.
    pub recorded_reason: Reason,
    /// What the replay decided.
    pub decision: Decision,
    /// The limit that follows, within the bounds and in whole calls.
    pub limit: u32,
}

impl Step {
    /// Whether the replay came to the same. A number that was stored may differ in its last digit.
    fn is_same(&self) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs();
        let reason = &self.decision.reason;
        near(self.recorded_limit, self.decision.limit)
            && (*reason == self.recorded_reason
                || reason.to_string() == self.recorded_reason.to_string())
    }
}

/// A recording, as far as it is the same whatever it is replayed with.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) entries: &'a [Entry],
    pub(super) seed: u64,
    /// Where to start, if not at the initial limit.
    pub(super) limit: Option<u32>,
}

impl Replay {
    /// `settings` reads those of an entry that has some; `make` makes an algorithm in the place of theirs.
    #[track_caller]
    pub(super) fn run(
        source: Source<'_>,
        settings: impl Fn(&Entry) -> Option<Result<LimitSettings, String>>,
        make: Option<&dyn Fn(Bounds) -> Box<dyn Algorithm>>,
    ) -> Self {
        let with = |player: Player| match make {
            Some(make) => player.with(make),
            None => player,
        };
        let read = |entry: &Entry| match settings(entry) {
            Some(Err(fault)) => panic!("the recording cannot be replayed: {fault}"),
            Some(Ok(settings)) => Some(settings),
            None => None,
        };
        let mut entries = source.entries.iter();
        let Some(first) = entries.next().and_then(read) else {
            panic!("the recording cannot be replayed: it does not begin with settings");
        };
        let mut player = with(Player::start(first, source.seed, source.limit));
        let mut steps = Vec::new();
        for entry in entries {
            match entry {
                Entry::Window {
                    window,
                    limit,
                    reason,
                } => {
                    let decision = player.window(window);
                    steps.push(Step {
                        window: window.clone(),
                        recorded_limit: *limit,
                        recorded_reason: reason.clone(),
                        decision,
                        limit: player.limit(),
                    });
                }
                Entry::Reset => {
                    player.reset();
                    player = with(player);
                }
                Entry::Settings { .. } => {
                    player.settings(read(entry).expect("it is one with settings"));
                    player = with(player);
                }
            }
        }
        Self { steps }
    }

    /// Returns the windows in their order, each with what was decided.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the limits that follow from the windows, in calls.
    pub fn limits(&self) -> Vec<u32> {
        self.steps.iter().map(|step| step.limit).collect()
    }

    /// Returns the first window from which the replay decided otherwise, if there is one, and its number from 0.
    pub fn first_difference(&self) -> Option<(usize, &Step)> {
        let mut steps = self.steps.iter().enumerate();
        steps.find(|(_, step)| !step.is_same())
    }

    /// Asserts that the replay came to the same limits for the same reasons.
    ///
    /// # Panics
    ///
    /// If it did not, with the first window that it was another one from.
    #[track_caller]
    pub fn assert_same(&self) -> &Self {
        if let Some((number, step)) = self.first_difference() {
            panic!(
                "window {number} of {} led to a limit of {} ({}), recorded is {} ({})\n  {:?}",
                self.steps.len(),
                step.decision.limit,
                step.decision.reason,
                step.recorded_limit,
                step.recorded_reason,
                step.window
            );
        }
        self
    }
}
