//! Tests common to the disk caches in DRAM and in phase-change memory.

use crate::workbench::MODELS;
use nacre_kernel::Time;
use nacre_kernel::event::Device;
use nacre_testkit::Workbench;
use nacre_testkit::{conformance, durability};

mod laws;
mod naive;
mod oracle;

const BCH: &str = "{ kind = \"bch\", t = 2, crc32 = true, decode = \"10 ns\" }";
const ENCODING: &str = "{ kind = \"bch\", t = 2, crc32 = true, decode = \"300 ns\", encode = \"40 us\" }";
/// Wear-leveling setting that moves frames often.
const MOVING: &str = "wear_leveling = { kind = \"start_gap\", interval = 2 }";

/// Controllers that switch rows often: `HOT` because of hits, and `WORN` because of worn cells.
const HOT: &str = "controller = { promotes_at = 2, raises_strength = false }";
const WORN: &str =
    "endurance = 20\nbit_error_rate = 0.00005\ncontroller = { promotes_at = 9, strongest = 4 }";

const STORE: &str =
    "kind = \"measured\"\nread = \"100 us\"\nwrite = \"200 us\"\nparallelism = 8\ncapacity = \"1 MiB\"\n";
const DISK: &str = "kind = \"hdd\"\ncapacity = \"3 MiB\"\nrotation = \"15000 /min\"\nheads = 1\n\
    track_to_track_seek = \"0.2 ms\"\naverage_seek = \"3.4 ms\"\nfull_stroke_seek = \"6.6 ms\"\n\
    outer_rate = \"200 MB/s\"\ninner_rate = \"120 MB/s\"\nwrite_cache = \"64 KiB\"\n";

fn dram(options: &str) -> String {
    format!("kind = \"dram_disk_cache\"\ncapacity = \"64 KiB\"\n{options}\n")
}

fn pcm(options: &str, ecc: &str) -> String {
    format!("kind = \"pcm_disk_cache\"\ncapacity = \"64 KiB\"\necc = {ecc}\n{options}\n")
}

fn build(cache: &str, backing: &str, carries_bytes: bool) -> Box<dyn Device> {
    let bench = Workbench::new(MODELS, 1);
    let mut bench = if carries_bytes { bench.with_bytes() } else { bench };
    let toml = format!("{cache}[device.backing]\n{backing}");
    bench.build(&toml).unwrap_or_else(|problems| panic!("{toml}: {problems}"))
}

/// Runs the conformance tests on a cache, idle and overloaded, with and without data.
fn check(cache: &str, backing: &str) {
    for pause in [Time::from_us(3), Time::from_us(300)] {
        for carries_bytes in [false, true] {
            conformance(pause, || build(cache, backing, carries_bytes));
        }
    }
}

#[test]
fn a_cache_in_dram_keeps_the_contract() {
    for options in
        ["", "page = \"4 KiB\"\ndirty_limit = \"0 %\"", "page = \"16 KiB\"\ndirty_limit = \"100 %\""]
    {
        check(&dram(options), STORE);
    }
    check(&dram(""), DISK);
}

#[test]
fn a_cache_in_phase_change_memory_keeps_the_contract() {
    for (options, ecc) in [
        ("", BCH),
        ("banks = 1\nlookup = \"0 s\"", "{ kind = \"crc32\" }"),
        ("endurance = 200", BCH),
        ("page = \"4 KiB\"", BCH),
        ("banks = 2", ENCODING),
        (MOVING, "{ kind = \"none\" }"),
        (HOT, "{ kind = \"none\" }"),
        (WORN, BCH),
        (&format!("{HOT}\n{MOVING}"), BCH),
    ] {
        check(&pcm(options, ecc), STORE);
    }
    check(&pcm("", BCH), DISK);
}

#[test]
fn caches_over_caches_keep_the_contract() {
    let below = pcm("", BCH).replace("64 KiB", "256 KiB");
    let toml = |cache: &str| format!("{cache}[device.backing]\n{below}[device.backing.backing]\n{STORE}");
    for pause in [Time::from_us(3), Time::from_us(300)] {
        conformance(pause, || Workbench::new(MODELS, 1).build(&toml(&dram(""))).expect("it is legal"));
    }
}

#[test]
fn a_cache_in_dram_keeps_flushed_data() {
    for options in
        ["", "page = \"1 KiB\"\ndirty_limit = \"0 %\"", "page = \"16 KiB\"\ndirty_limit = \"100 %\""]
    {
        for backing in [STORE, DISK] {
            for pause in [Time::from_us(40), Time::from_ms(1)] {
                durability(pause, || build(&dram(options), backing, true));
            }
        }
    }
}

#[test]
fn a_cache_in_phase_change_memory_keeps_acknowledged_data() {
    for (options, ecc) in [
        ("", BCH),
        ("page = \"1 KiB\"\nbanks = 1", "{ kind = \"none\" }"),
        ("banks = 1", ENCODING),
        ("page = \"4 KiB\"", BCH),
        ("wear_leveling = { kind = \"start_gap\", interval = 2 }\nendurance = 100000", BCH),
        (HOT, BCH),
        (&format!("{HOT}\n{MOVING}"), ENCODING),
    ] {
        for backing in [STORE, DISK] {
            for pause in [Time::from_us(40), Time::from_ms(1)] {
                durability(pause, || build(&pcm(options, ecc), backing, true));
            }
        }
    }
}
