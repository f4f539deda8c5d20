//! What happens in a run, in the order of virtual time.

use std::cmp::Ordering;

use super::dependency::Ticket;

/// What happens at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) enum Happening {
    Join(u32),
    Arrival(u32),
    User(u32),
    /// A call reaches the dependency.
    Enters(Ticket),
    /// An answer reaches the caller.
    Answer(Ticket),
    /// The time-out of a client's oldest call may be up.
    TimeOut(u32),
    /// The dependency changes.
    Change,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) at: u64,
    /// Of several at one moment, the first scheduled comes first.
    pub(super) number: u64,
    pub(super) happening: Happening,
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Event {}
impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}
