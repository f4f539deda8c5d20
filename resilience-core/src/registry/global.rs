//! The process-wide registry, and registries that take its place for a while.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use super::Registry;
use crate::error::{Code, Error, Problem};

static GLOBAL: OnceLock<Registry> = OnceLock::new();

/// How many scopes are entered on all threads. While it is 0, as in production, a call asks no further.
///
/// Relaxed: a thread that entered a scope sees its own increment; other threads' scopes are not its business.
static SCOPES: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Without a destructor, so that destructors of an ending thread may enter a scope too. It owns nothing outside of
    /// scopes.
    static CURRENT: ManuallyDrop<RefCell<Vec<Registry>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

pub(crate) fn get() -> &'static Registry {
    GLOBAL.get_or_init(Registry::new)
}

/// The process-wide registry, if there is one so far.
pub(crate) fn installed() -> Option<&'static Registry> {
    GLOBAL.get()
}

pub(crate) fn install(registry: Registry) -> Result<(), Error> {
    GLOBAL.set(registry).map_err(|_| {
        let text = "the process-wide registry was installed or used before: install it first thing in `main`".to_owned();
        Error::settings(vec![Problem::new(Code::GLOBAL_ALREADY_SET, text)])
    })
}

/// Whether a scope is entered on any thread.
#[inline]
pub(crate) fn any_scoped() -> bool {
    SCOPES.load(Ordering::Relaxed) != 0
}

/// The registry that the calling thread is scoped to, if any.
pub(crate) fn scoped() -> Option<Registry> {
    CURRENT.with(|current| current.borrow().last().cloned())
}

pub(crate) fn enter(registry: &Registry) -> Entered {
    CURRENT.with(|current| current.borrow_mut().push(registry.clone()));
    SCOPES.fetch_add(1, Ordering::Relaxed);
    Entered {
        _not_send: std::marker::PhantomData,
    }
}

/// Leaves the scope when dropped, on the thread that entered it.
pub(crate) struct Entered {
    _not_send: std::marker::PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        SCOPES.fetch_sub(1, Ordering::Relaxed);
        // Dropped after the borrow ends: the last clone of a registry drops its instances.
        let _left = CURRENT.with(|current| {
            let mut current = current.borrow_mut();
            let left = current.pop();
            if current.is_empty() {
                *current = Vec::new();
            }
            left
        });
    }
}

pin_project_lite::pin_project! {
    /// A future with a registry in the place of the process-wide one; made by [`Registry::scope_future`].
    #[must_use = "futures do nothing unless polled"]
    pub struct Scoped<F> {
        registry: Registry,
        #[pin]
        future: F,
    }
}

impl<F> Scoped<F> {
    pub(crate) fn new(registry: Registry, future: F) -> Self {
        Self { registry, future }
    }
}

impl<F: Future> Future for Scoped<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _entered = enter(this.registry);
        this.future.poll(context)
    }
}

impl<F> fmt::Debug for Scoped<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scoped")
            .field("registry", &self.registry)
            .finish_non_exhaustive()
    }
}
