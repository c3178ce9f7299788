//! When requests are done.

use super::{NETWORK, PCM, blocks, count, pcm_cache, submit, us};
use crate::workbench;
use nacre_kernel::{Activity, Breakdown, Data, Device, Op, Request, Time};

const PCM_READ: Time = Time::from_ps(6_700_000);

#[test]
fn a_miss_takes_the_network_and_a_hit_the_level() {
    let mut cache = pcm_cache(4, "");
    assert_eq!(submit(&mut *cache, us(0), blocks(Op::Read, 7, 1)), us(919));
    assert_eq!(submit(&mut *cache, us(2000), blocks(Op::Read, 7, 1)), PCM_READ);
    assert_eq!((count(&*cache, "read_misses"), count(&*cache, "read_hits")), (1, 1));
    assert_eq!(count(&*cache, "fills"), 1);
    cache.check_invariants();
}

#[test]
fn simultaneous_reads_of_one_block_ask_the_backing_once() {
    let mut cache = pcm_cache(4, "");
    for _ in 0..10 {
        assert_eq!(submit(&mut *cache, us(50), blocks(Op::Read, 7, 1)), us(919));
    }
    assert_eq!(
        submit(&mut *cache, us(100), blocks(Op::Read, 7, 1)),
        us(869),
        "a later one waits for the rest"
    );
    assert_eq!((count(&*cache, "read_misses"), count(&*cache, "read_merged")), (1, 10));
    assert_eq!((count(&*cache, "backing_reads"), count(&*cache, "fills")), (1, 1));
    assert_eq!(submit(&mut *cache, us(969), blocks(Op::Read, 7, 1)), PCM_READ, "then it is there");
}

#[test]
fn a_later_fill_does_not_delay_an_earlier_hit() {
    let one_server = PCM.replace("parallelism = 512", "parallelism = 1");
    let toml = format!(
        "[stack]\nkind = \"server_cache\"\nlevel = [{{ device = {{ {}, capacity = \"64 KiB\" }} }}]\n\
         [stack.backing]\n{NETWORK}",
        one_server.trim().replace('\n', ", ")
    );
    let mut cache = workbench::build(&toml).unwrap();
    submit(&mut *cache, us(0), blocks(Op::Read, 1, 1));
    assert_eq!(submit(&mut *cache, us(5000), blocks(Op::Read, 2, 1)), us(919));
    // The device will write block 2 from 5919 us to 6047.3 us.
    assert_eq!(submit(&mut *cache, us(5010), blocks(Op::Read, 1, 1)), PCM_READ);
    let waited = Time::from_ps(128_300_000) - us(1);
    assert_eq!(submit(&mut *cache, us(5920), blocks(Op::Read, 1, 1)), waited + PCM_READ);
}

#[test]
fn adjacent_misses_are_one_request_and_hits_between_them_are_not_fetched() {
    let mut cache = pcm_cache(64, "");
    submit(&mut *cache, us(0), blocks(Op::Read, 3, 1));
    assert_eq!(submit(&mut *cache, us(5000), blocks(Op::Read, 0, 8)), us(919));
    assert_eq!((count(&*cache, "read_hits"), count(&*cache, "read_misses")), (1, 8));
    assert_eq!(count(&*cache, "backing_reads"), 3, "block 3, blocks 0 to 2, blocks 4 to 7");
}

#[test]
fn the_trail_of_a_request_is_that_of_its_last_block() {
    let mut cache = pcm_cache(64, "lookup = \"1 us\"");
    submit(&mut *cache, us(0), blocks(Op::Read, 0, 1));
    submit(&mut *cache, us(5000), blocks(Op::Read, 1, 1));
    let mut breakdown = Breakdown::new();
    let done = cache.submit(us(5100), &blocks(Op::Read, 0, 2), Data::None, &mut breakdown).done;
    assert_eq!(done, us(5920), "block 1 set out at 5001 us");
    let path: Vec<_> = breakdown.spans().iter().map(|span| (span.activity, span.time)).collect();
    assert_eq!(path, [(Activity::Software, us(1)), (Activity::Merge, us(819))]);
}

#[test]
fn a_write_takes_the_slower_of_backing_and_level() {
    let mut cache = pcm_cache(64, "");
    assert_eq!(submit(&mut *cache, us(0), blocks(Op::Write, 0, 1)), us(133));
    assert_eq!(submit(&mut *cache, us(500), blocks(Op::Read, 0, 1)), PCM_READ, "the written block came in");
    let mut slow = workbench::build(
        "[stack]\nkind = \"server_cache\"\n\
         level = [{ device = { kind = \"measured\", read = \"1 us\", write = \"200 us\", capacity = \"1 MiB\" } }]\n\
         backing = { kind = \"network\", read = \"919 us\", write = \"133 us\" }",
    )
    .unwrap();
    assert_eq!(submit(&mut *slow, us(0), blocks(Op::Write, 0, 1)), us(200));
}

#[test]
fn without_write_allocation_only_copies_are_written() {
    let mut cache = pcm_cache(64, "write_allocate = false");
    submit(&mut *cache, us(0), blocks(Op::Write, 0, 1));
    assert_eq!(submit(&mut *cache, us(1000), blocks(Op::Read, 0, 1)), us(919), "it did not come in");
    submit(&mut *cache, us(3000), blocks(Op::Write, 0, 1));
    assert_eq!((count(&*cache, "write_misses"), count(&*cache, "write_hits")), (1, 1));
    assert_eq!(submit(&mut *cache, us(4000), blocks(Op::Read, 0, 1)), PCM_READ);
}

#[test]
fn a_block_written_in_part_is_updated_but_does_not_come_in() {
    let mut cache = pcm_cache(64, "");
    let part = Request { bytes: 512, ..blocks(Op::Write, 0, 1) };
    submit(&mut *cache, us(0), part);
    assert_eq!(submit(&mut *cache, us(1000), blocks(Op::Read, 0, 1)), us(919));
    assert_eq!(submit(&mut *cache, us(1010), part), us(133), "block 0 is on its way: written as it arrives");
    submit(&mut *cache, us(3000), part);
    let counts = ["write_misses", "write_merged", "write_hits", "write_parts"];
    assert_eq!(counts.map(|name| count(&*cache, name)), [1, 1, 1, 1]);
}

#[test]
fn a_whole_block_written_while_it_is_on_its_way_is_there_at_once() {
    let mut cache = pcm_cache(64, "");
    submit(&mut *cache, us(0), blocks(Op::Read, 0, 1));
    submit(&mut *cache, us(10), blocks(Op::Write, 0, 1));
    assert_eq!(submit(&mut *cache, us(20), blocks(Op::Read, 0, 1)), PCM_READ);
}

/// Two exclusive levels of one and four blocks of 64 KiB on devices that read 4 KiB at a time in 1 us and
/// 10 us, written in 2 us and 20 us.
fn two_levels_of_large_blocks(inclusion: &str) -> Box<dyn Device> {
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
    workbench::build(&toml).expect("the test's cache is legal")
}

#[test]
fn a_block_that_moves_up_is_read_as_a_whole_and_waited_for() {
    for inclusion in ["exclusive", "inclusive"] {
        let mut cache = two_levels_of_large_blocks(inclusion);
        submit(&mut *cache, us(0), blocks(Op::Read, 0, 1));
        submit(&mut *cache, us(10_000), blocks(Op::Read, 16, 1));
        assert_eq!(submit(&mut *cache, us(20_000), blocks(Op::Read, 0, 1)), us(160), "{inclusion}: 16 units");
        assert_eq!(submit(&mut *cache, us(30_000), blocks(Op::Read, 0, 1)), us(1), "{inclusion}: one unit");
    }
}

#[test]
fn trims_empty_the_cache_and_flushes_pass() {
    let mut cache = pcm_cache(64, "");
    submit(&mut *cache, us(0), blocks(Op::Read, 0, 4));
    submit(&mut *cache, us(2000), blocks(Op::Trim, 1, 2));
    submit(&mut *cache, us(3000), Request { bytes: 0, ..blocks(Op::Flush, 0, 0) });
    assert_eq!(count(&*cache, "trimmed"), 2);
    assert_eq!(submit(&mut *cache, us(4000), blocks(Op::Read, 0, 1)), PCM_READ);
    assert_eq!(submit(&mut *cache, us(5000), blocks(Op::Read, 1, 1)), us(919));
    let backing = cache.report(us(9000)).children.remove(1);
    assert_eq!((super::counter(&backing, "trims"), super::counter(&backing, "flushes")), (1, 1));
    cache.check_invariants();
}

#[test]
fn a_foreground_fill_is_waited_for() {
    let mut cache = pcm_cache(64, "fill = \"foreground\"");
    let mut breakdown = Breakdown::new();
    let done = cache.submit(us(0), &blocks(Op::Read, 0, 2), Data::None, &mut breakdown).done;
    assert_eq!(done, Time::from_ps(1_047_300_000), "919 us and 128.3 us");
    assert_eq!(breakdown.spans().last().map(|span| span.activity), Some(Activity::Fill));
    assert_eq!(breakdown.total_from(0), done);
}

#[test]
fn every_address_has_a_block() {
    for first in [(1 << 51) - 1, (1 << 52) - 2] {
        let mut cache = pcm_cache(64, "");
        let two_blocks = Request { address: first << 12, ..blocks(Op::Read, 0, 2) };
        let two_blocks = Request { bytes: two_blocks.bytes - 1, ..two_blocks };
        cache.prefetch(&[two_blocks]);
        assert_eq!(submit(&mut *cache, us(0), two_blocks), us(919), "from byte {}", two_blocks.address);
        submit(&mut *cache, us(2000), Request { op: Op::Write, ..two_blocks });
        assert_eq!(submit(&mut *cache, us(4000), two_blocks), PCM_READ);
        assert_eq!((count(&*cache, "read_hits"), count(&*cache, "write_hits")), (2, 2));
        submit(&mut *cache, us(6000), Request { op: Op::Trim, ..two_blocks });
        assert_eq!(count(&*cache, "trimmed"), 2);
        cache.check_invariants();
    }
}
