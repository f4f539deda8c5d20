//! An algorithm at work, and how it takes settings that change meanwhile.

use std::sync::Arc;

use super::algorithm::{Aimd, Algorithm, Bounds, Gradient2, Jitter, Knee, Vegas, VegasSettings};
use super::settings::{AlgorithmSettings, LimitSettings};

/// The algorithm of an instance.
pub(crate) enum Running {
    Gradient2(Gradient2),
    Aimd(Aimd),
    Vegas(Vegas),
    Knee(Box<Knee>),
    Custom(Arc<str>, Box<dyn Algorithm>),
}

impl Running {
    /// Makes the algorithm. Whatever it scatters is scattered by `seed`, unless a seed is set.
    pub(crate) fn start(settings: &LimitSettings, seed: u64) -> Self {
        Self::start_within(settings, settings.bounds, seed)
    }

    fn start_within(settings: &LimitSettings, bounds: Bounds, seed: u64) -> Self {
        match &settings.algorithm {
            AlgorithmSettings::Gradient2(settings) => {
                Self::Gradient2(Gradient2::new(bounds, *settings))
            }
            AlgorithmSettings::Aimd(settings) => Self::Aimd(Aimd::new(bounds, *settings)),
            AlgorithmSettings::Vegas(settings) => {
                Self::Vegas(Vegas::new(bounds, scattered(*settings, seed)))
            }
            AlgorithmSettings::Knee(settings) => Self::Knee(Box::new(Knee::new(bounds, *settings))),
            AlgorithmSettings::Custom { name, factory } => {
                Self::Custom(name.clone(), factory(bounds))
            }
        }
    }

    /// Goes on with other settings from `limit`, which is within their bounds.
    ///
    /// The same algorithm keeps what it has learned; another one knows the limit and nothing else. Returns the algorithm
    /// that this one took the place of.
    pub(crate) fn go_on(
        &mut self,
        settings: &LimitSettings,
        limit: u32,
        seed: u64,
    ) -> Option<Self> {
        let bounds = settings.bounds;
        let goes_on = match (&mut *self, &settings.algorithm) {
            (Self::Gradient2(running), AlgorithmSettings::Gradient2(settings)) => {
                running.retune(bounds, *settings);
                true
            }
            (Self::Aimd(running), AlgorithmSettings::Aimd(settings)) => {
                running.retune(bounds, *settings);
                true
            }
            (Self::Vegas(running), AlgorithmSettings::Vegas(settings)) => {
                running.retune(bounds, scattered(*settings, seed));
                true
            }
            (Self::Knee(running), AlgorithmSettings::Knee(settings)) => {
                running.retune(bounds, *settings);
                true
            }
            (Self::Custom(running, algorithm), AlgorithmSettings::Custom { name, .. }) => {
                running == name && algorithm.set_bounds(bounds)
            }
            _ => false,
        };
        if goes_on {
            return None;
        }
        let from_here = Bounds::new(limit, bounds.min(), bounds.max())
            .expect("the caller has put the limit within the bounds");
        let other = Self::start_within(settings, from_here, seed);
        Some(std::mem::replace(self, other))
    }

    pub(crate) fn get(&self) -> &dyn Algorithm {
        match self {
            Self::Gradient2(algorithm) => algorithm,
            Self::Aimd(algorithm) => algorithm,
            Self::Vegas(algorithm) => algorithm,
            Self::Knee(algorithm) => &**algorithm,
            Self::Custom(_, algorithm) => &**algorithm,
        }
    }

    pub(crate) fn get_mut(&mut self) -> &mut dyn Algorithm {
        match self {
            Self::Gradient2(algorithm) => algorithm,
            Self::Aimd(algorithm) => algorithm,
            Self::Vegas(algorithm) => algorithm,
            Self::Knee(algorithm) => &mut **algorithm,
            Self::Custom(_, algorithm) => &mut **algorithm,
        }
    }
}

/// A jitter that nobody chose is one's own, so that not all clients of a dependency measure at once.
fn scattered(mut settings: VegasSettings, seed: u64) -> VegasSettings {
    if settings.jitter == VegasSettings::default().jitter {
        settings.jitter = Jitter::Seeded(seed);
    }
    settings
}
