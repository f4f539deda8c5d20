//! What a simulation is of: clients, the dependency they call, and the limit between them.

use std::path::Path;
use std::time::Duration;

use super::law::Law;
use super::read;
use super::schedule::Schedule;
use crate::error::Error;
use crate::limit::LimitConfig;

/// Clients, the dependency they call and the limits between them, as a scenario file describes them.
///
/// The files and all their keys are described in the project's guide, docs/simulator.md.
///
/// # Examples
///
/// ```
/// use resilience::sim::Scenario;
///
/// let scenario = Scenario::parse("small.toml", r#"
///     about = "twice as many calls as five servers can take"
///     duration = "10s"
///
///     [dependency]
///     servers = 5
///     latency = "20ms"
///     law = "exponential"
///
///     [[clients]]
///     load = { open = { per_second = 500 } }
/// "#)?;
/// assert_eq!(scenario.name(), "small");
///
/// let error = Scenario::parse("small.toml", "duration = \"10s\"\nsede = 1").unwrap_err();
/// assert!(error.to_string().contains("small.toml:2: unknown key `sede`; did you mean `seed`?"));
/// # Ok::<(), resilience::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) seed: u64,
    /// All times are in nanoseconds.
    pub(super) duration: u64,
    /// The moments at which something changes for good, 0 first.
    pub(super) phases: Vec<u64>,
    /// How much of it the search for the best fixed limit looks at.
    pub(super) reference: u64,
    pub(super) dependency: Dependency,
    pub(super) clients: Vec<Client>,
    pub(super) limit: LimitConfig,
}

impl Scenario {
    /// Reads a scenario from the text of a file; `file` is its name, for messages and for the scenario's name.
    ///
    /// # Errors
    ///
    /// `R4C-SIM-001` with all mistakes at once, each with its file, line and key.
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        read::scenario(file, text)
    }

    /// Reads a scenario from a file.
    ///
    /// # Errors
    ///
    /// `R4C-SIM-001`, as [`parse`](Self::parse), also if the file cannot be read.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let file = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&file, &text),
            Err(error) => Err(read::mistake(format!("cannot read `{file}`: {error}"))),
        }
    }

    /// Returns its name: that of its file, without the ending.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what it is about, in a sentence.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// Returns how long it lasts, in virtual time.
    pub fn duration(&self) -> Duration {
        Duration::from_nanos(self.duration)
    }

    /// Returns the seed of all that is random in it.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the algorithm that its limits are set to, if they are set to one; contenders may have others.
    pub fn algorithm(&self) -> Option<&str> {
        self.limit.algorithm.as_deref()
    }

    /// Returns the same with another seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Returns the same, cut off after a time. What begins later is left out.
    #[must_use]
    pub fn shortened(mut self, duration: Duration) -> Self {
        self.duration = self.duration.min(crate::time::nanos(duration)).max(1);
        self.phases.retain(|from| *from < self.duration);
        self.reference = self.reference.min(self.duration);
        self
    }

    /// The stretches between the moments at which something changes, with their ends.
    pub(super) fn spans(&self) -> impl Iterator<Item = (u64, u64)> {
        let ends = self.phases.iter().skip(1).copied();
        self.phases.iter().copied().zip(ends.chain([self.duration]))
    }

    /// How many of the clients have a limit that adapts, and are there for the second half of a phase.
    pub(super) fn measured(&self, client: usize, span: (u64, u64)) -> bool {
        let client = &self.clients[client];
        let middle = u64::midpoint(span.0, span.1);
        client.fixed.is_none() && client.join <= middle && client.leave >= span.1
    }

    /// The calls that the dependency needs at once to be just busy, in the middle of a phase; `None` if no number is
    /// enough.
    pub(super) fn knee(&self, span: (u64, u64)) -> Option<f64> {
        let hanging = self.clients.iter().filter_map(|client| client.timeout);
        self.dependency
            .knee(span.0, span.1, hanging.max().unwrap_or(0))
    }
}

/// What is called.
#[derive(Clone, Debug)]
pub(super) struct Dependency {
    /// The calls served at once; `None` for any number.
    pub(super) servers: Option<Schedule>,
    pub(super) discipline: Discipline,
    /// The calls that wait at most; others are refused.
    pub(super) queue: Option<usize>,
    /// How long a refusal takes.
    pub(super) refusal: u64,
    /// The service time at the law's 1, in nanoseconds.
    pub(super) latency: Schedule,
    pub(super) law: Law,
    /// Multiplies the pace of all that is served; 0 while the dependency stands still.
    pub(super) speed: Schedule,
    pub(super) slowdown: Slowdown,
    /// The time there and back, in nanoseconds.
    pub(super) network: Schedule,
    /// The mean of what is added to each way.
    pub(super) network_jitter: f64,
    pub(super) quota: Option<Quota>,
    pub(super) failures: Vec<Failure>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Discipline {
    /// Calls wait in order for a server.
    Fifo,
    /// All calls are served, more than there are servers each the slower.
    Sharing,
}

/// How much longer service takes the more calls there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Slowdown {
    None,
    /// Gunther's universal scalability law.
    Universal {
        contention: f64,
        coherency: f64,
    },
    /// Nothing up to a load, then `factor` times the square of the excess as a share of it.
    Beyond {
        load: f64,
        factor: f64,
    },
}

impl Slowdown {
    pub(super) fn at(self, load: f64) -> f64 {
        match self {
            Self::None => 1.0,
            Self::Universal {
                contention,
                coherency,
            } => {
                let others = (load - 1.0).max(0.0);
                1.0 + contention * others + coherency * load * others
            }
            Self::Beyond {
                load: bearable,
                factor,
            } => {
                let excess = ((load - bearable) / bearable).max(0.0);
                1.0 + factor * excess * excess
            }
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Quota {
    pub(super) per_second: Schedule,
    /// The calls that may come at once after a quiet time.
    pub(super) burst: f64,
    pub(super) refusal: u64,
}

/// Calls that fail whatever the load.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) from: u64,
    pub(super) until: u64,
    pub(super) share: f64,
    /// Without being served, after this time; `None` for after having been served.
    pub(super) after: Option<u64>,
    pub(super) kind: FailureKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailureKind {
    /// An overload signal.
    Drop,
    /// Any other error.
    Error,
    /// No answer at all.
    Hang,
}

/// A part of a program that calls the dependency, with a limit of its own.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) name: String,
    pub(super) load: Load,
    pub(super) join: u64,
    pub(super) leave: u64,
    pub(super) timeout: Option<u64>,
    /// Whether the dependency goes on with a call that was given up.
    pub(super) goes_on: bool,
    /// A limit that does not adapt.
    pub(super) fixed: Option<u32>,
}

#[derive(Clone, Debug)]
pub(super) enum Load {
    Open {
        /// Arrivals of `burst` calls per second.
        per_second: Schedule,
        poisson: bool,
        burst: u32,
    },
    Closed {
        users: u32,
        think: u64,
        /// How long a user waits after a rejection, on average.
        after_rejection: u64,
    },
}

impl Dependency {
    /// The mean service time at a moment without any load, in nanoseconds; standing still counts as full pace.
    pub(super) fn service(&self, at: u64) -> f64 {
        let speed = self.speed.at(at);
        let speed = if speed > 0.0 { speed } else { self.speed.max() };
        self.latency.at(at) * self.law.mean() / speed
    }

    /// The mean latency of a call without any load, in nanoseconds.
    pub(super) fn unloaded(&self, at: u64) -> f64 {
        self.service(at) + self.network.at(at) + 2.0 * self.network_jitter
    }

    /// The servers at a moment; infinite for any number.
    pub(super) fn servers_at(&self, at: u64) -> f64 {
        self.servers
            .as_ref()
            .map_or(f64::INFINITY, |servers| servers.at(at).round())
    }

    /// The load up to which more calls at once mean more answers, given that many servers; infinite if there is none.
    pub(super) fn room(&self, servers: f64) -> f64 {
        const FARTHEST: u32 = 1_000_000;
        if self.slowdown == Slowdown::None {
            return servers;
        }
        let rate = |load: f64| load.min(servers) / self.slowdown.at(load);
        // Throughput has one peak, so the first load that is no better than the one before is beyond it.
        let mut best = 1.0;
        for load in 2..=FARTHEST {
            let load = f64::from(load);
            if rate(load) <= rate(best) {
                break;
            }
            best = load;
        }
        best
    }

    fn knee(&self, from: u64, to: u64, timeout: u64) -> Option<f64> {
        let middle = u64::midpoint(from, to);
        let servers = self.servers.as_ref().map_or(f64::INFINITY, |servers| {
            servers.mean(from, to).round().max(1.0)
        });
        let room = self.room(servers);
        let service = self.service(middle);
        // Without a bound there is no slowdown either.
        let busy = room.min(servers);
        let most = busy / self.slowdown.at(busy) / service;
        let allowed = self
            .quota
            .as_ref()
            .map_or(f64::INFINITY, |quota| quota.per_second.mean(from, to) / 1e9);
        let per_nano = most.min(allowed);
        if per_nano.is_infinite() {
            return None;
        }
        // What is served, on the way, and held by calls that fail without being served.
        let served = if allowed < most {
            busy.min(per_nano * service)
        } else {
            busy
        };
        let way = self.network.at(middle) + 2.0 * self.network_jitter;
        let (mut unserved, mut held) = (0.0, 0.0);
        for failure in &self.failures {
            let lasts = failure.until.min(to).saturating_sub(failure.from.max(from));
            let share = failure.share * lasts as f64 / (to - from) as f64;
            match (failure.kind, failure.after) {
                (FailureKind::Hang, _) => {
                    unserved += share;
                    held += share * timeout as f64;
                }
                (_, Some(after)) => {
                    unserved += share;
                    held += share * (after as f64 + way);
                }
                _ => {}
            }
        }
        let offered = per_nano / (1.0 - unserved.min(0.99));
        Some(served + per_nano * way + offered * held)
    }
}
