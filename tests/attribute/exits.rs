//! Every way out of a limited function gives the slot back, exactly once.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;

use resilience::adaptive_limit;
use resilience::limit::LimitConfig;
use resilience::registry::Registry;

use crate::support::{Fail, pause, poll_once};

/// How a call should end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Exit {
    Ok,
    Drop,
    Ignored,
    QuestionMark,
    Return,
    Break,
    Panic,
}

const EXITS: [Exit; 7] = [
    Exit::Ok,
    Exit::Drop,
    Exit::Ignored,
    Exit::QuestionMark,
    Exit::Return,
    Exit::Break,
    Exit::Panic,
];

#[adaptive_limit(name = "exits", drop_on = [Fail::Status(503)])]
fn leave(exit: Exit) -> Result<u32, Fail> {
    match exit {
        Exit::Ok => Ok(1),
        Exit::Drop => Err(Fail::Status(503)),
        Exit::Ignored => Err(Fail::Status(404)),
        Exit::QuestionMark => Ok("x".parse::<u32>()?),
        Exit::Return => return Ok(2),
        Exit::Break => {
            let found = 'search: {
                for number in 0..9 {
                    if number == 3 {
                        break 'search number;
                    }
                }
                0
            };
            Ok(found)
        }
        Exit::Panic => panic!("a body's own panic"),
    }
}

#[adaptive_limit(name = "exits", drop_on = [Fail::Status(503)])]
async fn leave_async(exit: Exit) -> Result<u32, Fail> {
    pause().await;
    match exit {
        Exit::Ok => Ok(1),
        Exit::Drop => Err(Fail::Status(503)),
        Exit::Ignored => Err(Fail::Status(404)),
        Exit::QuestionMark => Ok("x".parse::<u32>()?),
        Exit::Return => return Ok(2),
        Exit::Break => 'search: {
            for number in 0..9 {
                if number == 3 {
                    break 'search Ok(number);
                }
            }
            Ok(0)
        }
        Exit::Panic => panic!("a body's own panic"),
    }
}

/// Runs within a registry of the test's own, where the limit is known from the start.
fn scoped(run: impl FnOnce(&Registry)) {
    let registry = Registry::new();
    registry.register("exits", LimitConfig::new()).unwrap();
    registry.scope(|| run(&registry));
    let limit = registry.adaptive_limit("exits").unwrap();
    assert_eq!(limit.in_flight(), 0);
}

fn counters(registry: &Registry) -> (u64, u64, u64, u64) {
    let counters = registry
        .adaptive_limit("exits")
        .unwrap()
        .snapshot()
        .counters;
    (
        counters.admitted,
        counters.succeeded,
        counters.dropped,
        counters.ignored,
    )
}

fn in_flight(registry: &Registry) -> u32 {
    registry.adaptive_limit("exits").unwrap().in_flight()
}

#[test]
fn every_exit_of_a_sync_fn_frees_the_slot_and_counts_as_it_should() {
    scoped(|registry| {
        for exit in EXITS {
            let panicked = catch_unwind(|| leave(exit)).is_err();
            assert_eq!(panicked, exit == Exit::Panic);
            assert_eq!(in_flight(registry), 0, "{exit:?}");
        }
        // The panic is no sample; `?` is a failure that says nothing.
        assert_eq!(counters(registry), (7, 3, 1, 2));
    });
}

#[test]
fn every_exit_of_an_async_fn_frees_the_slot_at_ready_while_the_future_is_kept() {
    scoped(|registry| {
        for exit in EXITS {
            let mut future = pin!(leave_async(exit));
            assert_eq!(in_flight(registry), 0);
            assert!(poll_once(future.as_mut()).is_pending());
            assert_eq!(in_flight(registry), 1);
            let end = catch_unwind(AssertUnwindSafe(|| poll_once(future.as_mut()).is_ready()));
            assert_eq!(end.is_err(), exit == Exit::Panic);
            assert!(end.unwrap_or(true));
            // The future is still there.
            assert_eq!(in_flight(registry), 0, "{exit:?}");
        }
        assert_eq!(counters(registry), (7, 3, 1, 2));
    });
}

#[test]
fn a_future_dropped_before_its_first_poll_never_took_a_slot() {
    scoped(|registry| {
        drop(leave_async(Exit::Ok));
        assert_eq!(counters(registry), (0, 0, 0, 0));
    });
}

#[test]
fn a_future_dropped_half_way_gives_its_slot_back_and_is_no_sample() {
    scoped(|registry| {
        let mut future = Box::pin(leave_async(Exit::Ok));
        assert!(poll_once(future.as_mut()).is_pending());
        assert_eq!(in_flight(registry), 1);
        drop(future);
        assert_eq!(in_flight(registry), 0);
        assert_eq!(counters(registry), (1, 0, 0, 0));
    });
}

#[test]
fn a_future_dropped_by_another_thread_gives_its_slot_back() {
    scoped(|registry| {
        let mut future = Box::pin(leave_async(Exit::Ok));
        assert!(poll_once(future.as_mut()).is_pending());
        std::thread::spawn(move || drop(future)).join().unwrap();
        assert_eq!(in_flight(registry), 0);
    });
}

#[test]
fn a_future_that_panicked_and_is_polled_again_takes_no_second_slot() {
    scoped(|registry| {
        let mut future = Box::pin(leave_async(Exit::Panic));
        assert!(poll_once(future.as_mut()).is_pending());
        for _ in 0..2 {
            assert!(catch_unwind(AssertUnwindSafe(|| poll_once(future.as_mut()))).is_err());
            assert_eq!(in_flight(registry), 0);
        }
        assert_eq!(counters(registry).0, 1);
    });
}

#[test]
fn a_body_that_breaks_out_of_the_callers_loop_is_over_like_any_other() {
    #[adaptive_limit(name = "exits", rejected = stop)]
    fn step(at: u32) -> ControlFlow<u32> {
        if at > 2 {
            ControlFlow::Break(at)
        } else {
            ControlFlow::Continue(())
        }
    }
    fn stop(_: resilience::Error) -> ControlFlow<u32> {
        ControlFlow::Break(0)
    }
    scoped(|registry| {
        assert_eq!((0..9).try_for_each(step), ControlFlow::Break(3));
        assert_eq!(counters(registry), (4, 4, 0, 0));
    });
}

#[test]
fn calls_within_calls_of_one_name_take_a_slot_each() {
    #[adaptive_limit(name = "exits")]
    fn nested(depth: u32, registry: &Registry) -> Result<u32, Fail> {
        if depth == 0 {
            Ok(in_flight(registry))
        } else {
            nested(depth - 1, registry)
        }
    }
    scoped(|registry| {
        assert_eq!(nested(4, registry).unwrap(), 5);
        // Deeper than the limit of 20 the innermost call is rejected, and all slots come back.
        assert!(nested(20, registry).unwrap_err().is_rejection());
    });
}
