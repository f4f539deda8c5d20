//! Time as the library sees it: whole nanoseconds on a clock that never goes back.
//!
//! Nothing outside this module reads a clock, so everything that depends on time can be driven by a [`ManualClock`].

mod alarms;
mod manual;
mod system;
mod timer;

use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, RandomState};
use std::sync::{Arc, LazyLock};
use std::task::Waker;
use std::time::Duration;

pub use alarms::{Alarm, Alarms};
pub use manual::ManualClock;
pub use system::SystemClock;

/// A source of time.
///
/// Implement it to run the library on a clock of your own, such as a simulator's. Tests use [`ManualClock`].
///
/// # Examples
///
/// ```
/// use resilience::time::{Clock, ManualClock};
/// use std::time::Duration;
///
/// let clock = ManualClock::new();
/// let start = clock.now();
/// clock.advance(Duration::from_millis(3));
/// assert_eq!(clock.now() - start, 3_000_000);
/// ```
pub trait Clock: Send + Sync + 'static {
    /// Returns the nanoseconds since an arbitrary fixed moment; never less than it returned before.
    ///
    /// It must not panic: a call that is cancelled while its thread unwinds reads the clock, and a second panic then ends
    /// the process.
    fn now(&self) -> u64;

    /// Wakes `waker` when the clock reads `instant` or more, unless the alarm is dropped before.
    ///
    /// Asked for when a call waits for a slot. As it is provided, a thread wakes it after as much of the machine's time as
    /// the clock is short of `instant`: right for every clock that runs as fast as the machine's. There is one such thread
    /// in a process, started when it is first needed; if none can be started, it is as if the time was up at once. A clock
    /// that is moved by hand, or by a simulator, has [`Alarms`] of its own.
    fn wake_at(&self, instant: u64, waker: Waker) -> Alarm {
        timer::wake_after(instant.saturating_sub(self.now()), waker)
    }
}

/// The clock of a registry: the system's, read without an indirect call, or any other.
#[derive(Clone)]
pub(crate) enum SharedClock {
    System(SystemClock),
    Other(Arc<dyn Clock>),
}

impl SharedClock {
    pub(crate) fn system() -> Self {
        Self::System(SystemClock::new())
    }

    #[inline]
    pub(crate) fn now(&self) -> u64 {
        match self {
            Self::System(clock) => clock.now(),
            Self::Other(clock) => clock.now(),
        }
    }

    pub(crate) fn wake_at(&self, instant: u64, waker: Waker) -> Alarm {
        match self {
            Self::System(clock) => clock.wake_at(instant, waker),
            Self::Other(clock) => clock.wake_at(instant, waker),
        }
    }

    /// Whether its time passes by itself, as a thread's does that sleeps.
    pub(crate) fn is_the_systems(&self) -> bool {
        matches!(self, Self::System(_))
    }
}

impl SharedClock {
    /// A number for whatever is to be scattered under a name: another one in each process, but the same on every run
    /// where the clock is not the system's, and runs can be repeated.
    pub(crate) fn seed(&self, name: &str) -> u64 {
        static PROCESS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        match self {
            Self::System(_) => PROCESS.hash_one(name),
            Self::Other(_) => BuildHasherDefault::<DefaultHasher>::default().hash_one(name),
        }
    }
}

impl fmt::Debug for SharedClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System(_) => "SystemClock",
            Self::Other(_) => "dyn Clock",
        })
    }
}

/// The nanoseconds in a duration, or `u64::MAX` for one of more than 584 years.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
