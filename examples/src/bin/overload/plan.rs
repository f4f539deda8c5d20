//! What is run: how much load for how long, and what the dependency can take meanwhile.

use std::time::Duration;

/// How long the dependency works on one request.
pub(crate) const SERVICE_TIME: Duration = Duration::from_millis(40);

/// After this a call gives up, which the limit takes as a sign of overload.
pub(crate) const TIMEOUT: Duration = Duration::from_millis(120);

/// How often everything is looked at.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// The calls per second, come what may: nobody slows down because calls fail.
pub(crate) const RATE: u32 = 1500;

/// A stretch of the run during which the dependency's capacity stays the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phase {
    /// The requests that the dependency serves at once.
    pub(crate) capacity: usize,
    pub(crate) lasts: Duration,
}

impl Phase {
    /// Returns the most requests per second that the dependency can serve.
    pub(crate) fn possible(&self) -> f64 {
        self.capacity as f64 / SERVICE_TIME.as_secs_f64()
    }
}

/// The run, phase by phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) phases: [Phase; 3],
}

impl Plan {
    /// Returns the run that leaves the limit time to settle in each phase.
    pub(crate) fn full() -> Self {
        Self::of([8.0, 6.0, 8.0])
    }

    /// Returns the run for those who only want to see that it works.
    pub(crate) fn quick() -> Self {
        Self::of([2.5, 2.5, 2.5])
    }

    fn of(seconds: [f64; 3]) -> Self {
        let phase = |capacity, seconds| Phase {
            capacity,
            lasts: Duration::from_secs_f64(seconds),
        };
        Self {
            phases: [
                phase(30, seconds[0]),
                phase(10, seconds[1]),
                phase(30, seconds[2]),
            ],
        }
    }

    /// Returns how long the run takes.
    pub(crate) fn total(&self) -> Duration {
        self.phases.iter().map(|phase| phase.lasts).sum()
    }

    /// Returns when each phase begins and ends, counted from the start.
    pub(crate) fn spans(&self) -> impl Iterator<Item = (Phase, Duration, Duration)> {
        self.phases.iter().scan(Duration::ZERO, |end, &phase| {
            let begin = *end;
            *end += phase.lasts;
            Some((phase, begin, *end))
        })
    }

    /// Returns the number of the phase that moment is in; the last one's after the end.
    pub(crate) fn phase_at(&self, at: Duration) -> usize {
        self.spans()
            .position(|(_, _, end)| at < end)
            .unwrap_or(self.phases.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_belongs_to_the_phase_it_begins() {
        let plan = Plan::of([1.0, 2.0, 3.0]);
        let phases = [0, 999, 1000, 2999, 3000, 9000]
            .map(|millis| plan.phase_at(Duration::from_millis(millis)));
        assert_eq!(phases, [0, 0, 1, 1, 2, 2]);
        assert_eq!(plan.total(), Duration::from_secs(6));
    }
}
