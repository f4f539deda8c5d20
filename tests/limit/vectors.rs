//! The window vectors, driven through the whole limiter: slots, permits, stripes, windows and algorithm.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use resilience::Outcome;
use resilience::event::Reason;
use resilience::limit::algorithm::{
    Aimd, AimdSettings, Algorithm, Bounds, Decision, Gradient2, Gradient2Settings,
};
use resilience::limit::window::Window;
use resilience::limit::{LimitConfig, Permit};
use serde_json::Value;

use crate::support::manual;

/// Asks the reference's algorithm and notes what it says, but leaves the limit where the vectors' calls all fit: they
/// tell how many were in flight, whatever the limit was.
#[derive(Debug)]
struct Shadow<A> {
    algorithm: A,
    noted: Noted,
}

type Noted = Arc<Mutex<Vec<(Window, f64)>>>;

impl<A: Algorithm> Algorithm for Shadow<A> {
    fn update(&mut self, window: &Window) -> Decision {
        let limit = self.algorithm.update(window).limit;
        self.noted.lock().unwrap().push((window.clone(), limit));
        Decision::new(200.0, Reason::custom("shadow"))
    }
}

#[derive(Debug)]
struct Row {
    start: u64,
    end: u64,
    in_flight: u32,
    dropped: bool,
    limit: u32,
    limit_exact: f64,
    /// Mean latency, calls in flight and drops of a window that closed here.
    closed: Option<(u64, u32, bool)>,
}

fn rows(path: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let columns: Vec<_> = lines.next().unwrap().split(',').collect();
    lines
        .map(|line| {
            let row: BTreeMap<_, _> = columns.iter().copied().zip(line.split(',')).collect();
            let number = |column: &str| row[column].parse::<u64>().unwrap();
            Row {
                start: number("start_ns"),
                end: number("start_ns") + number("rtt_ns"),
                in_flight: number("inflight") as u32,
                dropped: row["did_drop"] == "1",
                limit: number("limit") as u32,
                limit_exact: row["limit_exact"].parse().unwrap(),
                closed: (row["window"] == "1").then(|| {
                    (
                        number("w_rtt"),
                        number("w_inflight") as u32,
                        row["w_drop"] == "1",
                    )
                }),
            }
        })
        .collect()
}

fn replay(path: &Path, gradient2: bool, begins: u64) {
    let bounds = Bounds::new(20, 1, 200).unwrap();
    let noted = Noted::default();
    let (builder, clock) = manual();
    clock.advance_to(begins);
    let (for_aimd, for_gradient2) = (noted.clone(), noted.clone());
    let mut seed = AimdSettings::netflix();
    seed.latency_threshold_ns = None;
    let registry = builder
        .algorithm("shadow-aimd", move |_| Shadow {
            algorithm: Aimd::new(bounds, seed),
            noted: for_aimd.clone(),
        })
        .algorithm("shadow-gradient2", move |_| Shadow {
            algorithm: Gradient2::new(bounds, Gradient2Settings::netflix()),
            noted: for_gradient2.clone(),
        })
        .build()
        .unwrap();
    let shadow = if gradient2 {
        "shadow-gradient2"
    } else {
        "shadow-aimd"
    };
    let limit = registry
        .register(
            "vector",
            LimitConfig::new().algorithm(shadow).initial_limit(200),
        )
        .unwrap();

    let rows = rows(path);
    // Each call starts and ends at its time; of what happens at one time, ends come first.
    let mut steps: Vec<(u64, bool, usize)> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        steps.push((row.start, true, index));
        steps.push((row.end, false, index));
    }
    steps.sort_unstable();

    let mut running: BTreeMap<usize, Permit<'_>> = BTreeMap::new();
    let (mut now, mut now_exact) = (20, 20.0);
    for (time, starts, index) in steps {
        let row = &rows[index];
        clock.advance_to(time);
        if starts {
            // Others are in flight too: as many as the vector says this call was admitted with.
            let others: Vec<_> = (limit.in_flight() + 1..row.in_flight)
                .map(|_| limit.try_acquire().unwrap())
                .collect();
            running.insert(index, limit.try_acquire().unwrap());
            assert_eq!(limit.in_flight(), row.in_flight);
            drop(others);
            continue;
        }
        let outcome = if row.dropped {
            Outcome::Drop
        } else {
            Outcome::Success
        };
        running.remove(&index).unwrap().complete(outcome);
        let closed = noted.lock().unwrap().pop();
        if let Some((window, next)) = &closed {
            (now, now_exact) = (*next as u32, *next);
            let summary = (
                window.mean_latency_of_all(),
                window.max_in_flight,
                window.drops > 0,
            );
            assert_eq!(Some(summary), row.closed, "{}: row {index}", path.display());
        }
        assert_eq!(
            closed.is_some(),
            row.closed.is_some(),
            "{}: row {index}",
            path.display()
        );
        assert_eq!(now, row.limit, "{}: row {index}", path.display());
        assert_eq!(
            now_exact.to_bits(),
            row.limit_exact.to_bits(),
            "{}: row {index}",
            path.display()
        );
    }
    assert_eq!(limit.in_flight(), 0);
}

#[test]
fn all_ten_window_vectors_close_the_same_windows_with_the_same_limits() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors");
    let manifest: Vec<Value> =
        serde_json::from_str(&std::fs::read_to_string(folder.join("manifest.json")).unwrap())
            .unwrap();
    let mut replayed = 0;
    for entry in &manifest {
        let file = entry["file"].as_str().unwrap();
        if file.starts_with("window-") {
            replay(
                &folder.join(file),
                entry["algo"] == "gradient2",
                entry["t0_ns"].as_u64().unwrap(),
            );
            replayed += 1;
        }
    }
    assert_eq!(replayed, 10);
}
