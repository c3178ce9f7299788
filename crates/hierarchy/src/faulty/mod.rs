//! Fault injection: a device with planned, repeatable faults.
//!
//! # Model
//! The model wraps a device and has a list of faults. Each fault has a kind, and selects requests by
//! `operations`, by an address range (`range_start` to `range_end`), and by a random share of requests
//! (`share`) or every n-th request (`every`). A fault is active from `start` for `duration`, and again every
//! `period`. The times of faults are simulated times since the device was new. A run, a study, a memory
//! (`nacre.open`), a crash test, and a served device therefore have the same faults at the same times. The
//! seed of the scenario determines random choices.
//!
//! *Request path*: A request passes the faults in list order. Each fault may delay, complete, or change the
//! request. When a fault forwards the request, the next fault receives the changed request. If a fault
//! completes the request, later faults do not receive the request. If no fault completes the request, the
//! device serves it. The reply also passes the faults, and the delays of all faults add up. The time that a
//! fault adds counts as queueing time of the `faulty` component.
//!
//! A request that no fault affects reaches the device immediately, and its reply reaches the host
//! immediately. If no fault is active, the times of all requests are the same as without the fault list, to
//! the picosecond.
//!
//! *Errors* are replies with an error status ([`Status`](nacre_kernel::Status)). The layer above must handle
//! these errors. *Silent corruption* changes data on the medium, and the layer above gets a reply without an
//! error. A simulation that does not store data only counts corruptions.
//!
//! *Zones*: A fault that affects writes also affects appends. An append counts as a write at the current
//! write pointer of its zone. Other zone commands count as trims of zero bytes at the start of their zone.
//! Lost, torn, and misdirected writes cannot be configured for a device with zones. A device with zones would
//! reject these writes or later writes, so the corruption would not be silent.
//!
//! *Reports*: Each fault reports the number of matching requests, the number of affected requests, and the
//! added time. The report also contains the number of errors, the bytes of the failed requests, and the
//! silently corrupted bytes.
//!
//! *Power loss*: Delayed requests are lost like all outstanding requests. The times of faults are simulated
//! times, so a stall in progress continues after the power loss.
//!
//! # Not modeled
//! - Transactions of the device. The fault layer does not forward transactions.
//! - Power loss of a single device. The crash simulator cuts power to the whole system.
//!
//! # Sources
//! - gunawi-2018: slow and stalling devices.
//! - bairavasundaram-2008: silent corruption.
//! - Linux dm-delay, dm-flakey, and cgroup v2: delays, errors, and limits.
//!
//! # Checks
//! - Latencies, request rates, and the shares of affected requests equal their closed forms.
//! - Without an active fault, completions, data, and reports are the same as without the fault layer.
//! - The model passes the test suites for the device contract and for durability.
//! - A run that is saved and restored between any two events gives the same results as an uninterrupted run.

mod changes;
mod device;
pub mod fault;
pub mod kinds;
pub mod layer;
mod requests;
#[cfg(test)]
mod tests;
pub mod when;
mod zones;

use device::Faulty;
use fault::Part;
use kinds::FaultFamily;
use nacre_config::{Configuration, Descriptor, ErrorCode, Model, Problem, Problems, Slot, model_of};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::{Bytes, Time, event};

/// A device with faults.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// The device into which the faults are injected.
    pub device: Slot<DeviceFamily>,
    /// Faults, in the order in which requests pass them; by default, there are none.
    pub fault: Option<Vec<Slot<FaultFamily>>>,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<DeviceFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "faulty",
        "fault injection: a device that is slow, stalls, fails, or corrupts data as configured",
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
        let on = device.as_ref().ok().and_then(|device| {
            Some(Target { capacity: device.capacity()?, has_zones: device.zones().is_some() })
        });
        match part(slot, builder, (slot.path(), Time::ZERO), on) {
            Ok(part) => parts.push(part),
            Err(errors) => problems.extend(errors.0),
        }
    }
    match device {
        Ok(device) if problems.is_empty() => {
            Ok(Box::new(Faulty::new(id, slot.path().to_string(), device, parts)))
        }
        Ok(_) => Err(Problems(problems)),
        Err(errors) => Err(Problems([errors.0, problems].concat())),
    }
}

/// Properties of a device that restrict its faults.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Capacity of the device.
    pub capacity: Bytes,
    /// Whether the device has zones.
    pub has_zones: bool,
}

/// Builds the fault in `slot`. The start of the fault is relative to `since`, and `name` selects its random
/// stream. If the device `on` is known, also checks that the fault fits this device.
///
/// Returns an error if settings are invalid.
pub fn part(
    slot: &Slot<FaultFamily>,
    builder: &mut dyn Builder,
    (name, since): (&str, Time),
    on: Option<Target>,
) -> Result<Part, Problems> {
    let mut built = (model_of(kinds::MODELS, slot).build)(slot, builder)?;
    built.when.start += since;
    match on.and_then(|on| beyond(slot, &built.when, on.capacity).or_else(|| unfit_for_zones(slot, on))) {
        Some(problem) => Err(problem.into()),
        None => Ok(Part::new(name.into(), slot.kind(), built, builder.random(name))),
    }
}

/// Kinds of faults that a device with zones cannot have. These faults write less data than was sent, or write
/// to another address. A zone would reject such a write or the write after it, so the corruption would not be
/// silent.
const NOT_IN_ZONES: [&str; 3] = ["lost_write", "torn_write", "misdirected_write"];

/// Returns an error if a device with zones cannot have the fault.
fn unfit_for_zones(slot: &Slot<FaultFamily>, on: Target) -> Option<Problem> {
    if !on.has_zones || !NOT_IN_ZONES.contains(&slot.kind()) {
        return None;
    }
    let text = "a device with zones rejects writes that are not at the write pointer";
    let problem = Problem::new(ErrorCode::ConflictingSettings, slot.path(), None, text);
    Some(
        problem
            .given(slot.kind())
            .remedy("give another kind, for example \"error\" or \"bit_rot\"".to_string()),
    )
}

/// Returns an error if the range of the fault extends past the end of the device.
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
