//! How the algorithm is tuned.

use super::mechanisms::Mechanisms;

/// How [`Knee`](super::Knee) is tuned.
///
/// # Examples
///
/// ```
/// use resilience::limit::algorithm::{Drain, KneeSettings};
///
/// let mut settings = KneeSettings::default();
/// settings.headroom = 1.0;
/// assert_eq!(settings.drain, Drain::Every(100));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct KneeSettings {
    /// The calls above the knee, as a multiple of its square root: 0 to 10, 0.5 by default; at least one call.
    pub headroom: f64,
    /// How often the limit goes below the knee to see the latency without a queue.
    pub drain: Drain,
    /// The share of drops that is no overload: 0 to below 1, 0.1 by default.
    pub drop_share: f64,
    /// How easily a window contradicts: 0.25 to 4, 1 by default. Twice as much takes half the difference.
    pub sensitivity: f64,
    #[doc(hidden)]
    pub mechanisms: Mechanisms,
}

/// How often [`Knee`](super::Knee) goes below the knee for a window, to see the latency without a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Drain {
    /// Never. For a single client whose load has pauses: it then sees the base latency without.
    Off,
    /// Every so many base latencies, 10 to 1,000,000, rounded up to a power of two of nanoseconds.
    Every(u32),
}

impl Default for KneeSettings {
    fn default() -> Self {
        Self {
            headroom: 0.5,
            drain: Drain::Every(100),
            drop_share: 0.1,
            sensitivity: 1.0,
            mechanisms: Mechanisms::ALL,
        }
    }
}
