//! The physics of a magnetic disk: an arm that seeks, platters that turn, tracks of falling length.
//!
//! # Models
//! - Seek: a square-root curve for short distances that runs over into a straight line
//!   ([`SeekCurve`]), fitted to the track-to-track, average and full-stroke times of a datasheet.
//! - Rotation: the angle of the platters is a function of absolute time and that of a sector a function
//!   of its address ([`Layout`]), so the rotational wait is exact, not drawn.
//! - Transfer: the rate falls linearly from the outermost to the innermost track. Head and track
//!   switches are part of the sustained rates, so a stream runs across tracks without a break.
//! - Energy: what seeking and spinning with data add to idling.
//!
//! # Leaves out
//! Steps between zones, defects, retries, and head switches of their own; acceleration that differs
//! inwards and outwards; spin-down.
//!
//! # Sources
//! Ruemmler and Wilkes, "An Introduction to Disk Drive Modeling", IEEE Computer 27(3), 1994.
//!
//! # Checks
//! The mean of the curve over all pairs of tracks against the stated average; its two ends; half a
//! rotation on average; sequential bandwidth of every zone; energy against time by activity.

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

/// What seeking and turning with data draw beyond idling.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Draw {
    /// While the arm moves.
    pub seek: Power,
    /// While waiting for a sector, reading or writing.
    pub active: Power,
}

/// The parts of one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub struct Access {
    /// Arm movement and settling.
    pub seek: Time,
    /// Waiting for the sector.
    pub rotate: Time,
    /// Bytes passing under the head.
    pub transfer: Time,
}

impl Access {
    /// All of it.
    pub fn total(&self) -> Time {
        self.seek + self.rotate + self.transfer
    }
}

/// Where the arm stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub struct Arm {
    /// The address that passes under the head next.
    address: u64,
    cylinder: u64,
}

/// Where an access goes: what is the same from wherever the arm comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub struct Target {
    address: u64,
    cylinder: u64,
    /// How far the platters have turned when its first sector is under the head.
    angle: Time,
    transfer: Time,
    /// Settling beyond that of a read.
    settle: Time,
    /// Where it leaves the arm.
    pub behind: Arm,
}

impl Arm {
    /// The position of the arm, counted in cylinders.
    #[inline]
    #[must_use]
    pub fn cylinder(&self) -> u64 {
        self.cylinder
    }
}

impl Target {
    /// The position of the arm for its first sector, counted in cylinders.
    #[inline]
    #[must_use]
    pub fn cylinder(&self) -> u64 {
        self.cylinder
    }
}

/// A disk: where its arm stands, and what it did.
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
    /// The address after the last one accessed.
    head_at: u64,
    ledger: Ledger,
}

impl Disk {
    /// A disk whose arm stands at address 0. A write settles `write_settle` longer after a seek.
    pub fn new(layout: Layout, curve: SeekCurve, draw: Draw, write_settle: Time) -> Disk {
        Disk { layout, curve, draw, write_settle, head_at: 0, ledger: Ledger::default() }
    }

    /// A disk as `mechanics`, which were checked, have it; its arm stands at address 0.
    #[must_use]
    pub fn of(mechanics: &Mechanics) -> Disk {
        Disk::new(mechanics.layout(), mechanics.curve(), mechanics.draw(), mechanics.write_settle)
    }

    /// What an access of `bytes` at `address` would take that the arm begins at `start`.
    ///
    /// An access that continues where the last one ended needs no seek, even onto the next cylinder.
    #[inline]
    pub fn plan(&self, start: Time, address: u64, bytes: u64, is_write: bool) -> Access {
        self.plan_from(&self.arm(), start, &self.target(address, bytes, is_write))
    }

    /// The same to `target`, where the access before it left the arm as `arm` says.
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

    /// Where the arm stands now.
    #[inline]
    pub fn arm(&self) -> Arm {
        self.arm_at(self.head_at)
    }

    /// Where the arm stands behind an access that ended at `address`.
    #[inline]
    pub fn arm_at(&self, address: u64) -> Arm {
        Arm { address, cylinder: self.layout.cylinder(self.layout.turns_at(address)) }
    }

    /// Where an access of `bytes` at `address` goes.
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

    /// Moves the arm as planned and charges time and energy.
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

    /// Takes the time of an access back that the arm did not spend, and its energy.
    pub fn give_back(&mut self, activity: Activity, time: Time) {
        let power = if activity == Activity::Seek { self.draw.seek } else { self.draw.active };
        self.ledger.give_back(activity, time);
        self.ledger.give_back_energy(activity, power.over(time));
    }

    /// Where its bytes lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Time and energy by activity since it was built or the ledger restarted.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Forgets time and energy; the arm stays where it is.
    pub fn restart_ledger(&mut self) {
        self.ledger = Ledger::default();
    }
}
