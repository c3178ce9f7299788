//! How a host reaches a device: its driver and CPUs, the link, and what they say to each other. One room per
//! interface.
//!
//! A request goes through four steps. It begins: the host's software works on it, and the device learns of it. Each
//! piece of it is brought: for a write its data comes, for a read the device may begin. Each piece is answered: what
//! was read goes back. It ends: the host learns that it is done. The device serves pieces between.

pub mod cxl_mem;
pub mod direct;
pub mod events;
mod express;
mod laps;
mod lines;
pub mod memory_window;
pub mod nvme;
mod plain;
mod processors;
#[cfg(test)]
pub(crate) mod tests;

pub use laps::{Lap, Laps, Mark};

use nacre_config::{Families, Family, Problems, Slot, Table, room_of};
use nacre_kernel::state::State;
use nacre_kernel::{Op, Request, Resource, Time};

/// The family of interfaces between host and device.
#[derive(Debug)]
pub struct HostInterfaceFamily;

impl Family for HostInterfaceFamily {
    const NAME: &'static str = "host_interface";
    type Built = Box<dyn HostInterface>;
    type Context<'a> = Host<'a>;
}

/// What an interface may ask for while it is built.
pub struct Host<'a> {
    /// All rooms, to read the slot's configuration with.
    pub families: &'a dyn Families,
}

impl std::fmt::Debug for Host<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a host")
    }
}

/// The interfaces, in the order users see them.
pub static ROOMS: &Table<HostInterfaceFamily> =
    &[direct::ROOM, nvme::ROOM, memory_window::ROOM, cxl_mem::ROOM];

/// The interface in `slot`.
pub fn build(
    slot: &Slot<HostInterfaceFamily>,
    families: &dyn Families,
) -> Result<Box<dyn HostInterface>, Problems> {
    (room_of(ROOMS, slot).build)(slot, &mut Host { families })
}

/// A step of a request between host and device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// When it is over.
    pub there: Time,
    /// What software worked on it.
    pub software: Time,
    /// What it was on the link, had nothing been in the way.
    pub link: Time,
    /// What the device took for pieces before that it waited for.
    pub device: Time,
}

impl Step {
    /// A step that takes nothing.
    pub fn none(at: Time) -> Step {
        Step { there: at, ..Step::default() }
    }

    /// This step and then `next`.
    #[must_use]
    pub fn then(self, next: Step) -> Step {
        Step {
            there: next.there,
            software: self.software + next.software,
            link: self.link + next.link,
            device: self.device + next.device,
        }
    }
}

/// How a host reaches a device. The steps of one request follow each other before those of the next.
pub trait HostInterface: State + Send {
    /// The most bytes of a piece of a request.
    fn piece(&self) -> u64;

    /// Whether the device is given commands, on which its processors work; loads and stores need none of them.
    fn has_commands(&self) -> bool;

    /// The host issues `request` at `now`; over when the device knows of it.
    fn begin(&mut self, now: Time, request: &Request) -> Step;

    /// The device wants the next piece of `bytes` from `at` on; over when it can begin with it, having its data
    /// where it is one of a write.
    fn bring(&mut self, at: Time, op: Op, bytes: u64) -> Step;

    /// The device has served the piece it wanted last, of `bytes`, at `at`; over when its data has left for the host,
    /// where it is one of a read.
    fn answer(&mut self, at: Time, op: Op, bytes: u64) -> Step;

    /// All of the request is served and answered at `at`; over when the program that asked goes on.
    fn end(&mut self, at: Time, op: Op) -> Step;

    /// Where it notes the stages of a request, if it tells them.
    fn laps(&mut self) -> Option<&mut Laps> {
        None
    }

    /// Forgets what lies before `to`.
    fn advance(&mut self, to: Time);

    /// The power fails at `at`: nothing is under way any more, and what was not done by then takes no time.
    fn power_fail(&mut self, at: Time);

    /// When the last of its work ends.
    fn busy_until(&self) -> Time;

    /// Measuring begins now.
    fn restart_ledger(&mut self);

    /// What it works with.
    fn resources(&self) -> Vec<Resource>;

    /// Panics if its books do not balance.
    fn check_invariants(&self);
}
