//! Summary of a trace, computed in one pass: counts, sizes, footprint, sequentiality, and anomalies.
//!
//! The footprint is exact. It is a set of 4 KiB blocks, stored as 64-bit words in a hash table that uses 28
//! bytes per word. A dense trace takes 0.5 bytes per block. If no two blocks are within 256 KiB of each
//! other, the table takes 28 bytes per block. Memory grows with the footprint and not with the length of the
//! trace.

use super::plausible::implausible_span;
use super::tally::Tally;
use nacre_kernel::{Op, Request, Time};
use rustc_hash::FxHashMap;

/// Block size for footprints in bytes.
pub const BLOCK_BYTES: u64 = 4096;
/// Maximum number of distinct sizes that are counted separately. Requests of further sizes are only included
/// in the totals.
pub const MOST_SIZES: usize = 4096;
/// Fraction of out-of-order requests above which Nacre prints a warning.
const MUCH_DISORDER: f64 = 0.01;

/// Statistics of the requests of a trace.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Number of reads.
    pub reads: u64,
    /// Number of writes.
    pub writes: u64,
    /// Number of trims.
    pub trims: u64,
    /// Number of flushes.
    pub flushes: u64,
    /// Total number of bytes read.
    pub bytes_read: u64,
    /// Total number of bytes written.
    pub bytes_written: u64,
    /// Number of 4 KiB blocks accessed by reads and writes, including repeated accesses.
    pub blocks_accessed: u64,
    /// Number of reads and writes that start at the end of the previous read or write in their volume.
    pub sequential: u64,
    /// Arrival of the last request.
    pub last_arrival: Time,
    footprint: u64,
    touched: FxHashMap<(u64, u32), u64>,
    volumes: FxHashMap<u32, u64>,
    latest_volume: Option<u32>,
    latest_end: u64,
    sizes: FxHashMap<u32, u64>,
}

impl Summary {
    /// Creates an empty summary.
    pub fn new() -> Summary {
        Summary::default()
    }

    /// Adds the requests of `batch`.
    pub fn add(&mut self, batch: &[Request]) {
        for request in batch {
            self.last_arrival = self.last_arrival.max(request.arrival);
            let bytes = u64::from(request.bytes);
            match request.op {
                Op::Read => {
                    self.reads += 1;
                    self.bytes_read += bytes;
                }
                Op::Write => {
                    self.writes += 1;
                    self.bytes_written += bytes;
                }
                Op::Trim => self.trims += 1,
                Op::Flush => self.flushes += 1,
            }
            self.follow(request);
            if matches!(request.op, Op::Read | Op::Write) {
                self.touch(request);
                if self.sizes.len() < MOST_SIZES || self.sizes.contains_key(&request.bytes) {
                    *self.sizes.entry(request.bytes).or_insert(0) += 1;
                }
            }
        }
    }

    /// Counts `request` as sequential if it starts at the end of the previous request in its volume. Records
    /// the end of `request`.
    fn follow(&mut self, request: &Request) {
        if self.latest_volume != Some(request.volume) {
            if let Some(before) = self.latest_volume {
                self.volumes.insert(before, self.latest_end);
            }
            // No address is as high as this end, so the first request of a volume is not sequential.
            self.latest_end = *self.volumes.entry(request.volume).or_insert(u64::MAX);
            self.latest_volume = Some(request.volume);
        }
        if matches!(request.op, Op::Read | Op::Write) {
            self.sequential += u64::from(self.latest_end == request.address);
            self.latest_end = request.address + u64::from(request.bytes);
        }
    }

    fn touch(&mut self, request: &Request) {
        let (first, count) = request.blocks(BLOCK_BYTES);
        self.blocks_accessed += count;
        let (mut block, end) = (first, first + count);
        while block < end {
            let word = block / 64;
            let stop = end.min((word + 1) * 64);
            let mask = (u64::MAX >> (64 - (stop - block))) << (block % 64);
            let bits = self.touched.entry((word, request.volume)).or_insert(0);
            self.footprint += u64::from((mask & !*bits).count_ones());
            *bits |= mask;
            block = stop;
        }
    }

    /// Number of requests of all types.
    pub fn records(&self) -> u64 {
        self.reads + self.writes + self.trims + self.flushes
    }

    /// Fraction of reads among reads and writes. Zero if the trace has neither.
    pub fn read_share(&self) -> f64 {
        share(self.reads, self.reads + self.writes)
    }

    /// [`Summary::sequential`] as a fraction of all reads and writes.
    pub fn sequential_share(&self) -> f64 {
        share(self.sequential, self.reads + self.writes)
    }

    /// Number of distinct 4 KiB blocks that were read or written.
    pub fn footprint_blocks(&self) -> u64 {
        self.footprint
    }

    /// Footprint in bytes.
    pub fn footprint_bytes(&self) -> u64 {
        self.footprint * BLOCK_BYTES
    }

    /// Number of volumes with requests.
    pub fn volumes(&self) -> usize {
        self.volumes.len()
    }

    /// The `most` most frequent sizes of reads and writes, with their counts. The most frequent size is
    /// first.
    pub fn sizes(&self, most: usize) -> Vec<(u32, u64)> {
        let mut sizes: Vec<(u32, u64)> = self.sizes.iter().map(|(&bytes, &count)| (bytes, count)).collect();
        sizes.sort_unstable_by_key(|&(bytes, count)| (std::cmp::Reverse(count), bytes));
        sizes.truncate(most);
        sizes
    }

    /// Returns warnings about the trace. `tally` has the counts of its reader.
    pub fn warnings(&self, tally: &Tally) -> Vec<String> {
        let mut warnings = tally.notes.clone();
        let span = u128::from(self.last_arrival.as_ps());
        if let Some(found) =
            tally.time_unit.and_then(|unit| Some((unit, implausible_span(unit, span, self.records())?)))
        {
            let (unit, found) = found;
            warnings.push(format!("in {}, {}; {}", unit.name(), found.problem, found.remedy()));
        }
        if tally.bad_records > 0 {
            warnings.push(format!("bad records, skipped: {}", tally.bad_records));
        }
        if tally.out_of_order > 0 {
            let much = share(tally.out_of_order, self.records()) > MUCH_DISORDER;
            warnings.push(format!(
                "{} requests were recorded out of order and were sorted{}",
                tally.out_of_order,
                if much { "; that is more than 1 %, so check that the file is one recording" } else { "" }
            ));
        }
        if tally.held_back > 0 {
            warnings.push(format!(
                "{} requests are more than 4096 positions out of order; each arrives with the previous \
                 request",
                tally.held_back
            ));
        }
        warnings
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64, op: Op, volume: u32, address: u64, bytes: u32) -> Request {
        Request { arrival: Time::from_ms(ms), address, bytes, volume, op }
    }

    #[test]
    fn one_pass_counts_everything() {
        let mut summary = Summary::new();
        summary.add(&[
            at(0, Op::Read, 0, 0, 8192),
            at(1, Op::Write, 0, 8192, 4096),
            at(2, Op::Read, 1, 8192, 4096),
            at(3, Op::Read, 0, 12_288, 512),
            at(4, Op::Trim, 0, 0, 1 << 30),
            at(5, Op::Flush, 0, 0, 0),
            at(7, Op::Write, 1, 4095, 2),
        ]);
        assert_eq!((summary.reads, summary.writes, summary.trims, summary.flushes), (3, 2, 1, 1));
        assert_eq!((summary.bytes_read, summary.bytes_written), (12_800, 4098));
        assert_eq!(summary.blocks_accessed, 2 + 1 + 1 + 1 + 2);
        assert_eq!(summary.footprint_blocks(), 4 + 3, "blocks 0 to 3 of volume 0; 0, 1, 2 of volume 1");
        assert_eq!(summary.sequential, 2, "the write at 8192 and the read at 12288");
        assert_eq!(summary.read_share(), 0.6);
        assert_eq!(summary.volumes(), 2);
        assert_eq!(summary.last_arrival, Time::from_ms(7));
        assert_eq!(summary.sizes(2), [(4096, 2), (2, 1)]);
    }

    #[test]
    fn a_request_across_many_words_touches_each_block_once() {
        let mut summary = Summary::new();
        let big = at(0, Op::Read, 0, 4096 * 63, 4096 * 130);
        summary.add(&[big, big]);
        assert_eq!(summary.footprint_blocks(), 130);
        assert_eq!(summary.blocks_accessed, 260);
    }

    #[test]
    fn a_wrong_unit_is_warned_of_and_the_right_one_named() {
        let mut summary = Summary::new();
        // Read as milliseconds, the 1000 requests are 20 s apart. Read as nanoseconds, they would be 20,000
        // ns apart.
        for i in 0..1000 {
            summary.add(&[at(i * 20_000, Op::Read, 0, 0, 4096)]);
        }
        let tally = Tally { time_unit: Some(super::super::TimeUnit::Ms), ..Tally::default() };
        let warnings = summary.warnings(&tally);
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].ends_with("one every 20.000 s on average; ns or 100ns or us would be plausible"));
    }
}
