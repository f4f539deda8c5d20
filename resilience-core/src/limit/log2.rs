//! The logarithm that each sample is summed under: whole-number arithmetic, a few nanoseconds.

/// The bits of a fixed-point logarithm behind the point.
///
/// Logarithms are summed as whole numbers, so that a sum does not depend on the order of the calls. With 24 bits the
/// largest square, 64², takes 36: a window may hold 2^28 samples before the sum of squares wraps.
pub(crate) const FRACTION_BITS: u32 = 24;

/// The coefficients of `q` in log2(1 + x) ≈ x + x (1 - x) q(x) on [0, 1), lowest first, in units of 2^-32: fitted for
/// the least largest error, which is 1.6e-5; both ends are exact.
const Q: [i64; 4] = [
    (0.441_917_02 * ONE) as i64,
    (-0.267_179_22 * ONE) as i64,
    (0.148_426_23 * ONE) as i64,
    (-0.045_148_77 * ONE) as i64,
];

const ONE: f64 = (1u64 << 32) as f64;

/// Returns the binary logarithm of a value above 0, in units of 2^-24, off by at most 2e-5.
#[inline]
pub(crate) fn log2(value: u64) -> u64 {
    debug_assert_ne!(value, 0, "0 has no logarithm");
    let exponent = value.ilog2();
    // What follows the highest bit, as 32 bits behind the point: `value` is 2^exponent × (1 + x).
    let x = ((value << (63 - exponent) << 1) >> 32) as i64;
    let q = Q[2] + ((Q[3] * x) >> 32);
    let q = Q[1] + ((q * x) >> 32);
    let q = Q[0] + ((q * x) >> 32);
    let bend = (x * ((1 << 32) - x)) >> 32;
    let fraction = x + ((bend * q) >> 32);
    (u64::from(exponent) << FRACTION_BITS) + (fraction as u64 >> (32 - FRACTION_BITS))
}

/// Returns the square of a logarithm, in the same units.
#[inline]
pub(crate) fn square(log: u64) -> u64 {
    (log * log) >> FRACTION_BITS
}

/// Turns a sum of logarithms into natural ones.
pub(crate) fn natural(sum: u64) -> f64 {
    sum as f64 * std::f64::consts::LN_2 / f64::from(1 << FRACTION_BITS)
}

/// Turns a sum of squares into those of natural logarithms.
pub(crate) fn natural_square(sum: u64) -> f64 {
    natural(sum) * std::f64::consts::LN_2
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn values() -> impl Iterator<Item = u64> {
        let spread = (0..64).flat_map(|e| {
            (0..1000u64)
                .map(move |i| ((1u128 << e) + (i128::from(i) as u128 * (1u128 << e)) / 1000) as u64)
        });
        spread.chain([1, 2, 3, u64::MAX, u64::MAX - 1])
    }

    #[test]
    fn is_close_to_the_exact_logarithm_everywhere() {
        for value in values() {
            let exact = (value as f64).log2();
            let ours = log2(value) as f64 / f64::from(1 << FRACTION_BITS);
            assert!(
                (ours - exact).abs() < 2e-5,
                "{value}: {ours}, exact {exact}"
            );
        }
    }

    #[test]
    fn never_falls_and_is_exact_at_powers_of_two() {
        let mut sorted: Vec<_> = values().collect();
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|pair| log2(pair[0]) <= log2(pair[1])));
        assert!((0..64).all(|e| log2(1 << e) == e << FRACTION_BITS));
    }

    #[test]
    fn sums_become_natural_logarithms() {
        let log = log2(20_000_000);
        let exact = 20_000_000f64.ln();
        assert!((natural(log) - exact).abs() < 2e-5);
        assert!((natural_square(square(log)) - exact * exact).abs() < 1e-3);
    }
}
