//! The range a limit moves in.

/// Where a limit starts and the range it moves in, in calls: `1 <= min <= initial <= max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Bounds {
    initial: u32,
    min: u32,
    max: u32,
}

impl Bounds {
    /// The largest limit there can be, in calls.
    pub const MAX: u32 = 1_000_000;

    /// Returns the bounds, or `None` unless `1 <= min <= initial <= max <= Bounds::MAX`.
    pub const fn new(initial: u32, min: u32, max: u32) -> Option<Self> {
        if 1 <= min && min <= initial && initial <= max && max <= Self::MAX {
            Some(Self { initial, min, max })
        } else {
            None
        }
    }

    /// Returns the limit before the first decision.
    pub const fn initial(self) -> u32 {
        self.initial
    }

    /// Returns the smallest limit.
    pub const fn min(self) -> u32 {
        self.min
    }

    /// Returns the largest limit.
    pub const fn max(self) -> u32 {
        self.max
    }

    /// Returns the limit nearest to `limit` that is within the bounds; `min` for a value that is not a number.
    pub fn clamp(self, limit: f64) -> f64 {
        // `max` before `min`: `f64::max` returns the other operand for NaN.
        limit.max(f64::from(self.min)).min(f64::from(self.max))
    }
}
