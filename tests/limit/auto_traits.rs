//! Which threads and panics the public types may cross: part of the interface, so a change of it must be seen.

use std::panic::{RefUnwindSafe, UnwindSafe};

use resilience::event::Event;
use resilience::event::Subscription;
use resilience::limit::algorithm::{Aimd, Decision, Gradient2, Vegas};
use resilience::limit::window::Window;
use resilience::limit::{AdaptiveLimit, LimitConfig, Permit, Snapshot};
use resilience::registry::{Builder, Registry, RegistrySnapshot};
use resilience::time::{ManualClock, SystemClock};
use resilience::{Error, Id, Outcome};

fn everywhere<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}

#[test]
fn everything_a_user_holds_crosses_threads_and_panics() {
    everywhere::<Registry>();
    everywhere::<RegistrySnapshot>();
    everywhere::<AdaptiveLimit>();
    everywhere::<Permit<'static>>();
    everywhere::<Subscription>();
    everywhere::<Snapshot>();
    everywhere::<LimitConfig>();
    everywhere::<Error>();
    everywhere::<Id>();
    everywhere::<Outcome>();
    everywhere::<Event>();
    everywhere::<Window>();
    everywhere::<Decision>();
    everywhere::<(Aimd, Gradient2, Vegas)>();
    everywhere::<(ManualClock, SystemClock)>();
}

#[test]
fn a_builder_crosses_threads() {
    fn sent<T: Send + Sync>() {}
    sent::<Builder>();
}
