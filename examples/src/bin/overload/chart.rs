//! The run as a picture: three panels over one axis of time, as SVG.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::client::Guard;
use crate::load::Reading;
use crate::plan::{Plan, RATE, TIMEOUT};
use crate::record::{Record, Stretch};

const WIDTH: f64 = 960.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 936.0;

const INK: &str = "#1f2933";
const FAINT: &str = "#7b8794";
const GRID: &str = "#e4e7eb";
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

/// Maps values to places along an axis, linearly.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// The value at the end of the axis; it begins at 0.
    end: f64,
    from: f64,
    to: f64,
}

impl Scale {
    fn at(self, value: f64) -> f64 {
        self.from + (self.to - self.from) * (value / self.end).clamp(0.0, 1.0)
    }

    /// Returns round values along the axis, at most `count` and 0.
    fn ticks(self, count: u32) -> impl Iterator<Item = f64> {
        let step = round_up(self.end / f64::from(count));
        (0..=count)
            .map(move |tick| f64::from(tick) * step)
            .take_while(move |value| *value <= self.end * 1.000_001)
    }
}

/// Returns the next number of the row 1, 2, 5, 10, 20, 50, …
fn round_up(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let digit = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|digit| digit * power >= value * 0.999_999);
    digit.unwrap_or(10.0) * power
}

/// A line to be drawn: moments in seconds and values.
type Points = Vec<(f64, f64)>;

fn draw(record: &Record) -> String {
    let time = Scale {
        end: record.plan.total().as_secs_f64(),
        from: LEFT,
        to: RIGHT,
    };
    let readings = record.adaptive();
    let mut svg = Svg::open(760.0);
    svg.text(
        LEFT - 36.0,
        38.0,
        "start",
        INK,
        "font-size=\"21\" font-weight=\"600\"",
        "An adaptive limit follows what the dependency can take",
    );
    svg.text(LEFT - 36.0, 60.0, "start", FAINT, "", &subtitle(record));

    let limit = points(readings, 1, |last, _| Some(f64::from(last.limit)));
    let in_flight = points(readings, 1, |last, _| Some(f64::from(last.in_flight)));
    let served = |value: fn(&crate::plan::Phase) -> f64| -> Points {
        record
            .plan
            .spans()
            .flat_map(|(phase, begin, end)| {
                [begin, end].map(|at| (at.as_secs_f64(), value(&phase)))
            })
            .collect()
    };

    let panel = Panel::new(
        time,
        104.0,
        250.0,
        highest(&[&limit, &in_flight]).max(35.0) * 1.1,
    );
    let capacity = served(|phase| phase.capacity as f64);
    svg.panel(
        &panel,
        "Calls at once",
        &[
            ("limit", BLUE),
            ("in flight", GREEN),
            ("the dependency serves", CAPACITY),
        ],
    );
    svg.area(&panel, &capacity);
    svg.grid(&panel, &record.plan);
    for (phase, begin, end) in record.plan.spans() {
        let middle = time.at((begin + end).as_secs_f64() / 2.0);
        let label = format!("serves {} at once", phase.capacity);
        svg.text(middle, panel.value.from - 8.0, "middle", FAINT, "", &label);
    }
    svg.line(&panel, &in_flight, GREEN, 1.3);
    svg.steps(&panel, &limit, BLUE, 2.4);

    let in_millis = |latency: Duration| latency.as_secs_f64() * 1e3;
    let mean = points(readings, 1, |last, _| last.tally.mean().map(in_millis));
    let p99 = points(readings, SMOOTHED, |_, stretch| {
        stretch.tally.p99().map(in_millis)
    });
    let panel = Panel::new(time, 314.0, 440.0, in_millis(TIMEOUT) * 1.15);
    svg.panel(
        &panel,
        "Latency of answered calls, ms",
        &[("mean", AMBER), ("p99", VIOLET)],
    );
    svg.grid(&panel, &record.plan);
    svg.rule(&panel, in_millis(TIMEOUT), "time-out");
    svg.line(&panel, &p99, VIOLET, 1.6);
    svg.line(&panel, &mean, AMBER, 2.2);

    let good: Vec<_> = record
        .lanes
        .iter()
        .map(|(guard, readings)| {
            let rates = points(readings, SMOOTHED, |_, stretch| {
                Some(stretch.per_second(stretch.tally.good()))
            });
            (*guard, rates)
        })
        .collect();
    let possible = served(crate::plan::Phase::possible);
    let all: Vec<_> = good
        .iter()
        .map(|(_, rates)| rates)
        .chain([&possible])
        .collect();
    let panel = Panel::new(time, 504.0, 690.0, highest(&all) * 1.1);
    let legend: Vec<_> = good
        .iter()
        .map(|(guard, _)| (guard.label(), color(*guard)))
        .chain([("most that is possible", CAPACITY)])
        .collect();
    svg.panel(&panel, "Answers per second", &legend);
    svg.area(&panel, &possible);
    svg.grid(&panel, &record.plan);
    for (guard, rates) in good.iter().rev() {
        let width = if *guard == Guard::Adaptive { 2.4 } else { 1.8 };
        svg.line(&panel, rates, color(*guard), width);
    }

    for second in time.ticks(12) {
        svg.text(
            time.at(second),
            710.0,
            "middle",
            FAINT,
            "",
            &format!("{second}"),
        );
    }
    svg.text((LEFT + RIGHT) / 2.0, 736.0, "middle", FAINT, "", "seconds");
    svg.close()
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
                "{}: {:.0}/s",
                guard.label(),
                stretch.per_second(stretch.tally.good())
            )
        })
        .collect();
    format!(
        "{RATE} calls per second, more than it can serve. Answered in time: {}",
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

fn highest(lines: &[&Points]) -> f64 {
    lines
        .iter()
        .flat_map(|points| points.iter())
        .map(|(_, value)| *value)
        .fold(1.0, f64::max)
}

/// A part of the picture with an axis of its own.
#[derive(Clone, Copy, Debug)]
struct Panel {
    time: Scale,
    value: Scale,
}

impl Panel {
    fn new(time: Scale, top: f64, bottom: f64, end: f64) -> Self {
        let value = Scale {
            end,
            from: bottom,
            to: top,
        };
        Self { time, value }
    }

    fn place(&self, (at, value): (f64, f64)) -> (f64, f64) {
        (self.time.at(at), self.value.at(value))
    }
}

/// A picture in the making. Writing to a string cannot fail, so nothing here does.
struct Svg(String);

impl Svg {
    fn open(height: f64) -> Self {
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" role=\"img\" font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', \
             sans-serif\" font-size=\"13\">\n<title>An adaptive limit in front of a dependency that slows down and \
             recovers</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        ))
    }

    fn close(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }

    /// Writes a text, or parts of one: none of them holds a character that XML reserves.
    fn text(&mut self, x: f64, y: f64, anchor: &str, fill: &str, more: &str, text: &str) {
        let _ = writeln!(
            self.0,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{fill}\" {more}>{text}</text>"
        );
    }

    /// Writes a panel's title and legend, above it.
    fn panel(&mut self, panel: &Panel, title: &str, legend: &[(&str, &str)]) {
        let y = panel.value.to - 16.0;
        self.text(LEFT - 36.0, y, "start", INK, "font-weight=\"600\"", title);
        // One text, so that it is as wide as the font at hand makes it.
        let entries: String = legend
            .iter()
            .map(|(text, color)| format!("<tspan dx=\"18\" fill=\"{color}\">■</tspan> {text}"))
            .collect();
        self.text(RIGHT, y, "end", INK, "", &entries);
    }

    /// Draws what is behind the lines: round values, and where the dependency changes.
    fn grid(&mut self, panel: &Panel, plan: &Plan) {
        for value in panel.value.ticks(5) {
            let y = panel.value.at(value);
            let _ = writeln!(
                self.0,
                "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"{GRID}\" stroke-width=\"1\"/>"
            );
            self.text(LEFT - 8.0, y + 4.5, "end", FAINT, "", &format!("{value}"));
        }
        for (_, begin, _) in plan.spans().skip(1) {
            let x = panel.time.at(begin.as_secs_f64());
            let _ = writeln!(
                self.0,
                "<path d=\"M{x:.1} {:.1}V{:.1}\" stroke=\"{FAINT}\" stroke-width=\"1\" stroke-dasharray=\"2 4\"/>",
                panel.value.to, panel.value.from
            );
        }
    }

    /// Draws a dashed line at one value.
    fn rule(&mut self, panel: &Panel, value: f64, label: &str) {
        let y = panel.value.at(value);
        let _ = writeln!(
            self.0,
            "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"{RED}\" stroke-width=\"1\" stroke-dasharray=\"6 4\"/>"
        );
        self.text(RIGHT, y - 5.0, "end", RED, "font-size=\"12\"", label);
    }

    fn area(&mut self, panel: &Panel, points: &Points) {
        let bottom = panel.value.from;
        let _ = write!(self.0, "<path fill=\"{CAPACITY}\" d=\"M{LEFT} {bottom:.1}");
        for &point in points {
            let (x, y) = panel.place(point);
            let _ = write!(self.0, "L{x:.1} {y:.1}");
        }
        let _ = writeln!(self.0, "L{RIGHT} {bottom:.1}Z\"/>");
    }

    fn line(&mut self, panel: &Panel, points: &Points, color: &str, width: f64) {
        self.path(panel, points, color, width, |(x, y)| {
            format!("L{x:.1} {y:.1}")
        });
    }

    /// Draws a value that stays until it changes.
    fn steps(&mut self, panel: &Panel, points: &Points, color: &str, width: f64) {
        self.path(panel, points, color, width, |(x, y)| {
            format!("H{x:.1}V{y:.1}")
        });
    }

    fn path(
        &mut self,
        panel: &Panel,
        points: &Points,
        color: &str,
        width: f64,
        step: impl Fn((f64, f64)) -> String,
    ) {
        let mut places = points.iter().map(|&point| panel.place(point));
        let Some((x, y)) = places.next() else {
            return;
        };
        let steps: String = places.map(step).collect();
        let _ = writeln!(
            self.0,
            "<path fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" stroke-linejoin=\"round\" \
             d=\"M{x:.1} {y:.1}{steps}\"/>"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_runs_from_one_end_to_the_other_and_no_further() {
        let scale = Scale {
            end: 50.0,
            from: 250.0,
            to: 100.0,
        };
        let places = [0.0, 25.0, 50.0, 80.0].map(|value| scale.at(value));
        assert_eq!(places.map(f64::round), [250.0, 175.0, 100.0, 100.0]);
    }

    #[test]
    fn ticks_are_round_and_few() {
        let ticks = |end, count| -> Vec<_> {
            Scale {
                end,
                from: 0.0,
                to: 1.0,
            }
            .ticks(count)
            .collect()
        };
        assert_eq!(ticks(40.7, 5), [0.0, 10.0, 20.0, 30.0, 40.0]);
        assert_eq!(ticks(825.0, 5), [0.0, 200.0, 400.0, 600.0, 800.0]);
        assert_eq!(
            ticks(22.0, 12),
            [
                0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0
            ]
        );
        assert_eq!(ticks(7.5, 12).last(), Some(&7.0));
    }

    #[test]
    fn a_run_that_was_left_at_once_has_a_chart_too() {
        let guards = [Guard::Adaptive, Guard::TooLow, Guard::TooHigh];
        let svg = draw(&Record::of(Plan::quick(), guards));
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
