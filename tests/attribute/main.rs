//! `#[adaptive_limit]` on every shape of fn: it limits, and taking it off changes nothing else.
#![deny(warnings)]
#![allow(
    clippy::needless_pass_by_value,
    reason = "fns here own their arguments to see what becomes of them"
)]

mod blocks;
mod bodies;
mod classify;
mod delegate;
mod drop_order;
mod elapsed;
mod exits;
mod futures;
mod hygiene;
mod identity;
mod lints;
mod shapes;
mod support;
mod waiting;
