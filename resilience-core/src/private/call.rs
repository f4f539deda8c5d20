//! One limited call, sync or async. The limit itself is the same [`Permit`], and so is the way to it; there is nothing else to
//! a call.

use std::future::Future;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::probe::Of;
use crate::error::Error;
use crate::limit::instance::InstanceRef;
use crate::limit::queue::{self, Entry};
use crate::outcome::Outcome;
use crate::registry::call_site::{Answer, Resolved};

/// Runs `body` under the limit, or makes the output of a rejected call.
///
/// `body` stands before `classify` here and below: of an output `impl Trait` only the body tells the type.
///
/// A panic of `body` drops the permit: the slot is free and the call is no sample.
#[inline]
pub fn limit_sync<R>(
    resolved: Resolved,
    body: impl FnOnce() -> R,
    classify: impl FnOnce(&R, Of<'_>) -> Outcome,
    reject: impl FnOnce(Error) -> R,
) -> R {
    let shared;
    let instance = match resolved.0 {
        Answer::Borrowed(instance) => instance,
        Answer::Shared(instance) => {
            shared = instance;
            &shared
        }
        Answer::Error(error) => return reject(*error),
    };
    match queue::wait(instance) {
        Ok(permit) => {
            let output = body();
            let outcome = classify(&output, Of(permit.instance()));
            permit.complete(outcome);
            output
        }
        Err(error) => reject(error),
    }
}

/// Puts `future` under the limit. The first argument ties the output's type before the future is looked at.
///
/// The type is not told: if the future is none or has another output, the compiler says so, and nothing that would follow.
#[inline]
pub fn limit_async<R, F, C, J>(
    _output: PhantomData<fn() -> R>,
    resolved: Resolved,
    future: F,
    classify: C,
    reject: J,
) -> impl Future<Output = R> + use<R, F, C, J>
where
    F: Future<Output = R>,
    C: FnOnce(&R, Of<'_>) -> Outcome,
    J: FnOnce(Error) -> R,
{
    Limited {
        future,
        entry: match resolved.0 {
            Answer::Borrowed(instance) => Ok(Entry::new(InstanceRef::Borrowed(instance))),
            Answer::Shared(instance) => Ok(Entry::new(InstanceRef::Shared(instance))),
            Answer::Error(error) => Err(error),
        },
        hooks: Some((classify, reject)),
    }
}

/// Makes the future that is put under the limit; the making is not limited.
#[inline]
pub fn made<F>(make: impl FnOnce() -> F) -> F {
    make()
}

pin_project! {
    /// A future under an adaptive limit.
    ///
    /// The slot is taken at the first poll, or waited for from then on, and free again when the output is ready. Dropped before
    /// that, the future gives its slot or its place in the queue back and the call is no sample.
    #[must_use = "futures do nothing unless polled"]
    struct Limited<F, C, J> {
        #[pin]
        future: F,
        // Holds the slot between polls. During one the slot is held on the stack: a panic of the inner future frees it.
        entry: Result<Entry<InstanceRef<'static>>, Box<Error>>,
        // What to make of the output and of a rejection; `None` when the future is done.
        hooks: Option<(C, J)>,
    }
}

// As safe to unwind through as what it holds: a panic of the inner future leaves no permit and no half-done state here.
impl<F: UnwindSafe, C: UnwindSafe, J: UnwindSafe> UnwindSafe for Limited<F, C, J> {}
impl<F: RefUnwindSafe, C: RefUnwindSafe, J: RefUnwindSafe> RefUnwindSafe for Limited<F, C, J> {}

impl<F, C, J> Future for Limited<F, C, J>
where
    F: Future,
    C: FnOnce(&F::Output, Of<'_>) -> Outcome,
    J: FnOnce(Error) -> F::Output,
{
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let rejected = |hooks: &mut Option<(C, J)>, error| {
            let (_, reject) = hooks.take().expect(POLLED_AFTER_READY);
            Poll::Ready(reject(error))
        };
        let entry = match this.entry {
            Ok(entry) => entry,
            Err(error) => return rejected(this.hooks, (**error).clone()),
        };
        let running = match entry.poll(context) {
            Poll::Ready(Ok(running)) => running,
            Poll::Ready(Err(error)) => return rejected(this.hooks, error),
            Poll::Pending => return Poll::Pending,
        };
        match this.future.poll(context) {
            Poll::Ready(output) => {
                let (classify, _) = this.hooks.take().expect(POLLED_AFTER_READY);
                let outcome = classify(&output, Of(running.instance()));
                running.complete(outcome);
                Poll::Ready(output)
            }
            Poll::Pending => {
                let call = running.suspend();
                entry.keep(call);
                Poll::Pending
            }
        }
    }
}

const POLLED_AFTER_READY: &str = "a limited future was polled after it was ready or had panicked";
