//! A device with faults that are made on purpose, by a plan that repeats.
//!
//! # Models
//! A device, and a list of faults. Each has its kind, and says which requests it touches (`operations`, an address range
//! from `range_start` to `range_end`, a `share` or `every` n-th of them) and when it is active (`start`, `duration`, and again every
//! `period`). Times are simulated times since the device was new, so a run, a study, a memory, a crash test and a served
//! device see the same faults at the same times. Random choices come from the scenario's seed.
//!
//! A request goes through the faults in their order: each may hold it back, end it, or change it, and the next one sees
//! it when and as it leaves the one before. One that ends a request is the last. Then the device serves it. Its answer goes
//! through the faults again; delays add up. What a fault adds to a latency is time in the queue of this component.
//! Requests that no fault touches reach the device at the moment they come, and their answers leave at once: with
//! no fault active the device is as it is alone, to the picosecond.
//!
//! Errors are answers of the device ([`Status`](nacre_kernel::Status)); whoever asks has to deal with them. Silent
//! corruption is data on the medium: the device above sees an answer without an error. With no bytes (in a simulation of time) it is
//! only counted.
//!
//! Each fault reports how many requests matched it and how many it touched, the time it added, the errors it caused with the bytes
//! they were about, and the bytes it made wrong without an error.
//!
//! A power loss takes what is held back with everything else that is outstanding. Faults go by the clock, so a stall in
//! progress is still there afterwards.
//!
//! # Leaves out
//! Transactions of the device, which do not pass. Devices whose power fails while the host's does not: the
//! crash simulator cuts power.
//!
//! # Sources
//! gunawi-2018 for slow and stalling devices, bairavasundaram-2008 for silent corruption, Linux dm-delay, dm-flakey and cgroup v2 for
//! delays, errors and limits.
//!
//! # Checks
//! Latencies, rates and shares in closed form; with no fault active the same completions, bytes and report as the device
//! alone; contract and durability suites of devices; restored between events.

mod changes;
mod device;
pub mod fault;
pub mod kinds;
pub mod layer;
mod requests;
#[cfg(test)]
mod tests;
pub mod when;

use device::Faulty;
use fault::Part;
use kinds::FaultFamily;
use nacre_config::{Configuration, Descriptor, ErrorCode, Problem, Problems, Room, Slot, room_of};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::{Bytes, Time, event};

/// A device with faults.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// The device that is faulty.
    pub device: Slot<DeviceFamily>,
    /// What is wrong with it, in the order in which requests meet it; absent means nothing.
    pub fault: Option<Vec<Slot<FaultFamily>>>,
}

/// This room.
pub const ROOM: Room<DeviceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "faulty",
        "a device that is slow, stalls, fails or corrupts data on purpose, by a plan",
        &["gunawi-2018", "bairavasundaram-2008", "linux-dm", "linux-cgroup-v2"],
        1,
        include_str!("mod.rs"),
    ),
    build,
};

fn build(
    slot: &Slot<DeviceFamily>,
    builder: &mut (dyn Builder + '_),
) -> Result<Box<dyn event::Device>, Problems> {
    let id = builder.component();
    let config: Config = slot.config(builder.families());
    let mut problems = Vec::new();
    let device = builder.device(&config.device);
    let mut parts = Vec::new();
    for slot in config.fault.iter().flatten() {
        let capacity = device.as_ref().ok().and_then(|device| device.capacity());
        match part(slot, builder, (slot.path(), Time::ZERO), capacity) {
            Ok(part) => parts.push(part),
            Err(mistakes) => problems.extend(mistakes.0),
        }
    }
    match device {
        Ok(device) if problems.is_empty() => {
            Ok(Box::new(Faulty::new(id, slot.path().to_string(), device, parts)))
        }
        Ok(_) => Err(Problems(problems)),
        Err(mistakes) => Err(Problems([mistakes.0, problems].concat())),
    }
}

/// The fault of `slot`, called `name`, whose start counts from `since`, over a device of this `capacity`. Its draws are
/// those of its name.
///
/// Errors: those in the settings.
pub fn part(
    slot: &Slot<FaultFamily>,
    builder: &mut dyn Builder,
    (name, since): (&str, Time),
    capacity: Option<Bytes>,
) -> Result<Part, Problems> {
    let mut built = (room_of(kinds::ROOMS, slot).build)(slot, builder)?;
    built.when.start += since;
    match capacity.and_then(|capacity| beyond(slot, &built.when, capacity)) {
        Some(problem) => Err(problem.into()),
        None => Ok(Part::new(name.into(), slot.kind(), built, builder.random(name))),
    }
}

/// A range that the device does not have.
fn beyond(slot: &Slot<FaultFamily>, when: &when::When, capacity: Bytes) -> Option<Problem> {
    let (name, value) = match (when.range_start, when.range_end) {
        (_, Some(end)) if end > capacity => ("range_end", end),
        (Some(start), _) if start >= capacity => ("range_start", start),
        _ => return None,
    };
    let path = format!("{}.{name}", slot.path());
    let text = format!("the device ends at {} B", capacity.0);
    let problem = Problem::new(ErrorCode::ConflictingSettings, &path, None, text);
    Some(problem.given(value).remedy(format!("give at most \"{} B\", or remove it", capacity.0)))
}
