//! The slot of one call.

use std::ops::Deref;

use super::instance::{Admitted, Instance, InstanceRef};
use super::queue;
use crate::error::Error;
use crate::outcome::Outcome;

/// A slot of an adaptive limit, held for one call and given back exactly once.
///
/// Say how the call went with [`complete`](Self::complete). Dropped without that, as when the call is cancelled or
/// panics, the permit gives its slot back and the call is no sample. `complete` takes the permit by value, so completing
/// twice does not compile:
///
/// ```compile_fail,E0382
/// # use resilience::{Outcome, limit::LimitConfig, registry::Registry};
/// # let orders = Registry::new().register("orders", LimitConfig::new()).unwrap();
/// let permit = orders.try_acquire().unwrap();
/// permit.complete(Outcome::Success);
/// permit.complete(Outcome::Success);
/// ```
#[derive(Debug)]
#[must_use = "a permit that is dropped at once gives its slot back before the call"]
pub struct Permit<'a>(Guard<InstanceRef<'a>>);

impl<'a> Permit<'a> {
    #[inline]
    pub(crate) fn try_acquire(instance: InstanceRef<'a>) -> Result<Self, Error> {
        Guard::try_acquire(instance).map(Self)
    }

    /// Has the thread wait for a slot if it may.
    #[inline]
    pub(crate) fn acquire(instance: InstanceRef<'a>) -> Result<Self, Error> {
        queue::wait(instance).map(Self)
    }

    /// Of a call that was admitted.
    pub(crate) fn of(instance: InstanceRef<'a>, call: Admitted) -> Self {
        Self(Guard::of(instance, call))
    }

    /// Gives the slot back and counts the call as `outcome` says.
    ///
    /// If this ends the window, the calling thread asks the algorithm for the next limit and calls the listeners, after
    /// the slot is free.
    #[inline]
    pub fn complete(self, outcome: Outcome) {
        self.0.complete(outcome);
    }
}

/// A permit by the way it holds its instance. A call that begins and ends in one function holds a mere reference, so that
/// all of its permit is in registers.
#[derive(Debug)]
pub(crate) struct Guard<I: Deref<Target = Instance>> {
    instance: I,
    /// Stands for nothing once the slot is given back.
    call: Admitted,
}

impl<I: Deref<Target = Instance>> Guard<I> {
    #[inline]
    fn try_acquire(instance: I) -> Result<Self, Error> {
        match instance.admit() {
            Ok(call) => Ok(Self { instance, call }),
            Err(full) => Err(instance.rejection(full)),
        }
    }

    /// Of a call that was admitted.
    #[inline]
    pub(crate) fn of(instance: I, call: Admitted) -> Self {
        Self { instance, call }
    }

    #[inline]
    pub(crate) fn instance(&self) -> &Instance {
        &self.instance
    }

    #[inline]
    pub(crate) fn complete(mut self, outcome: Outcome) {
        let call = std::mem::take(&mut self.call);
        if call.is_counted() {
            self.instance.end(call, Some(outcome));
        }
    }
}

impl Guard<&Instance> {
    /// Hands over the call without ending it.
    #[inline]
    pub(crate) fn suspend(mut self) -> Admitted {
        std::mem::take(&mut self.call)
    }
}

impl<I: Deref<Target = Instance>> Drop for Guard<I> {
    #[inline]
    fn drop(&mut self) {
        if self.call.is_counted() {
            self.instance.cancel(self.call);
        }
    }
}
