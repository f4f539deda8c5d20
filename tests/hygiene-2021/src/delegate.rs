//! Delegates of traits.

use std::fmt::{Debug, Display};
use std::future::Future;
use std::pin::Pin;

use limits::resilient;

use crate::error::{Failure, Result};

/// A trait.
#[resilient(crate = limits)]
pub trait Orders: Debug + Send + Sync {
    /// How many.
    const MOST: usize = 3;

    /// What it finds.
    type Row: Debug + Send;

    /// Finds.
    ///
    /// # Errors
    /// If there is none.
    #[adaptive_limit]
    fn find(&self, _id: u32, unused: &str) -> Result<Self::Row>;

    /// Finds any.
    ///
    /// # Errors
    /// If there is none.
    #[limits::adaptive_limit(name = "any", max_limit = 7, drop_on = [Failure::Busy])]
    fn any<'a, T: Display + ?Sized, const N: usize>(
        &'a self,
        shown: &'a T,
        (mut first, _): (u32, impl Copy),
    ) -> Result<&'a T> {
        first += 1;
        let _ = [first; N];
        Ok(shown)
    }

    /// Later.
    #[adaptive_limit]
    fn later(&self, id: u32) -> impl Future<Output = Result<u32>> + Send;

    /// Later, in a box.
    #[adaptive_limit]
    fn boxed(&self) -> Pin<Box<dyn Future<Output = Result<u32>> + Send + '_>>;

    /// How many there are.
    #[must_use]
    fn count(&self) -> usize;

    /// How many there were.
    #[deprecated = "count"]
    fn old_count(&mut self, by: usize) -> usize {
        self.count() + by
    }

    /// Another one.
    ///
    /// # Errors
    /// If the call is rejected.
    #[adaptive_limit]
    fn another(&self, other: &Self) -> Result<Self>
    where
        Self: Sized;
}

/// An implementor.
#[derive(Clone, Copy, Debug)]
pub struct Store;

impl Orders for Store {
    type Row = String;

    fn find(&self, id: u32, _: &str) -> Result<String> {
        Ok(id.to_string())
    }

    fn later(&self, id: u32) -> impl Future<Output = Result<u32>> + Send {
        std::future::ready(Ok(id))
    }

    fn boxed(&self) -> Pin<Box<dyn Future<Output = Result<u32>> + Send + '_>> {
        Box::pin(std::future::ready(Ok(1)))
    }

    fn count(&self) -> usize {
        1
    }

    fn another(&self, other: &Self) -> Result<Self> {
        Ok(*other)
    }
}

/// Nobody makes its delegate.
#[resilient(crate = limits)]
trait Private<'a, K> {
    #[adaptive_limit]
    fn read(&self, key: &'a K) -> impl Future<Output = Result<()>> + Send;

    #[allow(clippy::future_not_send)]
    #[adaptive_limit]
    async fn read_here(&self, key: &'a K) -> Result<()> {
        self.read(key).await
    }
}

impl<'a> Private<'a, u32> for Store {
    fn read(&self, key: &'a u32) -> impl Future<Output = Result<()>> + Send {
        std::future::ready(key.checked_sub(1).map(|_| ()).ok_or(Failure::Busy))
    }
}

/// Reads.
///
/// # Errors
/// If the call is rejected.
pub async fn read() -> Result<()> {
    Store.read_here(&1).await
}
