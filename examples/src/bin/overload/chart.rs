//! The run as a picture: three panels over one axis of time.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use crate::client::Guard;
use crate::load::Reading;
use crate::plan::{Phase, Plan, RATE, TIMEOUT};
use crate::record::{Record, Stretch};
use crate::svg::{FAINT, LEFT, MARGIN, Panel, Points, RIGHT, Scale, Svg};

const CAPACITY: &str = "#dbe9f6";
const BLUE: &str = "#1668b8";
const GREEN: &str = "#2f9e5b";
const AMBER: &str = "#d9820b";
const VIOLET: &str = "#a78bca";
const GRAY: &str = "#6b7280";
const RED: &str = "#cf3f3f";

/// The readings that a rate or a percentile is taken over: 0.3 s.
const SMOOTHED: usize = 3;

/// Makes sure that there is a place for the chart.
pub(crate) fn prepare(path: &Path) -> Result<(), String> {
    let prepared = path
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::OpenOptions::new().create(true).append(true).open(path));
    prepared
        .map(drop)
        .map_err(|error| cannot_write(path, &error))
}

/// Draws the run into that file.
pub(crate) fn write(path: &Path, record: &Record) -> Result<(), String> {
    fs::write(path, draw(record)).map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &io::Error) -> String {
    format!("cannot write the chart to `{}`: {error}", path.display())
}

fn draw(record: &Record) -> String {
    let time = Scale {
        end: record.plan.total().as_secs_f64(),
        from: LEFT,
        to: RIGHT,
    };
    let mut svg = Svg::open(
        760.0,
        "An adaptive limit follows what the dependency can take",
    );
    svg.text(MARGIN, 60.0, "start", FAINT, &subtitle(record));
    draw_calls(&mut svg, record, time, 104.0..250.0);
    draw_latency(&mut svg, record, time, 314.0..440.0);
    draw_answers(&mut svg, record, time, 504.0..690.0);
    for second in time.ticks(12) {
        svg.text(time.at(second), 710.0, "middle", FAINT, &second.to_string());
    }
    svg.text(
        f64::midpoint(LEFT, RIGHT),
        736.0,
        "middle",
        FAINT,
        "seconds",
    );
    svg.close()
}

fn draw_calls(svg: &mut Svg, record: &Record, time: Scale, y: Range<f64>) {
    let readings = record.adaptive();
    let limit = points(readings, 1, |last, _| Some(f64::from(last.limit)));
    let in_flight = points(readings, 1, |last, _| Some(f64::from(last.in_flight)));
    let capacity = of_phases(&record.plan, |phase| phase.capacity as f64);
    let panel = Panel::new(time, y, highest([&limit, &in_flight, &capacity]) * 1.1);
    let legend = [
        ("limit", BLUE),
        ("in flight", GREEN),
        ("the dependency serves", CAPACITY),
    ];
    svg.heading(&panel, "Calls at once", &legend);
    svg.area(&panel, &capacity, CAPACITY);
    grid(svg, &panel, &record.plan);
    for (phase, begin, end) in record.plan.spans() {
        let label = format!("serves {} at once", phase.capacity);
        svg.label(&panel, (begin + end).as_secs_f64() / 2.0, &label);
    }
    svg.line(&panel, &in_flight, GREEN, 1.3);
    svg.steps(&panel, &limit, BLUE, 2.4);
}

fn draw_latency(svg: &mut Svg, record: &Record, time: Scale, y: Range<f64>) {
    let in_millis = |latency: Duration| latency.as_secs_f64() * 1e3;
    let readings = record.adaptive();
    let mean = points(readings, 1, |last, _| last.tally.mean().map(in_millis));
    let p99 = points(readings, SMOOTHED, |_, stretch| {
        stretch.tally.p99().map(in_millis)
    });
    let panel = Panel::new(time, y, in_millis(TIMEOUT) * 1.15);
    let legend = [("mean", AMBER), ("p99", VIOLET)];
    svg.heading(&panel, "Latency of answered calls, ms", &legend);
    grid(svg, &panel, &record.plan);
    svg.threshold(&panel, in_millis(TIMEOUT), RED, "time-out");
    svg.line(&panel, &p99, VIOLET, 1.6);
    svg.line(&panel, &mean, AMBER, 2.2);
}

fn draw_answers(svg: &mut Svg, record: &Record, time: Scale, y: Range<f64>) {
    let answers = record.lanes.each_ref().map(|(guard, readings)| {
        let rates = points(readings, SMOOTHED, |_, stretch| {
            Some(stretch.per_second(stretch.tally.good()))
        });
        (*guard, rates)
    });
    let possible = of_phases(&record.plan, Phase::possible);
    let lines = answers.iter().map(|(_, rates)| rates).chain([&possible]);
    let panel = Panel::new(time, y, highest(lines) * 1.1);
    let legend: Vec<_> = answers
        .iter()
        .map(|(guard, _)| (guard.label(), color(*guard)))
        .chain([("most that is possible", CAPACITY)])
        .collect();
    svg.heading(&panel, "Answers per second", &legend);
    svg.area(&panel, &possible, CAPACITY);
    grid(svg, &panel, &record.plan);
    // The adaptive limit is the first, and on top.
    for (guard, rates) in answers.iter().rev() {
        let width = if *guard == Guard::Adaptive { 2.4 } else { 1.8 };
        svg.line(&panel, rates, color(*guard), width);
    }
}

fn grid(svg: &mut Svg, panel: &Panel, plan: &Plan) {
    svg.grid(panel);
    for (_, begin, _) in plan.spans().skip(1) {
        svg.moment(panel, begin.as_secs_f64());
    }
}

/// Returns the line of a value that each phase has.
fn of_phases(plan: &Plan, value: impl Fn(&Phase) -> f64) -> Points {
    plan.spans()
        .flat_map(|(phase, begin, end)| [begin, end].map(|at| (at.as_secs_f64(), value(&phase))))
        .collect()
}

fn color(guard: Guard) -> &'static str {
    match guard {
        Guard::Adaptive => BLUE,
        Guard::TooLow => GRAY,
        Guard::TooHigh => RED,
    }
}

fn subtitle(record: &Record) -> String {
    let rates: Vec<_> = record
        .lanes
        .iter()
        .map(|(guard, readings)| {
            let stretch = Stretch::of(readings);
            format!(
                "{:.0} {}",
                stretch.per_second(stretch.tally.good()),
                guard.label()
            )
        })
        .collect();
    format!(
        "{RATE} calls per second, more than it can serve. Answered per second: {}",
        rates.join(", ")
    )
}

/// Returns a point for each reading, from it and from the `smoothed` readings up to it.
fn points(
    readings: &[Reading],
    smoothed: usize,
    value: impl Fn(&Reading, &Stretch) -> Option<f64>,
) -> Points {
    readings
        .iter()
        .enumerate()
        .filter_map(|(index, last)| {
            let stretch = Stretch::of(&readings[(index + 1).saturating_sub(smoothed)..=index]);
            Some((last.at.as_secs_f64(), value(last, &stretch)?))
        })
        .collect()
}

fn highest<'a>(lines: impl IntoIterator<Item = &'a Points>) -> f64 {
    let values = lines.into_iter().flatten().map(|(_, value)| *value);
    values.fold(1.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_was_left_at_once_has_a_chart_too() {
        let guards = [Guard::Adaptive, Guard::TooLow, Guard::TooHigh];
        let svg = draw(&Record::of(Plan::quick(), guards));
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
