//! Tests the conservation of pages in every disk cache: the report counts every page that enters or leaves.

use crate::workbench::MODELS;
use nacre_kernel::event::Payload;
use nacre_kernel::{ComponentReport, Op, Random, Request, Streams, Time};
use nacre_testkit::Host;
use nacre_testkit::Workbench;
use std::collections::BTreeMap;

const PAGE: u64 = 2048;

/// Counters of pages that enter the cache.
const CAME: [&str; 2] = ["fills", "write_allocations"];
const LEFT: [&str; 5] =
    ["pages_evicted", "pages_given_up", "pages_trimmed", "pages_superseded", "pages_power_failed"];

/// Counters of page reads.
const READ: [&str; 4] = ["read_hits", "read_misses", "read_merged", "read_lost"];

fn count(report: &ComponentReport, name: &str) -> u64 {
    report.counters.iter().find(|(known, _)| *known == name).map_or(0, |&(_, count)| count)
}

fn column(report: &ComponentReport, names: [&str; 2]) -> u64 {
    let column = report.columns.iter().find(|column| names.contains(&column.name));
    column.expect("the pages are there").values[0] as u64
}

/// Checks that the counters of each cache of a stack balance, and adds them to `seen`. If `asked` is given,
/// it is the number of pages that the host read, and must equal the number of page reads of the first
/// cache.
fn check(report: &ComponentReport, asked: &mut Option<u64>, seen: &mut BTreeMap<&'static str, u64>) {
    let kind = report.kind;
    if !kind.ends_with("disk_cache") {
        return;
    }
    let sum = |names: &[&str]| names.iter().map(|name| count(report, name)).sum::<u64>();
    let before = column(report, ["flash.pages_valid_before", "pages.held_before"]);
    let held = column(report, ["flash.pages_valid", "pages.held"]);
    // The flash cache counts evicted blocks, and a cache of frames counts evicted pages.
    let from_frames = if kind == "flash_disk_cache" { 0 } else { sum(&["evictions"]) };
    assert_eq!(
        before + sum(&CAME),
        held + sum(&LEFT) + from_frames,
        "pages of {kind}: {:?}",
        report.counters
    );
    let read = sum(&READ);
    // The number of requests to a lower cache equals the number of fetches of the cache above.
    if let Some(asked) = asked.take() {
        assert_eq!(read, asked, "pages read of {kind}: {:?}", report.counters);
    }
    for &(name, count) in &report.counters {
        *seen.entry(name).or_default() += count;
    }
    if kind == "flash_disk_cache" {
        // Some written pages were hits on arrival, but were evicted before there was space for them.
        let written = sum(&["write_misses"]);
        *seen.entry("overtaken").or_default() += count(report, "write_allocations").saturating_sub(written);
    }
    report.children.iter().for_each(|child| check(child, &mut None, seen));
}

fn draw<T: Copy, const N: usize>(random: &mut Random, of: [T; N]) -> T {
    of[random.below(N as u64) as usize]
}

/// Generates settings of a flash cache with a few blocks and a random endurance.
fn flash(random: &mut Random) -> String {
    let endurance = draw(random, [1, 3, 20, 10_000]);
    let (raises, lowers, promotes) = (random.chance(0.5), random.chance(0.5), random.chance(0.5));
    format!(
        "kind = \"flash_disk_cache\"\nblocks = {}\nslots = {}\nwrite_region = \"{} %\"\ndies = {}\n\
         collects_above = \"{} %\"\ndensity = \"{}\"\nmlc_endurance = {endurance}\nslc_endurance = {}\n\
         wear_gap = {}\nraises_strength = {raises}\nlowers_density = {lowers}\npromotes = {promotes}\n\
         promotes_at = {}\nstrongest = 4\ndecoders = {}\necc = {{ kind = \"bch\", t = 1, crc32 = true }}\n",
        draw(random, [16, 24, 40]),
        draw(random, [1, 2, 8]),
        draw(random, [0, 25, 50]),
        draw(random, [1, 4]),
        draw(random, [1, 10, 60]),
        draw(random, ["slc", "mlc"]),
        10 * endurance,
        draw(random, [1, 3, 256]),
        draw(random, [1, 4]),
        draw(random, [1, 3])
    )
}

fn pcm(random: &mut Random) -> String {
    let (capacity, endurance) = (draw(random, [64, 256]), draw(random, [50, 1_000_000]));
    let (raises, lowers, at) = (random.chance(0.5), random.chance(0.5), draw(random, [1, 3, 1_000]));
    let controller = format!(
        "controller = {{ raises_strength = {raises}, lowers_density = {lowers}, promotes_at = {at}, strongest = 3 }}\n"
    );
    let controller = if random.chance(0.5) { controller } else { String::new() };
    format!(
        "kind = \"pcm_disk_cache\"\ncapacity = \"{capacity} KiB\"\nendurance = {endurance}\n\
         ecc = {{ kind = \"bch\", t = 1, crc32 = true, decode = \"10 ns\" }}\n{controller}"
    )
}

fn dram(random: &mut Random) -> String {
    let dirty = draw(random, [0, 10, 100]);
    format!("kind = \"dram_disk_cache\"\ncapacity = \"64 KiB\"\ndirty_limit = \"{dirty} %\"\n")
}

/// Generates a stack of one or two caches over a store.
fn stack(random: &mut Random) -> String {
    let (flash, pcm, dram) = (flash(random), pcm(random), dram(random));
    let caches = match random.below(8) {
        0 => vec![pcm],
        1 => vec![dram],
        2 => vec![pcm, flash],
        3 => vec![dram, flash],
        _ => vec![flash],
    };
    let mut toml = String::new();
    let mut name = "device".to_string();
    for cache in caches {
        toml.push_str(&cache);
        name.push_str(".backing");
        toml.push_str(&format!("[{name}]\n"));
    }
    toml + "kind = \"measured\"\nread = \"100 us\"\nwrite = \"200 us\"\nparallelism = 64\ncapacity = \"3 MiB\"\n"
}

/// Generates a request for a few pages or a portion of a page, mostly among a few hundred pages.
fn request(random: &mut Random, now: Time) -> Request {
    let op = match random.below(40) {
        0 => Op::Trim,
        1 => Op::Flush,
        number if number < 18 => Op::Read,
        _ => Op::Write,
    };
    let (first, count) = (random.below(20) * random.below(20), draw(random, [1, 1, 1, 4]));
    let (skips, bytes) = if random.chance(0.1) { (512, 1024) } else { (0, count * PAGE) };
    let (address, bytes) = if op == Op::Flush { (0, 0) } else { (first * PAGE + skips, bytes) };
    Request { arrival: now, address, bytes: bytes as u32, volume: 0, op }
}

/// Checks that the page counters of all caches of a stack balance while the stack serves requests, after a
/// power loss, and after measurement restarts.
fn live(toml: &str, carries_bytes: bool, random: &mut Random, seen: &mut BTreeMap<&'static str, u64>) {
    let bench = Workbench::new(MODELS, 1);
    let mut bench = if carries_bytes { bench.with_bytes() } else { bench };
    let built = bench.build(toml).unwrap_or_else(|problems| panic!("{toml}\n{problems}"));
    let mut host = Host::new(built);
    let (mut now, mut asked) = (Time::ZERO, 0);
    for number in 1..=2_400 {
        let request = request(random, now);
        let is_write = request.op == Op::Write && carries_bytes;
        let data = if is_write { vec![7; request.bytes as usize].into() } else { Payload::NONE };
        if request.op == Op::Read {
            asked += request.blocks(PAGE).1;
        }
        let submitted = host.submit_with(now, request, data);
        // The next request sometimes arrives while this request is in progress.
        now = if random.chance(0.3) { now + Time::from_us(20) } else { host.wait(submitted).at };
        if number % 200 == 0 && number != 1_600 {
            host.rest();
            now = now.max(host.now);
            host.check();
            check(&host.device.report(now), &mut Some(asked), seen);
        }
        match number {
            800 => {
                host.device.restart_ledger(now);
                asked = 0;
            }
            1_600 => {
                host.run(now);
                host.device.power_fail(now, random);
                now = host.device.recover(now).done;
                host.check();
                // Reads in progress are not included.
                let report = host.device.report(now);
                asked = READ.iter().map(|name| count(&report, name)).sum();
            }
            _ => {}
        }
    }
}

#[test]
fn pages_held_are_those_that_came_in_less_those_that_left() {
    let mut random = Streams::new(16).stream("caches");
    let mut seen = BTreeMap::new();
    for number in 0..60 {
        let toml = stack(&mut random);
        live(&toml, number % 3 == 0, &mut random, &mut seen);
    }
    // The test covers each of these events more than once.
    let others = ["read_lost", "read_merged", "pages_promoted", "retired_blocks", "bypassed", "overtaken"];
    let moved = ["collected_programs", "leveled_programs", "promoted_programs"];
    for name in CAME.iter().chain(&LEFT).chain(&others).chain(&moved) {
        assert!(seen[name] > 10, "{name}: {seen:?}");
    }
}
