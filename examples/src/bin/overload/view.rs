//! The live view in a terminal.

use std::io;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{
    Axis, Block, BorderType, Cell, Chart, Dataset, GraphType, Padding, Row, Table,
};
use ratatui::{DefaultTerminal, Frame};

use crate::load::Reading;
use crate::plan::{Plan, TIMEOUT};
use crate::record::{Record, Stretch};
use crate::table::{millis, rate};

/// The readings that "now" is made of: half a second.
const NOW: usize = 5;

const LIMIT: Color = Color::Cyan;
const IN_FLIGHT: Color = Color::Green;
const CAPACITY: Color = Color::DarkGray;
const MEAN: Color = Color::Yellow;
const P99: Color = Color::Magenta;
const BAD: Color = Color::Red;

/// The terminal while it is ours; given back when dropped, and by ratatui's hook if the program panics.
#[derive(Debug)]
pub(crate) struct View(DefaultTerminal);

impl View {
    pub(crate) fn open() -> io::Result<Self> {
        ratatui::try_init().map(Self)
    }

    /// Shows what there is to see, and returns whether the user wants to leave.
    pub(crate) fn update(&mut self, record: &Record) -> io::Result<bool> {
        self.0.draw(|frame| draw(frame, record))?;
        while event::poll(Duration::ZERO)? {
            if let Event::Key(key) = event::read()?
                && key.kind == KeyEventKind::Press
            {
                let control = key.modifiers.contains(KeyModifiers::CONTROL);
                match key.code {
                    KeyCode::Char('q') | KeyCode::Esc => return Ok(true),
                    KeyCode::Char('c') if control => return Ok(true),
                    _ => {}
                }
            }
        }
        Ok(false)
    }
}

impl Drop for View {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

fn draw(frame: &mut Frame<'_>, record: &Record) {
    let [title, phases, numbers, charts, decision] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(6),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    draw_title(frame, title, record);
    draw_phases(frame.buffer_mut(), phases, &record.plan, record.elapsed());
    draw_numbers(frame, numbers, record);

    // Time runs from left to right, so width is worth more than height, once there is enough of that.
    let halves = [Constraint::Fill(1), Constraint::Fill(1)];
    let [calls, latency] = if charts.height >= 22 {
        Layout::vertical(halves).areas(charts)
    } else {
        Layout::horizontal(halves).areas(charts)
    };
    draw_calls(frame, calls, record);
    draw_latency(frame, latency, record);

    if let Some(last) = record.adaptive().last() {
        let line = Line::from(vec![
            Span::from(" last decision  ").dark_gray(),
            Span::from(last.reason.to_string()),
        ]);
        frame.render_widget(line, decision);
    }
}

fn draw_title(frame: &mut Frame<'_>, area: Rect, record: &Record) {
    let title = Line::from(vec![
        Span::from(" #[adaptive_limit] ").bold().fg(LIMIT),
        Span::from("under more load than can be served"),
    ]);
    let time = format!(
        "{:.1} of {:.1} s  q leaves ",
        record.elapsed().as_secs_f64(),
        record.plan.total().as_secs_f64()
    );
    frame.render_widget(title, area);
    frame.render_widget(Line::from(time).dark_gray().right_aligned(), area);
}

/// Draws the phases as one bar that fills as time goes by.
fn draw_phases(buffer: &mut Buffer, area: Rect, plan: &Plan, elapsed: Duration) {
    let column = |at: Duration| {
        (f64::from(area.width) * at.as_secs_f64() / plan.total().as_secs_f64()).round() as u16
    };
    let now = column(elapsed);
    let least = plan.phases.iter().map(|phase| phase.capacity).min();
    for (phase, begin, end) in plan.spans() {
        let slow = Some(phase.capacity) == least;
        let (from, to) = (column(begin), column(end).min(area.width));
        for x in from..to {
            let style = match (x < now, slow) {
                (true, true) => Style::new().bg(BAD).fg(Color::White),
                (true, false) => Style::new().bg(Color::Blue).fg(Color::White),
                (false, _) => Style::new().fg(Color::DarkGray),
            };
            buffer[(area.x + x, area.y)]
                .set_symbol(" ")
                .set_style(style);
        }
        let label = format!("serves {} at once", phase.capacity);
        let room = usize::from(to.saturating_sub(from).saturating_sub(2));
        buffer.set_stringn(area.x + from + 1, area.y, label, room, Style::new());
    }
}

fn draw_numbers(frame: &mut Frame<'_>, area: Rect, record: &Record) {
    let head = [
        "",
        "limit",
        "in flight",
        "answered",
        "rejected",
        "time-outs",
        "mean",
        "p99",
    ];
    let right = |text: String| Cell::from(Line::from(text).alignment(Alignment::Right));
    let rows = record
        .lanes
        .iter()
        .enumerate()
        .filter_map(|(number, (guard, readings))| {
            let last = readings.last()?;
            let stretch = now(readings);
            let tally = &stretch.tally;
            let good = right(rate(stretch.per_second(tally.good())));
            let timed_out = right(rate(stretch.per_second(tally.timed_out)));
            let row = Row::new([
                Cell::from(guard.label()),
                right(last.limit.to_string()).fg(LIMIT),
                right(last.in_flight.to_string()).fg(IN_FLIGHT),
                good.bold(),
                right(rate(stretch.per_second(tally.rejected))),
                if tally.timed_out > 0 {
                    timed_out.fg(BAD).bold()
                } else {
                    timed_out
                },
                right(millis(tally.mean())).fg(MEAN),
                right(millis(tally.p99())).fg(P99),
            ]);
            Some(if number == 0 {
                row
            } else {
                row.add_modifier(Modifier::DIM)
            })
        });
    let widths = [12, 5, 9, 8, 8, 9, 8, 8].map(Constraint::Length);
    let table = Table::new(rows, widths)
        .header(Row::new(head.map(|text| right(text.to_owned()))).dark_gray())
        .column_spacing(1)
        .flex(ratatui::layout::Flex::SpaceBetween)
        .block(
            frame_of(Line::from(" the last half second, calls per second "))
                .padding(Padding::horizontal(1)),
        );
    frame.render_widget(table, area);
}

fn draw_calls(frame: &mut Frame<'_>, area: Rect, record: &Record) {
    let readings = record.adaptive();
    let limit = points(readings, |reading| Some(f64::from(reading.limit)));
    let in_flight = points(readings, |reading| Some(f64::from(reading.in_flight)));
    let capacity: Vec<_> = record
        .plan
        .spans()
        .flat_map(|(phase, begin, end)| {
            [begin, end].map(|at| (at.as_secs_f64(), phase.capacity as f64))
        })
        .collect();
    let highest = limit
        .iter()
        .chain(&in_flight)
        .map(|(_, calls)| *calls)
        .fold(40.0, f64::max);
    let title = legend(&[
        ("limit", LIMIT),
        ("in flight", IN_FLIGHT),
        ("served at once", CAPACITY),
    ]);
    let lines = [
        (&capacity, CAPACITY),
        (&in_flight, IN_FLIGHT),
        (&limit, LIMIT),
    ];
    draw_chart(
        frame,
        area,
        title,
        &record.plan,
        (highest / 10.0).ceil() * 10.0,
        &lines,
    );
}

fn draw_latency(frame: &mut Frame<'_>, area: Rect, record: &Record) {
    let readings = record.adaptive();
    let in_millis = |latency: Duration| latency.as_secs_f64() * 1e3;
    let mean = points(readings, |reading| reading.tally.mean().map(in_millis));
    let p99 = points(readings, |reading| reading.tally.p99().map(in_millis));
    let title = legend(&[("mean", MEAN), ("p99, ms", P99)]);
    let lines = [(&p99, P99), (&mean, MEAN)];
    draw_chart(
        frame,
        area,
        title,
        &record.plan,
        in_millis(TIMEOUT) + 10.0,
        &lines,
    );
}

fn draw_chart(
    frame: &mut Frame<'_>,
    area: Rect,
    title: Line<'_>,
    plan: &Plan,
    highest: f64,
    lines: &[(&Vec<(f64, f64)>, Color)],
) {
    let seconds = plan.total().as_secs_f64();
    let datasets = lines
        .iter()
        .map(|(points, color)| {
            Dataset::default()
                .marker(Marker::Braille)
                .graph_type(GraphType::Line)
                .style(*color)
                .data(points)
        })
        .collect();
    let chart = Chart::new(datasets)
        .block(frame_of(title))
        .x_axis(
            Axis::default()
                .style(Color::DarkGray)
                .bounds([0.0, seconds])
                .labels([
                    "0".to_owned(),
                    format!("{}", seconds / 2.0),
                    format!("{seconds} s"),
                ]),
        )
        .y_axis(
            Axis::default()
                .style(Color::DarkGray)
                .bounds([0.0, highest])
                .labels(["0".to_owned(), rate(highest / 2.0), rate(highest)]),
        );
    frame.render_widget(chart, area);
}

fn frame_of(title: Line<'_>) -> Block<'_> {
    Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(Color::DarkGray)
        .title(title)
}

fn legend(entries: &[(&'static str, Color)]) -> Line<'static> {
    entries
        .iter()
        .flat_map(|&(text, color)| [Span::from(" ━ ").fg(color), Span::from(text)])
        .chain([Span::from(" ")])
        .collect()
}

fn now(readings: &[Reading]) -> Stretch {
    Stretch::of(readings.iter().rev().take(NOW))
}

fn points(readings: &[Reading], value: impl Fn(&Reading) -> Option<f64>) -> Vec<(f64, f64)> {
    readings
        .iter()
        .filter_map(|reading| Some((reading.at.as_secs_f64(), value(reading)?)))
        .collect()
}
