//! Notes what a limit's algorithm is told and what it decides.

use std::fmt;
use std::sync::Arc;

use super::Recording;
use crate::limit::AdaptiveLimit;
use crate::limit::tape::{Beginning, Tape};

/// Notes the windows of a limit and what was decided from them, also in production; until it is dropped.
///
/// It costs the calls nothing: only who closes a window notes it, in about 350 bytes. When it is full it notes no more, so that
/// what it holds can still be replayed from its beginning.
///
/// Start it before the limit's first window has closed, or [reset](AdaptiveLimit::reset) the limit: what an algorithm knew
/// before cannot be recorded. Otherwise a replay starts at the limit that was in force, with an algorithm that knows nothing.
/// Reloads and resets are noted too. A limit has one recorder at a time: a second one ends the first.
///
/// # Examples
///
/// ```
/// use resilience::Outcome;
/// use resilience::limit::LimitConfig;
/// use resilience::testing::{Recorder, TestRegistry};
/// use std::time::Duration;
///
/// let test = TestRegistry::new();
/// let config = LimitConfig::new().algorithm("aimd").min_window_samples(1);
/// let orders = test.registry().register("orders", config)?;
/// let recorder = Recorder::start(&orders);
///
/// let call = orders.try_acquire()?;
/// test.advance(Duration::from_secs(1));
/// call.complete(Outcome::Drop);
///
/// let recording = recorder.recording();
/// assert_eq!(recording.windows(), 1);
/// recording.replay().assert_same();
/// # Ok::<(), resilience::Error>(())
/// ```
#[must_use = "a recorder notes until it is dropped"]
pub struct Recorder {
    limit: AdaptiveLimit,
    tape: Arc<Tape>,
    beginning: Beginning,
}

impl Recorder {
    /// How much a recorder notes unless it is told: about a day of windows of a second.
    pub const CAPACITY: usize = 100_000;

    /// Begins to note, up to [`CAPACITY`](Self::CAPACITY) windows.
    pub fn start(limit: &AdaptiveLimit) -> Self {
        Self::with_capacity(limit, Self::CAPACITY)
    }

    /// Begins to note, up to so many windows, resets and changes of settings together.
    pub fn with_capacity(limit: &AdaptiveLimit, most: usize) -> Self {
        let tape = Arc::new(Tape::new(most));
        let beginning = limit.instance().record(&tape);
        Self {
            limit: limit.clone(),
            tape,
            beginning,
        }
    }

    /// Returns what was noted so far.
    pub fn recording(&self) -> Recording {
        let (notes, full) = self.tape.notes();
        Recording::new(self.limit.id(), &self.beginning, notes, full)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.limit.instance().stop_recording(&self.tape);
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
