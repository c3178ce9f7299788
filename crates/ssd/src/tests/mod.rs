//! Tests of the drive.

mod contract;
mod scheduling;

use crate::workbench::workbench;
use nacre_kernel::event::Device;
use nacre_kernel::{Activity, ComponentReport, Op, Random, Request, Streams, Time};
use nacre_testkit::oracle::{Load, Visit};
use nacre_testkit::visits;

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
    workbench(1).build_events(&text(settings)).unwrap_or_else(|problems| panic!("{problems}"))
}

pub(super) fn random(name: &str) -> Random {
    Streams::new(5).stream(name)
}

/// A request of one unit of 4 KiB.
pub(super) fn unit(op: Op, number: u64) -> Request {
    Request { arrival: Time::ZERO, address: number * 4096, bytes: 4096, volume: 0, op }
}

/// Requests of one unit on `device`, so many outstanding at a time.
pub(super) fn closed_loop(
    device: &mut dyn Device,
    depth: usize,
    count: u64,
    request: impl FnMut(u64) -> Request,
) -> Vec<Visit> {
    let requests: Vec<Request> = (0..count).map(request).collect();
    visits(device, &requests, Load::Closed { clients: depth })
}
