//! Amounts of requests and data over time.

use nacre_kernel::{Op, Request, Time};
use serde::Serialize;

/// Maximum number of bins in a timeline. When all bins are used, pairs of adjacent bins are merged.
const BINS: usize = 512;
/// Initial width of a bin: one microsecond.
const FIRST_WIDTH: Time = Time::from_us(1);
/// Maximum number of hours in a timeline, i.e. ten years. Later requests are added to the last hour.
const HOURS_MAX: u64 = 10 * 366 * 24;
const HOUR_PS: u64 = 3600 * 1_000_000_000_000;

/// Amounts of requests and data per interval. The columns have equal length.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// Duration of each interval, in seconds.
    pub width_s: f64,
    /// Start of each interval, in seconds from the first request.
    pub start_s: Vec<f64>,
    /// Number of reads in each interval.
    pub reads: Vec<u64>,
    /// Number of writes in each interval.
    pub writes: Vec<u64>,
    /// Number of bytes read in each interval.
    pub bytes_read: Vec<u64>,
    /// Number of bytes written in each interval.
    pub bytes_written: Vec<u64>,
    /// Total size of the distinct blocks accessed until the end of each interval, in bytes.
    pub footprint_bytes: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    counts: [u64; 2],
    bytes: [u64; 2],
    new_blocks: f64,
}

impl Bin {
    fn join(&mut self, other: Bin) {
        for i in 0..2 {
            self.counts[i] += other.counts[i];
            self.bytes[i] += other.bytes[i];
        }
        self.new_blocks += other.new_blocks;
    }
}

/// Amounts over the whole trace in a few hundred bins, and amounts per hour.
#[derive(Clone, Debug)]
pub(super) struct Rhythm {
    width: Time,
    bins: Vec<Bin>,
    hours: Vec<Bin>,
}

impl Rhythm {
    pub(super) fn new() -> Rhythm {
        Rhythm { width: FIRST_WIDTH, bins: Vec::new(), hours: Vec::new() }
    }

    /// Adds a read or write to the amounts.
    pub(super) fn add(&mut self, request: &Request) {
        let kind = usize::from(request.op == Op::Write);
        let mut bin = Bin::default();
        bin.counts[kind] = 1;
        bin.bytes[kind] = u64::from(request.bytes);
        self.join(request.arrival, bin);
    }

    /// Adds `new_blocks` blocks that are accessed for the first time at `arrival` to the footprint.
    pub(super) fn grow(&mut self, arrival: Time, new_blocks: f64) {
        self.join(arrival, Bin { new_blocks, ..Bin::default() });
    }

    fn join(&mut self, arrival: Time, bin: Bin) {
        let mut place = arrival.as_ps() / self.width.as_ps();
        while place >= BINS as u64 {
            let pairs = self.bins.chunks(2).map(|pair| {
                let mut whole = pair[0];
                pair.get(1).inspect(|&&second| whole.join(second));
                whole
            });
            self.bins = pairs.collect();
            self.width = Time::from_ps(self.width.as_ps() * 2);
            place = arrival.as_ps() / self.width.as_ps();
        }
        let hour = (arrival.as_ps() / HOUR_PS).min(HOURS_MAX - 1);
        for (bins, place) in [(&mut self.bins, place as usize), (&mut self.hours, hour as usize)] {
            if place >= bins.len() {
                bins.resize(place + 1, Bin::default());
            }
            bins[place].join(bin);
        }
    }

    /// Returns the timeline of the whole trace.
    pub(super) fn timeline(&self, block_bytes: u64) -> Timeline {
        table(&self.bins, self.width.as_secs_f64(), block_bytes)
    }

    /// Returns two timelines that start at the first request, one with an interval per hour, and one with an
    /// interval per day.
    pub(super) fn hours_and_days(&self, block_bytes: u64) -> (Timeline, Timeline) {
        let days: Vec<Bin> = self
            .hours
            .chunks(24)
            .map(|hours| {
                let mut day = Bin::default();
                hours.iter().for_each(|&hour| day.join(hour));
                day
            })
            .collect();
        (table(&self.hours, 3600.0, block_bytes), table(&days, 86_400.0, block_bytes))
    }
}

fn table(bins: &[Bin], width_s: f64, block_bytes: u64) -> Timeline {
    let mut footprint = 0.0;
    let mut timeline = Timeline { width_s, ..Timeline::default() };
    for (place, bin) in bins.iter().enumerate() {
        footprint += bin.new_blocks * block_bytes as f64;
        timeline.start_s.push(place as f64 * width_s);
        timeline.reads.push(bin.counts[0]);
        timeline.writes.push(bin.counts[1]);
        timeline.bytes_read.push(bin.bytes[0]);
        timeline.bytes_written.push(bin.bytes[1]);
        timeline.footprint_bytes.push(footprint);
    }
    timeline
}
