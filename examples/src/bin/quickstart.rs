//! The least one needs: a function under a limit, a rejection, and a look at the limit.

use std::time::Duration;

use resilience::adaptive_limit;
use resilience::registry::Registry;

#[derive(Debug, thiserror::Error)]
enum SearchError {
    #[error("too busy: {0}")]
    Busy(#[from] resilience::Error),
    #[error("no answer in time")]
    Timeout(#[from] tokio::time::error::Elapsed),
}

#[adaptive_limit(name = "search", initial_limit = 5, max_limit = 100, drop_on = [SearchError::Timeout(_)])]
async fn search(query: &str) -> Result<String, SearchError> {
    // What stands for the call to the dependency.
    tokio::time::timeout(Duration::from_secs(1), async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        format!("hits for {query}")
    })
    .await
    .map_err(Into::into)
}

#[tokio::main]
async fn main() -> Result<(), SearchError> {
    let mut calls = tokio::task::JoinSet::new();
    for number in 1..=8 {
        calls.spawn(async move { search(&format!("query {number}")).await });
    }
    for result in calls.join_all().await {
        match result {
            Ok(hits) => println!("{hits}"),
            Err(SearchError::Busy(rejection)) => println!("rejected: {rejection}"),
            Err(error) => return Err(error),
        }
    }

    let now = Registry::global().adaptive_limit("search")?.snapshot();
    println!("limit {} ({}), {:?}", now.limit, now.reason, now.counters);
    Ok(())
}
