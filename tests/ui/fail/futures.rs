//! Bodies that make no future, or another: one error each, where it would be without the attribute.

use std::pin::Pin;

use resilience::{Error, adaptive_limit};

async fn call() -> Result<u32, Error> {
    Ok(1)
}

#[adaptive_limit]
fn no_value() -> impl Future<Output = Result<u32, Error>> {
    call();
}

#[adaptive_limit]
fn no_future() -> impl Future<Output = Result<u32, Error>> {
    5
}

#[adaptive_limit]
fn another_output() -> impl Future<Output = Result<u32, Error>> {
    async { Ok("text") }
}

#[adaptive_limit]
fn no_value_in_a_box() -> Pin<Box<dyn Future<Output = Result<u32, Error>>>> {
    Box::pin(call());
}

#[adaptive_limit]
fn no_box() -> Pin<Box<dyn Future<Output = Result<u32, Error>>>> {
    call()
}

#[adaptive_limit]
fn no_output_in_a_box() -> Pin<Box<dyn Future<Output = Result<u32, Error>>>> {
    Box::pin(async {
        call().await;
    })
}

#[adaptive_limit]
fn another_output_in_a_box() -> Pin<Box<dyn Future<Output = Result<u32, Error>>>> {
    Box::pin(async { Ok("text") })
}

#[adaptive_limit]
fn not_send(shared: std::rc::Rc<u32>) -> impl Future<Output = Result<u32, Error>> + Send {
    async move {
        call().await?;
        Ok(*shared)
    }
}

#[adaptive_limit]
fn no_value_of_mut(mut count: u32) -> Result<u32, Error> {
    count += 1;
    Ok(count);
}

fn main() {}
