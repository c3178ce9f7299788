//! Wear leveling: no block is left behind, wherever it is.

use super::{BCH, build, submit};
use nacre_kernel::{Op, Random, Streams, Time};
use nacre_testkit::Host;

/// Cells without bit errors: the degree of wear is the number of erases.
const CELLS: &str = "slots = 8\ndensity = \"slc\"\nbit_error_rate = 0\n";

/// Pages that are neighbors and go to one open block.
const RUN: u64 = 64;

/// What is written.
#[derive(Clone, Copy, Debug)]
struct Load {
    /// Pages, spread over so many open blocks, and their share of the writes.
    hot: u64,
    streams: u64,
    share: f64,
    /// What the other writes go to: the first pages of each of four open blocks.
    others: u64,
    /// Pages that are read once before.
    cold: u64,
}

/// Nothing but hot pages; hot ones among cold ones; open blocks that are hardly used; no open block but one.
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

/// The most by which a block is worn more than another at any time of so many writes.
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

/// Let the least worn block have `m` erases. A block beyond `m + gap` that is erased changes places, and a free one is
/// filled that is worn more than another free one by the gap at most: by `m + 2 gap`. It is erased once then, and
/// changes places; what moves into it stays. Blocks with nothing in them, free ones on a die where one is open, open
/// ones that nobody fills, and those of a region that nobody asks are no exception.
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

/// Where nothing is cold, what moves into a block leaves it as soon as other content, and the block was not free nor
/// open between: if it changed places again then, it would be erased more often than all others for ever.
#[test]
fn leveling_wears_no_block_more_where_nothing_stays() {
    let cells = "blocks = 16\ndies = 2\nwrite_region = \"0 %\"\nwear_gap = 2\ncollects_above = \"50 %\"";
    let mut device = build(&format!("{CELLS}{cells}"), BCH);
    let load = Load { hot: 1, streams: 1, share: 0.5, others: 400, cold: 0 };
    let widest = widest(&mut device, load, 60_000);
    assert!(widest <= 2 * 2 + 1, "{widest} erases between blocks");
    assert!(device.count("leveled_programs") > 1_000, "it moves content in vain");
}
