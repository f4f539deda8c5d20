//! Values that change over time: a plain one, or `steps`, `ramp`, `cycle`, `wave` or `redrawn`.

use super::reader::{Field, Reader};
use crate::sim::schedule::Schedule;

/// Reads one value of a schedule.
pub(super) type Value<'f> = &'f dyn Fn(&mut Reader<'_>, &Field<'_>) -> Option<f64>;

const SHAPES: &[&str] = &["steps", "ramp", "cycle", "wave", "redrawn"];
/// More steps than this are a mistake, and would take long to go through.
const MOST_STEPS: u64 = 1_000_000;

/// Reads a schedule for a run of that many nanoseconds.
pub(super) fn schedule(
    reader: &mut Reader<'_>,
    field: &Field<'_>,
    duration: u64,
    value: Value<'_>,
) -> Option<Schedule> {
    if field.value.as_table().is_none() {
        return value(reader, field).map(Schedule::constant);
    }
    let (shape, inside) = reader.variant(field, SHAPES)?;
    match shape {
        "steps" => pairs(reader, &inside, true, value).map(Schedule::steps),
        "ramp" => pairs(reader, &inside, true, value).map(|points| Schedule::ramp(&points)),
        "cycle" => {
            let parts = pairs(reader, &inside, false, value)?;
            let whole: u64 = parts.iter().map(|(lasting, _)| *lasting).sum();
            let steps = duration / whole.max(1) * parts.len() as u64;
            few(reader, &inside, steps).then(|| Schedule::cycle(&parts, duration))
        }
        "wave" => {
            let mut fields = reader.table(&inside)?;
            let mean = reader.required(&mut fields, "mean", "a value of the schedule", value);
            let amplitude =
                reader.required(&mut fields, "amplitude", "a value of the schedule", value);
            let period = reader.required(&mut fields, "period", "a duration", positive);
            reader.done(fields);
            let (mean, amplitude, period) = (mean?, amplitude?, period?);
            if amplitude > mean {
                reader.expected(&inside, "an amplitude no larger than the mean");
                return None;
            }
            few(reader, &inside, duration / (period / 64).max(1))
                .then(|| Schedule::wave(mean, amplitude, period, duration))
        }
        _ => {
            let mut fields = reader.table(&inside)?;
            let low = reader.required(&mut fields, "low", "a value of the schedule", value);
            let high = reader.required(&mut fields, "high", "a value of the schedule", value);
            let every = reader.required(&mut fields, "every", "a duration", positive);
            let seed = fields
                .take("seed")
                .map_or(Some(0), |seed| reader.whole(&seed, &(0..=u64::MAX >> 1)));
            reader.done(fields);
            let (low, high, every) = (low?, high?, every?);
            few(reader, &inside, duration / every)
                .then_some(Schedule::redrawn(low, high, every, duration, seed?))
        }
    }
}

fn few(reader: &mut Reader<'_>, field: &Field<'_>, steps: u64) -> bool {
    if steps > MOST_STEPS {
        let text = format!(
            "`{}` changes more than a million times in the run",
            field.path
        );
        reader.fault(field.at, text);
    }
    steps <= MOST_STEPS
}

/// A duration above 0.
pub(super) fn positive(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<u64> {
    let duration = reader.duration(field)?;
    if duration == 0 {
        reader.expected(field, "a duration above 0");
        return None;
    }
    Some(duration)
}

/// Reads `[["0s", 30], ["10s", 10]]`: moments or stretches of time, each with a value. Moments begin with 0 and grow.
fn pairs(
    reader: &mut Reader<'_>,
    field: &Field<'_>,
    moments: bool,
    value: Value<'_>,
) -> Option<Vec<(u64, f64)>> {
    let elements = reader.array(field)?;
    let mut pairs: Vec<(u64, f64)> = Vec::new();
    let mut sound = !elements.is_empty();
    if elements.is_empty() {
        reader.expected(field, "pairs such as [[\"0s\", 30], [\"10s\", 10]]");
    }
    for element in elements {
        let Some([at, number]) = reader
            .array(&element)
            .and_then(|pair| <[Field<'_>; 2]>::try_from(pair).ok())
        else {
            reader.expected(&element, "a pair such as [\"10s\", 30]");
            sound = false;
            continue;
        };
        let time = if moments {
            reader.duration(&at)
        } else {
            positive(reader, &at)
        };
        let number = value(reader, &number);
        let (Some(time), Some(number)) = (time, number) else {
            sound = false;
            continue;
        };
        let in_order = pairs.last().map_or(time == 0, |(last, _)| *last < time);
        if moments && !in_order {
            reader.expected(&at, "moments that begin with \"0s\" and grow");
            sound = false;
        }
        pairs.push((time, number));
    }
    sound.then_some(pairs)
}
