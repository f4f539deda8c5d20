//! Plain text in columns.

use std::fmt::{self, Write as _};
use std::io::{self, Write};
use std::time::Duration;

use crate::load::Reading;
use crate::plan::Plan;
use crate::record::{Record, Stretch};

/// The readings that make a row.
const TICKS_PER_ROW: usize = 5;

/// A column: its head and how wide it is. All are aligned to the right.
pub(crate) type Column = (&'static str, usize);

const COLUMNS: [Column; 9] = [
    ("time", 7),
    ("serves", 8),
    ("limit", 7),
    ("in flight", 11),
    ("mean", 9),
    ("p99", 9),
    ("good/s", 8),
    ("rejected/s", 12),
    ("time-outs/s", 13),
];

/// The adaptive limit as a table that grows by a row every half second: the live view of those who have no terminal.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// The readings that are in the rows so far.
    shown: usize,
}

impl Table {
    /// Writes the head.
    pub(crate) fn open(out: &mut impl Write) -> io::Result<Self> {
        writeln!(out, "\n{}  last decision", head(&COLUMNS))?;
        Ok(Self::default())
    }

    /// Writes the rows that are new.
    pub(crate) fn update(&mut self, out: &mut impl Write, record: &Record) -> io::Result<()> {
        let fresh = &record.adaptive()[self.shown..];
        for readings in fresh.chunks_exact(TICKS_PER_ROW) {
            self.shown += TICKS_PER_ROW;
            writeln!(out, "{}", row(&record.plan, readings))?;
        }
        out.flush()
    }
}

fn row(plan: &Plan, readings: &[Reading]) -> String {
    let Some(last) = readings.last() else {
        return String::new();
    };
    let stretch = Stretch::of(readings);
    let tally = &stretch.tally;
    let cells = [
        format!("{:.1}s", last.at.as_secs_f64()),
        plan.phases[last.phase].capacity.to_string(),
        last.limit.to_string(),
        last.in_flight.to_string(),
        millis(tally.mean()),
        millis(tally.p99()),
        rate(stretch.per_second(tally.good())),
        rate(stretch.per_second(tally.rejected)),
        rate(stretch.per_second(tally.timed_out)),
    ];
    format!("{}  {}", line(&COLUMNS, &cells), last.reason)
}

/// Returns the heads of the columns.
pub(crate) fn head(columns: &[Column]) -> String {
    line(
        columns,
        &columns.iter().map(|(head, _)| *head).collect::<Vec<_>>(),
    )
}

/// Returns the cells of one row, aligned.
pub(crate) fn line(columns: &[Column], cells: &[impl fmt::Display]) -> String {
    let mut line = String::new();
    for ((_, width), cell) in columns.iter().zip(cells) {
        // Writing to a string cannot fail.
        let _ = write!(line, "{cell:>width$}");
    }
    line
}

/// Returns a latency in milliseconds, or a dash if there is none.
pub(crate) fn millis(latency: Option<Duration>) -> String {
    latency.map_or("-".to_owned(), |latency| {
        format!("{:.1} ms", latency.as_secs_f64() * 1e3)
    })
}

/// Returns a rate as a whole number.
pub(crate) fn rate(per_second: f64) -> String {
    format!("{per_second:.0}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_under_their_heads() {
        let columns = [("a", 4), ("wide", 8)];
        assert_eq!(head(&columns), "   a    wide");
        assert_eq!(line(&columns, &["1", "23"]), "   1      23");
        assert_eq!(line(&columns, &["12345", "6"]), "12345       6");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(millis(Some(Duration::from_micros(41_250))), "41.2 ms");
        assert_eq!(millis(None), "-");
        assert_eq!(rate(749.6), "750");
    }
}
