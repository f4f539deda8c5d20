//! Every shape of fn, `crate = limits`.

use std::future::Future;
use std::pin::Pin;

use limits::adaptive_limit;

use crate::error::{Failure, Result};

const CALLS: &str = "calls";
const MOST: u32 = 50;

/// Sync.
///
/// # Errors
/// If the text is no number.
#[adaptive_limit(crate = limits)]
pub fn sync(text: &str) -> Result<u32> {
    let number = text.parse()?;
    Ok(number)
}

/// Every argument of the attribute that is a setting or says what overload is.
///
/// # Errors
/// If the text is no number.
#[adaptive_limit(
    crate = limits,
    name = CALLS,
    algorithm = "gradient2",
    initial_limit = 10,
    min_limit = 1,
    max_limit = MOST,
    window = "250ms",
    enabled = true,
    drop_on = [Failure::Busy, Failure::Limited(_)],
    drop_if = is_long
)]
pub fn with_options(text: &str) -> Result<String> {
    if text.is_empty() {
        return Err(Failure::NoNumber);
    }
    Ok(text.to_owned())
}

fn is_long(output: &Result<String>) -> bool {
    output.as_ref().is_ok_and(|text| text.len() > 100)
}

/// Async, with an argument that is consumed, one that is set anew and one that nobody looks at.
///
/// # Errors
/// If the text is no number.
#[adaptive_limit(crate = limits)]
pub async fn asynchronous(text: String, mut sum: u32, _held: Vec<u8>) -> Result<u32> {
    std::future::ready(()).await;
    sum += text.parse::<u32>()?;
    drop(text);
    Ok(sum)
}

/// Generic.
///
/// # Errors
/// If there is none.
#[adaptive_limit(crate = limits)]
pub fn generic<'a, T, F, const N: usize>(items: &'a [T; N], mut fits: F) -> Result<&'a T>
where
    F: FnMut(&T) -> bool,
{
    items.iter().find(|item| fits(item)).ok_or(Failure::Busy)
}

/// Any error.
///
/// # Errors
/// The error that is handed in.
#[adaptive_limit(crate = limits)]
pub fn any_error<E>(error: Option<E>) -> Result<(), E>
where
    E: std::error::Error + From<limits::Error>,
{
    error.map_or(Ok(()), Err)
}

/// No result.
#[adaptive_limit(crate = limits, rejected = nothing)]
#[must_use]
pub fn optional(number: u32) -> Option<u32> {
    number.checked_sub(1)
}

#[allow(clippy::needless_pass_by_value)]
fn nothing(error: limits::Error) -> Option<u32> {
    assert!(!error.is_settings(), "{error}");
    None
}

/// Nothing at all.
#[adaptive_limit(crate = limits, rejected = drop)]
pub fn unit() {}

/// An `impl Future` that holds nothing of its argument: this edition's captures none of its lifetime.
#[adaptive_limit(crate = limits)]
#[allow(impl_trait_overcaptures)]
pub fn detached(text: &str) -> impl Future<Output = Result<usize>> + Send + 'static {
    let length = text.len();
    async move { Ok(length) }
}

/// The same with a lifetime that has a bound.
#[adaptive_limit(crate = limits)]
#[allow(impl_trait_overcaptures)]
pub fn detached_early<'a: 'a>(
    text: &'a str,
) -> impl Future<Output = Result<usize>> + Send + 'static {
    let length = text.len();
    async move { Ok(length) }
}

/// An `impl Future` that holds its argument.
#[adaptive_limit(crate = limits)]
pub fn attached(text: &str) -> impl Future<Output = Result<usize>> + Send + '_ {
    async move { Ok(text.len()) }
}

/// A boxed future.
#[adaptive_limit(crate = limits)]
#[must_use]
pub fn boxed(text: &str) -> Pin<Box<dyn Future<Output = Result<usize>> + Send + '_>> {
    Box::pin(async move { Ok(text.len()) })
}

/// A boxed future that came from elsewhere.
#[adaptive_limit(crate = limits)]
#[must_use]
pub fn boxed_elsewhere(text: &str) -> Pin<Box<dyn Future<Output = Result<usize>> + Send + '_>> {
    if text.is_empty() {
        return Box::pin(std::future::ready(Ok(0)));
    }
    Box::pin(attached(text))
}

/// A trait.
pub trait Store {
    /// Reads.
    ///
    /// # Errors
    /// If there is nothing to read.
    fn read(&self, at: usize) -> Result<&str>;

    /// Reads, or not.
    ///
    /// # Errors
    /// If the call is rejected.
    #[adaptive_limit(crate = limits)]
    fn read_or<'a>(&'a self, at: usize, or: &'a str) -> Result<&'a str> {
        Ok(self.read(at).unwrap_or(or))
    }

    /// Later.
    #[adaptive_limit(crate = limits)]
    fn read_later(&self, at: usize) -> impl Future<Output = Result<String>> + Send
    where
        Self: Sync,
    {
        async move { self.read(at).map(str::to_owned) }
    }
}

impl Store for Vec<String> {
    #[adaptive_limit(crate = limits)]
    fn read(&self, at: usize) -> Result<&str> {
        let text = self.get(at).ok_or(Failure::Busy)?;
        Ok(text)
    }
}

/// Methods.
#[derive(Debug, Default)]
pub struct Client {
    calls: u32,
}

impl Client {
    /// By a mutable reference.
    ///
    /// # Errors
    /// If the call is rejected.
    #[adaptive_limit(crate = limits)]
    pub fn count(&mut self) -> Result<&mut u32> {
        self.calls += 1;
        Ok(&mut self.calls)
    }

    /// By value.
    ///
    /// # Errors
    /// If the call is rejected.
    #[adaptive_limit(crate = limits)]
    pub async fn finish(mut self) -> Result<u32> {
        std::future::ready(()).await;
        self.calls += 1;
        Ok(self.calls)
    }
}
