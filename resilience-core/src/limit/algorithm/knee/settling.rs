//! How long a change of the limit takes until windows say something about the new one.

use crate::limit::window::Window;

/// What the last decision did to the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settling {
    /// Nothing: the next window says something at once.
    Settled,
    /// It rose: the new slots have to fill, then the calls that filled them to end. If they do not fill in twice as many
    /// calls, there is no demand for them.
    Rise,
    /// It fell: the calls in flight then have to end, in excess of the new limit as they are.
    Fall,
}

/// Where a window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// So many calls have to end before it is worth to ask again.
    Waiting { calls: u64 },
    /// It has to begin anew.
    Over,
    /// It counts.
    Measuring,
}

impl Settling {
    /// Returns where an open window is. The window is begun anew at the end of each step, so how often it was tells the
    /// steps apart.
    pub(super) fn stage(self, window: &Window) -> Stage {
        let ended = ended(window);
        let limit = u64::from(window.limit);
        match (self, window.restarts) {
            (Self::Rise, 0) if u64::from(window.peak_in_flight) >= limit => Stage::Over,
            (Self::Rise, 0) if ended >= 2 * limit => Stage::Measuring,
            (Self::Rise, 0) => Stage::Waiting {
                // Looked at often: it is over as soon as they are filled.
                calls: 1 + limit.saturating_sub(u64::from(window.in_flight)) / 4,
            },
            (Self::Rise, 1) => over_after(limit, ended),
            (Self::Fall, 0) => {
                let in_flight_before = (u64::from(window.in_flight) + ended)
                    .saturating_sub(window.admitted)
                    .max(1);
                over_after(in_flight_before, ended)
            }
            _ => Stage::Measuring,
        }
    }
}

fn over_after(calls: u64, ended: u64) -> Stage {
    match calls.saturating_sub(ended) {
        0 => Stage::Over,
        calls => Stage::Waiting { calls },
    }
}

/// The calls that ended in a window, in whatever way.
pub(super) fn ended(window: &Window) -> u64 {
    [
        window.samples(),
        window.stale,
        window.ignored,
        window.cancelled,
    ]
    .into_iter()
    .fold(0, u64::saturating_add)
}
