//! Outputs that the options do not fit.

use resilience::{Error, adaptive_limit};

struct Plain;

#[adaptive_limit]
fn no_result(value: u32) -> Option<u32> {
    Some(value)
}

#[adaptive_limit]
async fn no_result_later() {}

#[derive(Debug)]
struct NotFrom;
impl std::fmt::Display for NotFrom {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}
impl std::error::Error for NotFrom {}

#[adaptive_limit]
fn not_from() -> Result<u32, NotFrom> {
    Ok(1)
}

struct NoError;
impl From<Error> for NoError {
    fn from(_: Error) -> Self {
        Self
    }
}

#[adaptive_limit]
fn no_error() -> Result<u32, NoError> {
    Ok(1)
}

#[adaptive_limit]
async fn no_error_later<E: From<Error>>(value: Result<u32, E>) -> Result<u32, E> {
    value
}

#[adaptive_limit(drop_on = [Some(_)], rejected = plain)]
fn drop_on_without_result() -> Plain {
    Plain
}

fn plain(_: Error) -> Plain {
    Plain
}

#[adaptive_limit(rejected = plain)]
fn rejected_of_another_type() -> Option<u32> {
    None
}

#[adaptive_limit(drop_if = plain)]
async fn drop_if_of_another_type() -> Result<u32, Error> {
    Ok(1)
}

#[adaptive_limit(drop_on = [NoError::Missing])]
fn pattern_that_is_not() -> Result<u32, NoError> {
    Ok(1)
}

#[adaptive_limit(crate = crate::nowhere)]
fn no_such_crate() -> Result<u32, Error> {
    Ok(1)
}

#[adaptive_limit]
fn wrong_body() -> Result<u32, Error> {
    Ok("text")
}

#[adaptive_limit]
async fn wrong_body_later(text: &str) -> Result<u32, Error> {
    let value: u32 = text.parse()?;
    Ok(value)
}

fn main() {}
