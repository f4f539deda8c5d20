//! The noise that the spread of single latencies does not explain.

/// How fast the noise and the spread of latencies are learned, and the standard deviations up to which one window counts.
const NOISE_GAIN: f64 = 0.05;
const NOISE_CLIP: f64 = 2.0;

/// The variance of windows beyond what the spread of single latencies explains.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Noise {
    pub(super) variance: f64,
    last: f64,
}

impl Noise {
    /// Takes how far a window was off its prediction, and the variance it should have had. Only the difference to the window
    /// before counts, so that a change is not taken for noise.
    pub(super) fn learn(&mut self, off: f64, variance: f64) {
        let observed = (off - self.last).powi(2) / 2.0;
        self.last = off;
        let observed = observed.min(NOISE_CLIP * NOISE_CLIP * variance);
        self.variance = (self.variance + NOISE_GAIN * (observed - variance)).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_no_noise() {
        let mut noise = Noise::default();
        noise.learn(0.0, 0.01);
        for _ in 0..100 {
            noise.learn(0.5, 0.01);
        }
        assert!(noise.variance < 0.001, "{}", noise.variance);
        for step in 0..100 {
            noise.learn(if step % 2 == 0 { 0.2 } else { -0.2 }, 0.01);
        }
        assert!(noise.variance > 0.01, "{}", noise.variance);
    }
}
