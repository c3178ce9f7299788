//! Simulated time: an unsigned count of picoseconds, used for instants and for spans.
//!
//! With integer picoseconds, sums are exact and equal on every platform. A `u64` covers 213 days, which is
//! longer than any published block trace. Larger sums saturate at [`Time::MAX`], and the driver stops a run
//! well before that time.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// A point in simulated time since the start of the simulation, or a duration, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of the simulation, or an empty duration.
    pub const ZERO: Time = Time(0);
    /// The last representable time, 213.5 days after the start.
    pub const MAX: Time = Time(u64::MAX);

    /// Creates a time of `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }

    /// Creates a time of `ns` nanoseconds. Panics if the time exceeds 213 days.
    pub const fn from_ns(ns: u64) -> Time {
        Time::of(ns, 1_000)
    }

    /// Creates a time of `us` microseconds. Panics if the time exceeds 213 days.
    pub const fn from_us(us: u64) -> Time {
        Time::of(us, 1_000_000)
    }

    /// Creates a time of `ms` milliseconds. Panics if the time exceeds 213 days.
    pub const fn from_ms(ms: u64) -> Time {
        Time::of(ms, 1_000_000_000)
    }

    /// Creates a time of `s` seconds. Panics if the time exceeds 213 days.
    pub const fn from_s(s: u64) -> Time {
        Time::of(s, 1_000_000_000_000)
    }

    /// Rounds `seconds` to the nearest picosecond. Negative values become zero, and large values become
    /// [`Time::MAX`].
    pub fn from_secs_f64(seconds: f64) -> Time {
        Time((seconds * 1e12 + 0.5) as u64)
    }

    const fn of(count: u64, unit_ps: u64) -> Time {
        match count.checked_mul(unit_ps) {
            Some(ps) => Time(ps),
            None => panic!("a time past 213 days"),
        }
    }

    /// Number of picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// The time in nanoseconds.
    pub fn as_ns_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// The time in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// `self - other`, or zero if `other` is later.
    pub const fn saturating_sub(self, other: Time) -> Time {
        Time(self.0.saturating_sub(other.0))
    }

    /// `self + other`, or `None` above 213 days.
    pub const fn checked_add(self, other: Time) -> Option<Time> {
        match self.0.checked_add(other.0) {
            Some(ps) => Some(Time(ps)),
            None => None,
        }
    }

    /// The time scaled by `factor`, rounded to the nearest picosecond.
    pub fn scaled(self, factor: f64) -> Time {
        Time((self.0 as f64 * factor + 0.5) as u64)
    }

    /// Whether the time is zero, i.e. the start of the simulation or an empty duration.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Add for Time {
    type Output = Time;
    #[inline]
    fn add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, other: Time) {
        *self = *self + other;
    }
}

impl Sub for Time {
    type Output = Time;
    #[inline]
    fn sub(self, other: Time) -> Time {
        Time(self.0.checked_sub(other.0).expect("simulated time ran backwards"))
    }
}

impl Mul<u64> for Time {
    type Output = Time;
    #[inline]
    fn mul(self, factor: u64) -> Time {
        Time(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Time {
    type Output = Time;
    #[inline]
    fn div(self, divisor: u64) -> Time {
        Time(self.0 / divisor)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SCALES: [(&str, u64); 5] =
            [("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000), ("ps", 1)];
        let (unit, scale) =
            SCALES.into_iter().find(|&(_, scale)| self.0 >= scale).unwrap_or(("s", SCALES[0].1));
        write!(f, "{} {unit}", self.0 as f64 / scale as f64)
    }
}
