//! What was recorded, in a form that can be kept.

use std::collections::BTreeMap;

use super::Replay;
use super::replay::Source;
use crate::config::patch::{Context, Patch};
use crate::event::Reason;
use crate::id::Id;
use crate::limit::LimitConfig;
use crate::limit::algorithm::{Algorithm, Bounds, VegasSettings};
use crate::limit::settings::{AlgorithmSettings, LimitSettings, built_in};
use crate::limit::tape::{Beginning, Note};
use crate::limit::window::Window;

/// The windows of a limit, what was decided from them, and the settings that it ran with; made by a
/// [`Recorder`](super::Recorder).
///
/// With the feature `serde` it can be stored and read again. The format is documented in docs/testing.md and keeps its names;
/// in JSON, read it with `serde_json`'s feature `float_roundtrip`, without which the last digit of a number may change.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Recording {
    /// That of this form: 1.
    format: u32,
    id: String,
    /// What the algorithm scatters by.
    seed: u64,
    /// The limit at the beginning, in calls.
    limit: u32,
    /// Whether the algorithm had seen nothing before.
    fresh: bool,
    /// Whether there was more than was noted.
    truncated: bool,
    entries: Vec<Entry>,
}

const FORMAT: u32 = 1;

/// Something that happened to a limit.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "entry", rename_all = "snake_case")
)]
pub(super) enum Entry {
    /// It runs with these from now on, as files of settings write them. The first entry.
    Settings {
        algorithm: String,
        properties: BTreeMap<String, String>,
    },
    /// A window closed, and this was decided.
    Window {
        window: Window,
        limit: f64,
        reason: Reason,
    },
    /// It was reset.
    Reset,
}

impl Recording {
    pub(super) fn new(id: &Id, beginning: &Beginning, notes: Vec<Note>, truncated: bool) -> Self {
        let notes = notes.into_iter().map(|note| match note {
            Note::Window(decided) => {
                let (window, decision) = *decided;
                Entry::Window {
                    window,
                    limit: decision.limit,
                    reason: decision.reason,
                }
            }
            Note::Settings(settings) => Entry::settings(&settings),
            Note::Reset => Entry::Reset,
        });
        Self {
            format: FORMAT,
            id: id.to_string(),
            seed: beginning.seed,
            limit: beginning.limit,
            fresh: beginning.fresh,
            truncated,
            entries: [Entry::settings(&beginning.settings)]
                .into_iter()
                .chain(notes)
                .collect(),
        }
    }

    /// Returns the id of the limit.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns how many windows were recorded.
    pub fn windows(&self) -> usize {
        let is_window = |entry: &&Entry| matches!(entry, Entry::Window { .. });
        self.entries.iter().filter(is_window).count()
    }

    /// Returns whether it begins before the algorithm had seen a window: only then must a replay come to the same.
    pub fn is_from_the_beginning(&self) -> bool {
        self.fresh || matches!(self.entries.get(1), Some(Entry::Reset))
    }

    /// Returns whether the recorder was full, and there were more windows after these.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Gives the windows to the same algorithm with the same settings.
    ///
    /// # Panics
    ///
    /// If the algorithm is none of the library's ([`replay_with`](Self::replay_with) takes it), or if the recording was
    /// stored by a later version or changed by hand into what cannot be.
    #[track_caller]
    pub fn replay(&self) -> Replay {
        self.replay_as(&LimitConfig::new())
    }

    /// Gives the windows to the same algorithm with other tuning, or to another one: `config` is laid over what was recorded.
    ///
    /// It says what would have been decided from these windows. It does not say what the windows would have been under the
    /// limits that follow: for that there is the simulator.
    ///
    /// # Panics
    ///
    /// As [`replay`](Self::replay), and if `config` does not fit what it is laid over.
    #[track_caller]
    pub fn replay_as(&self, config: &LimitConfig) -> Replay {
        Replay::run(self.source(), |entry| entry.read(config), None)
    }

    /// Gives the windows to an algorithm of your own, made for the bounds that the limit had.
    ///
    /// # Panics
    ///
    /// If the recording was stored by a later version.
    #[track_caller]
    pub fn replay_with<A: Algorithm>(&self, make: impl Fn(Bounds) -> A) -> Replay {
        let make = |bounds| -> Box<dyn Algorithm> { Box::new(make(bounds)) };
        // Only the bounds of the settings are of use.
        let any = LimitConfig::new().algorithm("aimd");
        Replay::run(self.source(), |entry| entry.read(&any), Some(&make))
    }

    #[track_caller]
    fn source(&self) -> Source<'_> {
        assert!(
            self.format == FORMAT,
            "the recording of `{}` has format {}, known is {FORMAT}",
            self.id,
            self.format
        );
        Source {
            entries: &self.entries,
            seed: self.seed,
            limit: (!self.fresh).then_some(self.limit),
        }
    }
}

impl Entry {
    fn settings(settings: &LimitSettings) -> Self {
        let mut asked = settings.asked();
        // One that was chosen is a setting, one that the instance has by itself is its seed.
        if let AlgorithmSettings::Vegas(VegasSettings { jitter, .. }) = settings.algorithm
            && jitter != VegasSettings::default().jitter
        {
            asked = asked.jitter(jitter);
        }
        let shown = LimitConfig::properties().iter().filter_map(|property| {
            let value = (property.show)(&asked)?;
            Some((property.name.to_owned(), value))
        });
        Self::Settings {
            algorithm: settings.algorithm.name().to_owned(),
            properties: shown.collect(),
        }
    }

    /// The settings of an entry with others laid over them; `None` for another entry.
    fn read(&self, over: &LimitConfig) -> Option<Result<LimitSettings, String>> {
        let Self::Settings {
            algorithm,
            properties,
        } = self
        else {
            return None;
        };
        Some(settings(algorithm, properties, over))
    }
}

fn settings(
    algorithm: &str,
    properties: &BTreeMap<String, String>,
    over: &LimitConfig,
) -> Result<LimitSettings, String> {
    let context = Context {
        algorithms: &[],
        kinds: &[],
    };
    let mut config = LimitConfig::new().algorithm(algorithm.to_owned());
    for (name, text) in properties {
        let property = LimitConfig::properties()
            .iter()
            .find(|property| property.name == name)
            .ok_or_else(|| format!("`{name}` is no property"))?;
        (property.set)(&mut config, text, &context)
            .map_err(|_| format!("`{name}` is {text:?}, expected {}", property.kind))?;
    }
    config.overlay(over);
    if let Some(found) = config.out_of_range().first() {
        return Err(format!(
            "`{}` is {}, allowed is {}",
            found.property, found.value, found.range
        ));
    }
    let name = config.algorithm.as_deref().unwrap_or(algorithm);
    if built_in(name).is_none() {
        return Err(format!(
            "its algorithm `{name}` is not built in: use `replay_with`"
        ));
    }
    let bounds = config.bounds().map_err(|wrong| {
        format!(
            "`{}` ({}) is {} `{}` ({})",
            wrong.property, wrong.value, wrong.relation, wrong.other, wrong.other_value
        )
    })?;
    Ok(config.settle(bounds, None, None))
}
