//! Tests of properties that every flash disk cache has.

use super::{BCH, build, device, request, settings, submit};
use crate::workbench::MODELS;
use nacre_kernel::{Op, Streams, Time};
use nacre_testkit::{Workbench, keeps_its_bytes};
use nacre_testkit::{conformance, durability};

/// Settings with one or two regions, SLC and MLC mode, several policies of the controller, and several codes.
/// The wear is so high that bit errors are frequent.
const KINDS: [(&str, &str); 6] = [
    ("blocks = 64\nslots = 4", BCH),
    ("blocks = 16\nslots = 8\nwrite_region = \"0 %\"\ndies = 1", BCH),
    ("blocks = 40\nslots = 4\ndensity = \"slc\"\nlookup = \"1 us\"", "kind = \"crc32\""),
    ("blocks = 40\nslots = 4\nwrite_region = \"25 %\"\npromotes_at = 2\nwear_gap = 1", BCH),
    (
        "blocks = 40\nslots = 4\nwrite_region = \"25 %\"\nmlc_endurance = 40\nslc_endurance = 400\nwear_gap = 2\n\
      strength_weight = 0\npromotes_at = 3",
        BCH,
    ),
    (
        "blocks = 40\nslots = 4\nwrite_region = \"25 %\"\nraises_strength = false\nlowers_density = false\n\
      promotes = false",
        "kind = \"bch\"\nt = 4\ncheck = \"2 us\"",
    ),
];

/// Adds the setting that disables stronger codes if the strength of `ecc` is not adjustable.
fn adapted(options: &str, ecc: &str) -> String {
    let fixed = if ecc.contains("crc32\"") { "\nraises_strength = false" } else { "" };
    format!("{options}{fixed}")
}

/// Checks the device contract for all `KINDS` of settings. Requests arrive at intervals of `pause`.
fn keeps_the_contract(pause: Time) {
    for (options, ecc) in KINDS {
        let toml = settings(&adapted(options, ecc), ecc);
        for carries_bytes in [false, true] {
            conformance(pause, || device(&toml, carries_bytes));
        }
    }
}

#[test]
fn it_keeps_the_contract_under_load() {
    keeps_the_contract(Time::from_us(20));
}

#[test]
fn it_keeps_the_contract_with_idle_time() {
    keeps_the_contract(Time::from_ms(3));
}

#[test]
fn acknowledged_data_survives() {
    for (options, ecc) in KINDS {
        let options = options.replace("mlc_endurance = 40\nslc_endurance = 400\n", "");
        let toml = settings(&adapted(&options, ecc), ecc);
        for pause in [Time::from_us(40), Time::from_ms(1)] {
            durability(pause, || device(&toml, true));
        }
    }
}

/// With low wear, no page has more bit errors than its code corrects, and the cache keeps all data across
/// restarts and power losses.
#[test]
fn it_keeps_its_bytes_while_pages_move() {
    for (options, ecc) in KINDS {
        let options = options.replace("mlc_endurance = 40\nslc_endurance = 400\n", "");
        let toml = settings(&adapted(&options, ecc), ecc);
        let crashes = keeps_its_bytes(Workbench::new(MODELS, 1), &toml, 300);
        assert!(crashes.points() > 250 && crashes.restarts > 4, "{crashes:?}");
        assert!(
            crashes.branches["power_lost_while_recovering"] > 1 && crashes.branches["stale_blocks"] > 1,
            "{crashes:?}"
        );
    }
}

/// With one page per block and only reads, the cache has the same hits as an LRU cache of pages. The capacity
/// of this LRU cache is the number of blocks minus the number of free blocks, which equals the maximum number
/// of open blocks.
#[test]
fn with_one_page_in_a_block_reads_hit_as_in_a_plain_lru() {
    for (dies, kept) in [(1, 33), (4, 30), (16, 30)] {
        let options = format!(
            "blocks = 34\nslots = 1\ndensity = \"slc\"\nwrite_region = \"0 %\"\nbit_error_rate = 0\n\
             raises_strength = false\nlowers_density = false\npromotes = false\ndies = {dies}"
        );
        let mut device = build(&options, "kind = \"none\"");
        let mut random = Streams::new(5).stream("pages");
        let mut plain: Vec<u64> = Vec::new();
        let (mut now, mut hits) = (Time::ZERO, 0);
        for _ in 0..5_000 {
            let page = random.below(10) * random.below(12);
            now = submit(&mut device, now + Time::from_ms(5), Op::Read, page * 2048, 2048).0;
            if let Some(place) = plain.iter().position(|&known| known == page) {
                plain.remove(place);
                hits += 1;
            } else if plain.len() == kept {
                plain.pop();
            }
            plain.insert(0, page);
        }
        assert_eq!(device.count("read_hits"), hits);
        assert_eq!(device.count("read_misses"), 5_000 - hits);
    }
}

/// Simultaneous writes of non-adjacent pages are programmed by all dies in parallel.
#[test]
fn writes_are_programmed_on_all_dies() {
    for (dies, blocks, side_by_side) in [(1, 64, 1), (4, 64, 4), (8, 64, 8)] {
        let options = format!(
            "blocks = {blocks}\nslots = 4\ndensity = \"slc\"\nwrite_region = \"0 %\"\nbit_error_rate = 0\n\
             raises_strength = false\nlowers_density = false\npromotes = false\ndies = {dies}"
        );
        let mut device = build(&options, "kind = \"none\"\n");
        let writes: Vec<usize> = (0..24)
            .map(|page| device.submit(Time::ZERO, request(Op::Write, page * (128 << 10), 2048)))
            .collect();
        let last = writes.into_iter().map(|number| device.wait(number).at).fold(Time::ZERO, Time::max);
        assert_eq!(last, Time::from_us(250 * 24 / side_by_side), "{dies} dies and {blocks} blocks");
    }
}

/// A read from an idle cache takes the time of the cells plus the time of the decoder, in both modes.
#[test]
fn a_hit_takes_the_read_and_the_decoder() {
    for (density, t, time) in [("slc", 2, 25 + 30), ("mlc", 2, 50 + 30), ("slc", 4, 25 + 60)] {
        let options = format!("blocks = 64\nslots = 4\ndensity = \"{density}\"\nbit_error_rate = 0");
        let mut device = build(&options, &format!("kind = \"bch\"\nt = {t}"));
        let miss = device.submit(Time::ZERO, request(Op::Read, 0, 2048));
        let merged = device.submit(Time::from_us(1), request(Op::Read, 0, 2048));
        assert_eq!(device.wait(miss).at, Time::from_ms(1));
        assert_eq!(device.wait(merged).at, Time::from_ms(1), "it is on its way");
        let later = Time::from_ms(20);
        let hit = submit(&mut device, later, Op::Read, 0, 2048).0 - later;
        assert_eq!(hit, Time::from_us(time), "{density}, t = {t}");
    }
}

/// The counters of programs and erases agree with the wear of the blocks, and every program has exactly one
/// cause.
#[test]
fn programs_have_causes() {
    let mut leveled = 0;
    for (options, ecc) in KINDS {
        let mut device = build(&adapted(options, ecc), ecc);
        let mut random = Streams::new(9).stream("pages");
        let mut now = Time::ZERO;
        for _ in 0..4_000 {
            let op = if random.chance(0.5) { Op::Read } else { Op::Write };
            now = submit(&mut device, now, op, random.below(700) * 2048, 2048).0;
        }
        device.check();
        let report = device.device.report(now);
        let wear = report.wear.expect("it wears");
        let names = ["host", "fill", "collected", "promoted", "leveled", "journal"];
        let causes = names.map(|name| device.count(&format!("{name}_programs")));
        assert_eq!(wear.programs(), causes.iter().sum::<u64>());
        assert_eq!(causes[5], wear.erases, "each erase follows a page of the journal");
        assert_eq!(wear.erases, device.count("erases"));
        let blocks: u64 = wear.block_erases.iter().map(|&erases| u64::from(erases)).sum();
        assert_eq!(blocks, wear.erases);
        assert_eq!(device.count("fills"), causes[1]);
        assert!(causes[0] > 0 && wear.erases > 10, "{causes:?}");
        leveled += causes[4];
    }
    assert!(leveled > 0, "blocks that change places are erased, too");
}
