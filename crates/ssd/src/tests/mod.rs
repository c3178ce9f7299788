//! Tests of the drive.

mod allocation;
mod allocation_order;
mod amplification;
mod arbitration;
pub(crate) mod array;
mod bandwidth;
mod config_errors;
mod contract;
mod crashes;
mod drive;
pub(crate) mod driven;
mod erasing;
mod errors;
mod fdp;
mod fetching;
mod front;
mod gains;
mod handles;
mod idle;
mod large;
mod mapping;
mod parity;
mod parts_of_units;
mod plane_reads;
mod programming;
mod read_priority;
mod reclaim_groups;
mod recovery;
mod scheduling;
mod share;
mod slc_cache;
mod suspension;
mod wear;
pub(crate) mod workbench;

use crate::config::{Config, SsdConfig};
use driven::{Driven, driven};
use nacre_kernel::event::Device;
use nacre_kernel::{Activity, ComponentReport, Op, Random, Request, Resource, Streams, Time};
use nacre_testkit::assert_close;
use nacre_testkit::oracle::{Load, Visit};
use nacre_testkit::visits;
use workbench::workbench;

/// Returns the settings of a drive of four dies without other bottlenecks, with `settings` added or
/// replaced.
pub(super) fn text(settings: &str) -> String {
    const DEFAULTS: &[(&str, &str)] = &[
        ("kind", "\"ssd\""),
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
    // Settings after a table heading belong to that table.
    let own = || settings.lines().take_while(|line| !line.starts_with('['));
    let is_given = |name: &str| own().any(|line| line.split('=').next().map(str::trim) == Some(name));
    let defaults = DEFAULTS.iter().filter(|(name, _)| !is_given(name));
    let defaults = defaults.fold(String::new(), |text, (name, value)| text + name + " = " + value + "\n");
    format!("{defaults}{settings}\n")
}

pub(super) fn drive(settings: &str) -> Box<dyn Device> {
    workbench(1).build(&text(settings)).unwrap_or_else(|problems| panic!("{problems}"))
}

pub(super) fn random(name: &str) -> Random {
    Streams::new(5).stream(name)
}

/// Returns a request for one unit of 4 KiB.
pub(super) fn unit(op: Op, number: u64) -> Request {
    units(op, number, 1)
}

/// Returns a request for `count` units.
pub(super) fn units(op: Op, number: u64, count: u32) -> Request {
    Request { arrival: Time::ZERO, address: number * 4096, bytes: count * 4096, volume: 0, op }
}

/// Returns the configuration of the drive with `settings`.
pub(crate) fn config(settings: &str) -> Config {
    let workbench = workbench(3);
    let slot = workbench.slot(&text(settings)).unwrap_or_else(|problems| panic!("{problems}"));
    Config::from(&slot.config::<SsdConfig>(nacre_device::Builder::families(&workbench)))
}

/// Returns the error messages of the drive with `settings`.
pub(super) fn problems(settings: &str) -> String {
    let refused = workbench(1).build(&text(settings)).err();
    refused.unwrap_or_else(|| panic!("{settings} was taken")).to_string()
}

pub(super) fn counter(report: &ComponentReport, name: &str) -> u64 {
    let found = report.counters.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("there is no counter {name}")).1
}

/// Returns the first value of the report column `name`.
pub(super) fn column(report: &ComponentReport, name: &str) -> f64 {
    let found = report.columns.iter().find(|column| column.name == name);
    found.unwrap_or_else(|| panic!("there is no column {name}")).values[0]
}

/// Returns the resource `name` of the report.
pub(super) fn resource<'a>(report: &'a ComponentReport, name: &str) -> &'a Resource {
    let found = report.resources.iter().find(|resource| resource.name == name);
    found.unwrap_or_else(|| panic!("there is no resource {name}"))
}

/// Creates a drive with `settings` whose flash is the bottleneck, in the steady state of garbage
/// collection. Also returns the number of writes per second, and the number expected from the work of the
/// dies.
pub(super) fn steady_writes(settings: &str) -> (Driven, f64, f64) {
    let bound = "over_provisioning = \"28 %\"\nbus = \"4 GB/s\"\ncommand = \"0 s\"\nlink = \"40 GB/s\"\npages = 256\nblocks = 256";
    let mut device = driven(&format!("{bound}\n{settings}"));
    let count = device.unit_count();
    let mut random = random("steady");
    device.precondition(3 * count, |_| random.below(count));
    device.restart_ledger();
    let seen = device.closed_loop(64, count, |_| unit(Op::Write, random.below(count)));
    let wear = device.report().wear.expect("it wears");
    let copies = wear.cleaned as f64 / wear.host as f64;
    // This is the work per unit written: programs of the unit and of copies, reads of copies, and erases of
    // blocks of 256 pages.
    let each = (1.0 + copies) * 500e-6 + copies * 50e-6 + (1.0 + copies) / 256.0 * 3e-3;
    (device, seen.per_second(), 4.0 / each)
}
