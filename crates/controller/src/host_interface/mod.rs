//! How a host reaches a device, one room per interface. The device owns a [`HostPort`] and processes its events among its
//! own.
//!
//! A request goes through four legs. It begins: the host's software works on it, and the device learns of it. Each part of
//! it is brought: the data of a write comes; a read is asked for. Each part is answered: what was read goes back. It ends:
//! the program that issued it continues. Between the last two of a part the device serves it.
//!
//! The device starts a leg at the moment it is due. If the leg takes no time, the call returns it. Otherwise it comes out of
//! [`HostPort::pop_before`]. Only what can be contended is an event; the rest is summed up.

mod cpus;
pub mod cxl_mem;
pub mod direct;
mod express;
mod lines;
pub mod memory_window;
pub mod nvme;
mod plain;
mod rules;
#[cfg(test)]
pub(crate) mod tests;

pub use cpus::Cpus;
pub use plain::Plain;

use nacre_config::{Families, Family, Problems, Slot, Table, room_of};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, ComponentId, Op, Request, Resource, Span, Stage, Time};

/// The family of interfaces between host and device.
#[derive(Debug)]
pub struct HostInterfaceFamily;

impl Family for HostInterfaceFamily {
    const NAME: &'static str = "host_interface";
    type Built = Box<dyn HostPort>;
    type Context<'a> = Host<'a>;
}

/// Services for a host interface during construction.
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
) -> Result<Box<dyn HostPort>, Problems> {
    (room_of(ROOMS, slot).build)(slot, &mut Host { families })
}

/// Names a part of a request, as the device does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub struct Part {
    /// The request: its entry in the device's [`Slab`](nacre_kernel::event::Slab), since a port keeps what it knows of it
    /// by this number.
    pub request: u32,
    /// Number of the part, unique among the parts of a request in progress.
    pub piece: u32,
}

impl Part {
    /// All of a request, or the first part of it.
    pub fn whole(request: u32) -> Part {
        Part { request, piece: 0 }
    }
}

/// A leg of a request between host and device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub enum Leg {
    /// The device knows of the request.
    Begun,
    /// The device can serve the part, and has its data if it is a write.
    Brought,
    /// The data of the part has left for the host if it is a read; for loads and stores it is back.
    Answered,
    /// The program that issued the request continues.
    Ended,
}

/// A stage that is over: what is before its own time is waiting for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub struct Lap {
    /// Stage of the request.
    pub stage: Stage,
    /// Activity.
    pub activity: Activity,
    /// End of the stage.
    pub end: Time,
    /// Duration without waiting.
    pub alone: Time,
}

/// A leg that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// Time of the event.
    pub at: Time,
    /// The part; the whole request at its start and end.
    pub part: Part,
    /// The leg of the request path.
    pub leg: Leg,
    /// Time spent since its start.
    pub spent: Spent,
}

/// Time spent in a leg; the rest was waiting.
#[derive(Clone, Debug, Default, PartialEq, Value)]
pub struct Spent {
    /// The host's software worked.
    pub software: Time,
    /// Time on the link.
    pub link: Time,
    /// The device served earlier parts of the request that this one waited for.
    pub device: Time,
    /// The stages, if requested ([`HostPort::detail`]).
    pub laps: Vec<Lap>,
}

impl Spent {
    /// No time spent.
    pub fn nothing() -> Spent {
        Spent::default()
    }

    /// This, and then `next`.
    pub fn add(&mut self, next: &Spent) {
        self.software += next.software;
        self.link += next.link;
        self.device += next.device;
        self.laps.extend_from_slice(&next.laps);
    }
}

/// The spans of a request whose stages are `laps`, from `now` until `done`: they sum to the time between.
pub fn stage_spans(id: ComponentId, laps: &[Lap], now: Time, done: Time) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut push = |activity, stage, time: Time| {
        if !time.is_zero() {
            spans.push(Span { component: id, activity, stage, time });
        }
    };
    let mut before = now;
    for lap in laps {
        let end = lap.end.min(done);
        let taken = end.saturating_sub(before);
        let alone = lap.alone.min(taken);
        push(Activity::Queue, lap.stage, taken - alone);
        push(lap.activity, lap.stage, alone);
        before = before.max(end);
    }
    push(Activity::Queue, Stage::Untold, done - before);
    spans
}

/// How a host reaches a device. Calls come in time order. Each leg is started once; it is returned if it is over at once, and
/// comes out of [`HostPort::pop_before`] otherwise.
pub trait HostPort: State + Send {
    /// The most bytes that the host sends, or asks for, at one time. A part may be larger: the port cuts it up. A device that
    /// serves small parts while others are still coming makes parts of this size.
    fn piece(&self) -> u64;

    /// Whether the device gets commands, on which its processors work. Loads and stores need none.
    fn has_commands(&self) -> bool;

    /// The host issues `request`, called `number`, at `now`. `work` is CPU time of the host in addition to the driver's.
    fn submit(&mut self, now: Time, number: u32, request: &Request, work: Time) -> Option<Spent>;

    /// The device wants `part` of `bytes` from `now` on. Its time, and that of its laps, is counted since the request began.
    fn bring(&mut self, now: Time, part: Part, op: Op, bytes: u64) -> Option<Spent>;

    /// The device has served `part`, which was brought.
    fn answer(&mut self, now: Time, part: Part, op: Op, bytes: u64) -> Option<Spent>;

    /// All parts of `request` are answered.
    fn end(&mut self, now: Time, request: u32, op: Op) -> Option<Spent>;

    /// The device's own stages of `part`, before it answers; needed only if they are asked for.
    fn note(&mut self, _part: Part, _laps: &[Lap]) {}

    /// Whether [`Spent::laps`] are asked for; they are not at first.
    fn detail(&mut self, is_detailed: bool);

    /// When its next event is due; [`Time::MAX`] if none is.
    fn next(&self) -> Time;

    /// Processes events before `until`, in time order, up to the first that completes a leg; `None` if none of them does.
    /// The device lets it not run past its own next event.
    fn pop_before(&mut self, until: Time) -> Option<Arrival>;

    /// Power fails at `at`: nothing is under way, and what was not done by then takes no time.
    fn power_fail(&mut self, at: Time);

    /// Forgets busy times.
    fn restart_ledger(&mut self);

    /// What it works with.
    fn resources(&self) -> Vec<Resource>;

    /// Panics if its accounting does not balance.
    fn check_invariants(&self);
}
