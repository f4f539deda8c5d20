//! What failed assertions say.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use resilience::event::Reason;
use resilience::limit::LimitConfig;
use resilience::limit::algorithm::Decision;
use resilience::testing::{Assertions, DecisionAssertions, TestRegistry, assert_rejected};
use resilience::{Error, Outcome};

fn message(payload: &dyn Any) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.expect("panics say something").to_owned()
}

/// The message of a failed assertion, and the line that it is told for.
fn failure(assertion: impl FnOnce()) -> (String, u32) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock();
    let told = Arc::new(Mutex::new(None));
    let seen = told.clone();
    let thread = std::thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() == thread {
            let location = info.location().unwrap();
            assert_eq!(location.file(), file!());
            let text = message(info.payload());
            *seen.lock().unwrap() = Some((text, location.line()));
        }
    }));
    let result = catch_unwind(AssertUnwindSafe(assertion));
    std::panic::set_hook(before);
    assert!(result.is_err(), "the assertion should fail");
    told.lock().unwrap().take().unwrap()
}

#[test]
fn a_failed_assertion_says_what_is_what_was_expected_and_why_and_stands_where_it_is_written() {
    let test = TestRegistry::new();
    let config = LimitConfig::new().algorithm("aimd").min_window_samples(1);
    let orders = test.registry().register("orders", config).unwrap();
    let call = orders.try_acquire().unwrap();
    test.advance(Duration::from_secs(1));
    call.complete(Outcome::Drop);
    let _held = orders.try_acquire().unwrap();
    let state = "\n  aimd: limit 18 of 1 to 200, 1 in flight, 1 windows; 2 admitted, 0 rejected, 1 dropped; last decision: 1 of 1 calls were drops";

    let expected_line = line!() + 2;
    let (said, line) = failure(|| {
        orders.assert_limit(20);
    });
    assert_eq!(
        said,
        format!("the limit of `orders` is 18, expected 20{state}")
    );
    assert_eq!(line, expected_line);

    let (said, _) = failure(|| {
        orders.assert_in_flight(0);
    });
    assert_eq!(
        said,
        format!("the number of calls in flight of `orders` is 1, expected 0{state}")
    );
    let (said, _) = failure(|| {
        orders.assert_rejected(3);
    });
    assert!(said.starts_with("the number of rejected calls of `orders` is 0, expected 3\n"));
    let (said, _) = failure(|| {
        orders.assert_windows(2);
    });
    assert!(said.starts_with("the number of closed windows of `orders` is 1, expected 2\n"));
    let (said, _) = failure(|| {
        orders.assert_latency(Duration::from_millis(3));
    });
    assert!(said.starts_with("the latency of the last window of `orders` is none, expected 3ms\n"));
    let (said, _) = failure(|| {
        orders.assert_reason(|reason| *reason == Reason::Initial);
    });
    let start =
        "the reason of the last decision is not the expected one: Drops { drops: 1, samples: 1 }\n";
    assert!(said.starts_with(start), "{said}");
    orders.assert_limit(18).assert_windows(1);
}

#[test]
fn a_failed_assertion_on_a_decision_says_why_it_was_made() {
    let decision = Decision::new(7.5, Reason::custom("halving"));
    let (said, _) = failure(|| {
        decision.assert_limit(8);
    });
    assert_eq!(
        said,
        "the decision is for a limit of 7.5, expected 8: halving"
    );
    decision.assert_limit(7);
    let (said, _) = failure(|| {
        decision.assert_reason(|reason| *reason == Reason::Bounds);
    });
    assert!(said.ends_with("Custom(\"halving\")"), "{said}");
}

#[test]
fn what_was_no_rejection_is_told() {
    let (said, line) = failure(|| drop(assert_rejected(&Ok::<_, Error>(7)).clone()));
    assert!(said.contains("returned 7"), "{said}");
    assert_eq!(line, line!() - 2);
    let timed_out = Err::<(), _>(Error::timed_out("orders", Duration::from_secs(1)));
    let (said, _) = failure(|| drop(assert_rejected(&timed_out).clone()));
    assert!(said.contains("timed out after 1s"), "{said}");
}
