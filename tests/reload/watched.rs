//! Files that are looked at again and again.

use std::sync::mpsc;
use std::time::Duration;

use resilience::Error;
use resilience::limit::LimitConfig;

use crate::support::{Directory, manual, says};

/// Longer than any machine needs: it is waited for what must come, never for what must not.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn a_watched_file_is_taken_when_its_content_changes() -> Result<(), Error> {
    let directory = Directory::new();
    let file = directory.write(
        "app.properties",
        "instances.orders.adaptiveLimit.maxLimit=10\n",
    );
    let (builder, _) = manual();
    let registry = builder.file(&file).build()?;
    let orders = registry.register("orders", LimitConfig::new())?;
    let (told, events) = mpsc::channel();
    let _telling = registry.subscribe(move |event| told.send(event.clone()).unwrap());
    let watch = registry.watch(Duration::from_millis(1));

    directory.write(
        "app.properties",
        "instances.orders.adaptiveLimit.maxLimit=5\n",
    );
    let event = events.recv_timeout(PATIENCE).expect("the file has changed");
    says(&event.to_string(), &["`orders`", "from 10 to 5"]);
    assert_eq!(orders.limit(), 5);

    directory.write(
        "app.properties",
        "instances.orders.adaptiveLimit.maxLimit=0\n",
    );
    let refused = loop {
        let event = events
            .recv_timeout(PATIENCE)
            .expect("the file is not taken");
        if event.to_string().contains("app.properties:1") {
            break event;
        }
    };
    says(&refused.to_string(), &["0"]);
    assert!(registry.snapshot().stale.is_some());
    assert_eq!(orders.limit(), 5);
    drop(watch);
    Ok(())
}

#[test]
fn what_has_not_changed_is_not_read_again() -> Result<(), Error> {
    let directory = Directory::new();
    let file = directory.write(
        "app.properties",
        "instances.orders.adaptiveLimit.maxLimit=10\n",
    );
    let (builder, _) = manual();
    let registry = builder.file(&file).build()?;
    assert!(!registry.reload_if_changed()?);
    // Written anew, with the same content.
    directory.write(
        "app.properties",
        "instances.orders.adaptiveLimit.maxLimit=10\n",
    );
    assert!(!registry.reload_if_changed()?);
    directory.write(
        "app.properties",
        "instances.orders.adaptiveLimit.maxLimit=11\n",
    );
    assert!(registry.reload_if_changed()?);
    // A bad one is told once.
    directory.write(
        "app.properties",
        "instances.orders.adaptiveLimit.maxLimit=x\n",
    );
    registry.reload_if_changed().unwrap_err();
    assert!(!registry.reload_if_changed()?);
    // Back to what it was: no longer stale.
    directory.write(
        "app.properties",
        "instances.orders.adaptiveLimit.maxLimit=11\n",
    );
    assert!(registry.reload_if_changed()?);
    assert_eq!(registry.snapshot().stale, None);
    Ok(())
}

#[test]
fn a_watch_ends_when_it_is_dropped_and_does_not_keep_the_registry() -> Result<(), Error> {
    let (builder, _) = manual();
    let registry = builder.build()?;
    let watch = registry.watch(Duration::from_secs(3600));
    drop(registry);
    // Returns at once, an hour before the next look.
    drop(watch);
    Ok(())
}
