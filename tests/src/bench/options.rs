//! What the command line asks of a run.

use std::path::PathBuf;
use std::time::Duration;

/// How long to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effort {
    /// How long each benchmark is measured, about.
    pub(super) duration: Duration,
    /// The least rounds, however long they take.
    pub(super) rounds: usize,
}

impl Effort {
    const FULL: Self = Self {
        duration: Duration::from_millis(1500),
        rounds: 20,
    };
    const QUICK: Self = Self {
        duration: Duration::from_millis(150),
        rounds: 5,
    };
    /// Only to see that it runs, as `cargo test --benches` does.
    const NONE: Self = Self {
        duration: Duration::ZERO,
        rounds: 1,
    };
}

/// The command line.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) effort: Effort,
    pub(super) check: bool,
    pub(super) markdown: Option<PathBuf>,
    filters: Vec<String>,
}

impl Options {
    /// Reads `[--quick] [--check] [--markdown PATH] [NAME PART]…`. Cargo adds `--bench` when it benchmarks.
    pub(super) fn from_args(args: impl IntoIterator<Item = String>) -> Self {
        let mut options = Self {
            effort: Effort::NONE,
            check: false,
            markdown: None,
            filters: Vec::new(),
        };
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--bench" if options.effort == Effort::NONE => options.effort = Effort::FULL,
                "--bench" => {}
                "--quick" => options.effort = Effort::QUICK,
                "--check" => options.check = true,
                "--markdown" => options.markdown = args.next().map(PathBuf::from),
                _ => options.filters.push(arg),
            }
        }
        options
    }

    /// Whether a benchmark is asked for: all are, or those with one of the given parts in their name.
    pub(super) fn selects(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|part| name.contains(part.as_str()))
    }
}
