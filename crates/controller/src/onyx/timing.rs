//! Sizes and times of row operations, and statistics of a controller.

use super::Config;
use super::config::Scheduling;
use nacre_kernel::state::Value;
use nacre_kernel::{Ledger, Time};
use nacre_media::charge::Charges;
use nacre_media::pcm::{KINDS, Rank};

/// Sizes and times of operations on a row.
#[derive(Clone, Debug)]
pub(super) struct Timing {
    pub(super) rank: Rank,
    pub(super) fill: Time,
    pub(super) setup: Time,
    /// Time before the first fill of a write.
    pub(super) write_setup: Time,
    /// Number of nonzero words in a chunk, for writes in a simulation without data.
    pub(super) assumed_words: u32,
    pub(super) row_bytes: u64,
    pub(super) row_ranks: usize,
    /// Number of groups of `row_ranks` ranks.
    groups: u64,
    /// Whether a controller serves its requests in order.
    pub(super) in_order: bool,
    /// Time to write 1, 2, ... chunks without contention.
    pub(super) alone: Vec<Time>,
}

/// Counters since measurement started.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Counters {
    /// Activity of the data lines.
    pub(super) lines: Ledger,
    /// Activity of the ranks. A move of wear leveling is counted when it is requested.
    pub(super) ranks: Charges<KINDS>,
    /// Number of polls of status registers.
    pub(super) polls: u64,
    /// Number of rows that the host wrote.
    pub(super) host_rows: u64,
    /// Number of rows that wear leveling moved.
    pub(super) moved_rows: u64,
    /// Number of rows that were worn out before measurement.
    pub(super) worn_before: u64,
}

/// Chunks of one row that are programmed in parallel.
#[derive(Clone, Copy)]
pub(super) struct Pass {
    pub(super) group: usize,
    /// Rank of the first chunk within the group.
    pub(super) first: usize,
    pub(super) count: usize,
    /// Time before the first fill.
    pub(super) lead: Time,
}

impl Pass {
    pub(super) fn rank(&self, index: usize, row_ranks: usize) -> usize {
        let rank = self.first + index;
        self.group + if rank >= row_ranks { rank - row_ranks } else { rank }
    }

    /// Start of chunk `index` on its rank, relative to the start of the first chunk of the pass.
    pub(super) fn offset(&self, index: usize, fill: Time) -> Time {
        if index == 0 { Time::ZERO } else { self.lead + fill * index as u64 }
    }
}

/// A set of ranks of one controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) struct Ranks([u64; 4]);

impl Ranks {
    /// The ranks from `from` to `to - 1`. Rank numbers are below 256.
    #[inline]
    pub(super) fn range(from: usize, to: usize) -> Ranks {
        let below = |end: usize, word: usize| match end.saturating_sub(64 * word) {
            0 => 0,
            bits @ 1..64 => (1 << bits) - 1,
            _ => u64::MAX,
        };
        Ranks(std::array::from_fn(|word| below(to, word) & !below(from, word)))
    }

    #[inline]
    pub(super) fn add(&mut self, other: &Ranks) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }

    #[inline]
    pub(super) fn meets(&self, other: &Ranks) -> bool {
        self.0.iter().zip(other.0).any(|(word, other)| word & other != 0)
    }
}

impl Timing {
    /// Times for `config`. Encoding takes the time `encoding` before the first fill of a write.
    pub(super) fn of(config: &Config, encoding: Time) -> Timing {
        let rank = config.rank();
        let written = (rank.words() as f64 * (1.0 - config.zero_words.0)).ceil();
        let mut timing = Timing {
            rank,
            write_setup: config.row_setup + encoding,
            assumed_words: written as u32,
            fill: config.chips.fill,
            setup: config.row_setup,
            row_bytes: config.row.0,
            row_ranks: config.row_ranks as usize,
            groups: u64::from(config.ranks / config.row_ranks),
            in_order: config.scheduling == Scheduling::InOrder,
            alone: Vec::new(),
        };
        timing.alone = (1..=config.chunks()).map(|chunks| timing.write_alone(chunks)).collect();
        timing
    }

    /// Whether the time of a program depends on the data.
    #[inline]
    pub(super) fn is_by_data(&self) -> bool {
        self.rank.zeros < self.rank.program
    }

    /// Rank of chunk `chunk` of a row, within its group.
    #[inline]
    pub(super) fn rank_of(&self, chunk: u64) -> usize {
        let ranks = self.row_ranks as u64;
        (if ranks.is_power_of_two() { chunk & (ranks - 1) } else { chunk % ranks }) as usize
    }

    /// First rank of the group that stores physical row `row`.
    #[inline]
    pub(super) fn group(&self, row: u64) -> usize {
        let group = if self.groups.is_power_of_two() { row & (self.groups - 1) } else { row % self.groups };
        group as usize * self.row_ranks
    }

    /// Time to write `chunks` chunks on idle ranks. The fills follow each other, and each fill waits until
    /// its rank is free.
    fn write_alone(&self, chunks: u64) -> Time {
        let mut ranks = vec![Time::ZERO; self.row_ranks];
        let mut lines = self.write_setup;
        for chunk in 0..chunks as usize {
            let rank = &mut ranks[chunk % self.row_ranks];
            lines = lines.max(*rank) + self.fill;
            *rank = lines + self.rank.program_of(self.assumed_words);
        }
        ranks.into_iter().fold(Time::ZERO, Time::max)
    }
}
