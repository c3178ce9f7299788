//! Tests of the SSD.

mod allocation;
mod amplification;
mod arbitration;
mod array;
mod bandwidth;
mod drive;
mod erasing;
mod errors;
mod front;
mod handles;
mod idle;
mod line;
mod mapping;
mod mistakes;
mod parity;
mod plane_reads;
mod planning;
mod priority;
mod programming;
mod recovery;
mod share;
mod slc_cache;
mod suspension;
mod wear;
mod zones;

use crate::workbench::workbench;
use nacre_kernel::{Activity, ComponentReport, Device, Op, Random, Request, Streams, Time};
use nacre_testkit::closed_loop;

/// A drive of 4 dies with nothing in the way but the flash; `settings` come behind, or instead.
pub(super) fn text(settings: &str) -> String {
    const DEFAULTS: &[(&str, &str)] = &[
        ("channels", "2"),
        ("ways", "2"),
        ("planes", "1"),
        ("blocks", "512"),
        ("pages", "64"),
        ("page", "\"4 KiB\""),
        ("read", "[\"50 us\"]"),
        ("program", "[\"500 us\"]"),
        ("erase", "\"3 ms\""),
        ("bus", "\"400 MB/s\""),
        ("buffer", "\"256 KiB\""),
        ("link", "\"4 GB/s\""),
    ];
    let is_given =
        |name: &str| settings.lines().any(|line| line.split('=').next().map(str::trim) == Some(name));
    let defaults = DEFAULTS.iter().filter(|(name, _)| !is_given(name));
    let defaults = defaults.fold(String::new(), |text, (name, value)| text + name + " = " + value + "\n");
    format!("kind = \"ssd\"\n{defaults}{settings}\n")
}

pub(super) fn drive(settings: &str) -> Box<dyn Device> {
    workbench(1).build(&text(settings)).unwrap_or_else(|problems| panic!("{problems}"))
}

pub(super) fn random(name: &str) -> Random {
    Streams::new(5).stream(name)
}

pub(super) fn unit(op: Op, number: u64) -> Request {
    units(op, number, 1)
}

pub(super) fn units(op: Op, number: u64, count: u32) -> Request {
    Request { arrival: Time::ZERO, address: number * 4096, bytes: count * 4096, volume: 0, op }
}

pub(super) fn unit_count(device: &dyn Device) -> u64 {
    device.capacity().map_or(0, |capacity| capacity.0 / 4096)
}

/// Writes `count` units drawn by `draw`, in no time.
pub(super) fn precondition(device: &mut dyn Device, count: u64, mut draw: impl FnMut(u64) -> u64) {
    let mut batch = Vec::with_capacity(64);
    for number in 0..count {
        batch.push(unit(Op::Write, draw(number)));
        if batch.len() == 64 || number + 1 == count {
            device.precondition(&batch);
            batch.clear();
        }
    }
}

pub(super) fn report(device: &dyn Device) -> ComponentReport {
    device.report(device.busy_until())
}

pub(super) fn counter(report: &ComponentReport, name: &str) -> u64 {
    let found = report.counters.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("there is no counter {name}")).1
}

/// The first value of a column of the report.
pub(super) fn column(report: &ComponentReport, name: &str) -> f64 {
    let found = report.columns.iter().find(|column| column.name == name);
    found.unwrap_or_else(|| panic!("there is no column {name}")).values[0]
}

/// A drive whose flash is the bound, with `settings`, in steady cleaning: writes a second, and what they are by the work of
/// its dies.
pub(super) fn steady_writes(settings: &str) -> (Box<dyn Device>, f64, f64) {
    let bound = "over_provisioning = \"28 %\"\nbus = \"4 GB/s\"\ncommand = \"0 s\"\nlink = \"40 GB/s\"\npages = 256\nblocks = 256";
    let mut device = drive(&format!("{bound}\n{settings}"));
    let count = unit_count(&*device);
    let mut random = random("steady");
    precondition(&mut *device, 3 * count, |_| random.below(count));
    device.restart_ledger();
    let seen = closed_loop(&mut *device, 64, count, |_| unit(Op::Write, random.below(count)));
    let wear = report(&*device).wear.expect("it wears");
    let copies = wear.cleaned as f64 / wear.host as f64;
    // For each unit written: it and the copies are programmed, copies read, and blocks of 256 pages erased.
    let each = (1.0 + copies) * 500e-6 + copies * 50e-6 + (1.0 + copies) / 256.0 * 3e-3;
    (device, seen.per_second(), 4.0 / each)
}
