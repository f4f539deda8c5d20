//! Which events a listener hears.

use std::fmt;
use std::ops::{BitOr, Sub};

use super::Event;

/// A set of kinds of events, to [subscribe to](crate::registry::Registry::subscribe_to).
///
/// What is rare is told to whoever listens, [`Topics::default`]. What comes with every window or every rejected call has to
/// be asked for, since it is told on the threads of the calls.
///
/// # Examples
///
/// ```
/// use resilience::event::Topics;
///
/// let topics = Topics::LIMIT | Topics::WINDOWS;
/// assert!(topics.contains(Topics::WINDOWS) && !topics.contains(Topics::REJECTIONS));
/// assert_eq!(Topics::default(), Topics::LIMIT | Topics::SETTINGS);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Topics(u8);

impl Topics {
    /// [`Event::LimitChanged`].
    pub const LIMIT: Self = Self(1);
    /// [`Event::Reloaded`] and [`Event::ReloadRefused`], of a registry.
    pub const SETTINGS: Self = Self(1 << 1);
    /// [`Event::LimitMade`], of a registry.
    pub const LIMITS: Self = Self(1 << 2);
    /// [`Event::WindowClosed`]: for each limit that is called, about once a second, or as often as its algorithm decides.
    pub const WINDOWS: Self = Self(1 << 3);
    /// [`Event::Rejected`]: every call that is rejected, when there are more of them than the dependency can take.
    pub const REJECTIONS: Self = Self(1 << 4);
    /// All of them, and those to come.
    pub const ALL: Self = Self(u8::MAX);
    /// None of them.
    pub const NONE: Self = Self(0);

    /// Returns whether all of `others` are among these.
    pub const fn contains(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    pub(crate) fn of(event: &Event) -> Self {
        match event {
            Event::LimitChanged { .. } => Self::LIMIT,
            Event::Reloaded { .. } | Event::ReloadRefused { .. } => Self::SETTINGS,
            Event::LimitMade { .. } => Self::LIMITS,
            Event::WindowClosed { .. } => Self::WINDOWS,
            Event::Rejected { .. } => Self::REJECTIONS,
        }
    }

    pub(crate) fn meets(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0 as u64
    }

    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits as u8)
    }
}

/// [`LIMIT`](Topics::LIMIT) and [`SETTINGS`](Topics::SETTINGS).
impl Default for Topics {
    fn default() -> Self {
        Self::LIMIT | Self::SETTINGS
    }
}

impl BitOr for Topics {
    type Output = Self;

    fn bitor(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }
}

impl Sub for Topics {
    type Output = Self;

    /// These without `others`.
    fn sub(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }
}

impl fmt::Debug for Topics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::LIMIT, "LIMIT"),
            (Self::SETTINGS, "SETTINGS"),
            (Self::LIMITS, "LIMITS"),
            (Self::WINDOWS, "WINDOWS"),
            (Self::REJECTIONS, "REJECTIONS"),
        ];
        let set = names.iter().filter(|(topic, _)| self.contains(*topic));
        f.write_str("Topics")?;
        let mut shown = f.debug_set();
        for (_, name) in set {
            shown.entry(&format_args!("{name}"));
        }
        shown.finish()
    }
}
