//! A simulator: how limits do in front of a dependency that you describe, in virtual time and the same on every run.
//!
//! The limits are the ones that production runs, slots, windows and algorithms, in a registry on a
//! [`ManualClock`](crate::time::ManualClock); clients and dependency are simulated. A [`Scenario`] says what they are like,
//! a [`Simulation`] runs it for one or more [`Contender`]s, searches the fixed limit that would have been best, and
//! returns a [`Report`].
//!
//! # Examples
//!
//! ```
//! use resilience::sim::{Contender, Scenario, Simulation};
//!
//! let scenario = Scenario::parse("small.toml", r#"
//!     duration = "20s"
//!     limit = { max_limit = 100, window = "200ms" }
//!     dependency = { servers = 5, latency = "20ms", law = "exponential" }
//!
//!     [[clients]]
//!     timeout = "200ms"
//!     load = { open = { per_second = 500 } }
//! "#)?;
//! let report = Simulation::new(&scenario)
//!     .contender(Contender::algorithm("vegas"))
//!     .contender(Contender::unlimited())
//!     .run()?;
//!
//! let [vegas, none] = &report.results[..] else { unreachable!() };
//! assert!(vegas.served > 4_000 && vegas.timed_out < 100);
//! // Without a limit the queue in front of the servers is longer than anyone waits.
//! assert!(none.timed_out > 1_000 && none.regret > Some(0.3));
//! println!("{report}");
//! # Ok::<(), resilience::Error>(())
//! ```
//!
//! Scenarios are usually files; [`Scenario::read`] reads one. The program `simulate` of the project's examples runs files
//! from the command line, and has a gallery of them.

mod chart;
mod contender;
mod dependency;
mod events;
mod histogram;
mod law;
mod limits;
mod random;
mod read;
mod record;
mod report;
mod run;
mod scenario;
mod schedule;
mod score;
mod simulation;

pub use contender::Contender;
pub use report::{ContenderResult, Moment, PhaseReference, PhaseResult, Report};
pub use scenario::Scenario;
pub use simulation::Simulation;

/// Returns the names of the built-in algorithms, the default first.
pub fn algorithms() -> &'static [&'static str] {
    &crate::limit::settings::BUILT_IN
}
