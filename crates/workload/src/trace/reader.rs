//! The reader of all formats. It merges several inputs by time, sorts requests by time, and shifts times so
//! that the first request arrives at zero.

use super::clock::{LONGEST, LOOK_BACK};
use super::decode::Decoder;
use super::error::TraceError;
use super::options::TimeUnit;
use super::plausible::implausible_span;
use super::source::Source;
use super::tally::{BAD_RECORDS_KEPT, Log, Tally};
use super::volumes::Volumes;
use super::{Format, Several, TraceReader};
use nacre_kernel::{Request, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Maximum number of positions by which a request can be out of time order and still be sorted.
const WINDOW: usize = 4096;
/// Number of requests decoded at a time.
const BATCH: usize = 8192;

/// Maximum time between the starts of several inputs, in picoseconds: 90 days.
const FURTHEST_APART: u64 = 90 * 86_400 * 1_000_000_000_000;
const _: () = assert!(
    (FURTHEST_APART as u128) + (LONGEST as u128) + (LOOK_BACK as u128) <= Time::MAX.as_ps() as u128,
    "the last arrival of the last input is a Time"
);

/// A source with its decoder, and with decoded requests that are not yet merged.
pub(super) struct Feed {
    source: Source,
    decoder: Box<dyn Decoder>,
    log: Log,
    more: bool,
    latest: Time,
    out_of_order: u64,
    buffer: Vec<Request>,
    next: usize,
    /// Offset of this feed's origin from the earliest origin of all feeds.
    shift: Time,
    /// Volume number in the trace for each volume of this source.
    volumes: Vec<u32>,
}

impl Feed {
    pub(super) fn new(source: Source, decoder: Box<dyn Decoder>, log: Log) -> Feed {
        Feed {
            source,
            decoder,
            log,
            more: true,
            latest: Time::ZERO,
            out_of_order: 0,
            buffer: Vec::new(),
            next: 0,
            shift: Time::ZERO,
            volumes: Vec::new(),
        }
    }

    /// Appends up to `limit` requests to `out`, and counts requests that are out of order.
    fn decode(&mut self, out: &mut Vec<Request>, limit: usize) -> Result<(), TraceError> {
        let start = out.len();
        self.more = self.decoder.decode(&mut self.source, out, limit, &mut self.log)?;
        let (mut latest, mut back) = (self.latest, 0);
        for request in &out[start..] {
            back += u64::from(request.arrival < latest);
            latest = latest.max(request.arrival);
        }
        self.latest = latest;
        self.out_of_order += back;
        Ok(())
    }

    /// Decodes more requests if the buffer is empty.
    fn refill(&mut self) -> Result<(), TraceError> {
        while self.next == self.buffer.len() && self.more {
            self.buffer.clear();
            self.next = 0;
            let mut buffer = std::mem::take(&mut self.buffer);
            let done = self.decode(&mut buffer, BATCH);
            self.buffer = buffer;
            done?;
        }
        Ok(())
    }

    fn arrival(&self) -> Time {
        self.buffer[self.next].arrival + self.shift
    }
}

pub(super) struct Reader {
    format: &'static Format,
    unit_given: Option<TimeUnit>,
    feeds: Vec<Feed>,
    /// Next arrival and index of each feed. The heap is empty if there is only one feed.
    heads: BinaryHeap<Reverse<(Time, usize)>>,
    volumes: Volumes,
    window: Vec<Request>,
    /// Index in `window` of the next request to return. All requests before index `ready` can be returned.
    given: usize,
    ready: usize,
    started: bool,
    ended: bool,
    start: Time,
    latest: Time,
    tally: Tally,
    notes: Vec<String>,
}

impl Reader {
    pub(super) fn new(
        format: &'static Format,
        feeds: Vec<Feed>,
        unit_given: Option<TimeUnit>,
        notes: Vec<String>,
    ) -> Reader {
        let time_unit = format.time_unit.map(|own| unit_given.unwrap_or(own));
        Reader {
            format,
            unit_given,
            feeds,
            heads: BinaryHeap::new(),
            volumes: Volumes::new(),
            window: Vec::new(),
            given: 0,
            ready: 0,
            started: false,
            ended: false,
            start: Time::ZERO,
            latest: Time::ZERO,
            tally: Tally { format: format.kind, time_unit, ..Tally::default() },
            notes,
        }
    }

    /// Makes more requests available, or ends the trace.
    fn advance(&mut self) -> Result<(), TraceError> {
        self.window.drain(..self.ready);
        (self.given, self.ready) = (0, 0);
        let wanted = WINDOW + BATCH - self.window.len();
        let more = if self.feeds.len() == 1 {
            self.feeds[0].decode(&mut self.window, wanted)?;
            self.feeds[0].more
        } else {
            self.merge(wanted)?
        };
        if !self.window.is_sorted_by_key(|request| request.arrival) {
            self.window.sort_by_key(|request| request.arrival);
        }
        if !more {
            self.end()?;
        }
        self.ready = if more { self.window.len().saturating_sub(WINDOW) } else { self.window.len() };
        self.ended = !more;
        if !self.started && !self.window.is_empty() {
            self.started = true;
            self.start = self.window[0].arrival;
            self.latest = self.start;
            self.judge_unit()?;
        }
        self.collect();
        Ok(())
    }

    /// Appends up to `wanted` requests of all feeds in time order. Returns false at the end of all feeds.
    fn merge(&mut self, wanted: usize) -> Result<bool, TraceError> {
        if !self.started && self.heads.is_empty() {
            self.align()?;
        }
        for _ in 0..wanted {
            let Some(Reverse((arrival, index))) = self.heads.pop() else { return Ok(false) };
            let feed = &mut self.feeds[index];
            let mut request = feed.buffer[feed.next];
            request.arrival = arrival;
            if self.format.several == Several::VolumePerFile {
                request.volume = index as u32;
            } else {
                let own = request.volume as usize;
                for name in &feed.decoder.volumes()[feed.volumes.len()..] {
                    // The number of volumes is limited for each feed. If all feeds together exceed the limit,
                    // several volumes would share the last number. The reader returns an error instead.
                    match self.volumes.named(name.as_bytes()) {
                        Ok(volume) => feed.volumes.push(volume),
                        Err(fault) => return Err(too_many(self.format, fault.0)),
                    }
                }
                request.volume = feed.volumes[own];
            }
            self.window.push(request);
            feed.next += 1;
            feed.refill()?;
            if feed.next < feed.buffer.len() {
                self.heads.push(Reverse((feed.arrival(), index)));
            }
        }
        Ok(!self.heads.is_empty())
    }

    /// Fills the buffer of every feed and aligns their clocks.
    fn align(&mut self) -> Result<(), TraceError> {
        for feed in &mut self.feeds {
            feed.refill()?;
        }
        let with_requests = || self.feeds.iter().filter(|feed| !feed.buffer.is_empty());
        let earliest = with_requests().map(|feed| feed.decoder.clock().origin()).min().unwrap_or(0);
        let latest = with_requests().map(|feed| feed.decoder.clock().origin()).max().unwrap_or(0);
        if latest - earliest > u128::from(FURTHEST_APART) {
            return Err(TraceError::Option {
                option: format!("{} files", self.feeds.len()),
                problem: "they begin more than 90 days apart".into(),
                remedy: "read them one after another, or check that they belong to one trace".into(),
            });
        }
        for (index, feed) in self.feeds.iter_mut().enumerate() {
            if feed.next < feed.buffer.len() {
                feed.shift = Time::from_ps((feed.decoder.clock().origin() - earliest) as u64);
                self.heads.push(Reverse((feed.arrival(), index)));
            }
        }
        Ok(())
    }

    /// Returns an error if there were no records, or if too few records match the format.
    fn end(&self) -> Result<(), TraceError> {
        let several = self.feeds.len() > 1;
        let any = self.feeds.iter().any(|feed| feed.log.good > 0);
        for feed in &self.feeds {
            feed.log.end(feed.decoder.empty_is_valid() || (several && any))?;
        }
        Ok(())
    }

    /// Returns an error if the user's time unit makes the first requests impossibly dense.
    fn judge_unit(&self) -> Result<(), TraceError> {
        let Some(unit) = self.unit_given else { return Ok(()) };
        let last = self.window[self.window.len() - 1].arrival;
        let span = u128::from((last - self.start).as_ps());
        match implausible_span(unit, span, self.window.len() as u64) {
            Some(found) if found.impossible => Err(TraceError::TimeUnit {
                given: unit.name(),
                remedy: found.remedy(),
                problem: found.problem,
            }),
            _ => Ok(()),
        }
    }

    /// Adds the logs of all feeds to the tally.
    fn collect(&mut self) {
        let tally = &mut self.tally;
        (tally.bad_records, tally.skipped, tally.out_of_order) = (0, 0, 0);
        tally.first_bad.clear();
        for feed in &self.feeds {
            tally.bad_records += feed.log.bad;
            tally.skipped += feed.log.skipped;
            tally.out_of_order += feed.out_of_order;
            let room = BAD_RECORDS_KEPT - tally.first_bad.len();
            tally.first_bad.extend(feed.log.first_bad.iter().take(room).cloned());
        }
        let names: &[String] = match self.format.several {
            _ if self.feeds.len() == 1 => self.feeds[0].decoder.volumes(),
            Several::VolumePerFile if tally.volumes.is_empty() => {
                tally.volumes = self.feeds.iter().map(|feed| feed.log.source_name.clone()).collect();
                &[]
            }
            Several::VolumePerFile => &[],
            _ => self.volumes.names(),
        };
        tally.volumes.extend_from_slice(names.get(tally.volumes.len()..).unwrap_or(&[]));
        tally.notes.clone_from(&self.notes);
        for feed in &self.feeds {
            for note in feed.decoder.notes() {
                if !tally.notes.contains(&note) {
                    tally.notes.push(note);
                }
            }
        }
    }
}

fn too_many(format: &Format, problem: &'static str) -> TraceError {
    TraceError::Option {
        option: format!("files of {}", format.kind),
        problem: problem.into(),
        remedy: "read fewer files at once".into(),
    }
}

impl TraceReader for Reader {
    fn read(&mut self, out: &mut Vec<Request>, limit: usize) -> Result<usize, TraceError> {
        let before = out.len();
        while out.len() - before < limit {
            if self.given == self.ready {
                if self.ended {
                    break;
                }
                self.advance()?;
                continue;
            }
            let count = (limit - (out.len() - before)).min(self.ready - self.given);
            let (start, mut latest, mut held_back) = (self.start, self.latest, 0);
            out.extend(self.window[self.given..self.given + count].iter().map(|&request| {
                held_back += u64::from(request.arrival < latest);
                latest = latest.max(request.arrival);
                Request { arrival: latest - start, ..request }
            }));
            self.latest = latest;
            self.tally.held_back += held_back;
            self.given += count;
        }
        let count = out.len() - before;
        self.tally.records += count as u64;
        Ok(count)
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }
}
