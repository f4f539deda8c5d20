//! Events of limits as events of the `tracing` crate.
//!
//! | name | level | target | fields |
//! |---|---|---|---|
//! | `limit_changed` | debug | `resilience::adaptive_limit` | `id`, `from`, `to`, `reason`, `decision` |
//! | `window_closed` | trace | `resilience::adaptive_limit` | `id`, `decision`, `duration_ns`, `samples`, `drops`, `latency_ns` if there is one, `max_in_flight`, `limit`, `reason` |
//! | `rejected` | debug | `resilience::adaptive_limit` | `id`, `limit`, `in_flight`, `reason` |
//! | `limit_made` | debug | `resilience::adaptive_limit` | `id`, `limit` |
//! | `reloaded` | info | `resilience::settings` | `limits` |
//! | `reload_refused` | warn | `resilience::settings` | `error` |
//!
//! Each has a message for people besides. `reason` is the stable [name](crate::event::Reason::name); its numbers are in the
//! message.

use ::tracing::{Level, event};

use crate::event::Subscription;
use crate::event::{Event, Topics};
use crate::registry::Registry;

/// The target of what happens to limits.
const LIMIT: &str = "resilience::adaptive_limit";
/// The target of what happens to settings.
const SETTINGS: &str = "resilience::settings";

/// Tells what happens to the limits of a registry, also to those made later, until the subscription is dropped: everything
/// but rejected calls, which the caller hears of anyway.
///
/// # Examples
///
/// ```
/// use resilience::integrations::tracing;
/// use resilience::registry::Registry;
///
/// let _traced = tracing::subscribe(Registry::global());
/// ```
pub fn subscribe(registry: &Registry) -> Subscription {
    subscribe_to(registry, Topics::ALL - Topics::REJECTIONS)
}

/// Like [`subscribe`], for what you choose.
///
/// With [`Topics::REJECTIONS`] each rejected call costs a few times as much, even if no subscriber of `tracing` is
/// interested.
///
/// # Examples
///
/// ```
/// use resilience::event::Topics;
/// use resilience::integrations::tracing;
/// use resilience::registry::Registry;
///
/// let _traced = tracing::subscribe_to(Registry::global(), Topics::default() | Topics::REJECTIONS);
/// ```
pub fn subscribe_to(registry: &Registry, topics: Topics) -> Subscription {
    registry.subscribe_to(topics, tell)
}

fn tell(event: &Event) {
    match event {
        Event::LimitChanged {
            id,
            from,
            to,
            reason,
            decision,
        } => {
            event!(name: "limit_changed", target: LIMIT, Level::DEBUG, id = id.as_str(), from, to,
                reason = reason.name(), decision, "{event}");
        }
        Event::WindowClosed {
            id,
            decision,
            duration,
            samples,
            drops,
            latency,
            max_in_flight,
            limit,
            reason,
        } => {
            event!(name: "window_closed", target: LIMIT, Level::TRACE, id = id.as_str(), decision,
                duration_ns = duration, samples, drops, latency_ns = latency, max_in_flight, limit,
                reason = reason.name(), "{event}");
        }
        Event::Rejected {
            id,
            limit,
            in_flight,
            reason,
        } => {
            event!(name: "rejected", target: LIMIT, Level::DEBUG, id = id.as_str(), limit, in_flight,
                reason = reason.name(), "{event}");
        }
        Event::LimitMade { id, limit } => {
            event!(name: "limit_made", target: LIMIT, Level::DEBUG, id = id.as_str(), limit, "{event}");
        }
        Event::Reloaded { limits } => {
            event!(name: "reloaded", target: SETTINGS, Level::INFO, limits, "{event}");
        }
        Event::ReloadRefused { error } => {
            event!(name: "reload_refused", target: SETTINGS, Level::WARN, error = &**error, "{event}");
        }
    }
}
