//! What is counted during a run.

use super::histogram::Histogram;
use super::report::Moment;
use super::scenario::Scenario;

/// What became of calls. They count for the phase in which they came: one that is served late takes nothing away from the
/// phase whose burden it was, and gives nothing to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) offered: u64,
    pub(super) rejected: u64,
    /// Rejected though the dependency would have served them at once.
    pub(super) falsely: u64,
    pub(super) served: u64,
    pub(super) failed: u64,
    pub(super) dropped: u64,
    pub(super) timed_out: u64,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Self) {
        self.offered += other.offered;
        self.rejected += other.rejected;
        self.falsely += other.falsely;
        self.served += other.served;
        self.failed += other.failed;
        self.dropped += other.dropped;
        self.timed_out += other.timed_out;
    }
}

/// How a call ended, as the caller sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Served,
    Failed,
    Dropped,
    TimedOut,
}

/// A stretch of the run between two moments at which something changes.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) tally: Tally,
    /// The calls that came and were served in it: what it has done by itself, whatever is left to the next.
    pub(super) prompt: u64,
    pub(super) latencies: Histogram,
    /// Those of each client that came in the second half.
    pub(super) served_by: Vec<u64>,
    /// The sums of the limit and of its square over the nanoseconds of the second half.
    limit: f64,
    limit_square: f64,
}

impl Phase {
    fn middle(&self) -> u64 {
        u64::midpoint(self.from, self.to)
    }

    pub(super) fn seconds(&self) -> f64 {
        (self.to - self.from) as f64 / 1e9
    }

    /// The mean of the limits' sum in the second half, and how much it varies as a share of that.
    pub(super) fn limit(&self) -> (f64, f64) {
        let time = (self.to - self.middle()).max(1) as f64;
        let mean = self.limit / time;
        let variance = (self.limit_square / time - mean * mean).max(0.0);
        // Far below what can be told from rounding.
        let deviation = if variance < mean * mean * 1e-12 {
            0.0
        } else {
            variance.sqrt()
        };
        (mean, if mean > 0.0 { deviation / mean } else { 0.0 })
    }
}

/// A short piece of the run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slice {
    pub(super) served: u64,
    pub(super) latency: u64,
}

/// A whole run.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) duration: u64,
    pub(super) phases: Vec<Phase>,
    pub(super) slices: Vec<Slice>,
    pub(super) slice: u64,
    pub(super) samples: Vec<Moment>,
    pub(super) in_flight_at_end: u64,
    pub(super) waiting_at_end: u64,
    /// The sum of the calls in flight over time.
    in_flight_area: f64,
    phase: usize,
    in_flight_since: u64,
    limit_since: u64,
}

impl Record {
    pub(super) fn new(scenario: &Scenario, duration: u64, slice: u64) -> Self {
        let phases = scenario
            .spans()
            .filter(|(from, _)| *from < duration)
            .map(|(from, to)| Phase {
                from,
                to: to.min(duration),
                tally: Tally::default(),
                prompt: 0,
                latencies: Histogram::new(),
                served_by: vec![0; scenario.clients.len()],
                limit: 0.0,
                limit_square: 0.0,
            });
        Self {
            duration,
            phases: phases.collect(),
            slices: vec![Slice::default(); (duration / slice + 1) as usize],
            slice,
            samples: Vec::new(),
            in_flight_at_end: 0,
            waiting_at_end: 0,
            in_flight_area: 0.0,
            phase: 0,
            in_flight_since: 0,
            limit_since: 0,
        }
    }

    /// Goes on to a moment.
    #[inline]
    pub(super) fn advance(&mut self, now: u64) {
        while self
            .phases
            .get(self.phase + 1)
            .is_some_and(|next| next.from <= now)
        {
            self.phase += 1;
        }
    }

    #[inline]
    fn phase(&mut self) -> &mut Phase {
        &mut self.phases[self.phase]
    }

    pub(super) fn offered(&mut self) {
        self.phase().tally.offered += 1;
    }

    /// A call of the phase of that number was rejected.
    pub(super) fn rejected(&mut self, phase: u32, falsely: bool) {
        let tally = &mut self.phases[phase as usize].tally;
        tally.rejected += 1;
        tally.falsely += u64::from(falsely);
    }

    /// The number of the phase that a call which comes now belongs to.
    pub(super) fn phase_now(&self) -> u32 {
        self.phase as u32
    }

    /// A call of a client ended, of the phase of that number.
    pub(super) fn ended(&mut self, client: u32, phase: u32, end: End, started: u64, now: u64) {
        let phase = &mut self.phases[phase as usize];
        match end {
            End::Served => {
                let latency = now - started;
                phase.tally.served += 1;
                phase.latencies.add(latency);
                if now < phase.to {
                    phase.prompt += 1;
                    phase.served_by[client as usize] += u64::from(started >= phase.middle());
                }
                let slice = &mut self.slices[(now / self.slice) as usize];
                slice.served += 1;
                slice.latency += latency;
            }
            End::Failed => phase.tally.failed += 1,
            End::Dropped => phase.tally.dropped += 1,
            End::TimedOut => phase.tally.timed_out += 1,
        }
    }

    /// The calls in flight were that many until now.
    #[inline]
    pub(super) fn in_flight(&mut self, calls: u64, now: u64) {
        self.in_flight_area += calls as f64 * (now - self.in_flight_since) as f64;
        self.in_flight_since = now;
    }

    /// The sum of the limits was that until now.
    pub(super) fn limit(&mut self, limit: f64, now: u64) {
        for phase in &mut self.phases {
            let from = phase.middle().max(self.limit_since);
            let to = phase.to.min(now);
            if from < to {
                let time = (to - from) as f64;
                phase.limit += limit * time;
                phase.limit_square += limit * limit * time;
            }
        }
        self.limit_since = now;
    }

    pub(super) fn tally(&self) -> Tally {
        let mut sum = Tally::default();
        self.phases.iter().for_each(|phase| sum.add(&phase.tally));
        sum
    }

    pub(super) fn latencies(&self) -> Histogram {
        let mut all = Histogram::new();
        self.phases
            .iter()
            .for_each(|phase| all.merge(&phase.latencies));
        all
    }

    pub(super) fn mean_in_flight(&self) -> f64 {
        self.in_flight_area / self.duration as f64
    }
}
