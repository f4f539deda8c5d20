//! Recordings of Netflix concurrency-limits 0.5.4, replayed bit for bit.
//!
//! `vectors/manifest.json` lists them with the parameters they were made with. A row is one sample and the state after
//! it.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use resilience::event::Reason;
use resilience::limit::algorithm::{
    Aimd, AimdSettings, Algorithm, Bounds, Calls, Decision, Gradient2, Gradient2Settings, Jitter,
    QueueSize, Vegas, VegasSettings,
};
use resilience::limit::window::{Sample, Window};
use serde_json::Value;

/// Where the reference's limit is not a number.
const ZERO_FIRST: &str = "gradient2-seed001-zero_rtt_first.csv";

fn path(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("vectors")
        .join(file)
}

fn manifest() -> Vec<Value> {
    let text = fs::read_to_string(path("manifest.json")).expect("the manifest is readable");
    let Ok(Value::Array(entries)) = serde_json::from_str(&text) else {
        panic!("the manifest is not a list")
    };
    entries
}

fn file(entry: &Value) -> &str {
    entry["file"].as_str().expect("every entry names a file")
}

/// Recordings of windows, for the whole limiter; the others are of the algorithms alone.
fn is_of_windows(entry: &Value) -> bool {
    file(entry).starts_with("window-")
}

struct Trace {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Trace {
    fn read(file: &str) -> Self {
        let text = fs::read_to_string(path(file)).expect("the recording is readable");
        let mut lines = text
            .lines()
            .map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        let columns = lines.next().expect("a recording has a header");
        Self {
            columns,
            rows: lines.collect(),
        }
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row {
            columns: &self.columns,
            cells,
        })
    }
}

struct Row<'a> {
    columns: &'a [String],
    cells: &'a [String],
}

impl Row<'_> {
    fn text(&self, column: &str) -> &str {
        let index = self.columns.iter().position(|name| name == column);
        &self.cells[index.unwrap_or_else(|| panic!("no column `{column}`"))]
    }

    fn whole(&self, column: &str) -> u64 {
        self.text(column).parse().expect("a whole number")
    }

    fn float(&self, column: &str) -> f64 {
        self.text(column).parse().expect("a number")
    }

    fn sample(&self) -> Sample {
        let in_flight = self
            .whole("inflight")
            .try_into()
            .expect("calls in flight fit");
        let mut sample = Sample::success(self.whole("rtt_ns"), in_flight);
        sample.dropped = self.whole("did_drop") == 1;
        sample
    }
}

fn assert_same(actual: f64, expected: f64, what: &str, at: &str) {
    assert!(
        actual.to_bits() == expected.to_bits(),
        "{at}: {what} is {actual:?}, the reference's is {expected:?}"
    );
}

/// Folds each row as a window of one sample and compares the limit; `more` compares what else the row tells.
fn replay<A: Algorithm>(
    file: &str,
    trace: &Trace,
    algorithm: &mut A,
    mut more: impl FnMut(&Row<'_>, &A, &Decision, &str),
) {
    let mut limit = 0;
    for (index, row) in trace.rows().enumerate() {
        let at = format!("{file}, sample {}", index + 1);
        let decision = algorithm.update(&Window::of(limit, [row.sample()]));
        assert_same(decision.limit, row.float("limit_exact"), "the limit", &at);
        limit = decision.limit as u32;
        assert_eq!(u64::from(limit), row.whole("limit"), "{at}");
        more(&row, algorithm, &decision, &at);
    }
}

fn bounds(parameters: &Value) -> Bounds {
    let bound = |name: &str, default| {
        parameters.get(name).map_or(default, |value| {
            value
                .as_u64()
                .and_then(|n| n.try_into().ok())
                .expect("a bound")
        })
    };
    Bounds::new(
        bound("initialLimit", 20),
        bound("minLimit", 1),
        bound("maxLimit", 200),
    )
    .expect("bounds in order")
}

fn number(parameters: &Value, name: &str) -> f64 {
    parameters[name]
        .as_f64()
        .unwrap_or_else(|| panic!("no number `{name}` in {parameters}"))
}

fn aimd(parameters: &Value) -> Aimd {
    let mut settings = AimdSettings::netflix();
    settings.backoff_ratio = number(parameters, "backoffRatio");
    settings.latency_threshold_ns = parameters["timeoutNanos"].as_u64();
    Aimd::new(bounds(parameters), settings)
}

fn gradient2_settings(parameters: &Value) -> Gradient2Settings {
    assert_eq!(parameters["warmupWindow"], 10);
    let mut settings = Gradient2Settings::netflix();
    settings.smoothing = number(parameters, "smoothing");
    settings.queue_size = match parameters.get("queueSizeFn").and_then(Value::as_str) {
        None => QueueSize::Fixed(number(parameters, "queueSize") as u32),
        Some("max(4,floor(sqrt))") => QueueSize::SquareRoot { min: 4 },
        Some(other) => panic!("unknown queue size {other}"),
    };
    settings.long_window = number(parameters, "longWindow") as u32;
    settings.rtt_tolerance = number(parameters, "rttTolerance");
    settings
}

fn gradient2(parameters: &Value) -> Gradient2 {
    Gradient2::new(bounds(parameters), gradient2_settings(parameters))
}

fn vegas(parameters: &Value, trace: &Trace) -> Vegas {
    let calls = |name: &str| match (&parameters[name], parameters[name].as_str()) {
        (Value::Number(number), _) => Calls::Fixed(
            number
                .as_u64()
                .and_then(|n| n.try_into().ok())
                .expect("calls"),
        ),
        (_, Some("log10")) => Calls::Log10(1),
        (_, Some("3*log10")) => Calls::Log10(3),
        (_, Some("6*log10")) => Calls::Log10(6),
        (other, _) => panic!("unknown number of calls {other}"),
    };
    assert_eq!(parameters["increase"], "limit+log10");
    assert_eq!(parameters["decrease"], "limit-log10");
    let mut settings = VegasSettings::netflix();
    settings.alpha = calls("alpha");
    settings.beta = calls("beta");
    settings.threshold = calls("threshold");
    settings.smoothing = number(parameters, "smoothing");
    settings.probe_multiplier = number(parameters, "probeMultiplier") as u32;
    settings.jitter = parameters["jitter"]
        .as_str()
        .and_then(|text| text.parse().ok())
        .map_or(Jitter::Seeded(0), Jitter::Fixed);
    // The jitter in a row is the one that its sample was compared with, so a probe's new one is in the row after.
    let mut new = true;
    let recorded = trace
        .rows()
        .filter(|row| std::mem::replace(&mut new, row.whole("probed") == 1));
    Vegas::new(bounds(parameters), settings)
        .with_jitters(recorded.map(|row| row.float("probe_jitter")))
}

fn run(entry: &Value) {
    let file = file(entry);
    let trace = Trace::read(file);
    let parameters = &entry["params"];
    assert_eq!(
        trace.rows.len() as u64,
        entry["samples"].as_u64().expect("a count"),
        "{file}"
    );
    match entry["algo"].as_str() {
        Some("aimd") => replay(file, &trace, &mut aimd(parameters), |_, _, _, _| ()),
        Some("gradient2") if file == ZERO_FIRST => run_zero_first(&trace, parameters),
        Some("gradient2") => replay(
            file,
            &trace,
            &mut gradient2(parameters),
            |row, algorithm, _, at| {
                assert_same(
                    algorithm.baseline().unwrap_or(0.0),
                    row.float("long_rtt"),
                    "the long-term latency",
                    at,
                );
            },
        ),
        Some("vegas") => run_vegas(file, &trace, parameters),
        other => panic!("{file}: no test for the algorithm {other:?}"),
    }
}

fn run_vegas(file: &str, trace: &Trace, parameters: &Value) {
    let mut algorithm = vegas(parameters, trace);
    let mut jitter = algorithm.probe_jitter();
    replay(
        file,
        trace,
        &mut algorithm,
        |row, algorithm, decision, at| {
            assert_same(
                algorithm.baseline().unwrap_or(0.0),
                row.float("rtt_noload"),
                "the baseline",
                at,
            );
            assert_eq!(
                u64::from(algorithm.probe_count()),
                row.whole("probe_count"),
                "{at}"
            );
            assert_same(jitter, row.float("probe_jitter"), "the jitter", at);
            jitter = algorithm.probe_jitter();
            if row.whole("probed") == 1 {
                assert!(matches!(decision.reason, Reason::Probe { .. }), "{at}");
            }
        },
    );
}

/// The first sample of this one took 0 ns: the reference divides 0 by 0, its limit is not a number from then on and
/// serves as 0. That is the one thing the preset for the reference does not copy. What is left to compare: the
/// long-term latency, which is sound there; and with zero latencies skipped, the limits of the same samples
/// without the zeros, which are those of the recording `steady`.
fn run_zero_first(trace: &Trace, parameters: &Value) {
    let mut algorithm = gradient2(parameters);
    let mut skipping = gradient2_settings(parameters);
    skipping.deviations.skip_zero_latency = true;
    let mut skipping = Gradient2::new(bounds(parameters), skipping);
    let steady = Trace::read("gradient2-seed001-steady.csv");
    let mut steady = steady.rows();
    let mut compared = 0;
    for (index, row) in trace.rows().enumerate() {
        let at = format!("{ZERO_FIRST}, sample {}", index + 1);
        assert!(row.float("limit_exact").is_nan(), "{at}");
        let window = Window::of(20, [row.sample()]);

        let decision = algorithm.update(&window);
        assert!(
            (1.0..=200.0).contains(&decision.limit),
            "{at}: {decision:?}"
        );
        assert_same(
            algorithm.baseline().unwrap_or(f64::NAN),
            row.float("long_rtt"),
            "the long-term latency",
            &at,
        );

        let decision = skipping.update(&window);
        if row.whole("rtt_ns") == 0 {
            assert_eq!(
                (decision.limit, decision.reason),
                (20.0, Reason::NoLatency),
                "{at}"
            );
        } else {
            let expected = steady.next().expect("`steady` is longer");
            assert_eq!(row.text("rtt_ns"), expected.text("rtt_ns"), "{at}");
            assert_same(
                decision.limit,
                expected.float("limit_exact"),
                "the limit",
                &at,
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 497);
}

#[test]
fn every_recording_of_an_algorithm_replays_bit_for_bit() {
    let manifest = manifest();
    let ran = manifest
        .iter()
        .filter(|entry| !is_of_windows(entry))
        .inspect(|entry| run(entry))
        .count();
    assert_eq!(ran, 37);
}

#[test]
fn every_file_is_listed_and_every_listed_file_is_there() {
    let listed: BTreeSet<String> = manifest()
        .iter()
        .map(|entry| file(entry).to_owned())
        .collect();
    let there: BTreeSet<String> = fs::read_dir(path("."))
        .expect("the folder is readable")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "csv"))
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect();
    assert_eq!(listed, there);
}
