//! What came of it: the three limits side by side.

use std::fmt::Write;

use crate::load::Reading;
use crate::plan::{Plan, RATE, SERVICE_TIME, TIMEOUT};
use crate::record::{Record, Stretch};
use crate::table::{Column, head, line, millis, rate};

/// The limit is the one at the end of the phase.
const COLUMNS: [Column; 8] = [
    ("", 12),
    ("limit", 7),
    ("good/s", 8),
    ("of possible", 13),
    ("rejected/s", 12),
    ("time-outs", 11),
    ("mean", 9),
    ("p99", 9),
];

/// Says what is going to be seen.
pub(crate) fn introduction(plan: &Plan) -> String {
    let [before, during, after] = plan.phases.map(|phase| phase.capacity);
    format!(
        "\
A dependency on the loopback interface serves {before} requests at once, {SERVICE_TIME:?} each,
then {during}, then {after}; further ones queue inside. It gets {RATE} calls a second, more than
it can take, for {:.0} s; a call gives up after {TIMEOUT:?}. The adaptive limit runs as it
comes. Two fixed limits run beside it, each with a dependency of its own.
",
        plan.total().as_secs_f64()
    )
}

/// Returns the three limits side by side, phase by phase and over all.
pub(crate) fn summary(record: &Record) -> String {
    let mut text = String::new();
    let (elapsed, total) = (record.elapsed(), record.plan.total());
    if elapsed < total {
        let _ = writeln!(
            text,
            "Left after {:.1} of {:.1} s.\n",
            elapsed.as_secs_f64(),
            total.as_secs_f64()
        );
    }
    for (number, (phase, begin, end)) in record.plan.spans().enumerate() {
        if begin >= elapsed {
            break;
        }
        let title = format!(
            "Serves {} at once ({:.1} s to {:.1} s)",
            phase.capacity,
            begin.as_secs_f64(),
            end.min(elapsed).as_secs_f64()
        );
        block(&mut text, record, &title, |reading| reading.phase == number);
    }
    block(&mut text, record, "All of it", |_| true);
    let failed: usize = all(record).map(|reading| reading.tally.failed).sum();
    if failed > 0 {
        let _ = writeln!(text, "{failed} calls failed in another way.\n");
    }
    text.push_str(&offered(record));
    text
}

fn block(text: &mut String, record: &Record, title: &str, belongs: impl Fn(&Reading) -> bool) {
    let _ = writeln!(text, "{title}\n{}", head(&COLUMNS));
    for (guard, readings) in &record.lanes {
        let readings: Vec<_> = readings.iter().filter(|reading| belongs(reading)).collect();
        let Some(last) = readings.last() else {
            continue;
        };
        let possible: f64 = readings
            .iter()
            .map(|reading| {
                record.plan.phases[reading.phase].possible() * reading.spans.as_secs_f64()
            })
            .sum();
        let stretch = Stretch::of(readings.iter().copied());
        let tally = &stretch.tally;
        let cells = [
            guard.label().to_owned(),
            last.limit.to_string(),
            rate(stretch.per_second(tally.good())),
            format!("{:.0} %", 100.0 * tally.good() as f64 / possible),
            rate(stretch.per_second(tally.rejected)),
            tally.timed_out.to_string(),
            millis(tally.mean()),
            millis(tally.p99()),
        ];
        let _ = writeln!(text, "{}", line(&COLUMNS, &cells));
    }
    text.push('\n');
}

/// Says whether the machine kept up with the load it was to make.
fn offered(record: &Record) -> String {
    let stretch = Stretch::of(record.adaptive());
    let tally = &stretch.tally;
    let calls = tally.good() + tally.rejected + tally.timed_out + tally.failed;
    let offered = stretch.per_second(calls);
    let mut text = format!("Calls made: {offered:.0}/s of the {RATE}/s meant.");
    if offered < 0.97 * f64::from(RATE) {
        text.push_str(
            " This machine was too busy to make them all, so take the figures with care.",
        );
    }
    text.push('\n');
    text
}

fn all(record: &Record) -> impl Iterator<Item = &Reading> {
    record.lanes.iter().flat_map(|(_, readings)| readings)
}
