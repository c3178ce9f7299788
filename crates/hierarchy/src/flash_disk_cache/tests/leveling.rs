//! Tests of wear leveling, which covers all blocks: full, open, and free blocks of every region.

use super::{BCH, build, submit};
use nacre_kernel::{Op, Random, Streams, Time};
use nacre_testkit::Host;

/// Settings of cells without bit errors. The wear of a block is then its number of erases.
const CELLS: &str = "slots = 8\ndensity = \"slc\"\nbit_error_rate = 0\n";

/// Number of adjacent pages that are programmed into one open block.
const RUN: u64 = 64;

/// A write pattern.
#[derive(Clone, Copy, Debug)]
struct Load {
    /// Number of hot pages.
    hot: u64,
    /// Number of open blocks over which the hot pages are spread.
    streams: u64,
    /// Share of the writes that the hot pages receive.
    share: f64,
    /// Number of pages that receive the remaining writes: the first pages of each of four open blocks.
    others: u64,
    /// Number of pages that are read once before the writes.
    cold: u64,
}

/// Loads with only hot pages, with hot pages among cold pages, with rarely used open blocks, and with a
/// single open block.
const LOADS: [Load; 6] = [
    Load { hot: 1, streams: 1, share: 1.0, others: 0, cold: 0 },
    Load { hot: 4, streams: 1, share: 1.0, others: 0, cold: 0 },
    Load { hot: 1, streams: 1, share: 0.9, others: 16, cold: 160 },
    Load { hot: 4, streams: 4, share: 0.9, others: 16, cold: 160 },
    Load { hot: 16, streams: 2, share: 0.999, others: 1, cold: 100 },
    Load { hot: 40, streams: 1, share: 0.9, others: 16, cold: 100 },
];

impl Load {
    fn page(self, random: &mut Random) -> u64 {
        if random.chance(self.share) {
            let at = random.below(self.hot);
            return at % self.streams * RUN + at / self.streams;
        }
        random.below(4) * RUN + random.below(self.others)
    }
}

/// Performs `writes` writes. Returns the maximum difference in erases between two blocks, checked after every
/// 32 writes.
fn widest(device: &mut Host, load: Load, writes: u64) -> u64 {
    let (mut now, mut widest) = (Time::ZERO, 0);
    for page in 0..load.cold {
        now = submit(device, now, Op::Read, (4 * RUN + page) * 2048, 2048).0;
    }
    let mut random = Streams::new(3).stream("pages");
    for number in 0..writes {
        now = submit(device, now, Op::Write, load.page(&mut random) * 2048, 2048).0;
        if number % 32 == 0 {
            let erases = device.device.report(now).wear.expect("it wears").block_erases;
            let least = erases.iter().min().expect("a block");
            let most = erases.iter().max().expect("a block");
            widest = widest.max(u64::from(most - least));
        }
    }
    device.check();
    widest
}

/// Proof of the bound: let the least worn block have `m` erases. An erased block with more than `m + gap`
/// erases is exchanged. A free block is filled only if its wear exceeds the wear of every other free block
/// by at most `gap`, so it has at most `m + 2 gap` erases. It is then erased once and exchanged, and the
/// content that moves into it stays. This also applies to empty blocks, free blocks on a die with an open
/// block, open blocks that receive no pages, and blocks of an unused region.
#[test]
fn no_block_is_worn_more_than_another_by_more_than_twice_the_gap_and_one_erase() {
    for (region, gap) in [("0 %", 2), ("0 %", 8), ("25 %", 8), ("50 %", 8)] {
        for load in LOADS {
            let regions = format!("blocks = 32\ndies = 4\nwrite_region = \"{region}\"\nwear_gap = {gap}");
            let mut device = build(&format!("{CELLS}{regions}"), BCH);
            let widest = widest(&mut device, load, 20_000);
            assert!(widest <= 2 * gap + 1, "{widest} erases between blocks: {load:?}\n{regions}");
            assert!(device.count("erases") > 32 * 4 * gap, "{load:?}\n{regions}");
        }
    }
}

/// Tests wear leveling without cold data. Wear leveling then moves hot content into a worn block, and this
/// content becomes invalid as fast as the content of other blocks. The block would therefore be erased more
/// often than other blocks if the cache moved content into it again.
#[test]
fn leveling_is_even_without_cold_data() {
    let cells = "blocks = 16\ndies = 2\nwrite_region = \"0 %\"\nwear_gap = 2\ncollects_above = \"50 %\"";
    let mut device = build(&format!("{CELLS}{cells}"), BCH);
    let load = Load { hot: 1, streams: 1, share: 0.5, others: 400, cold: 0 };
    let widest = widest(&mut device, load, 60_000);
    assert!(widest <= 2 * 2 + 1, "{widest} erases between blocks");
    assert!(device.count("leveled_programs") > 1_000, "it moves content in vain");
}
