//! The miss-ratio curve of all accesses.

use crate::curve::{Curve, Hits};
use crate::distances::Distances;
use nacre_kernel::{Op, Request};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Number of requests whose memory is prefetched together.
const GROUP: usize = 32;

/// Computes the miss-ratio curve by tracking every access to every block.
#[derive(Clone, Debug)]
pub struct ExactCurve {
    block_bytes: u64,
    distances: Distances,
    /// Numbers of block reads and block writes, indexed by stack distance.
    counts: Vec<[u32; 2]>,
    /// Number of overflows of each count in `counts`. One overflow is 2^32 accesses.
    carried: FxHashMap<(u32, bool), u64>,
    /// Blocks of the requests in the current group, as ranges of block numbers, each with 1 for a write and 0
    /// for a read. They are collected so that the processor loads their data from memory in parallel.
    asked: Vec<(Range<u32>, u32)>,
    /// Accesses of the current group that are not counted yet, as twice the distance, plus 1 for a write.
    /// They are collected so that the processor loads their counters, which are at random positions, in
    /// parallel.
    found: Vec<u32>,
}

impl ExactCurve {
    /// Creates an empty curve for blocks of `block_bytes` bytes, a power of two.
    pub fn new(block_bytes: u64) -> ExactCurve {
        assert!(block_bytes.is_power_of_two(), "blocks of {block_bytes} B");
        ExactCurve {
            block_bytes,
            distances: Distances::dense(),
            counts: vec![[0; 2]],
            carried: FxHashMap::default(),
            asked: Vec::with_capacity(GROUP),
            found: Vec::with_capacity(GROUP),
        }
    }

    /// Adds the requests of `batch`.
    pub fn add(&mut self, batch: &[Request]) {
        for group in batch.chunks(GROUP) {
            group.iter().for_each(|request| self.prefetch_number(request));
            group.iter().for_each(|request| self.number(request));
            self.prefetch();
            self.follow();
            self.count_found();
        }
    }

    /// Returns the number of distinct blocks accessed so far.
    pub fn blocks(&self) -> u64 {
        self.distances.blocks()
    }

    /// Returns the curve of the accesses so far.
    pub fn curve(&self) -> Curve {
        let hits = |distance: usize| {
            let [reads, writes] = [false, true].map(|is_write| self.count(distance, is_write));
            Hits { reads, writes }
        };
        let mut accesses = Hits::default();
        for distance in 0..self.counts.len() {
            let more = hits(distance);
            accesses.reads += more.reads;
            accesses.writes += more.writes;
        }
        let steps = (1..self.counts.len()).filter(|&distance| self.counts[distance] != [0; 2]);
        Curve::new(accesses, 1, steps.map(|distance| (distance as u64, hits(distance))))
    }

    fn count(&self, distance: usize, is_write: bool) -> f64 {
        let carried = self.carried.get(&(distance as u32, is_write)).copied().unwrap_or(0);
        f64::from(self.counts[distance][usize::from(is_write)]) + carried as f64 * (1u64 << 32) as f64
    }

    /// Prefetches the memory for looking up the number of the first block of `request`.
    #[inline]
    fn prefetch_number(&self, request: &Request) {
        let (block, _) = request.blocks(self.block_bytes);
        self.distances.prefetch_number(request.volume, block);
    }

    /// Looks up the numbers of the blocks of `request`, and adds them to the current group.
    #[inline]
    fn number(&mut self, request: &Request) {
        if !matches!(request.op, Op::Read | Op::Write) {
            return;
        }
        let is_write = u32::from(request.op == Op::Write);
        let (mut block, count) = request.blocks(self.block_bytes);
        let end = block + count;
        while block < end {
            let numbers = self.distances.numbers_of(request.volume, block, end);
            block += numbers.len() as u64;
            self.asked.push((numbers, is_write));
        }
    }

    /// Prefetches the data that is needed to track the current group into the processor caches.
    #[inline]
    fn prefetch(&self) {
        for (numbers, _) in &self.asked {
            self.distances.prefetch_latest(numbers.start);
        }
        for (numbers, _) in &self.asked {
            self.distances.prefetch_marks(numbers.start);
        }
    }

    /// Computes the distances of all accesses in the current group.
    #[inline]
    fn follow(&mut self) {
        for (numbers, is_write) in self.asked.drain(..) {
            for number in numbers {
                // Distances stay below 2^31.
                self.found.push(self.distances.renew(number) << 1 | is_write);
            }
        }
    }

    /// Counts the accesses of the current group by distance.
    #[inline]
    fn count_found(&mut self) {
        for &access in &self.found {
            let (distance, is_write) = ((access >> 1) as usize, access & 1);
            if distance >= self.counts.len() {
                self.counts.resize((distance + 1).next_power_of_two(), [0; 2]);
            }
            let count = &mut self.counts[distance][is_write as usize];
            *count = count.wrapping_add(1);
            if *count == 0 {
                *self.carried.entry((access >> 1, is_write == 1)).or_insert(0) += 1;
            }
        }
        self.found.clear();
    }
}
