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
mod priority;
mod recovery;
mod slc_cache;
mod suspension;
mod wear;
mod zones;

use crate::workbench::workbench;
use nacre_kernel::{ComponentReport, Device, Op, Random, Request, Streams, Time};

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
