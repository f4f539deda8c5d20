//! `#[tokio::test]`: a test under a limit is nothing to recommend, but both attributes do what they say.

use resilience::registry::Registry;
use resilience::{Error, adaptive_limit};

fn running(id: &str) -> (u32, u64) {
    let limit = Registry::global().adaptive_limit(id).unwrap();
    (limit.in_flight(), limit.snapshot().counters.admitted)
}

#[::tokio::test]
#[adaptive_limit(name = "test_above")]
async fn above() -> Result<(), Error> {
    ::tokio::task::yield_now().await;
    assert_eq!(running("test_above"), (1, 1));
    Ok(())
}

#[adaptive_limit(name = "test_below")]
#[::tokio::test]
async fn below() -> Result<(), Error> {
    ::tokio::task::yield_now().await;
    assert_eq!(running("test_below"), (1, 1));
    Ok(())
}

#[::tokio::test(flavor = "current_thread")]
async fn spawned() {
    #[adaptive_limit(name = "spawned")]
    async fn call(text: String) -> Result<usize, Error> {
        ::tokio::task::yield_now().await;
        Ok(text.len())
    }
    let calls = [1, 2, 3].map(|count| ::tokio::spawn(call("a".repeat(count))));
    for (call, length) in calls.into_iter().zip(1..) {
        assert_eq!(call.await.unwrap().unwrap(), length);
    }
    assert_eq!(running("spawned"), (0, 3));
}
