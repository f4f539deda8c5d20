//! Events as `tracing` has them.

use std::fmt::{self, Write};
use std::sync::{Arc, Mutex};

use resilience::Outcome;
use resilience::event::Topics;
use resilience::integrations::tracing as traced;
use resilience::registry::Registry;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber, subscriber};

use crate::support::{calls, moving, rejected, with_setting};

/// Keeps events as text: level, target, name, then the fields in their order.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() != "message" {
            write!(self.0, " {}={value:?}", field.name()).unwrap();
        }
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("resilience::")
    }
    fn event(&self, event: &Event<'_>) {
        let data = event.metadata();
        let mut fields = Fields(format!(
            "{} {} {}",
            data.level(),
            data.target(),
            data.name()
        ));
        event.record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn every_event_has_its_level_target_name_and_fields() {
    let (registry, clock, value) = with_setting("defaults.adaptiveLimit.maxLimit", "50");
    let lines = Lines::default();
    let _traced = traced::subscribe_to(&registry, Topics::ALL);
    subscriber::with_default(lines.clone(), || {
        let orders = moving(&registry, "orders");
        rejected(&orders);
        calls(&orders, &clock, 1, Outcome::Success);
        for text in ["60", "nothing"] {
            *value.lock().unwrap() = text;
            let _ = registry.reload();
        }
    });
    let lines = lines.take();
    assert_eq!(
        lines[..5],
        [
            r#"DEBUG resilience::adaptive_limit limit_made id="orders" limit=2"#,
            r#"DEBUG resilience::adaptive_limit rejected id="orders" limit=2 in_flight=2 reason="limit_exceeded""#,
            r#"TRACE resilience::adaptive_limit window_closed id="orders" decision=1 duration_ns=1000000000 samples=1 drops=0 latency_ns=1000000000.0 max_in_flight=1 limit=3 reason="increase""#,
            r#"DEBUG resilience::adaptive_limit limit_changed id="orders" from=2 to=3 reason="increase" decision=1"#,
            "INFO resilience::settings reloaded limits=1",
        ]
    );
    let refused = "WARN resilience::settings reload_refused error=";
    assert!(lines[5].starts_with(refused), "{}", lines[5]);
    assert_eq!(lines.len(), 6);
}

#[test]
fn rejections_are_left_out_unless_they_are_asked_for_and_dropping_it_ends_it() {
    let registry = Registry::new();
    let lines = Lines::default();
    let traced = traced::subscribe(&registry);
    subscriber::with_default(lines.clone(), || {
        let orders = moving(&registry, "orders");
        rejected(&orders);
        drop(traced);
        orders.reset();
        moving(&registry, "after");
    });
    assert_eq!(
        lines.take(),
        [r#"DEBUG resilience::adaptive_limit limit_made id="orders" limit=2"#]
    );
}
