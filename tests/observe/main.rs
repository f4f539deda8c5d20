//! Seeing limits: events to listeners, and what is made of them.

mod events;
mod metered;
mod prometheus;
mod served;
mod support;
mod traced;
