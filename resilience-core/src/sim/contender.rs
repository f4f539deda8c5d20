//! What is let loose on a scenario.

use super::limits::Guard;
use super::read;
use super::scenario::Scenario;
use crate::error::Error;
use crate::limit::LimitConfig;

/// A limit that is let loose on a scenario: an algorithm with its settings, a fixed limit, or none.
#[derive(Clone, Debug)]
pub struct Contender {
    pub(super) name: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Adaptive(Box<LimitConfig>),
    Fixed(u32),
    Unlimited,
}

impl Contender {
    /// Returns an algorithm by its name, with the settings of the scenario.
    pub fn algorithm(name: impl Into<String>) -> Self {
        let name = name.into();
        let config = LimitConfig::new().algorithm(name.clone());
        Self::configured(name, config)
    }

    /// Returns settings under a name of your own; they are laid over those of the scenario.
    pub fn configured(name: impl Into<String>, config: LimitConfig) -> Self {
        Self {
            name: name.into(),
            kind: Kind::Adaptive(Box::new(config)),
        }
    }

    /// Returns a limit that stays what it is.
    pub fn fixed(limit: u32) -> Self {
        Self {
            name: format!("fixed:{limit}"),
            kind: Kind::Fixed(limit),
        }
    }

    /// Returns no limit at all.
    pub fn unlimited() -> Self {
        Self {
            name: "none".to_owned(),
            kind: Kind::Unlimited,
        }
    }

    /// Reads a contender: `vegas`, `aimd:latency_threshold=60ms;increase_by=2` with settings as in a scenario's `[limit]`,
    /// `fixed:30`, or `none`. Whether there is an algorithm of that name turns out when the simulation runs.
    ///
    /// # Errors
    ///
    /// `R4C-SIM-001` with all that cannot be read.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::sim::Contender;
    ///
    /// assert!(Contender::parse("aimd:latency_threshold=60ms").is_ok());
    /// let error = Contender::parse("aimd:increase=2").unwrap_err();
    /// assert!(error.to_string().contains("unknown key `increase`"));
    /// ```
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let (name, settings) = text.split_once(':').unwrap_or((text, ""));
        match name {
            "none" if settings.is_empty() => Ok(Self::unlimited()),
            "fixed" => match settings.parse() {
                Ok(limit @ 1..=1_000_000) => Ok(Self::fixed(limit)),
                _ => Err(read::mistake(format!(
                    "`{text}`: a fixed limit is a whole number from 1 to 1000000, as in `fixed:30`"
                ))),
            },
            "" => Err(read::mistake(format!(
                "\"{text}\" names no limit; write an algorithm, `fixed:30` or `none`"
            ))),
            _ => {
                let config = read::settings(text, settings)?;
                Ok(Self::configured(text, config.algorithm(name.to_owned())))
            }
        }
    }

    /// Returns the name it has in reports.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn guard(&self, scenario: &Scenario) -> Guard {
        match &self.kind {
            Kind::Adaptive(config) => {
                let mut laid = scenario.limit.clone();
                laid.overlay(config);
                Guard::Adaptive(Box::new(laid))
            }
            Kind::Fixed(limit) => Guard::Fixed(*limit),
            Kind::Unlimited => Guard::Unlimited,
        }
    }
}
