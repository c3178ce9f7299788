//! The mechanics of a magnetic disk: an arm that seeks, rotating platters, and tracks of decreasing length.
//!
//! # Model
//! - *Seek*: a square-root curve for short distances that continues as a straight line ([`SeekCurve`]). It is
//!   fitted to the track-to-track, average, and full-stroke times of a data sheet.
//! - *Rotation*: the angle of the platters is a function of absolute time, and the angle of a sector is a
//!   function of its address ([`Layout`]). The rotational latency is therefore exact and not random.
//! - *Transfer*: the rate decreases linearly from the outermost to the innermost track. The sustained rates
//!   include head and track switches, so a stream crosses tracks without an interruption.
//! - *Energy*: the energy of seeks and of data transfers, in addition to idle power.
//!
//! # Not modeled
//! - Steps between zones, defects, retries, and separate head switches.
//! - Different acceleration inward and outward.
//! - Spin-down.
//!
//! # Sources
//! Ruemmler and Wilkes, "An Introduction to Disk Drive Modeling", IEEE Computer 27(3), 1994.
//!
//! # Checks
//! The mean of the seek curve over all pairs of tracks equals the average seek time of the data sheet. The
//! two ends of the curve equal the track-to-track and full-stroke times. The mean rotational latency is half
//! a rotation. Sequential bandwidth is checked in every zone. Energy is compared with the time of each
//! activity.

mod layout;
mod mechanics;
mod seek;
#[cfg(test)]
mod tests;

pub use layout::Layout;
pub use mechanics::Mechanics;
pub use seek::{SeekCurve, SeekTimes, Unfit};

use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Ledger, Power, Time};

/// Power of seeks and transfers, in addition to idle power.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Draw {
    /// Power while the arm moves.
    pub seek: Power,
    /// Power during rotational latency, reads, and writes.
    pub active: Power,
}

/// Duration of each phase of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub struct Access {
    /// Arm movement and settling.
    pub seek: Time,
    /// Rotational latency until the sector is under the head.
    pub rotate: Time,
    /// Transfer of the bytes under the head.
    pub transfer: Time,
}

impl Access {
    /// Total duration.
    pub fn total(&self) -> Time {
        self.seek + self.rotate + self.transfer
    }
}

/// Position of an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub struct Arm {
    /// Address of the next byte that passes under the head.
    address: u64,
    cylinder: u64,
}

/// Target of an access: the values that do not depend on the arm position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub struct Target {
    address: u64,
    cylinder: u64,
    /// Rotation angle at which the first sector is under the head.
    angle: Time,
    transfer: Time,
    /// Settling time in addition to that of a read.
    settle: Time,
    /// Arm position after the access.
    pub behind: Arm,
}

impl Arm {
    /// Current cylinder of the arm.
    #[inline]
    #[must_use]
    pub fn cylinder(&self) -> u64 {
        self.cylinder
    }
}

impl Target {
    /// Cylinder of the first sector.
    #[inline]
    #[must_use]
    pub fn cylinder(&self) -> u64 {
        self.cylinder
    }
}

/// A disk with the position of its arm, and its busy time and energy by activity.
#[derive(Clone, Debug, State)]
pub struct Disk {
    #[state(skip = "from the configuration")]
    layout: Layout,
    #[state(skip = "from the configuration")]
    curve: SeekCurve,
    #[state(skip = "from the configuration")]
    draw: Draw,
    #[state(skip = "from the configuration")]
    write_settle: Time,
    /// End address of the last access.
    head_at: u64,
    ledger: Ledger,
}

impl Disk {
    /// A disk with its arm at address 0. After a seek, a write settles for `write_settle` longer than a read.
    pub fn new(layout: Layout, curve: SeekCurve, draw: Draw, write_settle: Time) -> Disk {
        Disk { layout, curve, draw, write_settle, head_at: 0, ledger: Ledger::default() }
    }

    /// A disk with valid `mechanics` and its arm at address 0.
    #[must_use]
    pub fn of(mechanics: &Mechanics) -> Disk {
        Disk::new(mechanics.layout(), mechanics.curve(), mechanics.draw(), mechanics.write_settle)
    }

    /// Duration of each phase of an access of `bytes` bytes at `address` that starts at `start`.
    ///
    /// If an access starts at the end of the previous access, it needs no seek, even if it continues on the
    /// next cylinder.
    #[inline]
    pub fn plan(&self, start: Time, address: u64, bytes: u64, is_write: bool) -> Access {
        self.plan_from(&self.arm(), start, &self.target(address, bytes, is_write))
    }

    /// Duration of each phase of an access to `target` from the arm position `arm`.
    #[inline]
    pub fn plan_from(&self, arm: &Arm, start: Time, target: &Target) -> Access {
        let mut seek = Time::ZERO;
        if target.address != arm.address {
            let distance = self.layout.distance(arm.cylinder, target.cylinder);
            if distance > 0.0 {
                seek = self.curve.time(distance) + target.settle;
            }
        }
        Access { seek, rotate: self.layout.wait(start + seek, target.angle), transfer: target.transfer }
    }

    /// Current position of the arm.
    #[inline]
    pub fn arm(&self) -> Arm {
        self.arm_at(self.head_at)
    }

    /// Position of the arm after an access that ended at `address`.
    #[inline]
    pub fn arm_at(&self, address: u64) -> Arm {
        Arm { address, cylinder: self.layout.cylinder(self.layout.turns_at(address)) }
    }

    /// Target of an access of `bytes` bytes at `address`.
    #[inline]
    pub fn target(&self, address: u64, bytes: u64, is_write: bool) -> Target {
        let [turns, end] = [address, address + bytes].map(|address| self.layout.turns_at(address));
        Target {
            address,
            cylinder: self.layout.cylinder(turns),
            angle: self.layout.angle(turns),
            transfer: end - turns,
            settle: if is_write { self.write_settle } else { Time::ZERO },
            behind: Arm { address: address + bytes, cylinder: self.layout.cylinder(end) },
        }
    }

    /// Moves the arm to `end_address`, and charges the time and energy of the access.
    #[inline]
    pub fn perform(&mut self, access: Access, end_address: u64) {
        self.head_at = end_address;
        let parts = [
            (Activity::Seek, access.seek, self.draw.seek),
            (Activity::Rotate, access.rotate, self.draw.active),
            (Activity::Transfer, access.transfer, self.draw.active),
        ];
        for (activity, time, power) in parts {
            self.ledger.charge(activity, time);
            self.ledger.charge_energy(activity, power.over(time));
        }
    }

    /// Refunds the remaining time and energy of an access that was interrupted.
    pub fn give_back(&mut self, activity: Activity, time: Time) {
        let power = if activity == Activity::Seek { self.draw.seek } else { self.draw.active };
        self.ledger.give_back(activity, time);
        self.ledger.give_back_energy(activity, power.over(time));
    }

    /// Layout of the bytes on the disk.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Time and energy by activity since the disk was built or the ledger restarted.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Clears time and energy. The arm does not move.
    pub fn restart_ledger(&mut self) {
        self.ledger = Ledger::default();
    }
}
