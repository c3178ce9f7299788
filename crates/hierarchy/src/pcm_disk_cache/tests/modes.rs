//! Tests of rows that switch to SLC mode, and of codes that become stronger.

use super::naive::Naive;
use super::toml;
use crate::workbench::MODELS;
use nacre_kernel::event::Payload;
use nacre_kernel::{Activity, Op, Request, Status, Streams, Time};
use nacre_testkit::{Host, Workbench, assert_close};

const NONE: &str = "ecc = \"none\"\nwear_leveling = \"none\"\nbit_error_rate = 0";
const ONE_BIT: &str = "ecc = { kind = \"bch\", t = 1, decode = \"10 ns\" }";

fn host(options: &str, carries_bytes: bool) -> Host {
    let bench = Workbench::new(MODELS, 1);
    let mut bench = if carries_bytes { bench.with_bytes() } else { bench };
    Host::new(bench.build(&toml(options)).unwrap_or_else(|problems| panic!("{options}: {problems}")))
}

fn page(op: Op, page: u64) -> Request {
    Request { arrival: Time::ZERO, address: page * 2048, bytes: 2048, volume: 0, op }
}

fn column(host: &Host, name: &str) -> f64 {
    let columns = host.report().columns;
    columns.iter().find(|column| column.name == name).expect("the column exists").values[0]
}

/// Times and energies in SLC and MLC mode equal their settings. When a row switches to SLC mode, the page is
/// read in MLC mode and written in SLC mode.
#[test]
fn times_and_energies_are_those_of_the_mode() {
    let controller = "controller = { promotes_at = 4, raises_strength = false, slc_read = \"60 ns\", \
        slc_write = \"14 us\", slc_read_energy = \"1 nJ\", slc_write_energy = \"4 nJ\" }";
    let energies = "read_energy = \"2 nJ\"\nwrite_energy = \"16 nJ\"\nlookup = \"0 s\"";
    let mut cache = host(&format!("{NONE}\n{energies}\n{controller}"), false);
    let now = |number: u64| Time::from_ms(10 * number);
    cache.latency(now(0), page(Op::Read, 3));
    for read in 1..=4 {
        assert_eq!(cache.latency(now(read), page(Op::Read, 3)), Time::from_ns(125), "read {read}");
    }
    assert_eq!((cache.count("pages_promoted"), column(&cache, "frames.withdrawn")), (1, 1.0));
    let report = cache.report();
    assert_close("reading", report.energy(Activity::Read).0, 4.0 * 2e-9, 1e-9);
    assert_close("writing", report.energy(Activity::Write).0, 16e-9, 1e-9);
    assert_close("switching", report.energy(Activity::Clean).0, 2e-9 + 4e-9, 1e-9);
    cache.rest();
    cache.device.restart_ledger(cache.now);
    for number in 5..10 {
        assert_eq!(cache.latency(now(2 * number), page(Op::Read, 3)), Time::from_ns(60));
        assert_eq!(cache.latency(now(2 * number + 1), page(Op::Write, 3)), Time::from_us(14));
    }
    let report = cache.report();
    assert_close("reading", report.energy(Activity::Read).0, 5.0 * 1e-9, 1e-9);
    assert_close("writing", report.energy(Activity::Write).0, 5.0 * 4e-9, 1e-9);
}

/// In MLC mode, 32 frames hold 32 pages. A page in SLC mode uses the cells of two frames, so the cache
/// holds one page less for each frequently used page.
#[test]
fn a_page_in_slc_mode_takes_the_cells_of_two() {
    for (hot, held) in [(0, 32), (1, 31), (5, 27), (15, 17)] {
        let mut cache =
            host(&format!("{NONE}\ncontroller = {{ promotes_at = 3, raises_strength = false }}"), false);
        let mut now = Time::ZERO;
        for _ in 0..5 {
            for key in 0..hot {
                now = cache.ask(now, page(Op::Read, key), Payload::NONE).0 + Time::from_ms(1);
            }
        }
        for key in 100..200 {
            for hot in (0..hot).chain([key]) {
                now = cache.ask(now, page(Op::Read, hot), Payload::NONE).0 + Time::from_ms(1);
            }
        }
        cache.check();
        assert_eq!(column(&cache, "pages.held"), f64::from(held), "{hot} pages are hot");
        assert_eq!(column(&cache, "frames.withdrawn"), hot as f64);
    }
}

/// Content, counts, and modes equal those of a naive model. A hit takes the read or write time of the mode of
/// its row.
#[test]
fn content_and_modes_equal_those_of_a_naive_model() {
    for (seed, promotes_at) in [(1, 2), (2, 3), (3, 5), (4, 20)] {
        let controller = format!("controller = {{ promotes_at = {promotes_at}, raises_strength = false }}");
        let mut cache = host(&format!("{NONE}\nlookup = \"0 s\"\n{controller}"), false);
        let mut naive = Naive::new(32, promotes_at);
        let mut random = Streams::new(seed).stream("pages");
        let mut now = Time::ZERO;
        for number in 0..6_000 {
            let key = random.below(9) * random.below(9);
            let is_write = random.chance(0.3);
            let mode = naive.mode_of(key);
            let expected = mode.map(|is_slc| match (is_write, is_slc) {
                (false, false) => Time::from_ns(125),
                (false, true) => Time::from_ps(62_500),
                (true, false) => Time::from_us(50),
                (true, true) => Time::from_ns(13_900),
            });
            let op = if is_write { Op::Write } else { Op::Read };
            let latency = cache.latency(now, page(op, key));
            assert!(expected.is_none_or(|time| time == latency), "request {number}: {latency}, {expected:?}");
            naive.ask(key, is_write);
            cache.rest();
            now = cache.now + Time::from_ms(1);
        }
        cache.check();
        for (&name, &count) in &naive.counts {
            assert_eq!(cache.count(name), count, "{name}, promoted at {promotes_at}");
        }
        assert_eq!(column(&cache, "frames.withdrawn"), naive.withdrawn() as f64);
        assert!(promotes_at == 20 || cache.count("pages_relocated") > 100, "pages move");
    }
}

/// Wears out a cache with random reads and writes, and checks that each read returns the last write or an
/// error. Returns the cache and the number of errors.
fn wear_down(options: &str) -> (Host, u64) {
    let mut cache = host(options, true);
    let mut random = Streams::new(4).stream("pages");
    let (mut now, mut written, mut errors) = (Time::ZERO, [0_u8; 40], 0);
    for number in 0..20_000_u64 {
        let key = random.below(40);
        if random.chance(0.3) {
            let bytes = vec![number as u8; 2048];
            now = cache.ask(now, page(Op::Write, key), bytes.into()).0;
            written[key as usize] = number as u8;
            continue;
        }
        let (at, status, data) = cache.ask(now, page(Op::Read, key), Payload::NONE);
        now = at;
        if status == Status::MediaError {
            errors += 1;
            continue;
        }
        let bytes = data.bytes().expect("a read returns bytes");
        assert!(
            bytes.iter().all(|&byte| byte == written[key as usize]),
            "page {key} of read {number}: {options}"
        );
    }
    cache.check();
    (cache, errors)
}

/// Reads return the last write or an error, and each remedy for worn cells reduces the number of unreadable
/// pages.
#[test]
fn worn_rows_change_their_mode_or_code() {
    let weak = "endurance = 300\nbit_error_rate = 0.0001\nendurance_spread = 0.3";
    let with = |controller: &str| {
        let (cache, errors) =
            wear_down(&format!("{weak}\n{ONE_BIT}\ncontroller = {{ promotes = false, {controller} }}"));
        (cache.count("uncorrectable"), cache.count("density_lowered"), cache.count("strength_raised"), errors)
    };
    let (fixed, lowered, raised, _) = with("lowers_density = false, raises_strength = false");
    assert_eq!((lowered, raised), (0, 0));
    let (sparser, lowered, raised, _) = with("raises_strength = false");
    assert!(lowered > 5 && raised == 0 && 2 * sparser < fixed, "{sparser} of {fixed}, {lowered} rows");
    let (stronger, lowered, raised, _) = with("lowers_density = false");
    assert!(raised > 5 && lowered == 0 && 2 * stronger < fixed, "{stronger} of {fixed}, {raised} raised");
}

/// Tests that no read returns corrupted data if rows are worn, frames move, and pages switch to SLC mode
/// because of hits. One of the tested codes detects no errors.
#[test]
fn worn_rows_return_no_wrong_data() {
    let weak =
        "endurance = 50\nbit_error_rate = 0.0001\nwear_leveling = { kind = \"start_gap\", interval = 3 }";
    for (code, controller) in [
        (ONE_BIT, "promotes_at = 3, strongest = 3"),
        ("ecc = \"none\"", "promotes_at = 3, raises_strength = false"),
        (ONE_BIT, "slc_endurance = 100, lowers_density = true, promotes_at = 9"),
    ] {
        let (cache, errors) = wear_down(&format!("{weak}\n{code}\ncontroller = {{ {controller} }}"));
        assert!(cache.count("uncorrectable") > 10 && errors > 0, "{controller}");
        assert!(cache.count("pages_promoted") + cache.count("density_lowered") > 10, "{controller}");
    }
}

/// Settings of the controller that contradict other settings are errors.
#[test]
fn settings_must_fit_together() {
    for (options, expected) in [
        ("controller = { slc_read_energy = \"1 nJ\" }", "read_energy, controller.slc_write_energy"),
        ("read_energy = \"1 nJ\"\nwrite_energy = \"1 nJ\"\ncontroller = {}", "controller.slc_read_energy"),
        (
            "page = \"1 KiB\"\ncontroller = {}\ncapacity = \"65 KiB\"",
            "65 pages do not fill rows of two pages",
        ),
    ] {
        let text = toml(&format!("{ONE_BIT}\n{options}"));
        let text =
            if options.contains("65") { text.replacen("capacity = \"64 KiB\"\n", "", 1) } else { text };
        let problems = Workbench::new(MODELS, 1).build(&text).err().expect(options).to_string();
        assert!(problems.contains(expected), "{options}: {problems}");
    }
}
