//! The limits of a run: those that production has, in a registry on its clock.

use std::cell::OnceCell;

use super::random::Random;
use super::scenario::{Client, Scenario};
use crate::error::Error;
use crate::limit::algorithm::Jitter;
use crate::limit::{AdaptiveLimit, LimitConfig};
use crate::registry::Registry;

/// Who decides how many calls a client may have in flight.
#[derive(Clone, Debug)]
pub(super) enum Guard {
    Adaptive(Box<LimitConfig>),
    Fixed(u32),
    Unlimited,
}

/// The limits of the clients, each made when its client joins.
pub(super) struct Limits {
    registry: Registry,
    configs: Vec<LimitConfig>,
    made: Vec<OnceCell<AdaptiveLimit>>,
}

impl Limits {
    /// # Errors
    ///
    /// If the registry refuses the settings.
    pub(super) fn new(
        scenario: &Scenario,
        guard: &Guard,
        registry: Registry,
    ) -> Result<Self, Error> {
        let clients = &scenario.clients;
        let configs: Vec<LimitConfig> = clients
            .iter()
            .enumerate()
            .map(|(number, client)| config(scenario, guard, client, number))
            .collect();
        // So that nothing can be wrong with the settings once clients join.
        if let Guard::Adaptive(config) = guard {
            registry.register("settings", LimitConfig::clone(config))?;
        }
        Ok(Self {
            registry,
            configs,
            made: vec![OnceCell::new(); clients.len()],
        })
    }

    pub(super) fn of(&self, client: usize) -> &AdaptiveLimit {
        self.made[client].get_or_init(|| {
            self.registry
                .register(format!("client-{client}"), self.configs[client].clone())
                .expect("the settings were found right before the run")
        })
    }
}

fn config(scenario: &Scenario, guard: &Guard, client: &Client, number: usize) -> LimitConfig {
    let fixed = |limit: u32| {
        LimitConfig::new()
            .min_limit(limit)
            .initial_limit(limit)
            .max_limit(limit)
    };
    // Calls wait in front of a fixed limit as they do in front of the one it is compared with.
    let fixed = |limit| LimitConfig {
        max_wait: scenario.limit.max_wait,
        queue_limit: scenario.limit.queue_limit,
        ..fixed(limit)
    };
    match (client.fixed, guard) {
        (Some(limit), _) => fixed(limit),
        (None, Guard::Fixed(limit)) => fixed(*limit),
        (None, Guard::Unlimited) => LimitConfig::new().enabled(false),
        (None, Guard::Adaptive(config)) => {
            let mut config = LimitConfig::clone(config);
            // The library's own is scattered by a hash that another version of Rust may compute otherwise.
            let seed = Random::stream(scenario.seed, 0xf1e1d)
                .part(number as u64)
                .next();
            config.jitter.get_or_insert(Jitter::Seeded(seed));
            config
        }
    }
}
