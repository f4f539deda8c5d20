//! `#[adaptive_limit]` on every shape of fn: it limits, and taking it off changes nothing else.
#![deny(warnings, unused)]

mod classify;
mod drop_order;
mod futures;
mod hygiene;
mod identity;
mod shapes;
mod support;
