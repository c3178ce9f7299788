//! Tests of write-back: conservation of blocks, closed forms, and rejected settings.

use super::{Host, blocks, counter, pcm_cache, us};
use crate::workbench::{self, MODELS};
use nacre_kernel::{Activity, Op, Request, Streams, Time};
use nacre_testkit::{Workbench, assert_close};

const FLUSH: Request = Request { arrival: Time::ZERO, address: 0, bytes: 0, volume: 0, op: Op::Flush };
/// Settings without background write-back.
const NO_CLEANING: &str = "write_back = { dirty = \"100 %\", clean_above = \"100 %\" }";

/// A cache of one level that reads in 5 us and writes in 10 us. Its backing reads in 300 us and writes in 500
/// us.
fn plain_cache(blocks: u64, settings: &str) -> Host {
    let toml = format!(
        "[stack]\nkind = \"server_cache\"\n{settings}\n[[stack.level]]\n[stack.level.device]\n\
         kind = \"measured\"\nread = \"5 us\"\nwrite = \"10 us\"\nparallelism = 64\ncapacity = \"{} KiB\"\n\
         [stack.backing]\nkind = \"measured\"\nread = \"300 us\"\nwrite = \"500 us\"\nparallelism = 64\n\
         unit = \"1 MiB\"\nread_energy = \"1 uJ\"\nwrite_energy = \"3 uJ\"",
        blocks * 4
    );
    crate::workbench::host(&toml)
}

#[test]
fn every_block_that_became_dirty_is_written_back_or_still_dirty() {
    for settings in [
        "write_back = {}",
        "write_back = { dirty = \"30 %\", clean_above = \"5 %\", batch = 3 }",
        "write_back = { table = \"persistent\" }\nfill = \"foreground\"",
        NO_CLEANING,
    ] {
        let (mut cache, mut random) = (plain_cache(60, settings), Streams::new(3).stream(settings));
        let mut now = Time::ZERO;
        for number in 0..4000 {
            now += Time::from_us(random.below(60));
            let op = [Op::Read, Op::Write, Op::Write, Op::Trim][random.below(4) as usize];
            let request = blocks(op, random.below(150), 1 + random.below(3));
            cache.submit(now, if number % 500 == 499 { FLUSH } else { request });
            if number == 2000 {
                cache.device.restart_ledger(now);
            }
            if number % 50 == 0 {
                // The invariants are checked at every event.
                cache.check();
            }
        }
        cache.submit(now, FLUSH);
        cache.rest();
        cache.check();
        let [all, cleaned, flushed, evicted] =
            ["write_backs", "cleaned", "flushed", "dirty_evictions"].map(|name| cache.count(name));
        assert_eq!(all, cleaned + flushed + evicted, "{settings}");
        assert!(evicted > 0 || settings != NO_CLEANING, "{settings}: the test is too small");
        assert_eq!(cleaned > 0, settings != NO_CLEANING, "{settings}");
    }
}

#[test]
fn the_backing_sees_each_dirty_block_once_per_flush() {
    let (mut cache, mut now) = (plain_cache(1000, NO_CLEANING), Time::ZERO);
    let mut written_back = 0;
    for round in 1..=4 {
        let dirty = 30 * round;
        for number in 0..5 * dirty {
            now += cache.latency(now, blocks(Op::Write, 7 * (number % dirty), 1));
        }
        let flush = cache.latency(now, FLUSH);
        // All blocks are read in parallel. After their reads, 64 blocks at a time are written.
        assert_eq!(flush, Time::from_us(5 + 500 * dirty.div_ceil(64)), "{dirty} blocks");
        now += flush;
        written_back += dirty;
        let names = ["write_backs", "flushed", "dirtied", "backing_writes"];
        assert_eq!(names.map(|name| cache.count(name)), [written_back; 4]);
        assert_eq!(cache.count("overwritten"), 4 * written_back);
        assert_eq!(cache.latency(now, FLUSH), Time::ZERO, "all is clean");
    }
    let report = cache.report();
    let backing = &report.children[1];
    assert_eq!(counter(backing, "bytes_written"), 4096 * written_back);
    assert_close("energy", backing.energy(Activity::Write).0, 3e-6 * written_back as f64, 1e-9);
}

#[test]
fn neighbors_are_written_back_with_one_request() {
    let mut cache = plain_cache(1000, NO_CLEANING);
    for first in [40, 8, 24, 16, 0, 32, 100] {
        cache.submit(Time::ZERO, blocks(Op::Write, first, 8));
    }
    cache.latency(Time::from_ms(1), FLUSH);
    assert_eq!(["write_backs", "write_back_requests"].map(|name| cache.count(name)), [56, 2]);
}

#[test]
fn a_full_cache_of_dirty_blocks_takes_a_write_in_one_read_one_write_back_and_one_write() {
    let (full, mut now) = (300, Time::ZERO);
    let mut cache = pcm_cache(full, NO_CLEANING);
    for block in 0..4 * full {
        let latency = cache.latency(now, blocks(Op::Write, block, 1));
        let evicts = if block < full { 0 } else { 6_700 + 133_000 };
        assert_eq!(latency, Time::from_ns(128_300 + evicts), "block {block}");
        now += latency;
    }
    assert_eq!(cache.count("dirty_evictions"), 3 * full);
}

/// The rate of writes is X, and a share p of them completes in the cache. Each of these writes is later
/// written back, b blocks together in the time r + n, so p X = b / (r + n). With one request at a time, 1 /
/// X = p w + (1 - p) n, so 1 / X = n / (1 + (n - w) b / (r + n)). Here, r and w are the read and write
/// latencies of the level, and n is the write latency of the backing.
#[test]
fn cleaning_in_the_background_gives_the_throughput_of_its_closed_form() {
    for batch in [1, 4, 16] {
        let share = "dirty = \"20 %\", clean_above = \"10 %\"";
        let mut cache = plain_cache(4000, &format!("write_back = {{ {share}, batch = {batch} }}"));
        let (mut now, mut since) = (Time::ZERO, Time::ZERO);
        for number in 0..20_000_u64 {
            // The blocks are never adjacent.
            now += cache.latency(now, blocks(Op::Write, 2 * number, 1));
            if number == 10_000 - 1 {
                since = now;
            }
        }
        let (w, r, n) = (10.0, 5.0, 500.0);
        let law = n / (1.0 + (n - w) * f64::from(batch) / (r + n));
        assert_close("us per write", (now - since).as_secs_f64() * 1e6 / 10_000.0, law.max(w), 0.02);
    }
}

/// A cache of eight blocks of 4 KiB that reads in 50 us and writes in 10 us. Its backing writes in 500 us.
fn slow_to_read(settings: &str) -> Host {
    crate::workbench::host(&format!(
        "[stack]\nkind = \"server_cache\"\n{settings}\n[[stack.level]]\n[stack.level.device]\n\
         kind = \"measured\"\nread = \"50 us\"\nwrite = \"10 us\"\nparallelism = 64\ncapacity = \"32 KiB\"\n\
         [stack.backing]\nkind = \"measured\"\nread = \"300 us\"\nwrite = \"500 us\"\nparallelism = 64\n"
    ))
}

#[test]
fn a_write_to_a_copy_waits_until_the_copy_is_read_to_be_written_back() {
    let mut cache = slow_to_read("write_back = { clean_above = \"0 %\" }");
    assert_eq!(cache.latency(Time::ZERO, blocks(Op::Write, 3, 1)), us(10));
    // The copy is read from 10 to 60 us.
    let part = Request { bytes: 512, ..blocks(Op::Write, 3, 1) };
    assert_eq!(cache.latency(us(20), part), us(40 + 10));
    assert_eq!(cache.latency(us(80), blocks(Op::Write, 3, 1)), us(10), "written back, and not read");
    let mut cache = slow_to_read("write_back = { clean_above = \"0 %\" }");
    cache.latency(Time::ZERO, blocks(Op::Write, 3, 1));
    assert_eq!(cache.latency(us(20), blocks(Op::Write, 4, 1)), us(10), "another block waits for nothing");
}

#[test]
fn without_a_share_for_dirty_blocks_every_time_is_that_of_write_through() {
    let (mut through, mut back) =
        (pcm_cache(50, ""), pcm_cache(50, "write_back = { dirty = \"0 %\", clean_above = \"0 %\" }"));
    let (mut random, mut now) = (Streams::new(8).stream("same"), Time::ZERO);
    for _ in 0..3000 {
        now += Time::from_us(random.below(400));
        let op = if random.chance(0.5) { Op::Read } else { Op::Write };
        let request = blocks(op, random.below(100), 1);
        through.submit(now, request);
        back.submit(now, request);
    }
    through.rest();
    back.rest();
    for (number, (one, other)) in through.done.iter().zip(&back.done).enumerate() {
        let latency = |of: &Option<nacre_testkit::host::Done>| of.as_ref().map(|of| of.latency);
        assert_eq!(latency(one), latency(other), "request {number}");
    }
    for name in ["read_hits", "write_hits", "evictions", "backing_writes", "backing_reads"] {
        assert_eq!(through.count(name), back.count(name), "{name}");
    }
    assert_eq!(back.count("dirtied"), 0);
}

#[test]
fn background_write_back_continues_between_requests() {
    let mut cache = plain_cache(100, "write_back = { clean_above = \"0 %\", batch = 1 }");
    for block in 0..10 {
        cache.submit(us(block), blocks(Op::Write, 2 * block, 1));
    }
    // The first block is dirty at 10 us, and each write-back takes 505 us.
    cache.run(us(2000));
    assert_eq!(cache.count("cleaned"), 3, "and one is under way");
    cache.run(Time::from_s(1));
    assert_eq!(cache.count("cleaned"), 10, "without a request that comes later");
}

#[test]
fn devices_with_weaker_guarantees_are_rejected() {
    let refused = |settings: &str, level: &str| {
        let toml = format!(
            "[stack]\nkind = \"server_cache\"\n{settings}\nbacking = {{ kind = \"network\", read = \"1 us\", \
             write = \"1 us\" }}\n{level}"
        );
        let problems = workbench::build(&toml, Workbench::new(MODELS, 1)).err().expect("it is refused").0;
        assert_eq!(problems.len(), 1, "{problems:?}");
        problems[0].to_string()
    };
    let level = "[[stack.level]]\ndevice = { kind = \"measured\", read = \"1 us\", write = \"1 us\", \
        capacity = \"1 MiB\" }\n";
    let problem = refused("write_back = { dirty = \"5 %\" }", level);
    assert!(problem.contains("cleaning would start above the dirty limit"), "{problem}");
    let problem = refused("write_back = { table = \"persistent\" }", &level.repeat(2));
    assert!(problem.contains("a persistent table is for one"), "{problem}");
    let disk = "[[stack.level]]\ndevice = { kind = \"hdd\", capacity = \"3 MiB\", rotation = \"15000 /min\", \
        heads = 1, track_to_track_seek = \"0.2 ms\", average_seek = \"3.4 ms\", full_stroke_seek = \"6.6 ms\", \
        outer_rate = \"200 MB/s\", inner_rate = \"120 MB/s\", write_cache = \"64 KiB\" }\n";
    let problem = refused("write_back = { table = \"persistent\" }", disk);
    assert!(problem.contains("keeps every write it acknowledges"), "{problem}");
}
