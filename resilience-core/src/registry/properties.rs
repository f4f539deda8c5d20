//! The properties of the adaptive limit as files and variables write them.

#![expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "one signature for the texts of all properties"
)]

use std::borrow::Cow;
use std::time::Duration;

use crate::config::patch::{Context, Patch, Property};
use crate::config::value::{self, WrongValue};
use crate::error::{Code, did_you_mean, listed};
use crate::limit::algorithm::{
    Calls, Deviations, Drain, GrowthBound, Jitter, QueueSize, VegasBaseline,
};
use crate::limit::settings::{BUILT_IN, built_in};
use crate::limit::{Kinds, LimitConfig, Mode, Preset};

/// The least queue of `squareRoot` without one: the reference's.
const LEAST_QUEUE: u32 = 4;

const AT_ONCE: &str = "at once";
const BOUND: &str = "at once: a limit outside is moved to the bound";
const ALGORITHM: &str = "at once: another one starts at the limit in force and learns anew";
const INITIAL: &str = "for limits that are made or reset from then on";
const NEW_WAITS: &str = "for calls that begin to wait from then on";
const OPEN_WINDOW: &str = "at once, for the open window too";
const NEXT_WINDOW: &str = "from the next decision on; what was learned stays";
const BASELINE: &str = "from the next decision on; the baseline is learned anew";

/// Properties whose value is read by `$read` and written by `$show`. What is out of range is found by
/// [`LimitConfig::out_of_range`], so that the ranges have one home.
macro_rules! properties {
    ($($name:literal $field:ident: $kind:literal $range:literal, $default:literal, $live:path, $read:expr, $show:expr;)*) => {
        const PROPERTIES: &[Property<LimitConfig>] = &[$(Property {
            name: $name,
            field: stringify!($field),
            kind: $kind,
            range: $range,
            default: $default,
            live: $live,
            set: |config, text, context| {
                let read: fn(&str, &Context<'_>) -> Result<_, WrongValue> = $read;
                let higher = LimitConfig { $field: Some(read(text, context)?), ..LimitConfig::default() };
                if !higher.out_of_range().is_empty() {
                    return Err(WrongValue::out_of_range());
                }
                config.overlay(&higher);
                Ok(())
            },
            show: |config| config.$field.as_ref().map($show),
        }),*];
    };
}

properties! {
    "algorithm" algorithm: "the name of an algorithm" "", "knee", ALGORITHM, algorithm, ToString::to_string;
    "initialLimit" initial_limit: "a whole number" "from 1 to 1000000", "20, or the bound nearest to it", INITIAL, count, ToString::to_string;
    "minLimit" min_limit: "a whole number" "from 1 to 1000000", "1", BOUND, count, ToString::to_string;
    "maxLimit" max_limit: "a whole number" "from 1 to 1000000", "200", BOUND, count, ToString::to_string;
    "window" window: "a duration" "from 1ms to 1h", "1s", OPEN_WINDOW, |text, _| value::duration(text), |window| value::show_duration(*window);
    "minWindowSamples" min_window_samples: "a whole number" "from 1 to 1000000", "10", OPEN_WINDOW, count, ToString::to_string;
    "enabled" enabled: "true or false" "", "true", AT_ONCE, |text, _| value::boolean(text), ToString::to_string;
    "maxWait" max_wait: "off or a duration" "from 1ms to 1h", "off", NEW_WAITS, max_wait, show_max_wait;
    "queueLimit" queue_limit: "a whole number" "from 1 to 1000000", "100", NEW_WAITS, count, ToString::to_string;
    "mode" mode: "one of enforce, observe" "", "enforce", AT_ONCE, mode, show_mode;
    "dropOn" drop_on: "a list of kinds of errors: timeout, limit-exceeded, bulkhead-full and those that the program adds" "", "timeout, bulkhead-full", AT_ONCE, drop_on, show_kinds;
    "preset" preset: "one of repaired, netflix" "", "repaired", NEXT_WINDOW, preset, show_preset;
    "backoffRatio" backoff_ratio: "a decimal number" "from 0.5 to below 1", "0.9", NEXT_WINDOW, decimal, ToString::to_string;
    "smoothing" smoothing: "a decimal number" "above 0, up to 1", "0.2 for gradient2, 1 for vegas", NEXT_WINDOW, decimal, ToString::to_string;
    "rttTolerance" rtt_tolerance: "a decimal number" "from 1 to 100", "1.5", NEXT_WINDOW, decimal, ToString::to_string;
    "queueSize" queue_size: "a whole number, squareRoot or squareRoot(least)" "from 0 to 1000000", "4", NEXT_WINDOW, queue_size, show_queue_size;
    "longWindow" long_window: "a whole number" "from 1 to 1000000", "600", NEXT_WINDOW, count, ToString::to_string;
    "increaseBy" increase_by: "a whole number" "from 1 to 1000000", "1", NEXT_WINDOW, count, ToString::to_string;
    "alpha" alpha: "a whole number or one with *log10 behind it," "up to 1000000 fixed, up to 1000 times the logarithm", "3*log10", NEXT_WINDOW, calls, show_calls;
    "beta" beta: "a whole number or one with *log10 behind it," "up to 1000000 fixed, up to 1000 times the logarithm", "6*log10", NEXT_WINDOW, calls, show_calls;
    "threshold" threshold: "a whole number or one with *log10 behind it," "up to 1000000 fixed, up to 1000 times the logarithm", "1*log10", NEXT_WINDOW, calls, show_calls;
    "probeMultiplier" probe_multiplier: "a whole number," "1 or more", "30", NEXT_WINDOW, count, ToString::to_string;
    "jitter" jitter: "seeded(number) or a decimal number" "above 0, up to 1", "seeded by the instance", NEXT_WINDOW, jitter, show_jitter;
    "baseline" baseline: "minimum or quantile(which, windows):" "a quantile from 0 to 1 of 1 to 10000 windows", "minimum", BASELINE, baseline, show_baseline;
    "deviations" deviations: "all, none or a list of the switches that are on" "", "all, none with preset netflix", NEXT_WINDOW, deviations, show_deviations;
    "latencyThreshold" latency_threshold: "a duration" "from 1ns to 1h", "none", NEXT_WINDOW, |text, _| value::duration(text), |threshold| value::show_duration(*threshold);
    "oncePerRtt" once_per_rtt: "true or false" "", "false", NEXT_WINDOW, |text, _| value::boolean(text), ToString::to_string;
    "growthBound" growth_bound: "off, inFlight(gain) or bdp(gain, windows):" "a gain from 1 to 100, of 1 to 1000000 windows", "off", NEXT_WINDOW, growth_bound, show_growth_bound;
    "headroom" headroom: "a decimal number" "from 0 to 10", "0.5", NEXT_WINDOW, decimal, ToString::to_string;
    "drain" drain: "off or a whole number of base latencies" "from 10 to 1000000", "100", NEXT_WINDOW, drain, show_drain;
    "dropShare" drop_share: "a decimal number" "from 0 to below 1", "0.1", NEXT_WINDOW, decimal, ToString::to_string;
    "sensitivity" sensitivity: "a decimal number" "from 0.25 to 4", "1", NEXT_WINDOW, decimal, ToString::to_string;
}

impl Patch for LimitConfig {
    const POLICY: &'static str = "adaptiveLimit";

    fn properties() -> &'static [Property<Self>] {
        PROPERTIES
    }

    fn overlay(&mut self, higher: &Self) {
        self.overlay(higher);
    }
}

fn count(text: &str, _: &Context<'_>) -> Result<u32, WrongValue> {
    value::count(text)
}

fn decimal(text: &str, _: &Context<'_>) -> Result<f64, WrongValue> {
    value::decimal(text)
}

fn algorithm(text: &str, context: &Context<'_>) -> Result<Cow<'static, str>, WrongValue> {
    let name = text.trim_ascii();
    if let Some(name) = built_in(name) {
        return Ok(name.into());
    }
    if context.algorithms.contains(&name) {
        return Ok(name.to_owned().into());
    }
    let mut wrong = WrongValue::kind(text);
    wrong.code = Code::UNKNOWN_ALGORITHM;
    if wrong.hint.is_none() {
        let known = BUILT_IN
            .into_iter()
            .chain(context.algorithms.iter().copied());
        let near = did_you_mean(name, known.clone());
        wrong.hint = near.or_else(|| Some(format!("known are {}", listed(known))));
    }
    Err(wrong)
}

/// A wait of 0 is none, and is written as `off`.
fn max_wait(text: &str, _: &Context<'_>) -> Result<Duration, WrongValue> {
    if value::choice(text, &["off"]).is_ok() {
        return Ok(Duration::ZERO);
    }
    match value::duration(text)? {
        Duration::ZERO => Err(WrongValue::out_of_range()),
        wait => Ok(wait),
    }
}

fn show_max_wait(wait: &Duration) -> String {
    if wait.is_zero() {
        "off".to_owned()
    } else {
        value::show_duration(*wait)
    }
}

fn mode(text: &str, _: &Context<'_>) -> Result<Mode, WrongValue> {
    value::choice(text, &["enforce", "observe"]).map(|name| match name {
        "observe" => Mode::Observe,
        _ => Mode::Enforce,
    })
}

fn show_mode(mode: &Mode) -> String {
    match mode {
        Mode::Enforce => "enforce",
        Mode::Observe => "observe",
    }
    .to_owned()
}

fn drop_on(text: &str, context: &Context<'_>) -> Result<Kinds, WrongValue> {
    value::kinds(text, context.kinds)
        .map(Kinds::from_iter)
        .map_err(|(_, wrong)| wrong)
}

fn show_kinds(kinds: &Kinds) -> String {
    kinds.iter().collect::<Vec<_>>().join(", ")
}

fn preset(text: &str, _: &Context<'_>) -> Result<Preset, WrongValue> {
    value::choice(text, &["repaired", "netflix"]).map(|name| match name {
        "netflix" => Preset::Netflix,
        _ => Preset::Repaired,
    })
}

fn show_preset(preset: &Preset) -> String {
    match preset {
        Preset::Repaired => "repaired",
        Preset::Netflix => "netflix",
    }
    .to_owned()
}

/// The arguments of `name(…)`.
fn arguments<'a>(text: &'a str, name: &'static str) -> Option<&'a str> {
    let (given, arguments) = text.trim_ascii().strip_suffix(')')?.split_once('(')?;
    value::choice(given, &[name]).is_ok().then_some(arguments)
}

fn queue_size(text: &str, _: &Context<'_>) -> Result<QueueSize, WrongValue> {
    const NAME: &str = "squareRoot";
    if let Some(min) = arguments(text, NAME) {
        value::count(min).map(|min| QueueSize::SquareRoot { min })
    } else if value::choice(text, &[NAME]).is_ok() {
        Ok(QueueSize::SquareRoot { min: LEAST_QUEUE })
    } else {
        value::count(text).map(QueueSize::Fixed)
    }
}

fn show_queue_size(size: &QueueSize) -> String {
    match size {
        QueueSize::Fixed(size) => size.to_string(),
        QueueSize::SquareRoot { min } => format!("squareRoot({min})"),
    }
}

fn calls(text: &str, _: &Context<'_>) -> Result<Calls, WrongValue> {
    match text.split_once('*') {
        None => value::count(text).map(Calls::Fixed),
        Some((times, function)) => {
            value::choice(function, &["log10"]).map_err(|_| WrongValue::kind(text))?;
            value::count(times).map(Calls::Log10)
        }
    }
}

fn show_calls(calls: &Calls) -> String {
    match calls {
        Calls::Fixed(calls) => calls.to_string(),
        Calls::Log10(times) => format!("{times}*log10"),
    }
}

fn drain(text: &str, _: &Context<'_>) -> Result<Drain, WrongValue> {
    match value::choice(text, &["off"]) {
        Ok(_) => Ok(Drain::Off),
        Err(_) => value::count(text).map(Drain::Every),
    }
}

fn show_drain(drain: &Drain) -> String {
    match drain {
        Drain::Off => "off".to_owned(),
        Drain::Every(latencies) => latencies.to_string(),
    }
}

fn jitter(text: &str, _: &Context<'_>) -> Result<Jitter, WrongValue> {
    match arguments(text, "seeded") {
        Some(seed) => value::whole(seed).map(Jitter::Seeded),
        None => value::decimal(text).map(Jitter::Fixed),
    }
}

fn show_jitter(jitter: &Jitter) -> String {
    match jitter {
        Jitter::Fixed(factor) => factor.to_string(),
        Jitter::Seeded(seed) => format!("seeded({seed})"),
    }
}

fn baseline(text: &str, _: &Context<'_>) -> Result<VegasBaseline, WrongValue> {
    if let Some(arguments) = arguments(text, "quantile") {
        let Some((quantile, windows)) = arguments.split_once(',') else {
            return Err(WrongValue::kind(text).hint("as in quantile(0.1, 10)"));
        };
        let quantile = value::decimal(quantile)?;
        let windows = value::count(windows)?;
        return Ok(VegasBaseline::Quantile { quantile, windows });
    }
    value::choice(text, &["minimum"]).map(|_| VegasBaseline::Minimum)
}

fn show_baseline(baseline: &VegasBaseline) -> String {
    match baseline {
        VegasBaseline::Minimum => "minimum".to_owned(),
        VegasBaseline::Quantile { quantile, windows } => format!("quantile({quantile}, {windows})"),
    }
}

fn growth_bound(text: &str, _: &Context<'_>) -> Result<GrowthBound, WrongValue> {
    if let Some(gain) = arguments(text, "inFlight") {
        return value::decimal(gain).map(|gain| GrowthBound::InFlight { gain });
    }
    if let Some(arguments) = arguments(text, "bdp") {
        let Some((gain, windows)) = arguments.split_once(',') else {
            return Err(WrongValue::kind(text).hint("as in bdp(2, 600)"));
        };
        let gain = value::decimal(gain)?;
        let windows = value::count(windows)?;
        return Ok(GrowthBound::Bdp { gain, windows });
    }
    value::choice(text, &["off"]).map(|_| GrowthBound::Off)
}

fn show_growth_bound(bound: &GrowthBound) -> String {
    match bound {
        GrowthBound::Off => "off".to_owned(),
        GrowthBound::InFlight { gain } => format!("inFlight({gain})"),
        GrowthBound::Bdp { gain, windows } => format!("bdp({gain}, {windows})"),
    }
}

/// The switches by name. Destructured, so that none is forgotten.
fn switches(deviations: &mut Deviations) -> [(&'static str, &mut bool); 8] {
    let Deviations {
        skip_zero_latency,
        cut_on_drop,
        drops_teach_nothing,
        cut_once,
        whole_cuts,
        exact_averages,
        minimum_decides,
        no_queue_grows_most,
    } = deviations;
    [
        ("skipZeroLatency", skip_zero_latency),
        ("cutOnDrop", cut_on_drop),
        ("dropsTeachNothing", drops_teach_nothing),
        ("cutOnce", cut_once),
        ("wholeCuts", whole_cuts),
        ("exactAverages", exact_averages),
        ("minimumDecides", minimum_decides),
        ("noQueueGrowsMost", no_queue_grows_most),
    ]
}

fn deviations(text: &str, _: &Context<'_>) -> Result<Deviations, WrongValue> {
    match value::choice(text, &["all", "none"]) {
        Ok("all") => return Ok(Deviations::ALL),
        Ok(_) => return Ok(Deviations::NONE),
        Err(_) => {}
    }
    let mut on = Deviations::NONE;
    let mut switches = switches(&mut on);
    let names = switches.each_ref().map(|(name, _)| *name);
    let given = value::list(text);
    if given.is_empty() {
        return Err(WrongValue::kind(text));
    }
    for given in given {
        let known = value::choice(given, &names)?;
        for (name, switch) in &mut switches {
            **switch |= *name == known;
        }
    }
    Ok(on)
}

fn show_deviations(deviations: &Deviations) -> String {
    let mut deviations = *deviations;
    if deviations == Deviations::ALL {
        return "all".to_owned();
    }
    let on = switches(&mut deviations);
    let on: Vec<_> = on
        .into_iter()
        .filter(|(_, on)| **on)
        .map(|(name, _)| name)
        .collect();
    if on.is_empty() {
        "none".to_owned()
    } else {
        on.join(", ")
    }
}

#[cfg(test)]
mod tests;
