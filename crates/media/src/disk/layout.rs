//! Locations of bytes on a disk, i.e. track and angle.

use nacre_kernel::{Bandwidth, Bytes, Time};
use std::hint::select_unpredictable;

/// The layout of a disk whose transfer rate decreases linearly from the outermost to the innermost track.
///
/// The position of a byte is expressed in turns: the rotation time from the first byte to this byte when the
/// disk is read from its start. A track takes one turn. At the share `x` of all tracks, the rate is `R(x) =
/// Ro (1 - q x)` with `q = 1 - Ri / Ro`. The address is therefore `T Ro (x - q x^2 / 2)`, where `T` is the
/// time to read the whole disk. Solving this equation for `x` gives the position `T x` in turns. The angle of
/// a byte is its position modulo one rotation. Its transfer time is a difference of positions. Both are exact
/// to the picosecond, so a stream that continues without a pause reaches its next sector without a wait.
#[derive(Clone, Debug)]
pub struct Layout {
    capacity: Bytes,
    rotation: Time,
    /// Time to read the whole disk (`T`), in picoseconds.
    whole_ps: f64,
    /// `q`, the relative decrease of the rate.
    fall: f64,
    /// Number of surfaces, i.e. of tracks per arm position.
    heads: u64,
    cylinders: u64,
}

impl Layout {
    /// The layout of `capacity` bytes on `heads` surfaces. The platters turn once in `rotation`, and `outer`
    /// and `inner` are sustained rates. `inner` must not exceed `outer`, and no argument may be zero.
    pub fn new(capacity: Bytes, rotation: Time, outer: Bandwidth, inner: Bandwidth, heads: u32) -> Layout {
        assert!(inner.0 > 0.0 && inner.0 <= outer.0, "rates fall from {outer} to {inner}");
        assert!(capacity.0 > 0 && !rotation.is_zero() && heads > 0, "a disk has bytes, turns and surfaces");
        let fall = 1.0 - inner.0 / outer.0;
        let whole_ps = capacity.0 as f64 / (outer.0 * (1.0 - fall / 2.0)) * 1e12;
        assert!(whole_ps < Time::MAX.as_ps() as f64, "reading {capacity} takes longer than time lasts");
        let per_cylinder = rotation.as_ps() as f64 * f64::from(heads);
        let cylinders = ((whole_ps / per_cylinder).ceil() as u64).max(1);
        Layout { capacity, rotation, whole_ps, fall, heads: u64::from(heads), cylinders }
    }

    /// Capacity in bytes.
    pub fn capacity(&self) -> Bytes {
        self.capacity
    }

    /// Number of arm positions.
    pub fn cylinders(&self) -> u64 {
        self.cylinders
    }

    /// Position of the byte at `address`, in turns.
    #[inline]
    pub fn turns_at(&self, address: u64) -> Time {
        let share = address as f64 / self.capacity.0 as f64;
        // x = (1 - sqrt(1 - 2 q c)) / q with c = share (1 - q / 2), in the form that is exact for q = 0.
        let scaled = share * (1.0 - self.fall / 2.0);
        let x = 2.0 * scaled / (1.0 + (1.0 - 2.0 * self.fall * scaled).max(0.0).sqrt());
        Time::from_ps((x * self.whole_ps + 0.5) as u64)
    }

    /// Arm position of a byte at the position `turns`.
    #[inline]
    pub fn cylinder(&self, turns: Time) -> u64 {
        turns.as_ps() / (self.rotation.as_ps() * self.heads)
    }

    /// Distance between two arm positions, as a share of the full stroke.
    #[inline]
    pub fn distance(&self, from: u64, to: u64) -> f64 {
        let cylinders = from.abs_diff(to);
        // The arm position after the last byte may be one cylinder beyond the last cylinder.
        if cylinders == 0 { 0.0 } else { (cylinders as f64 / (self.cylinders - 1).max(1) as f64).min(1.0) }
    }

    /// Angle of the byte at position `turns`, expressed as a part of the rotation time.
    #[inline]
    pub fn angle(&self, turns: Time) -> Time {
        Time::from_ps(turns.as_ps() % self.rotation.as_ps())
    }

    /// Time from `now` until `angle` is under the head.
    #[inline]
    pub fn wait(&self, now: Time, angle: Time) -> Time {
        let turned = self.angle(now);
        // The result is unpredictable, so a branch would be slow.
        let passed = select_unpredictable(angle >= turned, Time::ZERO, self.rotation);
        angle + passed - turned
    }
}
