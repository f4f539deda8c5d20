//! What a dependency answers, call by call.

use std::fmt;
use std::time::Duration;

/// How long a dependency takes and what it answers, call by call.
///
/// # Examples
///
/// ```
/// use resilience::testing::Script;
/// use std::time::Duration;
///
/// let ms = Duration::from_millis;
/// // Two good calls, three that time out, then good ones for ever.
/// let script = Script::times(2, ms(10), Ok(()))
///     .then(Script::times(3, ms(500), Err("timed out")))
///     .then(Script::always(ms(10), Ok(())));
/// # drop(script);
/// // Each tenth call fails.
/// let script = Script::by_number(move |number| match number % 10 {
///     0 => (ms(500), Err("timed out")),
///     _ => (ms(10), Ok(())),
/// });
/// # drop(script);
/// ```
pub struct Script<T>(Box<dyn Iterator<Item = (Duration, T)> + Send>);

impl<T: Send + 'static> Script<T> {
    /// Returns a script of these latencies and answers, one for each call.
    pub fn of<I>(answers: I) -> Self
    where
        I: IntoIterator<Item = (Duration, T)>,
        I::IntoIter: Send + 'static,
    {
        Self(Box::new(answers.into_iter()))
    }

    /// Returns a script in which all calls are alike.
    pub fn always(latency: Duration, answer: T) -> Self
    where
        T: Clone,
    {
        Self::of(std::iter::repeat((latency, answer)))
    }

    /// Returns a script of so many calls that are alike.
    pub fn times(count: usize, latency: Duration, answer: T) -> Self
    where
        T: Clone,
    {
        Self::of(std::iter::repeat_n((latency, answer), count))
    }

    /// Returns a script of these latencies and answers, over and over.
    pub fn repeating<I>(answers: I) -> Self
    where
        T: Clone,
        I: IntoIterator<Item = (Duration, T)>,
    {
        let answers: Vec<_> = answers.into_iter().collect();
        Self::of(answers.into_iter().cycle())
    }

    /// Returns a script that asks `answer` for each call, which is given its number: 1 for the first.
    pub fn by_number(answer: impl FnMut(u64) -> (Duration, T) + Send + 'static) -> Self {
        Self::of((1..).map(answer))
    }

    /// Goes on with another script when this one is over.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self(Box::new(self.0.chain(next.0)))
    }
}

impl<T> Script<T> {
    pub(super) fn next(&mut self) -> Option<(Duration, T)> {
        self.0.next()
    }
}

impl<T> fmt::Debug for Script<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").finish_non_exhaustive()
    }
}
