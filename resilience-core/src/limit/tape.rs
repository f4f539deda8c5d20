//! What the algorithm of an instance was told and what it said, and the same again.

use std::sync::{Arc, Mutex, PoisonError};

use super::algorithm::{Algorithm, Bounds, Decision};
use super::running::Running;
use super::settings::LimitSettings;
use super::window::Window;
use crate::event::Reason;
use crate::sync::contained;

/// What happened to an algorithm, as far as it changes what follows.
#[derive(Clone, Debug)]
pub(crate) enum Note {
    Window(Box<(Window, Decision)>),
    Settings(Arc<LimitSettings>),
    Reset,
}

/// Notes, up to a number of them.
#[derive(Debug)]
pub(crate) struct Tape {
    most: usize,
    notes: Mutex<(Vec<Note>, bool)>,
}

/// What an instance is when a tape begins.
#[derive(Clone, Debug)]
pub(crate) struct Beginning {
    pub(crate) settings: Arc<LimitSettings>,
    pub(crate) seed: u64,
    pub(crate) limit: u32,
    /// Whether its algorithm has seen nothing yet.
    pub(crate) fresh: bool,
}

impl Tape {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            notes: Mutex::default(),
        }
    }

    /// Keeps a note, unless the tape is full: the beginning is what a replay needs.
    pub(crate) fn note(&self, note: Note) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        let (kept, full) = &mut *notes;
        if kept.len() < self.most {
            kept.push(note);
        } else {
            *full = true;
        }
    }

    /// The notes, and whether there would be more.
    pub(crate) fn notes(&self) -> (Vec<Note>, bool) {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.clone()
    }
}

/// An algorithm that is told again what one was told.
pub(crate) struct Player {
    algorithm: Running,
    settings: LimitSettings,
    seed: u64,
    limit: u32,
}

impl Player {
    /// `limit`: where to start, if not at the initial limit.
    pub(crate) fn start(mut settings: LimitSettings, seed: u64, limit: Option<u32>) -> Self {
        let bounds = settings.bounds;
        if let Some(limit) = limit {
            let within = bounds.clamp(f64::from(limit)) as u32;
            settings.bounds =
                Bounds::new(within, bounds.min(), bounds.max()).expect("a limit within the bounds");
        }
        Self {
            algorithm: Running::start(&settings, seed),
            limit: settings.bounds.initial(),
            settings: LimitSettings { bounds, ..settings },
            seed,
        }
    }

    /// Takes a custom algorithm in the place of the settings'.
    pub(crate) fn with(mut self, make: impl FnOnce(Bounds) -> Box<dyn Algorithm>) -> Self {
        let bounds = self.settings.bounds;
        let bounds = Bounds::new(self.limit, bounds.min(), bounds.max())
            .expect("the limit is within the bounds");
        self.algorithm = Running::Custom("replayed".into(), make(bounds));
        self
    }

    pub(crate) fn limit(&self) -> u32 {
        self.limit
    }

    /// What it decides, as the instance does.
    pub(crate) fn window(&mut self, window: &Window) -> Decision {
        let decision = contained(|| self.algorithm.get_mut().update(window))
            .filter(|decision| decision.limit.is_finite())
            .unwrap_or_else(|| Decision::new(f64::from(self.limit), Reason::Failed));
        self.limit = self.settings.bounds.clamp(decision.limit) as u32;
        decision
    }

    pub(crate) fn settings(&mut self, settings: LimitSettings) {
        let before = &self.settings;
        self.limit = settings.bounds.clamp(f64::from(self.limit)) as u32;
        if settings.bounds != before.bounds || !settings.algorithm.same(&before.algorithm) {
            self.algorithm.go_on(&settings, self.limit, self.seed);
        }
        self.settings = settings;
    }

    pub(crate) fn reset(&mut self) {
        self.algorithm = Running::start(&self.settings, self.seed);
        self.limit = self.settings.bounds.initial();
    }
}
