//! Request paths between host and device, one module per interface. The device owns a [`HostPort`] and
//! processes its events together with the device's events.
//!
//! A request has four legs. The leg *begun* ends when the host's software has processed the request and the
//! device receives it. Each part of a request has the legs *brought* and *answered*. The leg *brought* ends
//! when the data of a write has arrived or the read was requested. The leg *answered* ends when the data of
//! a read was returned. The leg *ended* ends when the program that issued the request continues. The device
//! serves a part between its second and third leg.
//!
//! The device starts each leg. If the leg takes no time, the call returns its result. Otherwise
//! [`HostPort::pop_before`] returns it later. Only contended steps are events; the durations of all other
//! steps are summed.

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

use nacre_config::{Families, Family, Problems, Slot, Table, model_of};
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

/// Data that the constructor of a host interface needs.
pub struct Host<'a> {
    /// All component families, needed to read the configuration of a slot.
    pub families: &'a dyn Families,
}

impl std::fmt::Debug for Host<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a host")
    }
}

/// The interfaces, in documentation order.
pub static MODELS: &Table<HostInterfaceFamily> =
    &[direct::MODEL, nvme::MODEL, memory_window::MODEL, cxl_mem::MODEL];

/// Builds the interface that `slot` describes.
pub fn build(
    slot: &Slot<HostInterfaceFamily>,
    families: &dyn Families,
) -> Result<Box<dyn HostPort>, Problems> {
    (model_of(MODELS, slot).build)(slot, &mut Host { families })
}

/// Identifies a part of a request, with the same numbers as in the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub struct Part {
    /// Key of the request in the device's [`Slab`](nacre_kernel::event::Slab). The port stores its state of
    /// the request under this number.
    pub request: u32,
    /// Number of the part, unique among the parts of a request in progress.
    pub piece: u32,
}

impl Part {
    /// The whole request, or its first part.
    pub fn whole(request: u32) -> Part {
        Part { request, piece: 0 }
    }
}

/// A leg of a request between host and device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub enum Leg {
    /// The device has received the request.
    Begun,
    /// The device can serve the part and, for a write, has its data.
    Brought,
    /// For a read, the data of the part has left for the host. For loads and stores, the last reply has
    /// reached the CPU.
    Answered,
    /// The program that issued the request continues.
    Ended,
}

/// A completed stage. The time of the stage in excess of `alone` was spent waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub struct Lap {
    /// Stage of the request path.
    pub stage: Stage,
    /// Activity of the stage.
    pub activity: Activity,
    /// End of the stage.
    pub end: Time,
    /// Duration without waiting.
    pub alone: Time,
}

/// A completed leg.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// Time of the event.
    pub at: Time,
    /// The part of the request. For the legs `Begun` and `Ended`, this is the whole request.
    pub part: Part,
    /// The leg of the request path.
    pub leg: Leg,
    /// Time spent since the start of the leg.
    pub spent: Spent,
}

/// Time spent in a leg, by cause. The rest of the leg was spent waiting.
#[derive(Clone, Debug, Default, PartialEq, Value)]
pub struct Spent {
    /// Time of the host's software.
    pub software: Time,
    /// Time on the link.
    pub link: Time,
    /// Time during which the device served earlier parts of the request while this part waited.
    pub device: Time,
    /// The stages, if [`HostPort::detail`] has enabled them.
    pub laps: Vec<Lap>,
}

impl Spent {
    /// A value in which all times are zero.
    pub fn nothing() -> Spent {
        Spent::default()
    }

    /// Adds the time spent in `next`, the following leg.
    pub fn add(&mut self, next: &Spent) {
        self.software += next.software;
        self.link += next.link;
        self.device += next.device;
        self.laps.extend_from_slice(&next.laps);
    }
}

/// Converts the stages `laps` of a request, which start at `now`, to spans. The durations of the spans sum to
/// `done - now`.
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

/// Request path between host and device. Calls are in time order, and each leg is started once. If a leg
/// takes no time, the call that starts the leg returns the result. Otherwise, [`HostPort::pop_before`]
/// returns the result later.
pub trait HostPort: State + Send {
    /// Maximum number of bytes that the host sends or requests at a time. The port divides a larger part. A
    /// device that starts a request before all its parts have arrived uses parts of this size.
    fn piece(&self) -> u64;

    /// Whether the device receives commands, which take processor time of the device. Loads and stores need
    /// no commands.
    fn has_commands(&self) -> bool;

    /// Issues `request` with the number `number` at `now`. `work` is CPU time of the host in addition to
    /// the CPU time of the driver.
    fn submit(&mut self, now: Time, number: u32, request: &Request, work: Time) -> Option<Spent>;

    /// Starts the leg *brought* of `part`, which has `bytes` bytes, at `now`. The returned times and stages
    /// are measured from the end of the leg *begun* of the request.
    fn bring(&mut self, now: Time, part: Part, op: Op, bytes: u64) -> Option<Spent>;

    /// Starts the leg *answered* of `part`, which the device has served.
    fn answer(&mut self, now: Time, part: Part, op: Op, bytes: u64) -> Option<Spent>;

    /// Starts the leg *ended* of `request`, whose parts have all been answered.
    fn end(&mut self, now: Time, request: u32, op: Op) -> Option<Spent>;

    /// Passes the stages of `part` inside the device to the port. Call this before [`HostPort::answer`].
    /// Required only if stages are enabled.
    fn note(&mut self, _part: Part, _laps: &[Lap]) {}

    /// Enables or disables [`Spent::laps`], which are disabled by default.
    fn detail(&mut self, is_detailed: bool);

    /// Time of the port's next event, or [`Time::MAX`] if there is none.
    fn next(&self) -> Time;

    /// Processes events before `until` in time order, up to and including the first event that completes a
    /// leg. Returns `None` if no event completes a leg. The device never passes an `until` after its own next
    /// event.
    fn pop_before(&mut self, until: Time) -> Option<Arrival>;

    /// Handles a power loss at `at`. All requests in progress are dropped, and only the time until `at` is
    /// charged.
    fn power_fail(&mut self, at: Time);

    /// Clears busy times.
    fn restart_ledger(&mut self);

    /// The resources of the port.
    fn resources(&self) -> Vec<Resource>;

    /// Panics if the port's accounting is inconsistent.
    fn check_invariants(&self);
}
