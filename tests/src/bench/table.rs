//! The table at the end of a run.

use super::Goal;

/// One benchmark of a run.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) ns: f64,
    pub(super) reference_ns: f64,
    pub(super) ratio: f64,
    pub(super) least_ratio: f64,
    /// Allocations per call, on one thread.
    pub(super) allocations: f64,
    pub(super) goal: Option<Goal>,
}

impl Row {
    /// Whether it has a goal and misses it by more than is let pass. Calls with a goal also allocate nothing.
    pub(super) fn exceeds(&self) -> bool {
        self.goal.is_some_and(|goal| {
            self.ratio.is_nan() || self.ratio > goal.bound || self.allocations > 0.0
        })
    }

    fn cells(&self) -> [String; 6] {
        [
            self.name.clone(),
            format!("{:.1}", self.ns),
            format!("{:.2}", self.ratio),
            format!("{:.2}", self.least_ratio),
            format!("{}", self.allocations),
            self.goal.map_or_else(String::new, |goal| {
                format!("≤ {} (bound {})", goal.ratio, goal.bound)
            }),
        ]
    }
}

const HEADINGS: [&str; 6] = ["call", "ns", "ratio", "least", "allocations", "goal"];

/// What a ratio is of, with what that took.
fn unit(rows: &[Row]) -> String {
    let mut references: Vec<_> = rows.iter().map(|row| row.reference_ns).collect();
    references.sort_unstable_by(f64::total_cmp);
    let reference = references[references.len() / 2];
    format!("ratio 1 = two `std::time::Instant::now()` of the same moment, {reference:.1} ns")
}

/// The table for a terminal.
pub(super) fn text(title: &str, rows: &[Row]) -> String {
    let cells: Vec<_> = rows.iter().map(Row::cells).collect();
    let widths: Vec<usize> = (0..HEADINGS.len())
        .map(|column| {
            let of_cells = cells.iter().map(|row| row[column].chars().count());
            of_cells.max().unwrap_or(0).max(HEADINGS[column].len())
        })
        .collect();
    let line = |row: &[String; 6]| {
        let columns: Vec<_> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (text, &width))| match column {
                0 | 5 => format!("{text:<width$}"),
                _ => format!("{text:>width$}"),
            })
            .collect();
        columns.join("  ").trim_end().to_owned()
    };
    let mut lines = vec![
        format!("{title} ({})", unit(rows)),
        line(&HEADINGS.map(str::to_owned)),
    ];
    lines.extend(cells.iter().map(line));
    lines.join("\n")
}

/// The table for a document.
pub(super) fn markdown(title: &str, rows: &[Row]) -> String {
    let mut lines = vec![
        format!("{title}; {}.", unit(rows)),
        String::new(),
        format!("| {} |", HEADINGS.join(" | ")),
        "|---|--:|--:|--:|--:|---|".to_owned(),
    ];
    lines.extend(
        rows.iter()
            .map(|row| format!("| {} |", row.cells().join(" | "))),
    );
    lines.join("\n") + "\n"
}
