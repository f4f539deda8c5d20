//! `knee` asked about one window after the other, for benchmarks and counts.

use resilience::limit::algorithm::{Algorithm, Bounds, Close, Decision, Knee, KneeSettings};
use resilience::limit::window::{Window, WindowRule};

const SERVERS: u32 = 20;
/// How long a call takes, in nanoseconds.
const BASE: f64 = 20e6;

/// `knee` in front of a dependency of twenty servers that more calls come for than are admitted.
#[derive(Debug)]
pub struct Ticks {
    knee: Knee,
    rule: WindowRule,
    limit: u32,
    now: u64,
    random: u64,
}

impl Default for Ticks {
    fn default() -> Self {
        Self::new()
    }
}

impl Ticks {
    /// Returns it as it is after the start, with the knee found.
    ///
    /// # Panics
    ///
    /// If the knee was not found.
    pub fn new() -> Self {
        let bounds = Bounds::new(20, 1, 200).expect("in order");
        let knee = Knee::new(bounds, KneeSettings::default());
        let mut ticks = Self {
            rule: knee.window_rule(),
            knee,
            limit: bounds.initial(),
            now: 1_000_000_000,
            random: 1,
        };
        for _ in 0..300 {
            ticks.tick();
        }
        assert!(
            (SERVERS - 4..SERVERS + 6).contains(&ticks.limit),
            "the knee was not found: {ticks:?}"
        );
        ticks
    }

    /// Ends the next window: asks whether it closes and, if so, decides.
    pub fn tick(&mut self) -> Option<Decision> {
        let window = self.window();
        self.now = window.closed;
        if self.knee.close(&window, &self.rule) != Close::Now {
            return None;
        }
        let decision = self.knee.update(&window);
        self.limit = decision.limit as u32;
        Some(decision)
    }

    /// Three rounds of calls in a steady state. Half of the latencies are a tenth above their mean, half below, and that is off
    /// by 3 % at most.
    fn window(&mut self) -> Window {
        // Knuth's multiplier for 64 bits.
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let noise = 0.97 + 0.06 * (self.random >> 40) as f64 / (1_u64 << 24) as f64;
        let queued = f64::from(self.limit.max(SERVERS)) / f64::from(SERVERS);
        let latency = (BASE * queued * noise) as u64;
        let log = (latency as f64).ln();
        let calls = 3 * u64::from(self.limit).max(6);
        let lasts = calls * latency / u64::from(self.limit);

        let mut window = Window::of(self.limit, []);
        window.opened = self.now;
        window.closed = self.now + lasts;
        // As one is that began when the limit's change had settled.
        window.restarts = 2;
        window.in_flight = self.limit - 1;
        window.max_in_flight = self.limit;
        window.peak_in_flight = self.limit;
        window.successes = calls;
        window.timed = calls;
        window.latency_sum = calls * latency;
        window.ended_latency_sum = calls * latency;
        window.log_latency_sum = calls as f64 * log;
        window.log_latency_sq_sum = calls as f64 * (log * log + 0.01);
        window.in_flight_sum = calls * u64::from(self.limit);
        window.in_flight_area = lasts * u64::from(self.limit);
        window.admitted = calls;
        window.rejected = calls;
        window
    }
}
