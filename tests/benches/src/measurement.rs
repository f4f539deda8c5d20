//! What criterion is given to measure.

use std::convert::Infallible;

use criterion::Throughput;
use criterion::measurement::{Measurement, ValueFormatter};

/// The time of a call over that of the reference beside it, summed up over the calls.
pub(crate) struct Ratio;

impl Measurement for Ratio {
    type Intermediate = Infallible;
    type Value = f64;

    fn start(&self) -> Infallible {
        unreachable!("a ratio is measured by `Bencher::iter_custom`")
    }

    fn end(&self, started: Infallible) -> f64 {
        match started {}
    }

    fn add(&self, one: &f64, other: &f64) -> f64 {
        one + other
    }

    fn zero(&self) -> f64 {
        0.0
    }

    fn to_f64(&self, value: &f64) -> f64 {
        *value
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        self
    }
}

impl ValueFormatter for Ratio {
    fn format_value(&self, value: f64) -> String {
        format!("{value:.3}x")
    }

    fn scale_values(&self, _typical: f64, _values: &mut [f64]) -> &'static str {
        "x"
    }

    fn scale_throughputs(&self, _: f64, _: &Throughput, _: &mut [f64]) -> &'static str {
        unreachable!("a ratio has no throughput")
    }

    fn scale_for_machines(&self, _values: &mut [f64]) -> &'static str {
        "x"
    }
}
