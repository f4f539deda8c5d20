//! The scenarios of `scenarios/`, as they were when this was built.

use resilience::Error;
use resilience::sim::Scenario;

macro_rules! gallery {
    ($($name:literal,)*) => {
        /// The names of the scenarios and the texts of their files, in alphabetical order.
        pub const GALLERY: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../scenarios/", $name, ".toml"))),)*
        ];
    };
}

gallery! {
    "background-drops",
    "bulkhead",
    "bursts",
    "busy",
    "capacity-step",
    "capacity-surge",
    "chart",
    "cold-start",
    "day",
    "distant",
    "drift",
    "drift-timeout",
    "even-spread",
    "exact",
    "faster",
    "five-servers",
    "hang",
    "heavy-tail",
    "hundred-servers",
    "idle",
    "incident",
    "late-joiner",
    "latency-step",
    "light-load",
    "load-ramp",
    "microseconds",
    "network-jitter",
    "newcomers",
    "no-queue",
    "noise",
    "on-off",
    "one-server",
    "other-errors",
    "outage",
    "pauses",
    "quiet-then-storm",
    "quota",
    "rude-neighbour",
    "seconds",
    "shared-processors",
    "shared-step",
    "short-queue",
    "slow-drift",
    "slower",
    "soft-limit",
    "stale",
    "ten-clients",
    "thinking-users",
    "thousand-servers",
    "thrashing",
    "timeout-goes-on",
    "timeout-step",
    "twenty-servers",
    "two-clients",
    "two-kinds",
    "users",
    "wobble",
}

/// Returns the scenario of a name, or `None` if there is none.
///
/// # Errors
///
/// If its file has mistakes.
pub fn find(name: &str) -> Option<Result<Scenario, Error>> {
    let (name, text) = GALLERY.iter().find(|(known, _)| *known == name)?;
    Some(Scenario::parse(&format!("{name}.toml"), text))
}
