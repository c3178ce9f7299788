//! Tests of completion times.

use super::{Host, NETWORK, PCM, blocks, pcm_cache, us};
use nacre_kernel::{Activity, Op, Request, Time};

const PCM_READ: Time = Time::from_ps(6_700_000);

#[test]
fn a_miss_takes_the_network_and_a_hit_the_level() {
    let mut cache = pcm_cache(4, "");
    assert_eq!(cache.latency(us(0), blocks(Op::Read, 7, 1)), us(919));
    assert_eq!(cache.latency(us(2000), blocks(Op::Read, 7, 1)), PCM_READ);
    assert_eq!((cache.count("read_misses"), cache.count("read_hits")), (1, 1));
    assert_eq!(cache.count("fills"), 1);
    cache.check();
}

#[test]
fn simultaneous_reads_of_one_block_ask_the_backing_once() {
    let mut cache = pcm_cache(4, "");
    let numbers: Vec<usize> = (0..10).map(|_| cache.submit(us(50), blocks(Op::Read, 7, 1))).collect();
    let later = cache.submit(us(100), blocks(Op::Read, 7, 1));
    let when_it_arrives = cache.submit(us(969), blocks(Op::Read, 7, 1));
    for number in numbers {
        assert_eq!(cache.wait(number).latency, us(919));
    }
    assert_eq!(cache.wait(later).latency, us(869), "a later one waits for the rest");
    assert_eq!(cache.wait(later).spans.len(), 1, "it merges");
    assert_eq!(
        cache.wait(when_it_arrives).latency,
        Time::ZERO,
        "before the arrival is processed, it waits for it too"
    );
    assert_eq!((cache.count("read_misses"), cache.count("read_merged")), (1, 11));
    assert_eq!((cache.count("backing_reads"), cache.count("fills")), (1, 1));
    assert_eq!(cache.latency(us(970), blocks(Op::Read, 7, 1)), PCM_READ, "then it is there");
}

#[test]
fn a_later_fill_does_not_delay_an_earlier_hit() {
    let one_server = PCM.replace("parallelism = 512", "parallelism = 1");
    let toml = format!(
        "[stack]\nkind = \"server_cache\"\nlevel = [{{ device = {{ {}, capacity = \"64 KiB\" }} }}]\n\
         [stack.backing]\n{NETWORK}",
        one_server.trim().replace('\n', ", ")
    );
    let mut cache = crate::workbench::host(&toml);
    cache.latency(us(0), blocks(Op::Read, 1, 1));
    let miss = cache.submit(us(5000), blocks(Op::Read, 2, 1));
    // The device is scheduled to write block 2 from 5919 us to 6047.3 us.
    let hit = cache.submit(us(5010), blocks(Op::Read, 1, 1));
    let behind = cache.submit(us(5920), blocks(Op::Read, 1, 1));
    assert_eq!(cache.wait(miss).latency, us(919));
    assert_eq!(cache.wait(hit).latency, PCM_READ);
    let waited = Time::from_ps(128_300_000) - us(1);
    assert_eq!(cache.wait(behind).latency, waited + PCM_READ);
}

#[test]
fn adjacent_misses_are_one_request_and_hits_between_them_are_not_fetched() {
    let mut cache = pcm_cache(64, "");
    cache.latency(us(0), blocks(Op::Read, 3, 1));
    assert_eq!(cache.latency(us(5000), blocks(Op::Read, 0, 8)), us(919));
    assert_eq!((cache.count("read_hits"), cache.count("read_misses")), (1, 8));
    assert_eq!(cache.count("backing_reads"), 3, "block 3, blocks 0 to 2, blocks 4 to 7");
}

#[test]
fn the_trail_of_a_request_is_that_of_its_last_block() {
    let mut cache = pcm_cache(64, "lookup = \"1 us\"");
    cache.latency(us(0), blocks(Op::Read, 0, 1));
    let set_out = cache.submit(us(5000), blocks(Op::Read, 1, 1));
    let number = cache.submit(us(5100), blocks(Op::Read, 0, 2));
    let done = cache.wait(number);
    assert_eq!(done.at, us(5920), "block 1 set out at 5001 us");
    assert_eq!(cache.wait(set_out).at, done.at);
    let path: Vec<_> = done.spans.iter().map(|span| (span.activity, span.time)).collect();
    assert_eq!(path, [(Activity::Software, us(1)), (Activity::Merge, us(819))]);
}

#[test]
fn a_write_takes_the_slower_of_backing_and_level() {
    let mut cache = pcm_cache(64, "");
    assert_eq!(cache.latency(us(0), blocks(Op::Write, 0, 1)), us(133));
    assert_eq!(cache.latency(us(500), blocks(Op::Read, 0, 1)), PCM_READ, "the written block came in");
    let mut slow = crate::workbench::host(
        "[stack]\nkind = \"server_cache\"\n\
         level = [{ device = { kind = \"measured\", read = \"1 us\", write = \"200 us\", capacity = \"1 MiB\" } }]\n\
         backing = { kind = \"network\", read = \"919 us\", write = \"133 us\" }",
    );
    assert_eq!(slow.latency(us(0), blocks(Op::Write, 0, 1)), us(200));
}

#[test]
fn without_write_allocation_only_copies_are_written() {
    let mut cache = pcm_cache(64, "write_allocate = false");
    cache.latency(us(0), blocks(Op::Write, 0, 1));
    assert_eq!(cache.latency(us(1000), blocks(Op::Read, 0, 1)), us(919), "it did not come in");
    cache.latency(us(3000), blocks(Op::Write, 0, 1));
    assert_eq!((cache.count("write_misses"), cache.count("write_hits")), (1, 1));
    assert_eq!(cache.latency(us(4000), blocks(Op::Read, 0, 1)), PCM_READ);
}

#[test]
fn a_block_written_in_part_is_updated_but_does_not_come_in() {
    let mut cache = pcm_cache(64, "");
    let part = Request { bytes: 512, ..blocks(Op::Write, 0, 1) };
    cache.latency(us(0), part);
    let read = cache.submit(us(1000), blocks(Op::Read, 0, 1));
    let written = cache.submit(us(1010), part);
    assert_eq!(cache.wait(written).latency, us(133), "block 0 is on its way: written as it arrives");
    assert_eq!(cache.wait(read).latency, us(919));
    cache.latency(us(3000), part);
    let counts = ["write_misses", "write_merged", "write_hits", "write_parts"];
    assert_eq!(counts.map(|name| cache.count(name)), [1, 1, 1, 1]);
}

#[test]
fn a_whole_block_written_while_it_is_on_its_way_is_there_at_once() {
    let mut cache = pcm_cache(64, "");
    let fetched = cache.submit(us(0), blocks(Op::Read, 0, 1));
    let written = cache.submit(us(10), blocks(Op::Write, 0, 1));
    let read = cache.submit(us(20), blocks(Op::Read, 0, 1));
    assert_eq!(cache.wait(read).latency, PCM_READ);
    assert_eq!(cache.wait(written).latency, us(133));
    assert_eq!(cache.wait(fetched).latency, us(919));
    cache.rest();
    let level = cache.report().children.remove(0);
    assert_eq!(super::counter(&level, "bytes_written"), 4096, "what arrives later is out of date");
}

/// A cache of two levels with one and four blocks of 64 KiB. The devices of the levels read 4 KiB in 1 us
/// and 10 us, and write 4 KiB in 2 us and 20 us.
fn two_levels_of_large_blocks(inclusion: &str) -> Host {
    let level = |us: u64, blocks: u64| {
        let (write, capacity) = (2 * us, blocks * 64);
        format!(
            "{{ device = {{ kind = \"measured\", read = \"{us} us\", write = \"{write} us\", capacity = \"{capacity} KiB\" }} }}"
        )
    };
    let toml = format!(
        "[stack]\nkind = \"server_cache\"\nblock = \"64 KiB\"\ninclusion = \"{inclusion}\"\n\
         level = [{}, {}]\nbacking = {{ kind = \"measured\", read = \"50 us\", write = \"50 us\" }}",
        level(1, 1),
        level(10, 4)
    );
    crate::workbench::host(&toml)
}

#[test]
fn a_block_that_moves_up_is_read_as_a_whole_and_waited_for() {
    for inclusion in ["exclusive", "inclusive"] {
        let mut cache = two_levels_of_large_blocks(inclusion);
        cache.latency(us(0), blocks(Op::Read, 0, 1));
        cache.latency(us(10_000), blocks(Op::Read, 16, 1));
        assert_eq!(cache.latency(us(20_000), blocks(Op::Read, 0, 1)), us(160), "{inclusion}: 16 units");
        assert_eq!(cache.latency(us(30_000), blocks(Op::Read, 0, 1)), us(1), "{inclusion}: one unit");
    }
}

#[test]
fn trims_empty_the_cache_and_flushes_pass() {
    let mut cache = pcm_cache(64, "");
    cache.latency(us(0), blocks(Op::Read, 0, 4));
    cache.latency(us(2000), blocks(Op::Trim, 1, 2));
    cache.latency(us(3000), Request { bytes: 0, ..blocks(Op::Flush, 0, 0) });
    assert_eq!(cache.count("trimmed"), 2);
    assert_eq!(cache.latency(us(4000), blocks(Op::Read, 0, 1)), PCM_READ);
    assert_eq!(cache.latency(us(5000), blocks(Op::Read, 1, 1)), us(919));
    let backing = cache.report().children.remove(1);
    assert_eq!((super::counter(&backing, "trims"), super::counter(&backing, "flushes")), (1, 1));
    cache.check();
}

#[test]
fn a_foreground_fill_is_waited_for() {
    let mut cache = pcm_cache(64, "fill = \"foreground\"");
    let number = cache.submit(us(0), blocks(Op::Read, 0, 2));
    let done = cache.wait(number);
    assert_eq!(done.latency, Time::from_ps(1_047_300_000), "919 us and 128.3 us");
    assert_eq!(done.spans.last().map(|span| span.activity), Some(Activity::Fill));
}

#[test]
fn every_address_has_a_block() {
    for first in [(1 << 51) - 1, (1 << 52) - 2] {
        let mut cache = pcm_cache(64, "");
        let two_blocks = Request { address: first << 12, ..blocks(Op::Read, 0, 2) };
        let two_blocks = Request { bytes: two_blocks.bytes - 1, ..two_blocks };
        cache.device.prefetch(&[two_blocks]);
        assert_eq!(cache.latency(us(0), two_blocks), us(919), "from byte {}", two_blocks.address);
        cache.latency(us(2000), Request { op: Op::Write, ..two_blocks });
        assert_eq!(cache.latency(us(4000), two_blocks), PCM_READ);
        assert_eq!((cache.count("read_hits"), cache.count("write_hits")), (2, 2));
        cache.latency(us(6000), Request { op: Op::Trim, ..two_blocks });
        assert_eq!(cache.count("trimmed"), 2);
        cache.check();
    }
}
