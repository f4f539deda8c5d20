//! Latencies by size, in buckets a hundredth wide.

/// Each power of two has `1 << FINE` buckets.
const FINE: u32 = 7;

/// Counts latencies, so that their quantiles can be told within 0.4 %.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    counts: Vec<u32>,
    count: u64,
    sum: u128,
}

impl Histogram {
    pub(super) fn new() -> Self {
        Self {
            counts: vec![0; ((64 - FINE as usize) + 1) << FINE],
            count: 0,
            sum: 0,
        }
    }

    pub(super) fn add(&mut self, nanos: u64) {
        self.counts[bucket(nanos)] += 1;
        self.count += 1;
        self.sum += u128::from(nanos);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (own, others) in self.counts.iter_mut().zip(&other.counts) {
            *own += others;
        }
        self.count += other.count;
        self.sum += other.sum;
    }

    pub(super) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Returns the latency that this share of all do not exceed: the middle of its bucket.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = ((share * self.count as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= wanted {
                return Some(middle(bucket));
            }
        }
        None
    }
}

fn bucket(nanos: u64) -> usize {
    let magnitude = (nanos | 1).ilog2();
    let shift = magnitude.saturating_sub(FINE);
    // The bits below the leading one tell the bucket within a power of two.
    ((shift as usize) << FINE) + (nanos >> shift) as usize
}

fn middle(bucket: usize) -> f64 {
    let shift = (bucket >> FINE).saturating_sub(1);
    let low = (bucket - (shift << FINE)) as f64;
    let width = (1_u64 << shift) as f64;
    low * width + (width - 1.0) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_what_is_near_its_middle() {
        for nanos in [
            0,
            1,
            127,
            128,
            255,
            256,
            1000,
            40_000_000,
            1 << 50,
            u64::MAX,
        ] {
            let near = middle(bucket(nanos));
            let off = (near - nanos as f64).abs();
            assert!(off <= 0.004 * nanos as f64, "{nanos}: {near}");
        }
    }

    #[test]
    fn quantiles_and_means_are_those_of_the_numbers() {
        let mut histogram = Histogram::new();
        (1..=1000).for_each(|number| histogram.add(number * 1_000_000));
        assert_eq!(histogram.mean(), Some(500_500_000.0));
        let p99 = histogram.quantile(0.99).unwrap();
        assert!((p99 / 990e6 - 1.0).abs() < 0.004, "{p99}");
        assert_eq!(Histogram::new().quantile(0.5), None);
    }
}
