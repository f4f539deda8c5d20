//! What calls came to: counts, and latencies exact to the last one.

use std::time::Duration;

/// How a call ended, as its caller sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ended {
    Well {
        after: Duration,
    },
    Rejected,
    TimedOut,
    /// Neither: a broken connection, say. The run expects none and shows them if there are any.
    Failed,
}

/// The calls that ended in some stretch of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Of the calls that ended well.
    latencies: Vec<Duration>,
    pub(crate) rejected: usize,
    pub(crate) timed_out: usize,
    pub(crate) failed: usize,
}

impl Tally {
    pub(crate) fn add(&mut self, ended: Ended) {
        match ended {
            Ended::Well { after } => self.latencies.push(after),
            Ended::Rejected => self.rejected += 1,
            Ended::TimedOut => self.timed_out += 1,
            Ended::Failed => self.failed += 1,
        }
    }

    pub(crate) fn add_all(&mut self, other: &Self) {
        self.latencies.extend_from_slice(&other.latencies);
        self.rejected += other.rejected;
        self.timed_out += other.timed_out;
        self.failed += other.failed;
    }

    /// Returns how many calls ended well.
    pub(crate) fn good(&self) -> usize {
        self.latencies.len()
    }

    /// Returns the mean latency of the calls that ended well.
    pub(crate) fn mean(&self) -> Option<Duration> {
        let sum: Duration = self.latencies.iter().sum();
        sum.checked_div(u32::try_from(self.good()).ok()?)
    }

    /// Returns the latency that 99 of 100 calls that ended well did not exceed.
    pub(crate) fn p99(&self) -> Option<Duration> {
        percentile(&mut self.latencies.clone(), 99)
    }
}

/// Returns the smallest value that at least `percent` of 100 values do not exceed (the nearest rank).
fn percentile(values: &mut [Duration], percent: usize) -> Option<Duration> {
    let rank = (values.len() * percent).div_ceil(100);
    let (_, value, _) = values
        .get(rank.checked_sub(1)?)
        .is_some()
        .then(|| values.select_nth_unstable(rank - 1))?;
    Some(*value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(values: impl IntoIterator<Item = u64>) -> Vec<Duration> {
        values.into_iter().map(Duration::from_millis).collect()
    }

    #[test]
    fn a_percentile_is_one_of_the_values() {
        assert_eq!(percentile(&mut [], 99), None);
        assert_eq!(percentile(&mut millis([7]), 99), millis([7]).pop());
        assert_eq!(
            percentile(&mut millis((1..=100).rev()), 99),
            millis([99]).pop()
        );
        assert_eq!(percentile(&mut millis(1..=101), 99), millis([100]).pop());
        assert_eq!(percentile(&mut millis([3, 1, 2]), 50), millis([2]).pop());
        assert_eq!(percentile(&mut millis([3, 1, 2]), 0), None);
    }

    #[test]
    fn only_calls_that_ended_well_have_a_latency() {
        let mut tally = Tally::default();
        assert_eq!(tally.mean(), None);
        for ended in [
            Ended::Rejected,
            Ended::Well {
                after: Duration::from_millis(10),
            },
            Ended::TimedOut,
            Ended::Well {
                after: Duration::from_millis(30),
            },
        ] {
            tally.add(ended);
        }
        let mut twice = tally.clone();
        twice.add_all(&tally);
        assert_eq!(twice.mean(), Some(Duration::from_millis(20)));
        assert_eq!(
            (twice.good(), twice.rejected, twice.timed_out, twice.failed),
            (4, 2, 2, 0)
        );
    }
}
