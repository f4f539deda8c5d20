//! The parts of the algorithm that can be left out to measure what they are worth.

macro_rules! mechanisms {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Which parts of [`Knee`](super::Knee) are at work. For measurements only: there is no reason to run without one.
        #[allow(clippy::struct_excessive_bools, reason = "each is one part, and any combination makes sense")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Mechanisms {
            $($(#[$doc])* pub $name: bool,)*
        }

        impl Mechanisms {
            /// All of them.
            pub const ALL: Self = Self { $($name: true,)* };

            /// Their names.
            pub const NAMES: &[&str] = &[$(stringify!($name),)*];

            /// Returns all but the one of this name.
            pub fn without(name: &str) -> Option<Self> {
                let mut some = Self::ALL;
                match name {
                    $(stringify!($name) => some.$name = false,)*
                    _ => return None,
                }
                Some(some)
            }
        }
    };
}

mechanisms! {
    /// The upper quantile as the target while nothing has contradicted yet.
    slow_start,
    /// Learning from the calls that fill the first limit.
    filling,
    /// Waiting until a change of the limit has settled.
    settling,
    /// Only windows with as much coming in as going out.
    steadiness,
    /// Drains.
    drain,
    /// Listening to the drains of others while the limit is not binding.
    listening,
    /// A drain soon after the base latency moved.
    verification,
    /// Doubting everything after a window that contradicts.
    doubt,
    /// Answering a window that is much slower than predicted before it is complete.
    alarm,
    /// Telling a slower dependency from one of less capacity.
    shift,
    /// Measuring the noise beyond what the spread of the latencies explains.
    noise,
    /// Making room where others queue.
    yielding,
    /// Growing where bursts are rejected.
    bursts,
    /// Letting down a limit that nobody needs.
    release,
    /// Drops that do not follow the limit.
    background,
    /// A ceiling from fast drops.
    ceiling,
}
