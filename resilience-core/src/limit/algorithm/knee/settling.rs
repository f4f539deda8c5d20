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

#[cfg(test)]
mod tests {
    use super::*;

    /// A window under a limit of 20 with so many calls in flight at its end, and so many admitted and ended.
    fn window(in_flight: u32, admitted: u64, ended: u64) -> Window {
        let mut window = Window::of(20, []);
        (window.in_flight, window.peak_in_flight) = (in_flight, in_flight);
        (window.admitted, window.successes) = (admitted, ended);
        window
    }

    #[test]
    fn a_rise_has_to_fill_and_then_to_end() {
        let mut filled = window(20, 12, 2);
        assert_eq!(Settling::Rise.stage(&filled), Stage::Over);
        filled.restarts = 1;
        assert_eq!(Settling::Rise.stage(&filled), Stage::Waiting { calls: 18 });
        filled.successes = 20;
        assert_eq!(Settling::Rise.stage(&filled), Stage::Over);
        filled.restarts = 2;
        assert_eq!(Settling::Rise.stage(&filled), Stage::Measuring);
    }

    #[test]
    fn a_rise_that_nobody_uses_is_measured_after_twice_as_many_calls() {
        let waiting = Settling::Rise.stage(&window(12, 39, 39));
        assert!(matches!(waiting, Stage::Waiting { .. }));
        assert_eq!(Settling::Rise.stage(&window(12, 40, 40)), Stage::Measuring);
    }

    #[test]
    fn a_fall_is_over_when_the_calls_then_in_flight_could_have_ended() {
        // 30 were in flight.
        let begun = window(25, 5, 10);
        assert_eq!(Settling::Fall.stage(&begun), Stage::Waiting { calls: 20 });
        assert_eq!(Settling::Fall.stage(&window(20, 20, 30)), Stage::Over);
    }

    #[test]
    fn without_a_change_there_is_nothing_to_wait_for() {
        assert_eq!(Settling::Settled.stage(&window(1, 0, 0)), Stage::Measuring);
    }
}
