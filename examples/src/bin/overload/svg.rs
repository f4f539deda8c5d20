//! Pictures as text: the few shapes that a chart is made of.

use std::fmt::Write;
use std::ops::Range;

const WIDTH: f64 = 960.0;
/// Where texts begin.
pub(crate) const MARGIN: f64 = 24.0;
/// Where the panels begin and end; left of them stand the numbers of their axes.
pub(crate) const LEFT: f64 = 60.0;
pub(crate) const RIGHT: f64 = 936.0;

pub(crate) const INK: &str = "#1f2933";
pub(crate) const FAINT: &str = "#7b8794";
const GRID: &str = "#e4e7eb";

/// Maps values to places along an axis, linearly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// The value at the end of the axis; it begins at 0.
    pub(crate) end: f64,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Scale {
    pub(crate) fn at(self, value: f64) -> f64 {
        self.from + (self.to - self.from) * (value / self.end).clamp(0.0, 1.0)
    }

    /// Returns round values along the axis, at most `count` and 0.
    pub(crate) fn ticks(self, count: u32) -> impl Iterator<Item = f64> {
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
pub(crate) type Points = Vec<(f64, f64)>;

/// A part of the picture with an axis of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Panel {
    time: Scale,
    value: Scale,
}

impl Panel {
    /// Returns a panel between two heights of the picture, for values from 0 to `end`.
    pub(crate) fn new(time: Scale, y: Range<f64>, end: f64) -> Self {
        let value = Scale {
            end,
            from: y.end,
            to: y.start,
        };
        Self { time, value }
    }

    fn place(&self, (at, value): (f64, f64)) -> (f64, f64) {
        (self.time.at(at), self.value.at(value))
    }
}

/// A picture in the making. Writing to a string cannot fail, so nothing here does.
pub(crate) struct Svg(String);

impl Svg {
    pub(crate) fn open(height: f64, title: &str) -> Self {
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" role=\"img\" font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', \
             sans-serif\" font-size=\"13\">\n<title>{title}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
             <text x=\"{MARGIN}\" y=\"38\" fill=\"{INK}\" font-size=\"21\" font-weight=\"600\">{title}</text>\n"
        ))
    }

    pub(crate) fn close(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }

    /// Writes a text. None of them holds a character that XML reserves.
    pub(crate) fn text(&mut self, x: f64, y: f64, anchor: &str, color: &str, text: &str) {
        let _ = writeln!(
            self.0,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{color}\">{text}</text>"
        );
    }

    /// Writes a panel's title and legend, above it.
    pub(crate) fn heading(&mut self, panel: &Panel, title: &str, legend: &[(&str, &str)]) {
        let y = panel.value.to - 16.0;
        // Parts of one text each, so that they take the room that the font at hand needs.
        let _ = write!(
            self.0,
            "<text x=\"{MARGIN}\" y=\"{y}\" fill=\"{INK}\" font-weight=\"600\">{title}</text>\n\
             <text x=\"{RIGHT}\" y=\"{y}\" fill=\"{INK}\" text-anchor=\"end\">"
        );
        for (number, (text, color)) in legend.iter().enumerate() {
            let gap = if number == 0 { 0 } else { 18 };
            let _ = write!(
                self.0,
                "<tspan dx=\"{gap}\" fill=\"{color}\">■</tspan> {text}"
            );
        }
        self.0.push_str("</text>\n");
    }

    /// Writes a text at the foot of a panel.
    pub(crate) fn label(&mut self, panel: &Panel, at: f64, text: &str) {
        self.text(
            panel.time.at(at),
            panel.value.from - 8.0,
            "middle",
            FAINT,
            text,
        );
    }

    /// Draws lines at round values.
    pub(crate) fn grid(&mut self, panel: &Panel) {
        for value in panel.value.ticks(5) {
            let y = panel.value.at(value);
            let _ = writeln!(
                self.0,
                "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"{GRID}\"/>"
            );
            self.text(LEFT - 8.0, y + 4.5, "end", FAINT, &value.to_string());
        }
    }

    /// Draws a dotted line at a moment.
    pub(crate) fn moment(&mut self, panel: &Panel, at: f64) {
        let (x, Scale { from, to, .. }) = (panel.time.at(at), panel.value);
        let _ = writeln!(
            self.0,
            "<path d=\"M{x:.1} {to:.1}V{from:.1}\" stroke=\"{FAINT}\" stroke-dasharray=\"2 4\"/>"
        );
    }

    /// Draws a dashed line at a value.
    pub(crate) fn threshold(&mut self, panel: &Panel, value: f64, color: &str, label: &str) {
        let y = panel.value.at(value);
        let _ = writeln!(
            self.0,
            "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"{color}\" stroke-dasharray=\"6 4\"/>"
        );
        self.text(RIGHT, y - 5.0, "end", color, label);
    }

    pub(crate) fn area(&mut self, panel: &Panel, points: &Points, color: &str) {
        let bottom = panel.value.from;
        let _ = write!(self.0, "<path fill=\"{color}\" d=\"M{LEFT} {bottom:.1}");
        for &point in points {
            let (x, y) = panel.place(point);
            let _ = write!(self.0, "L{x:.1} {y:.1}");
        }
        let _ = writeln!(self.0, "L{RIGHT} {bottom:.1}Z\"/>");
    }

    pub(crate) fn line(&mut self, panel: &Panel, points: &Points, color: &str, width: f64) {
        self.path(panel, points, color, width, |(x, y)| {
            format!("L{x:.1} {y:.1}")
        });
    }

    /// Draws a value that stays until it changes.
    pub(crate) fn steps(&mut self, panel: &Panel, points: &Points, color: &str, width: f64) {
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
        assert_eq!(
            places.map(|place| place.round() as u32),
            [250, 175, 100, 100]
        );
    }

    #[test]
    fn ticks_are_round_and_few() {
        let ticks = |end, count| {
            let (from, to) = (0.0, 1.0);
            let ticks = Scale { end, from, to }.ticks(count);
            ticks.map(|tick| tick.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(ticks(40.7, 5), ["0", "10", "20", "30", "40"]);
        assert_eq!(ticks(825.0, 5), ["0", "200", "400", "600", "800"]);
        assert_eq!(ticks(7.5, 12).join(" "), "0 1 2 3 4 5 6 7");
        assert_eq!(ticks(22.0, 12).last().unwrap(), "22");
    }
}
