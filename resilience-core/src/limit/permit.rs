//! The slot of one call.

use super::instance::{Admitted, InstanceRef};
use crate::outcome::Outcome;

/// A slot of an adaptive limit, held for one call and given back exactly once.
///
/// Say how the call went with [`complete`](Self::complete). Dropped without that, as when the call is cancelled or
/// panics, the permit gives its slot back and the call is no sample. `complete` takes the permit by value, so completing
/// twice does not compile:
///
/// ```compile_fail,E0382
/// # use resilience_core::{Outcome, limit::LimitConfig, registry::Registry};
/// # let orders = Registry::new().register("orders", LimitConfig::new()).unwrap();
/// let permit = orders.try_acquire().unwrap();
/// permit.complete(Outcome::Success);
/// permit.complete(Outcome::Success);
/// ```
#[derive(Debug)]
#[must_use = "a permit that is dropped at once gives its slot back before the call"]
pub struct Permit<'a> {
    instance: InstanceRef<'a>,
    /// Holds nothing once the slot is given back.
    call: Admitted,
}

impl<'a> Permit<'a> {
    #[inline]
    pub(super) fn new(instance: InstanceRef<'a>, call: Admitted) -> Self {
        Self { instance, call }
    }

    /// Gives the slot back and counts the call as `outcome` says.
    ///
    /// If this ends the window, the calling thread asks the algorithm for the next limit and calls the listeners, after
    /// the slot is free.
    #[inline]
    pub fn complete(mut self, outcome: Outcome) {
        self.end(Some(outcome));
    }

    #[inline]
    fn end(&mut self, outcome: Option<Outcome>) {
        let call = std::mem::take(&mut self.call);
        if call.holds_a_slot() {
            self.instance.end(call, outcome);
        }
    }
}

impl Drop for Permit<'_> {
    #[inline]
    fn drop(&mut self) {
        self.end(None);
    }
}
