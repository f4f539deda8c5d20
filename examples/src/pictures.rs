//! The pictures of docs/algorithms.md: limits over time, and how knee sees a dependency.

use std::fmt::Write;

use resilience::event::Reason;
use resilience::limit::algorithm::{Algorithm, Bounds, Knee, KneeSettings};
use resilience::limit::window::{Sample, Window};
use resilience::sim::{Report, algorithms};

/// The scenarios in which the algorithms show their character.
pub const SHOWN: [&str; 4] = ["chart", "drift", "drift-timeout", "bulkhead"];

const WIDTH: f64 = 960.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 936.0;
const TOP: f64 = 78.0;

const INK: &str = "#1f2933";
const FAINT: &str = "#616e7c";
const GRID: &str = "#e4e7eb";
const SERVED: &str = "#dbe9f6";
/// For `knee` and the classic three, in the order of the library; told apart by colour-blind people too.
const COLORS: [&str; 4] = ["#1668b8", "#d9480f", "#2b8a3e", "#862e9c"];

/// Begins a picture: white, so that it can be read on dark pages too.
fn begin(title: &str, about: &str, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" width=\"{WIDTH:.0}\" \
         height=\"{height:.0}\" role=\"img\" font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', \
         sans-serif\" font-size=\"14\">\n<title>{title}</title>\n<rect width=\"100%\" height=\"100%\" \
         fill=\"#ffffff\"/>\n<text x=\"16\" y=\"28\" fill=\"{INK}\" font-size=\"18\" \
         font-weight=\"600\">{title}</text>\n<text x=\"16\" y=\"52\" fill=\"{FAINT}\">{about}</text>\n"
    )
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, color: &str, text: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{color}\">{text}</text>"
    );
}

fn path(svg: &mut String, color: &str, width: f64, more: &str, d: &str) {
    let _ = writeln!(
        svg,
        "<path fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"{more} d=\"{d}\"/>"
    );
}

/// Draws the limits of the built-in algorithms in one panel, on a logarithmic scale: some of them differ by powers of ten.
pub fn limits(report: &Report) -> String {
    const BOTTOM: f64 = 330.0;
    let results = &report.results[..algorithms().len()];
    let about = report.about.replace('&', "&amp;").replace('<', "&lt;");
    let mut svg = begin(&report.scenario, &about, BOTTOM + 38.0);
    let mut legend = String::new();
    for (result, color) in results.iter().zip(COLORS) {
        let _ = write!(
            legend,
            "<tspan fill=\"{color}\">■</tspan> {}  ",
            result.name
        );
    }
    let _ = write!(legend, "<tspan fill=\"{SERVED}\">■</tspan> served at once");
    text(&mut svg, (RIGHT, 28.0), "end", INK, &legend);

    let limits = results.iter().flat_map(|result| &result.timeline);
    let knees = report.phases.iter().filter_map(|phase| phase.knee);
    let values: Vec<f64> = limits
        .map(|moment| moment.limit as f64)
        .chain(knees)
        .collect();
    let start = (values.iter().copied().fold(10.0, f64::min) / 1.5).max(1.0);
    let end = values.iter().copied().fold(10.0, f64::max) * 1.25;
    let x = |seconds: f64| LEFT + (RIGHT - LEFT) * seconds / report.seconds;
    let y = |value: f64| {
        let share = (value.max(start) / start).log10() / (end / start).log10();
        BOTTOM - (BOTTOM - TOP) * share
    };

    for phase in &report.phases {
        let top = phase.knee.map_or(TOP, y);
        let (from, until) = (x(phase.from), x(phase.until));
        let _ = writeln!(
            svg,
            "<path fill=\"{SERVED}\" d=\"M{from:.1} {BOTTOM}V{top:.1}H{until:.1}V{BOTTOM}Z\"/>"
        );
    }
    let digits: &[f64] = if end / start < 30.0 {
        &[1.0, 2.0, 3.0, 5.0]
    } else {
        &[1.0, 2.0, 5.0]
    };
    let decades =
        (0..7).flat_map(|power| digits.iter().map(move |digit| digit * 10_f64.powi(power)));
    for value in decades.filter(|value| (start..=end).contains(value)) {
        path(
            &mut svg,
            GRID,
            1.0,
            "",
            &format!("M{LEFT} {:.1}H{RIGHT}", y(value)),
        );
        text(
            &mut svg,
            (LEFT - 8.0, y(value) + 5.0),
            "end",
            FAINT,
            &value.to_string(),
        );
    }
    for tick in 0..=6 {
        let seconds = report.seconds * f64::from(tick) / 6.0;
        let anchor = if tick == 6 { "end" } else { "middle" };
        text(
            &mut svg,
            (x(seconds), BOTTOM + 22.0),
            anchor,
            FAINT,
            &format!("{seconds} s"),
        );
    }
    // The default last, above the others.
    for (result, color) in results.iter().zip(COLORS).rev() {
        let mut line = String::new();
        for (index, moment) in result.timeline.iter().enumerate() {
            let (x, y) = (x(moment.at), y(moment.limit as f64));
            let _ = match index {
                0 => write!(line, "M{x:.1} {y:.1}"),
                _ => write!(line, "H{x:.1}V{y:.1}"),
            };
        }
        let _ = write!(line, "H{RIGHT}");
        path(&mut svg, color, 2.0, "", &line);
    }
    svg + "</svg>\n"
}

/// How many calls the dependency of knee's picture serves at once, and its latency in milliseconds.
const SERVERS: f64 = 30.0;
const BASE: f64 = 40.0;
/// How much each window's latency is off, as a share: what noise does, but the same on every run.
const NOISE: [f64; 8] = [0.02, -0.04, 0.05, -0.02, 0.03, -0.05, 0.01, -0.01];

/// Calls in flight and milliseconds.
type Level = (f64, f64);

/// The windows that knee sees of a dependency, and what it makes of them.
struct Seen {
    /// Window by window.
    levels: Vec<Level>,
    knee: f64,
    low: f64,
    high: f64,
    base: f64,
    limit: f64,
}

fn watch_knee() -> Option<Seen> {
    let mut knee = Knee::new(Bounds::new(20, 1, 200)?, KneeSettings::default());
    let (mut limit, mut levels, mut seen) = (20_u32, Vec::new(), None);
    for noise in NOISE {
        let calls = f64::from(limit);
        let latency = BASE * (calls / SERVERS).max(1.0) * (1.0 + noise);
        levels.push((calls, latency));
        let sample = Sample::success((latency * 1e6) as u64, limit);
        let decision = knee.update(&Window::of(limit, [sample; 100]));
        limit = decision.limit as u32;
        if let Reason::Knee {
            knee,
            low,
            high,
            base,
            ..
        } = decision.reason
        {
            let levels = levels.clone();
            let (base, limit) = (base / 1e6, f64::from(limit));
            seen = Some(Seen {
                levels,
                knee,
                low,
                high,
                base,
                limit,
            });
        }
    }
    seen
}

/// Where a number of calls and a latency in milliseconds are in the picture: its upper right corner.
struct Plane {
    calls: f64,
    latency: f64,
}

impl Plane {
    const BOTTOM: f64 = 400.0;

    fn x(&self, calls: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * calls / self.calls
    }

    fn y(&self, latency: f64) -> f64 {
        Self::BOTTOM - (Self::BOTTOM - TOP) * latency / self.latency
    }

    fn axes(&self, svg: &mut String) {
        let ticks = |step: f64| (0..).map(move |tick| f64::from(tick) * step);
        for tick in ticks(20.0).take_while(|tick| *tick <= self.latency) {
            let y = self.y(tick);
            path(svg, GRID, 1.0, "", &format!("M{LEFT} {y:.1}H{RIGHT}"));
            text(svg, (LEFT - 8.0, y + 5.0), "end", FAINT, &tick.to_string());
        }
        for tick in ticks(10.0).take_while(|tick| *tick <= self.calls) {
            let place = (self.x(tick), Self::BOTTOM + 22.0);
            text(svg, place, "middle", FAINT, &tick.to_string());
        }
        let middle = f64::midpoint(LEFT, RIGHT);
        text(
            svg,
            (middle, Self::BOTTOM + 44.0),
            "middle",
            FAINT,
            "calls in flight",
        );
        text(svg, (LEFT + 8.0, TOP + 2.0), "start", FAINT, "latency, ms");
    }

    /// The latency that knee expects at each number of calls, where it bends, and the limit.
    fn inferred(&self, svg: &mut String, seen: &Seen) {
        let (end, flat) = (self.calls, self.y(seen.base));
        let steep = self.y(seen.base * (end / seen.knee).max(1.0));
        let bend = self.x(seen.knee);
        let expected = format!("M{LEFT} {flat:.1}H{bend:.1}L{RIGHT} {steep:.1}");
        path(svg, INK, 1.5, " stroke-dasharray=\"6 5\"", &expected);
        let line = |at: f64| format!("M{at:.1} {TOP}V{}", Self::BOTTOM);
        path(
            svg,
            COLORS[0],
            1.5,
            " stroke-dasharray=\"2 4\"",
            &line(bend),
        );
        path(svg, COLORS[1], 2.5, "", &line(self.x(seen.limit)));
        // On either side of all lines, so that they never meet.
        let left = self.x(seen.low.min(seen.limit)) - 8.0;
        let right = self.x(seen.limit.max(seen.high)) + 8.0;
        let knee = format!("knee {:.1}", seen.knee);
        text(svg, (left, TOP + 34.0), "end", COLORS[0], &knee);
        let range = format!("between {:.1} and {:.1}", seen.low, seen.high);
        text(svg, (left, TOP + 54.0), "end", COLORS[0], &range);
        let limit = format!("limit {}", seen.limit);
        text(svg, (right, TOP + 34.0), "start", COLORS[1], &limit);
        let base = format!("without a queue {:.0} ms", seen.base);
        text(svg, (LEFT + 8.0, flat + 36.0), "start", INK, &base);
    }

    fn levels(&self, svg: &mut String, seen: &Seen) {
        for (place, numbers) in numbered(&seen.levels) {
            let (x, y) = (self.x(place.0), self.y(place.1));
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"{INK}\"/>"
            );
            // Beside the line of the limit, not on it.
            if (place.0 - seen.limit).abs() < 2.0 {
                text(svg, (x - 8.0, y + 22.0), "end", INK, &numbers);
            } else {
                text(svg, (x, y - 12.0), "middle", INK, &numbers);
            }
        }
    }
}

/// Draws what knee infers from the latencies at the limits that it has tried; nothing if it infers no knee.
pub fn knee() -> Option<String> {
    let seen = watch_knee()?;
    let most = |of: fn(&Level) -> f64| seen.levels.iter().map(of).fold(0.0, f64::max);
    let plane = Plane {
        calls: most(|level| level.0) * 1.15,
        latency: most(|level| level.1) * 1.25,
    };
    let about = format!(
        "A dependency that serves {SERVERS} calls at once in {BASE} ms each. The numbers are windows, in their order."
    );
    let title = "What knee knows after a few windows";
    let mut svg = begin(title, &about, Plane::BOTTOM + 56.0);
    let (low, high) = (plane.x(seen.low), plane.x(seen.high));
    let _ = writeln!(
        svg,
        "<path fill=\"{SERVED}\" d=\"M{low:.1} {TOP}H{high:.1}V{}H{low:.1}Z\"/>",
        Plane::BOTTOM
    );
    plane.axes(&mut svg);
    plane.inferred(&mut svg, &seen);
    plane.levels(&mut svg, &seen);
    Some(svg + "</svg>\n")
}

/// The levels with their numbers; those that are too near to each other to tell apart have theirs together, as `6, 8–10`.
fn numbered(levels: &[Level]) -> Vec<(Level, String)> {
    let mut shown: Vec<(Level, Vec<(usize, usize)>)> = Vec::new();
    for (level, number) in levels.iter().zip(1..) {
        let at = shown
            .iter()
            .position(|(other, _)| (other.0 - level.0).abs() < 2.0);
        match at {
            Some(at) => match shown[at].1.last_mut() {
                Some((_, last)) if *last + 1 == number => *last = number,
                _ => shown[at].1.push((number, number)),
            },
            None => shown.push((*level, vec![(number, number)])),
        }
    }
    let runs = |runs: Vec<(usize, usize)>| {
        let runs = runs.into_iter().map(|(first, last)| match last {
            _ if first == last => first.to_string(),
            _ => format!("{first}–{last}"),
        });
        runs.collect::<Vec<_>>().join(", ")
    };
    shown
        .into_iter()
        .map(|(level, numbers)| (level, runs(numbers)))
        .collect()
}
