//! A report as a picture: for each contender its limit and the calls in flight over time, over what the dependency takes.

use std::fmt::Write;

use super::report::{Moment, Report, number};

const WIDTH: u32 = 960;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 940.0;
const TOP: f64 = 66.0;
const PANEL: f64 = 130.0;
const GAP: f64 = 34.0;

const INK: &str = "#1f2933";
const FAINT: &str = "#7b8794";
const GRID: &str = "#e4e7eb";
const KNEE: &str = "#dbe9f6";
const LIMIT: &str = "#1668b8";
const IN_FLIGHT: &str = "#2f9e5b";

impl Report {
    /// Draws the limit and the calls in flight of each contender over time, as an SVG image. The shaded area is the knee:
    /// the calls at once that just keep the dependency busy.
    pub fn chart(&self) -> String {
        let panels = self.results.len() as f64;
        let height = TOP + panels * (PANEL + GAP) + 24.0;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" \
             height=\"{height:.0}\" role=\"img\" font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', \
             sans-serif\" font-size=\"13\">\n<title>{title}</title>\n<rect width=\"100%\" height=\"100%\" \
             fill=\"#ffffff\"/>\n<text x=\"16\" y=\"26\" fill=\"{INK}\" font-size=\"17\" \
             font-weight=\"600\">{title}</text>\n<text x=\"{RIGHT}\" y=\"26\" fill=\"{INK}\" text-anchor=\"end\">\
             <tspan fill=\"{LIMIT}\">■</tspan> limit  <tspan fill=\"{IN_FLIGHT}\">■</tspan> in flight  \
             <tspan fill=\"{KNEE}\">■</tspan> knee</text>\n",
            title = escaped(&self.scenario),
        );
        let _ = writeln!(
            svg,
            "<text x=\"16\" y=\"46\" fill=\"{FAINT}\">{}</text>",
            escaped(&self.about)
        );
        for (index, result) in self.results.iter().enumerate() {
            let top = TOP + index as f64 * (PANEL + GAP) + 20.0;
            let text = result
                .regret
                .map_or(String::new(), |regret| format!(", regret {regret:.3}"));
            let _ = writeln!(
                svg,
                "<text x=\"{LEFT}\" y=\"{:.0}\" fill=\"{INK}\" font-weight=\"600\">{}<tspan \
                 font-weight=\"400\">{text}</tspan></text>",
                top - 6.0,
                escaped(&result.name),
            );
            self.panel(&mut svg, &result.timeline, top);
        }
        let foot = TOP + panels * (PANEL + GAP) + 2.0;
        for second in ticks(self.seconds, 12) {
            // The last one would stand out of the picture.
            let anchor = if self.x(second) > RIGHT - 20.0 {
                "end"
            } else {
                "middle"
            };
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{foot:.0}\" text-anchor=\"{anchor}\" fill=\"{FAINT}\">{} s</text>",
                self.x(second),
                number(second),
            );
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn x(&self, seconds: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * seconds / self.seconds
    }

    fn panel(&self, svg: &mut String, moments: &[Moment], top: f64) {
        let bottom = top + PANEL;
        let knees = self.knee.iter().filter_map(|(_, knee)| *knee);
        let values = moments.iter();
        let values = values.flat_map(|moment| [moment.limit as f64, moment.in_flight as f64]);
        let end = knees.chain(values).fold(1.0, f64::max) * 1.08;
        let y = |value: f64| bottom - PANEL * (value / end).min(1.0);

        let mut area = format!("M{LEFT} {bottom:.1}");
        for (index, (from, knee)) in self.knee.iter().enumerate() {
            let until = self
                .knee
                .get(index + 1)
                .map_or(self.seconds, |(next, _)| *next);
            // Where no number of calls is too many, all of the panel is.
            let height = y(knee.unwrap_or(end));
            let _ = write!(
                area,
                "L{:.1} {height:.1}H{:.1}",
                self.x(*from),
                self.x(until)
            );
        }
        let _ = writeln!(svg, "<path fill=\"{KNEE}\" d=\"{area}V{bottom:.1}Z\"/>");
        for value in ticks(end, 4) {
            let y = y(value);
            let _ = writeln!(
                svg,
                "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"{GRID}\"/><text x=\"{:.0}\" y=\"{:.1}\" \
                 text-anchor=\"end\" fill=\"{FAINT}\">{}</text>",
                LEFT - 6.0,
                y + 4.5,
                short(value),
            );
        }
        for phase in self.phases.iter().skip(1) {
            let _ = writeln!(
                svg,
                "<path d=\"M{:.1} {top:.1}V{bottom:.1}\" stroke=\"{FAINT}\" stroke-dasharray=\"2 4\"/>",
                self.x(phase.from),
            );
        }
        let mut line = |color: &str, width: &str, value: &dyn Fn(usize) -> u64, steps: bool| {
            let mut path = String::new();
            let mut last = None;
            for (index, moment) in moments.iter().enumerate() {
                let (at, value) = (self.x(moment.at), value(index));
                let place = y(value as f64);
                // Only what differs from the point before is drawn.
                let _ = match last {
                    None => write!(path, "M{at:.0} {place:.1}"),
                    Some(last) if last == value && steps => Ok(()),
                    Some(_) if steps => write!(path, "H{at:.0}V{place:.1}"),
                    Some(_) => write!(path, "L{at:.0} {place:.1}"),
                };
                last = Some(value);
            }
            if steps && last.is_some() {
                let _ = write!(path, "H{RIGHT}");
            }
            let _ = writeln!(
                svg,
                "<path fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" stroke-linejoin=\"round\" d=\"{path}\"/>"
            );
        };
        line(IN_FLIGHT, "1", &|index| moments[index].in_flight, false);
        if moments.iter().any(|moment| moment.limit > 0) {
            line(LIMIT, "2", &|index| moments[index].limit, true);
        }
    }
}

/// Round values from 0 to `end`, at most `count` of them and 0.
fn ticks(end: f64, count: u32) -> impl Iterator<Item = f64> {
    let least = end / f64::from(count);
    let mut step = 1e-6;
    // 1, 2, 5, 10, 20, …
    for factor in [2.0, 2.5, 2.0].into_iter().cycle() {
        if step >= least * 0.999_999 {
            break;
        }
        step *= factor;
    }
    (0..=count)
        .map(move |tick| f64::from(tick) * step)
        .take_while(move |value| *value <= end * 1.000_001)
}

/// A number that fits left of a panel.
fn short(value: f64) -> String {
    match value {
        _ if value >= 1e6 => format!("{}M", number(value / 1e6)),
        _ if value >= 1e4 => format!("{}k", number(value / 1e3)),
        _ => number(value),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
