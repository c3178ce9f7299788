//! Tests of extents placed on tiers of devices.

use crate::workbench::{self, MODELS};
use nacre_kernel::event::Device;
use nacre_kernel::{Op, Request, Time};
use nacre_testkit::Workbench;
use nacre_testkit::{conformance, durability};

mod laws;
mod oracle;
mod refusals;
mod scripted;
mod settings;

fn request(op: Op, address: u64, bytes: u32) -> Request {
    Request { arrival: Time::ZERO, address, bytes, volume: 0, op }
}

fn build(toml: &str, carries_bytes: bool) -> Box<dyn Device> {
    let bench = Workbench::new(MODELS, 1);
    let bench = if carries_bytes { bench.with_bytes() } else { bench };
    workbench::build(toml, bench).unwrap_or_else(|problems| panic!("{toml}: {problems}"))
}

fn stack(settings: &str, placement: &str, tiers: &[&str]) -> String {
    let tiers: Vec<String> =
        tiers.iter().map(|device| format!("[[stack.tier]]\ndevice = {{ {device} }}\n")).collect();
    format!("[stack]\nkind = \"tiers\"\n{settings}\nplacement = {placement}\n{}", tiers.concat())
}

const FAST: &str = "kind = \"measured\", read = \"5 us\", write = \"10 us\", capacity = \"256 KiB\"";
const SLOW: &str =
    "kind = \"measured\", read = \"50 us\", write = \"90 us\", parallelism = 3, capacity = \"768 KiB\"";
const DISK: &str = "kind = \"hdd\", capacity = \"3 MiB\", rotation = \"15000 /min\", heads = 1, \
    track_to_track_seek = \"0.2 ms\", average_seek = \"3.4 ms\", full_stroke_seek = \"6.6 ms\", \
    outer_rate = \"200 MB/s\", inner_rate = \"120 MB/s\", write_cache = \"64 KiB\"";

/// Placement settings with which tiers exchange extents continuously.
const RESTLESS: &str =
    "{ kind = \"dynamic\", epoch = \"500 us\", least_saving = \"0 s\", hysteresis = \"0 %\" }";
const SMALL: &str = "extent = \"64 KiB\"\nchunk = \"8 KiB\"\nmigration_bandwidth = \"1 GB/s\"";

#[test]
fn every_placement_keeps_the_contract() {
    let slowly = "extent = \"64 KiB\"\nchunk = \"16 KiB\"";
    for (settings, placement) in [
        (slowly, "\"fixed\""),
        (slowly, "{ kind = \"fixed\", layout = \"in_order\" }"),
        (slowly, "{ kind = \"dynamic\", epoch = \"3 ms\", least_saving = \"1 us\" }"),
        (SMALL, RESTLESS),
        ("extent = \"4 KiB\"\nmigration_bandwidth = \"1 GB/s\"", RESTLESS),
    ] {
        for pause in [Time::from_us(5), Time::from_us(150)] {
            for carries_bytes in [false, true] {
                conformance(pause, || build(&stack(settings, placement, &[FAST, SLOW]), carries_bytes));
            }
        }
    }
    conformance(Time::from_ms(2), || build(&stack(SMALL, RESTLESS, &[FAST, DISK]), true));
}

#[test]
fn flushed_data_survives_while_extents_move() {
    for tiers in [[FAST, SLOW], [FAST, DISK]] {
        for pause in [Time::from_us(40), Time::from_ms(1)] {
            durability(pause, || build(&stack(SMALL, RESTLESS, &tiers), true));
        }
    }
}
