//! How far a limit may grow beyond what the calls in flight account for.

use super::signal::Latencies;
use crate::event::Reason;
use crate::limit::window::Window;

/// How far [`Gradient2`](super::Gradient2), [`Aimd`](super::Aimd) and [`Vegas`](super::Vegas) may let a limit grow.
///
/// A limit that is above the bound already stays or falls as it would without one: the bound stops growth and cuts
/// nothing. It is always one call more than the multiple says, so that a limit of 1 can grow.
///
/// # Examples
///
/// ```
/// use resilience::limit::algorithm::{Algorithm, Aimd, AimdSettings, Bounds, GrowthBound};
/// use resilience::limit::window::{Sample, Window};
///
/// let mut settings = AimdSettings::default();
/// settings.growth_bound = GrowthBound::Bdp { gain: 2.0, windows: 600 };
/// let mut aimd = Aimd::new(Bounds::new(20, 1, 200).unwrap(), settings);
///
/// let at_its_best = Sample::success(10_000_000, 20);
/// assert_eq!(aimd.update(&Window::of(20, [at_its_best])).limit, 21.0);
/// // Three times the latency: a third of the 21 calls would keep the dependency as busy, and the limit is above 15 already.
/// let queueing = Sample::success(30_000_000, 21);
/// assert_eq!(aimd.update(&Window::of(21, [queueing])).limit, 21.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum GrowthBound {
    /// As far as the algorithm says: to twice the calls in flight, since all three grow only if half of the limit was in
    /// use.
    #[default]
    Off,
    /// To so many times the calls in flight, the most of the window.
    ///
    /// TCP's congestion window validation (RFC 7661), where the sender's limit is what it uses.
    InFlight {
        /// How many times: 1 to 100; from 2 on it says nothing that the algorithms do not.
        gain: f64,
    },
    /// To so many times the calls that would keep the dependency as busy without a queue: the calls in flight, times the
    /// smallest latency of late, by the window's.
    ///
    /// With Little's law that is the throughput times the smallest latency: the bandwidth-delay product, which BBR
    /// (Cardwell and others, *BBR: Congestion-Based Congestion Control*, 2016) lets its window be twice of. It keeps a limit
    /// from climbing with the queue that it makes. When the dependency gets slower for good, the limit cannot grow until the
    /// smallest latency from before is forgotten.
    Bdp {
        /// How many times: 1 to 100.
        gain: f64,
        /// For how many windows a smallest latency is remembered, and up to twice as many: 1 to 1,000,000.
        windows: u32,
    },
}

/// The smallest latency of late, for [`GrowthBound::Bdp`]: of the windows of this period and of the one before.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Growth {
    smallest: Option<f64>,
    smallest_before: Option<f64>,
    /// The windows of this period so far.
    windows: u32,
}

impl Growth {
    /// Holds a limit that would grow from `limit` to `next` at the bound, with the reason if that makes a difference.
    pub(super) fn hold(
        &mut self,
        bound: GrowthBound,
        window: &Window,
        latencies: Latencies,
        limit: f64,
        (next, reason): (f64, Reason),
    ) -> (f64, Reason) {
        let in_flight = f64::from(window.max_in_flight);
        let bound = match bound {
            GrowthBound::Off => return (next, reason),
            GrowthBound::InFlight { gain } => gain * in_flight + 1.0,
            GrowthBound::Bdp { gain, windows } => {
                self.learn(latencies.normal, windows);
                // Where no latency says that there is a queue, none is taken off.
                let queueless = match (self.smallest(), latencies.judged) {
                    (Some(smallest), Some(latency)) if latency > smallest => smallest / latency,
                    _ => 1.0,
                };
                gain * in_flight * queueless + 1.0
            }
        };
        if next > limit && next > bound {
            (bound.max(limit), Reason::GrowthBound { bound })
        } else {
            (next, reason)
        }
    }

    fn learn(&mut self, latency: Option<f64>, windows: u32) {
        // A latency of 0 says nothing, and would stop all growth.
        let Some(latency) = latency.filter(|latency| *latency > 0.0) else {
            return;
        };
        if self.windows >= windows {
            self.smallest_before = self.smallest.take();
            self.windows = 0;
        }
        self.windows += 1;
        self.smallest = Some(self.smallest.map_or(latency, |known| known.min(latency)));
    }

    fn smallest(&self) -> Option<f64> {
        let both = [self.smallest, self.smallest_before];
        both.into_iter().flatten().reduce(f64::min)
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the results are exact")]
mod tests {
    use super::*;

    #[test]
    fn a_smallest_latency_is_forgotten_after_its_period_and_the_next() {
        let mut growth = Growth::default();
        let mut after = |latency: f64| {
            growth.learn(Some(latency), 3);
            growth.smallest().unwrap()
        };
        assert_eq!([10.0, 30.0, 20.0].map(&mut after), [10.0; 3]);
        assert_eq!([30.0; 3].map(&mut after), [10.0; 3]);
        assert_eq!([40.0; 3].map(&mut after), [30.0; 3]);
        assert_eq!(after(50.0), 40.0);
    }

    #[test]
    fn no_latency_teaches_nothing() {
        let mut growth = Growth::default();
        growth.learn(None, 1);
        growth.learn(Some(0.0), 1);
        assert_eq!(growth, Growth::default());
    }
}
