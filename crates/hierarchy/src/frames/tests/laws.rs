//! Tests that compare the disk caches in DRAM and in phase-change memory with closed forms.

use super::{BCH, build, dram, pcm};
use nacre_kernel::event::Payload;
use nacre_kernel::{Activity, Op, Request, Status, Streams, Time};
use nacre_testkit::Host;
use nacre_testkit::assert_close;

const STORE: &str =
    "kind = \"measured\"\nread = \"100 us\"\nwrite = \"200 us\"\nparallelism = 64\ncapacity = \"3 MiB\"\n";
const POWERS: &str = "active_power = \"900 mW\"\nidle_power = \"80 mW\"\npower_down_power = \"20 mW\"\nchip = \"1 MiB\"\nrank = 1";

fn host(cache: &str) -> Host {
    Host::new(build(cache, STORE, false))
}

fn page(op: Op, page: u64) -> Request {
    Request { arrival: Time::ZERO, address: page * 2048, bytes: 2048, volume: 0, op }
}

fn half(of: u64) -> Request {
    Request { bytes: 1024, ..page(Op::Write, of) }
}

#[test]
fn hits_are_those_of_a_plain_lru() {
    let mut cache = host(&dram(""));
    let mut random = Streams::new(5).stream("pages");
    let (mut plain, mut now, mut hits) = (Vec::new(), Time::ZERO, 0);
    for _ in 0..5_000 {
        let key = random.below(10) * random.below(12);
        let op = if random.chance(0.3) { Op::Write } else { Op::Read };
        now = cache.ask(now + Time::from_ms(5), page(op, key), Payload::NONE).0;
        if let Some(place) = plain.iter().position(|&known| known == key) {
            plain.remove(place);
            hits += 1;
        } else if plain.len() == 32 {
            plain.pop();
        }
        plain.insert(0, key);
    }
    assert_eq!(cache.count("read_hits") + cache.count("write_hits"), hits);
    assert_eq!(cache.count("read_misses") + cache.count("write_misses"), 5_000 - hits);
}

/// Tests the energy of each power state. The cache uses 1/16 of a chip and serves one read per millisecond.
/// After each read, the chip is active for 55 + 512 ns, idle for 1 us, and then in power-down.
#[test]
fn energy_is_the_power_of_each_state_by_its_time() {
    let mut cache = host(&dram(POWERS));
    cache.ask(Time::ZERO, page(Op::Read, 0), Payload::NONE);
    cache.rest();
    cache.device.restart_ledger(cache.now);
    let reads = 1_000;
    for read in 1..=reads {
        cache.ask(Time::from_ms(10 + read), page(Op::Read, 0), Payload::NONE);
    }
    let report = cache.device.report(Time::from_ms(reads));
    let (chips, transfer) = (1.0 / 16.0, 512e-9);
    let working = reads as f64 * transfer;
    assert_close("reading", report.energy(Activity::Read).0, (0.9 - 0.08) * chips * working, 1e-6);
    let awake = reads as f64 * (1e-6 + transfer);
    let expected = (0.08 * awake + 0.02 * (1.0 - awake)) * chips;
    assert_close("resting", report.idle_energy.expect("the power is given").0, expected, 0.02);
}

/// Tests that the chip is in power-down during every idle period, except for its first 1 us. Each millisecond
/// has ten DRAM accesses and therefore ten idle periods: nine reads at intervals of 10 us, and a write of a
/// page that the backing returns after 100 us.
#[test]
fn every_rest_is_powered_down() {
    let mut cache = host(&dram(POWERS));
    cache.ask(Time::ZERO, page(Op::Read, 0), Payload::NONE);
    cache.rest();
    cache.device.restart_ledger(cache.now);
    let rounds = 1_000;
    for round in 1..=rounds {
        cache.submit(Time::from_ms(round), page(Op::Read, round));
        for read in 1..10 {
            cache.submit(Time::from_ms(round) + Time::from_us(10 * read), page(Op::Read, 0));
        }
    }
    cache.rest();
    let report = cache.device.report(Time::from_ms(rounds));
    let (chips, transfer) = (1.0 / 16.0, 512e-9);
    let working = 10.0 * rounds as f64 * transfer;
    assert_close("working", report.resources[0].ledger.total_busy_s(), working, 1e-9);
    let awake = working + 10.0 * rounds as f64 * 1e-6;
    let expected = (0.08 * awake + 0.02 * (1.0 - awake)) * chips;
    assert_close("resting", report.idle_energy.expect("the power is given").0, expected, 0.005);
}

/// A hit takes the time of a lookup, a read, and decoding. A write takes the time of a lookup and a memory
/// write. With a code, a write of half a page takes the time of an additional read and decoding.
#[test]
fn times_are_those_of_the_memory() {
    for (ecc, decoded, rest) in [(BCH, 20, 125 + 20), ("{ kind = \"none\" }", 0, 0)] {
        let mut cache = host(&pcm("", ecc));
        cache.latency(Time::ZERO, page(Op::Read, 3));
        assert_eq!(cache.latency(Time::from_ms(10), page(Op::Read, 3)), Time::from_ns(125 + 125 + decoded));
        assert_eq!(cache.latency(Time::from_ms(20), page(Op::Write, 3)), Time::from_ns(125 + 50_000));
        assert_eq!(cache.latency(Time::from_ms(30), half(3)), Time::from_ns(125 + rest + 50_000), "{ecc}");
    }
}

/// A page that is being encoded occupies no bank, so a read that arrives meanwhile is served before the
/// write.
#[test]
fn a_page_is_encoded_before_it_needs_its_bank() {
    let code = "{ kind = \"bch\", t = 2, crc32 = true, decode = \"10 ns\", encode = \"40 us\" }";
    let mut cache = host(&pcm("banks = 1\nlookup = \"0 s\"", code));
    let filled = cache.latency(Time::ZERO, page(Op::Read, 3));
    cache.latency(Time::from_ms(10) + filled, page(Op::Read, 4));
    let now = Time::from_ms(20);
    let write = cache.submit(now, page(Op::Write, 3));
    let read = cache.submit(now + Time::from_ns(39_900), page(Op::Read, 4));
    assert_eq!(cache.wait(read).latency, Time::from_ns(125 + 20));
    assert_eq!(cache.wait(write).latency, Time::from_ns(39_900 + 125 + 50_000));
    assert_eq!(cache.latency(Time::from_ms(30), page(Op::Write, 3)), Time::from_ns(40_000 + 50_000));
}

/// The first read returns the data of a fetched page when the page arrives. A second read of the page waits
/// for the arrival, and then reads the memory.
#[test]
fn a_read_of_a_page_on_its_way_waits_for_it() {
    let mut cache = host(&dram(""));
    let first = cache.submit(Time::ZERO, page(Op::Read, 3));
    let second = cache.submit(Time::from_us(40), page(Op::Read, 3));
    assert_eq!(cache.wait(first).at, Time::from_us(100));
    // The read follows the page on the channel.
    assert_eq!(cache.wait(second).at, Time::from_us(100) + Time::from_ns(2 * 512 + 55));
    assert_eq!((cache.count("read_misses"), cache.count("read_merged")), (1, 1));
}

/// A flush writes all dirty pages back in parallel, and then flushes the backing.
#[test]
fn a_flush_waits_for_dirty_pages() {
    let mut cache = host(&dram("dirty_limit = \"100 %\""));
    for key in 0..8 {
        cache.latency(Time::from_us(key), page(Op::Write, key));
    }
    let flush = Request { op: Op::Flush, bytes: 0, address: 0, ..page(Op::Flush, 0) };
    // The eighth page is read after the others.
    assert_eq!(cache.latency(Time::from_ms(1), flush), Time::from_us(200) + Time::from_ns(8 * 512 + 55));
    assert_eq!(cache.count("written_back"), 8);
    assert_eq!(cache.latency(Time::from_ms(2), flush), Time::ZERO, "nothing is dirty");
}

const WEAK: &str = "endurance = 20\nbit_error_rate = 0.00005";
const ONE_BIT: &str = "{ kind = \"bch\", t = 1 }";

/// If a dirty page is unreadable, a write of half of the page fails, because the other half is lost.
#[test]
fn half_a_page_cannot_be_written_if_the_rest_is_unreadable() {
    let mut unreadable = 0;
    for writes in 1..200 {
        let ask = |last: Request| {
            let mut cache = host(&pcm(WEAK, ONE_BIT));
            let mut now = Time::ZERO;
            for number in 0..writes {
                now = cache.ask(now, page(Op::Write, (number * 3) % 4), Payload::NONE).0;
            }
            now = cache.ask(now, page(Op::Write, 0), Payload::NONE).0;
            let lost = cache.count("lost_pages");
            let status = cache.ask(now, last, Payload::NONE).1;
            (status, cache.count("lost_pages") - lost)
        };
        let read = ask(page(Op::Read, 0));
        assert_eq!(ask(half(0)), read, "{writes} writes");
        unreadable += read.1;
    }
    assert!(unreadable > 20, "{unreadable}");
}

/// No read returns a page with more bit errors than its code corrects. The cells are weak. A code for one
/// bit decodes half of the pages with two bit errors to another codeword, and the code `none` detects no
/// errors. Clean pages are fetched again, and dirty pages are lost and reported.
#[test]
fn a_page_beyond_its_code_is_never_returned() {
    let slow = STORE.replace("200 us", "20 ms");
    for (ecc, store) in [(ONE_BIT, STORE), ("{ kind = \"none\" }", STORE), (ONE_BIT, &slow)] {
        let mut cache = Host::new(build(&pcm(WEAK, ecc), store, true));
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
            assert!(bytes.iter().all(|&byte| byte == written[key as usize]), "page {key} of read {number}");
        }
        cache.check();
        let (uncorrectable, lost) = (cache.count("uncorrectable"), cache.count("lost_pages"));
        assert!(uncorrectable > lost && lost > 10 && errors >= lost / 2, "{uncorrectable} {lost} {errors}");
    }
}

/// Without wear leveling, repeated writes to a page wear one frame. With wear leveling, these writes wear all
/// frames evenly, because one frame moves per `interval` writes.
#[test]
fn wear_is_level_if_frames_move() {
    let spread = |leveling: &str| {
        let options = format!(
            "bit_error_rate = 0\nread_energy = \"1 nJ\"\nwrite_energy = \"10 nJ\"\nwear_leveling = {leveling}"
        );
        let mut cache = host(&pcm(&options, "{ kind = \"none\" }"));
        let mut now = Time::ZERO;
        for number in 0..20_000 {
            let key = if number % 4 == 0 { number / 4 % 32 } else { 7 };
            now = cache.ask(now, page(Op::Write, key), Payload::NONE).0;
        }
        cache.check();
        let report = cache.device.report(now);
        let wear = report.wear.clone().expect("it wears");
        let energy = report.energy(Activity::LevelWear).0;
        (wear.row_programs.expect("rows are counted"), wear.host, wear.leveled, energy)
    };
    let (alone, host, moves, energy) = spread("\"none\"");
    assert_eq!((u64::from(alone.max), moves, energy), (15_000 + 157, 0, 0.0), "{alone:?}");
    let (level, _, moves, energy) = spread("{ kind = \"start_gap\", interval = 10 }");
    assert_eq!(moves, host / 10);
    assert!((energy - 11e-9 * moves as f64).abs() < 1e-12, "{energy} J");
    assert!(f64::from(level.max) < 2.0 * level.mean, "{level:?}");
}
