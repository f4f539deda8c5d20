//! Tests of what is under limits: a registry on a clock that the test moves, dependencies that keep to a script, and
//! recordings of windows that are replayed.
//!
//! Nothing here sleeps and nothing depends on how fast the machine is, so a limit moves the same way on every run. Behind the
//! feature `testing`; the guide is docs/testing.md.
//!
//! # Examples
//!
//! Two pending calls hold the limit of 2, and the third is rejected at once:
//!
//! ```
//! use resilience::limit::LimitConfig;
//! use resilience::testing::{Assertions, Dependency, Script, TestRegistry, assert_rejected};
//! use resilience::{Error, adaptive_limit};
//! use std::time::Duration;
//!
//! #[adaptive_limit(name = "search", initial_limit = 2)]
//! async fn search(index: &Dependency<u32>) -> Result<u32, Error> {
//!     Ok(index.call().await)
//! }
//!
//! let second = Duration::from_secs(1);
//! let test = TestRegistry::with(|registry| {
//!     registry.defaults(LimitConfig::new().algorithm("aimd").min_window_samples(1))
//! });
//! let index = test.dependency(Script::always(second, 7));
//! let calls = test.calls();
//!
//! let two = [calls.start(search(&index)), calls.start(search(&index))];
//! let limit = test.limit("search");
//! limit.assert_limit(2).assert_in_flight(2);
//! assert_rejected(&calls.start(search(&index)).output());
//!
//! calls.advance(second);
//! for call in two {
//!     assert_eq!(call.output().unwrap(), 7);
//! }
//! limit.assert_in_flight(0).assert_windows(1).assert_latency(second);
//! ```

mod assertions;
mod calls;
mod dependency;
mod recorder;
mod recording;
mod registry;
mod replay;
mod script;

pub use assertions::{Assertions, DecisionAssertions, assert_rejected};
pub use calls::{Call, Calls};
pub use dependency::{Dependency, Sleep, sleep};
pub use recorder::Recorder;
pub use recording::Recording;
pub use registry::TestRegistry;
pub use replay::{Replay, Step};
pub use script::Script;
