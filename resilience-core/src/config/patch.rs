//! What the settings of a policy look like from here: properties by name, each of which can be set and shown.

use super::value::WrongValue;

/// The settings of a policy, each optional, so that layers of them can be laid over each other.
pub(crate) trait Patch: Clone + Default + 'static {
    /// The policy's canonical name in keys: `adaptiveLimit`.
    const POLICY: &'static str;

    /// All properties.
    fn properties() -> &'static [Property<Self>];

    /// Lays `higher` over this: its values win.
    fn overlay(&mut self, higher: &Self);
}

/// What values may refer to beyond what the library knows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Context<'a> {
    /// Algorithms that were added in code.
    pub(crate) algorithms: &'a [&'a str],
    /// Kinds of errors that were added in code.
    pub(crate) kinds: &'a [&'a str],
}

/// One property of a policy.
pub(crate) struct Property<P> {
    /// In keys: `maxLimit`.
    pub(crate) name: &'static str,
    /// In code: `max_limit`.
    pub(crate) field: &'static str,
    /// "a whole number".
    pub(crate) kind: &'static str,
    /// "from 1 to 1000000"; empty if the kind says all.
    pub(crate) range: &'static str,
    /// What it is where nothing sets it.
    pub(crate) default: &'static str,
    /// How a change takes effect in a program that runs.
    pub(crate) live: &'static str,
    /// Sets it from a text, or leaves the patch as it is.
    pub(crate) set: fn(&mut P, &str, &Context<'_>) -> Result<(), WrongValue>,
    /// The text that sets it to what it is.
    pub(crate) show: fn(&P) -> Option<String>,
}

impl<P: Patch> Property<P> {
    /// "a whole number from 1 to 1000000".
    pub(crate) fn allowed(&self) -> String {
        match self.range {
            "" => self.kind.to_owned(),
            range => format!("{} {range}", self.kind),
        }
    }

    /// The property of that canonical name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        P::properties()
            .iter()
            .find(|property| property.name == name)
    }
}
