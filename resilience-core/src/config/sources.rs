//! The sources of a registry, in order, and what they said when they were last read.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::key::Schema;
use super::layers::{Entry, Findings, understand};
use super::place::Place;
#[cfg(feature = "config")]
use super::source::built;
use super::source::file::{self, Looked};
use super::source::{Written, environment};
use crate::error::{Code, Problem};
use crate::sync::contained;

/// What gives keys and their texts, or why it cannot now.
type Values = dyn Fn() -> Result<Vec<(String, String)>, String> + Send + Sync;
type Variables = dyn Fn() -> Vec<(OsString, OsString)> + Send + Sync;

/// Where settings from outside come from: files and values in the order in which they were added, then the files of the
/// profile, then the variables. What comes later wins.
#[derive(Clone, Default)]
pub(crate) struct Sources {
    list: Vec<Source>,
    profile: Option<String>,
    variables: Option<Arc<Variables>>,
}

#[derive(Clone)]
enum Source {
    File {
        path: PathBuf,
        needed: bool,
    },
    Values {
        name: Arc<str>,
        values: Arc<Values>,
    },
    #[cfg(feature = "config")]
    Built(Arc<::config::Config>),
}

/// What the sources said when they were read. Two that are equal say the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reading {
    written: Vec<Vec<Written>>,
    variables: Vec<(OsString, OsString)>,
    /// Whether there is anything in a file, for those that are there.
    files: BTreeMap<PathBuf, bool>,
    /// The needed files that are not there, and which of the problems says so.
    missing: BTreeMap<PathBuf, usize>,
    problems: Vec<Problem>,
}

impl Sources {
    pub(crate) fn file(&mut self, path: PathBuf, needed: bool) {
        self.list.push(Source::File { path, needed });
    }

    pub(crate) fn profile(&mut self, name: String) {
        self.profile = Some(name);
    }

    pub(crate) fn variables(&mut self, variables: Arc<Variables>) {
        self.variables = Some(variables);
    }

    pub(crate) fn values(&mut self, name: Arc<str>, values: Arc<Values>) {
        self.list.push(Source::Values { name, values });
    }

    #[cfg(feature = "config")]
    pub(crate) fn built(&mut self, config: ::config::Config) {
        self.list.push(Source::Built(Arc::new(config)));
    }

    /// Reads all of them, whatever is wrong with any.
    pub(crate) fn read(&self) -> Reading {
        let mut reading = Reading::default();
        for source in &self.list {
            match source {
                Source::File { path, needed } => reading.file(path, *needed),
                Source::Values { name, values } => reading.values(name, &**values),
                #[cfg(feature = "config")]
                Source::Built(config) => match built::read(config) {
                    Ok(written) => reading.written.push(written),
                    Err(problems) => reading.problems.extend(problems),
                },
            }
        }
        if let Some(profile) = &self.profile {
            for source in &self.list {
                if let Source::File { path, .. } = source {
                    reading.file(&of_profile(path, profile), false);
                }
            }
        }
        if let Some(variables) = &self.variables {
            reading.variables(&**variables);
        }
        reading
    }
}

/// `config/app.properties` becomes `config/app-prod.properties`.
fn of_profile(path: &Path, profile: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push("-");
    name.push(profile);
    if let Some(ending) = path.extension() {
        name.push(".");
        name.push(ending);
    }
    path.with_file_name(name)
}

impl Reading {
    fn file(&mut self, path: &Path, needed: bool) {
        match file::read(path) {
            Ok(Looked::Found { written, blank }) => {
                self.files.insert(path.to_owned(), !blank);
                self.written.push(written);
            }
            Ok(Looked::Vanished) if needed => {
                self.missing.insert(path.to_owned(), self.problems.len());
                self.unreadable(&format_args!("file {} is not there", path.display()));
            }
            Ok(Looked::Vanished) => {}
            Err(problems) => self.problems.extend(problems),
        }
    }

    fn values(&mut self, name: &Arc<str>, values: &Values) {
        // It is foreign code, and one that panics has failed.
        match contained(values).unwrap_or_else(|| Err("it panicked".to_owned())) {
            Ok(mut values) => {
                // What comes out of a hash map comes in another order each time, and says the same.
                values.sort();
                let place = Place::File {
                    file: name.clone(),
                    line: None,
                };
                let written = values.into_iter().map(|(key, text)| Written {
                    key,
                    text,
                    unfit: None,
                    place: place.clone(),
                });
                self.written.push(written.collect());
            }
            Err(why) => self.unreadable(&format_args!("{name} cannot be read: {why}")),
        }
    }

    fn variables(&mut self, variables: &Variables) {
        match contained(variables) {
            Some(variables) => {
                self.variables = variables;
                self.variables
                    .retain(|(name, _)| environment::is_meant(name));
                self.variables.sort();
            }
            None => self.unreadable(&"the variables cannot be read: their source panicked"),
        }
    }

    fn unreadable(&mut self, what: &dyn fmt::Display) {
        let problem = Problem::new(Code::CONFIG_UNREADABLE, what.to_string());
        self.problems.push(problem);
    }

    /// Tells of the missing files that were there before by their own code.
    pub(crate) fn tell_vanished_since(&mut self, before: &Self) {
        for (path, problem) in &self.missing {
            if before.files.contains_key(path) {
                self.problems[*problem].code = Code::CONFIG_VANISHED;
            }
        }
    }

    /// The files that had something in them and are blank now: more likely than by intent they are just being written.
    pub(crate) fn blanked_since(&self, before: &Self) -> Vec<Problem> {
        let blanked = self
            .files
            .iter()
            .filter(|(path, has_content)| !**has_content && before.files.get(*path) == Some(&true));
        let problem = |(path, _): (&PathBuf, _)| {
            let text = format!(
                "file {} is empty now; leave a comment in it if that is what it should say",
                path.display()
            );
            Problem::new(Code::CONFIG_VANISHED, text)
        };
        blanked.map(problem).collect()
    }

    /// Finds out what the keys mean, in each source. `configs` and `ids` are the names that are known besides those in
    /// keys: variables are about known names only.
    pub(crate) fn entries<'a>(
        &self,
        schema: &Schema,
        configs: impl IntoIterator<Item = &'a str>,
        ids: impl IntoIterator<Item = &'a str>,
    ) -> (Vec<Vec<Entry>>, Findings) {
        let mut findings = Findings::default();
        findings.problems.clone_from(&self.problems);
        let mut entries: Vec<Vec<Entry>> = self
            .written
            .iter()
            .map(|written| understand(schema, written.clone(), &mut findings))
            .collect();
        let mut names = environment::Names::default();
        for name in configs {
            names.add_config(name);
        }
        for id in ids {
            names.add_instance(id);
        }
        for entries in &entries {
            names.add_all(entries);
        }
        let variables = self.variables.iter().cloned();
        entries.push(environment::read(variables, schema, &names, &mut findings));
        (entries, findings)
    }

    /// The ids that variables are about, as they spell them.
    pub(crate) fn spelt_ids(&self, schema: &Schema) -> BTreeSet<String> {
        environment::spelt_ids(self.variables.iter().map(|(name, _)| &**name), schema)
    }
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        for source in &self.list {
            match source {
                Source::File { path, .. } => list.entry(path),
                Source::Values { name, .. } => list.entry(name),
                #[cfg(feature = "config")]
                Source::Built(_) => list.entry(&"a `config::Config`"),
            };
        }
        if self.variables.is_some() {
            list.entry(&"variables");
        }
        list.finish()
    }
}
