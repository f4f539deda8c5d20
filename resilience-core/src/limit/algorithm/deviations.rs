//! Where the algorithms differ from the reference, one switch each.

/// Where [`Gradient2`](super::Gradient2), [`Aimd`](super::Aimd) and [`Vegas`](super::Vegas) differ from the reference
/// (Netflix concurrency-limits 0.5.4), each because the reference does something there that no service wants.
///
/// The defaults have all of them on and the `netflix()` presets all of them off. Turn single ones off to see what
/// each is good for; the rules that hold for every algorithm (a slower or dropped window never gives a higher limit,
/// a cut always lowers the limit, …) hold with all of them on.
///
/// # Examples
///
/// ```
/// use resilience::limit::algorithm::{Deviations, Gradient2Settings};
///
/// assert_eq!(Gradient2Settings::default().deviations, Deviations::ALL);
/// assert_eq!(Gradient2Settings::netflix().deviations, Deviations::NONE);
///
/// // The reference, except that it heeds drops:
/// let mut settings = Gradient2Settings::netflix();
/// settings.deviations.cut_on_drop = true;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, not the states of a machine"
)]
pub struct Deviations {
    /// Latencies of 0 ns, as a coarse clock measures them, are left out. Gradient2 and Aimd's threshold; Vegas always
    /// does, since the reference refuses them.
    ///
    /// The reference's gradient2 divides 0 by 0 on the first one and has a limit of 0 from then on.
    pub skip_zero_latency: bool,
    /// A window with drops multiplies the limit by `backoff_ratio`. Gradient2 and Vegas.
    ///
    /// The reference's gradient2 never looks at drops, so it cannot see a dependency that fails fast; its Vegas forgets
    /// those that come with a probe, a first sample or a new minimum, and answers the others with one call less.
    pub cut_on_drop: bool,
    /// Only the latencies of successes become a baseline. All three: Aimd compares them with its threshold.
    ///
    /// The reference's gradient2 learns the latency of time-outs as normal and then climbs to its maximum while every
    /// call times out.
    pub drops_teach_nothing: bool,
    /// A decision that lowers the whole-number limit asks for samples of calls admitted after it. All three.
    ///
    /// The calls in flight then say something about the limit before the cut. With the reference they cut again, so
    /// that one burst is answered several times where calls take longer than a window.
    pub cut_once: bool,
    /// A cut lowers the whole-number limit by 1 at least, if it is above the minimum. All three.
    ///
    /// Without it 2.9 × 0.9 = 2.61 is a limit of 2 calls before and after.
    pub whole_cuts: bool,
    /// Moving averages of equal numbers are that number. Gradient2 and Vegas.
    ///
    /// In the reference's order of operations the last bit may fall below, which is enough for a whole number less in
    /// the limit, and two latencies a nanosecond apart may give gradients in the wrong order.
    pub exact_averages: bool,
    /// A new minimum of the latency decides like any other window. Vegas.
    ///
    /// The reference stores it and returns, so that its limit grows by less after the fastest window than after a
    /// slower one.
    pub minimum_decides: bool,
    /// Without a queue the limit grows by one step at least, as it does with a small one. Vegas.
    ///
    /// The reference grows by `beta` then, which may be less than the step: after the faster window the limit is the lower.
    pub no_queue_grows_most: bool,
}

impl Deviations {
    /// Every deviation: the default.
    pub const ALL: Self = Self {
        skip_zero_latency: true,
        cut_on_drop: true,
        drops_teach_nothing: true,
        cut_once: true,
        whole_cuts: true,
        exact_averages: true,
        minimum_decides: true,
        no_queue_grows_most: true,
    };

    /// No deviation: what the reference does, bit for bit.
    pub const NONE: Self = Self {
        skip_zero_latency: false,
        cut_on_drop: false,
        drops_teach_nothing: false,
        cut_once: false,
        whole_cuts: false,
        exact_averages: false,
        minimum_decides: false,
        no_queue_grows_most: false,
    };
}

impl Default for Deviations {
    fn default() -> Self {
        Self::ALL
    }
}
