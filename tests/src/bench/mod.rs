//! Measures calls against the cost of reading the clock twice.
//!
//! Nanoseconds say as much about the machine and its neighbours as about the code. So each batch of calls runs between
//! two batches of the reference, on the same threads, and what counts is the ratio: whatever slows the machine down for
//! longer than a batch slows both. The usual harnesses measure one benchmark to its end before the next, seconds apart.

mod options;
mod rounds;
mod table;

use std::process::ExitCode;

use options::Options;
use rounds::Measured;
use table::Row;

use crate::allocations;

/// What a ratio is meant to be, and what it must not exceed.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    ratio: f64,
    bound: f64,
}

impl Goal {
    /// Returns the goal of a ratio of at most `ratio`, missed when it is above `bound`.
    pub const fn new(ratio: f64, bound: f64) -> Self {
        Self { ratio, bound }
    }
}

/// A run of benchmarks: each is measured when it is given, and [`finish`](Self::finish) shows the table of all.
#[derive(Debug)]
pub struct Run {
    title: &'static str,
    options: Options,
    rows: Vec<Row>,
}

impl Run {
    /// Starts a run as the command line asks for it.
    pub fn from_args(title: &'static str) -> Self {
        Self {
            title,
            options: Options::from_args(std::env::args().skip(1)),
            rows: Vec::new(),
        }
    }

    /// Measures a call on `threads` threads at once; `make` makes each thread's call.
    pub fn call<C: FnMut()>(
        &mut self,
        name: &str,
        threads: usize,
        goal: Option<Goal>,
        make: impl Fn(usize) -> C + Sync,
    ) {
        if !self.options.selects(name) {
            return;
        }
        let allocations = {
            const CALLS: u32 = 100;
            let mut call = make(0);
            (0..CALLS).for_each(|_| call());
            let counted = allocations::count(|| (0..CALLS).for_each(|_| call()));
            counted as f64 / f64::from(CALLS)
        };
        let Measured {
            ns,
            reference_ns,
            ratio,
            least_ratio,
        } = rounds::measure(threads, &make, self.options.effort);
        eprintln!("{name}: {ns:.1} ns, ratio {ratio:.2}");
        self.rows.push(Row {
            name: name.to_owned(),
            ns,
            reference_ns,
            ratio,
            least_ratio,
            allocations,
            goal,
        });
    }

    /// Shows the table and, as asked, writes it to a file and fails for each bound that was exceeded.
    pub fn finish(self) -> ExitCode {
        if self.rows.is_empty() {
            eprintln!("no benchmark has that in its name");
            return ExitCode::FAILURE;
        }
        let table = table::text(self.title, &self.rows);
        println!("{table}");
        if let Some(path) = &self.options.markdown
            && let Err(error) = std::fs::write(path, table::markdown(self.title, &self.rows))
        {
            eprintln!("cannot write {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
        let exceeded: Vec<_> = self.rows.iter().filter(|row| row.exceeds()).collect();
        for row in &exceeded {
            eprintln!("{} exceeds its bound", row.name);
        }
        if self.options.check && !exceeded.is_empty() {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        }
    }
}
