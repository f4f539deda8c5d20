//! Random numbers that are the same on every machine.
//!
//! The generator is `SplitMix64` (Steele, Lea & Flood, *Fast Splittable Pseudorandom Number Generators*, 2014), of which each
//! thing that draws has a stream of its own. Logarithms, exponentials and sines are computed here from the four basic
//! operations, which every machine rounds alike; those of the system's library differ in the last bit.

/// A stream of random numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Random(u64);

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

fn mix(state: u64) -> u64 {
    let first = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let second = (first ^ (first >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    second ^ (second >> 31)
}

impl Random {
    /// Returns the stream of one purpose: other purposes of the same seed have streams that have nothing to do with it.
    pub(super) fn stream(seed: u64, purpose: u64) -> Self {
        Self(mix(
            mix(seed.wrapping_add(STEP)) ^ purpose.wrapping_mul(STEP)
        ))
    }

    /// Returns the stream of the numbered part of this one, without moving this one.
    pub(super) fn part(self, number: u64) -> Self {
        Self(mix(self.0 ^ mix(number.wrapping_mul(STEP))))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// A number between 0 and 1, neither of them included.
    pub(super) fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) * (1.0 / 9_007_199_254_740_992.0)
    }

    /// An exponentially distributed number with a mean of 1.
    pub(super) fn exponential(&mut self) -> f64 {
        -ln(self.unit())
    }

    /// A normally distributed number with a mean of 0 and a deviation of 1, by Marsaglia's polar method.
    pub(super) fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square < 1.0 {
                return x * (-2.0 * ln(square) / square).sqrt();
            }
        }
    }
}

/// The natural logarithm of a positive number.
pub(super) fn ln(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits((bits & MANTISSA) | 1023 << 52);
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    // ln m = 2 artanh ((m − 1) / (m + 1)), whose series ends soon since the argument is below 0.172.
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let series = (0..11).rev().fold(0.0, |sum, term| {
        sum * square + 1.0 / f64::from(2 * term + 1)
    });
    exponent as f64 * std::f64::consts::LN_2 + 2.0 * ratio * series
}

/// The exponential of a number.
pub(super) fn exp(x: f64) -> f64 {
    let x = x.clamp(-700.0, 700.0);
    let exponent = (x * std::f64::consts::LOG2_E).round();
    let rest = x - exponent * std::f64::consts::LN_2;
    let series = (1..16)
        .rev()
        .fold(1.0, |sum, term| 1.0 + sum * rest / f64::from(term));
    series * f64::from_bits(((exponent as i64 + 1023) as u64) << 52)
}

/// A positive number to a power; 0 stays 0.
pub(super) fn power(x: f64, exponent: f64) -> f64 {
    if x > 0.0 { exp(exponent * ln(x)) } else { 0.0 }
}

/// The sine of a share of a full turn.
pub(super) fn sine_of_turn(turns: f64) -> f64 {
    let turns = turns - turns.floor();
    // The quarters are mirror images of the first.
    let (turns, sign) = if turns > 0.5 {
        (turns - 0.5, -1.0)
    } else {
        (turns, 1.0)
    };
    let x = turns.min(0.5 - turns) * std::f64::consts::TAU;
    let series = (1..10).rev().fold(1.0, |sum, term| {
        1.0 - sum * x * x / f64::from(2 * term * (2 * term + 1))
    });
    sign * x * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_those_of_the_library_to_the_last_bits() {
        let mut random = Random::stream(1, 0);
        for _ in 0..10_000 {
            let x = random.exponential() * 100.0;
            assert!(
                (ln(x) - x.ln()).abs() <= 4e-16 * x.ln().abs().max(1.0),
                "ln {x}"
            );
            let y = random.normal() * 20.0;
            assert!((exp(y) / y.exp() - 1.0).abs() <= 1e-14, "exp {y}");
            let turn = random.unit() * 5.0;
            let sine = (turn * std::f64::consts::TAU).sin();
            assert!((sine_of_turn(turn) - sine).abs() < 1e-12, "sine {turn}");
        }
        assert!((power(9.0, 0.5) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn draws_have_the_moments_of_their_laws() {
        let mut random = Random::stream(7, 3);
        let mean =
            |draw: &mut dyn FnMut() -> f64| (0..100_000).map(|_| draw()).sum::<f64>() / 100_000.0;
        let about = |value: f64, expected: f64| {
            assert!((value - expected).abs() < 0.02, "{value} for {expected}");
        };
        about(mean(&mut || random.unit()), 0.5);
        about(mean(&mut || random.exponential()), 1.0);
        about(mean(&mut || random.normal()), 0.0);
        about(mean(&mut || random.normal().powi(2)), 1.0);
    }

    #[test]
    fn streams_and_parts_differ() {
        let first = |mut random: Random| random.next();
        let streams: std::collections::BTreeSet<u64> = (0..100)
            .flat_map(|purpose| {
                let stream = Random::stream(5, purpose);
                [first(stream), first(stream.part(0)), first(stream.part(1))]
            })
            .collect();
        assert_eq!(streams.len(), 300);
    }
}
