//! Replay of a recorded trace.
//!
//! # Model
//! The model reads a trace in any supported format. It issues the requests at their recorded times or
//! according to another arrival process. The setting `placement` determines how the volumes of the trace are
//! mapped to one address space:
//!
//! - `as_recorded`: volume k starts at k times 16 TiB, and addresses within a volume do not change.
//! - `compact`: extents of 1 MiB are placed one after another in the order of their first access. The trace
//!   then fits a device that is only slightly larger than the footprint of the trace. If the extents of a
//!   request are not adjacent after this mapping, the request is split. This mapping uses about 32 B of
//!   memory per extent.
//!
//! In the simulation, all requests go to volume 0. Nacre reads a trace during the replay, so memory use does
//! not depend on the length of the trace. A `part` of a trace consists of the requests to some of its volumes
//! or extents. The requests of a part arrive at the same times as in the whole trace.
//!
//! # Not modeled
//! The model omits the dependencies between requests in the recorded system, and the contents of writes. With
//! `compact`, alignment to more than 1 MiB and distances between extents are lost.
//!
//! # Sources
//! snia-traces: the SNIA I/O trace repository and the formats of its traces. Each reader cites its sources.
//!
//! # Checks
//! Each byte of each request is in exactly one part of a trace. The tests check every field of small traces,
//! both mappings, requests that span extents, limits, bad records, and all errors. With `compact`, the
//! addresses equal those of a slow byte-by-byte reference implementation.

use super::part::Part;
use super::placement::{Compact, EXTENT_BYTES, Misfit, keep};
use crate::arrival::{Arrival, ArrivalFamily, Pacing};
use crate::error::WorkloadError;
use crate::trace::{Action, Options, Tally, TimeUnit, TraceReader, format_named};
use crate::{Notes, Workload, WorkloadBuilder, WorkloadFamily};
use nacre_config::{Choice, Configuration, Descriptor, Model, Problems, Reader, Slot, both};
use nacre_kernel::state::{State, StateError, StateReader, StateWriter, Value};
use nacre_kernel::{Bytes, Request};
use std::collections::VecDeque;

/// Replay of a trace.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Trace file, relative to the scenario, or name of a built-in trace. Set either `file` or `files`.
    pub file: Option<String>,
    /// Files of a trace that consists of several files, e.g. one per processor for blktrace.
    pub files: Option<Vec<String>>,
    /// Trace format. If absent, Nacre detects it from the content.
    pub format: Option<String>,
    /// Time unit in the file: ns, 100ns, us, ms, or s. By default, Nacre uses the unit that the
    /// format defines.
    pub time_unit: Option<String>,
    /// End the run at the first bad record. If off, bad records are skipped and counted.
    #[config(default = false, source = "assumed: old traces have a few bad lines")]
    pub strict: bool,
    /// Event of blkparse and blktrace that counts as a request: Q (queued), D (issued), or C (completed). By
    /// default, Nacre uses Q if the trace has such events, and D otherwise.
    pub action: Option<String>,
    /// Page size of an `arc` trace, or distance between adjacent objects of an `oracle_general` trace. In
    /// bytes; a power of two.
    #[config(min = "512 B", max = "1 GiB")]
    pub page: Option<Bytes>,
    /// Number of requests to replay. If absent, Nacre replays all requests.
    #[config(min = 1)]
    pub limit: Option<u64>,
    /// Mapping of the volumes of the trace into the address space of the device.
    #[config(default = "as_recorded", source = "assumed: as recorded")]
    pub placement: Placement,
    /// Part of the trace to replay. If absent, Nacre replays the whole trace.
    pub part: Option<Part>,
    /// Arrival process of the requests.
    #[config(default = "recorded", source = "assumed: as recorded")]
    pub arrival: Slot<ArrivalFamily>,
}

/// Mapping of the volumes of a trace into the address space of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Placement {
    /// Volume k starts at k times 16 TiB. Addresses within a volume are unchanged.
    AsRecorded,
    /// Extents of 1 MiB are contiguous in the order of their first access.
    Compact,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    match (&config.file, &config.files) {
        (None, None) => {
            reader.conflict("file", "", "there is no trace to replay", "give file, or files for several");
        }
        (Some(file), Some(_)) => {
            reader.conflict(
                "file",
                &format!("{file:?}"),
                "file and files are both given",
                "give one of them",
            );
        }
        _ => {}
    }
    let known = |field: &str, given: &Option<String>, wrong: &dyn Fn(&str) -> Option<(String, String)>| {
        let given = given.as_deref()?;
        let (problem, remedy) = wrong(given)?;
        Some((field.to_string(), format!("{given:?}"), problem, remedy))
    };
    let unknown = [
        known("format", &config.format, &|given| {
            format_named(given).err().map(|error| (error.problem(), error.remedy()))
        }),
        known("time_unit", &config.time_unit, &|given| {
            let wrong = TimeUnit::parse(given).is_err();
            wrong.then(|| ("there is no such unit".into(), "use ns, 100ns, us, ms or s".into()))
        }),
        known("action", &config.action, &|given| {
            let wrong = Action::parse(given).is_err();
            wrong.then(|| ("there is no such action".into(), "use Q, D or C".into()))
        }),
    ];
    for (field, given, problem, remedy) in unknown.into_iter().flatten() {
        reader.conflict(&field, &given, &problem, &remedy);
    }
    if let Some(page) = config.page.filter(|page| !page.0.is_power_of_two()) {
        reader.conflict(
            "page",
            &page.to_string(),
            "it is not a power of two",
            "use 512 B, 1 KiB, 2 KiB, ...",
        );
    }
}

impl Config {
    /// Lists the files of the trace, at least one.
    fn files(&self) -> Vec<String> {
        self.files
            .clone()
            .or_else(|| Some(vec![self.file.clone()?]))
            .expect("checked: file or files is given")
    }

    /// Opens the trace of the slot at `path`. Also returns the path of the setting that names the trace.
    pub(super) fn open(
        &self,
        path: &str,
        builder: &mut dyn WorkloadBuilder,
    ) -> Result<(String, Box<dyn TraceReader>), Problems> {
        let field = if self.files.is_some() { "files" } else { "file" };
        let path = format!("{path}.{field}");
        let reader = builder.open_trace(&path, &self.files(), &self.options())?;
        Ok((path, reader))
    }

    /// Options of the reader.
    fn options(&self) -> Options {
        Options {
            format: self.format.clone(),
            time_unit: self.time_unit.as_deref().and_then(|unit| TimeUnit::parse(unit).ok()),
            strict: self.strict,
            action: self.action.as_deref().and_then(|action| Action::parse(action).ok()),
            page_bytes: self.page.map(|page| page.0),
        }
    }
}

/// Descriptor and constructor of the component.
pub const MODEL: Model<WorkloadFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "trace",
        "a recorded trace, at its recorded times or under another arrival process",
        &["snia-traces"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let arrival = builder.arrival(&config.arrival);
        let reader = config.open(slot.path(), builder);
        let (arrival, (path, reader)) = both(arrival, reader)?;
        let left = config.limit.unwrap_or(u64::MAX);
        Ok(Box::new(Replay {
            feed: Feed { path, reader, left, taken: 0, mark: 0 },
            compact: (config.placement == Placement::Compact).then(Compact::default),
            part: config.part,
            arrival,
            given: 0,
            own: 0,
            records: Vec::new(),
            pieces: Vec::new(),
            waiting: VecDeque::new(),
        }))
    },
};

#[derive(State)]
struct Replay {
    feed: Feed,
    arrival: Box<dyn Arrival>,
    compact: Option<Compact>,
    #[state(skip = "from the configuration")]
    part: Option<Part>,
    /// Number of returned requests. A record that was split counts once for each fragment.
    given: u64,
    /// Number of records, or fragments of records, in this part of the trace.
    own: u64,
    /// Records that are not yet mapped to requests.
    #[state(skip = "it begins empty with every call")]
    records: Vec<Request>,
    /// Fragments of one record that are in this part.
    #[state(skip = "it begins empty with every call")]
    pieces: Vec<Request>,
    /// Fragments of a split request that did not fit into the last batch.
    waiting: VecDeque<Request>,
}

/// Number of records per read when a restored run skips to the position of the saved run.
const SKIPPED: usize = 4096;

/// Records of the trace, up to the limit.
struct Feed {
    path: String,
    reader: Box<dyn TraceReader>,
    /// Number of remaining records.
    left: u64,
    taken: u64,
    /// Hash of the records read so far.
    mark: u64,
}

/// Saves the number and the hash of the records read so far. A restored run reads the trace again up to the
/// last of these records, and the trace must not have changed.
impl State for Feed {
    fn save(&self, state: &mut StateWriter) {
        (self.taken, self.mark).save(state);
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        let (taken, mark) = <(u64, u64)>::read(state)?;
        let mut batch = Vec::new();
        while self.taken < taken {
            batch.clear();
            let before = self.taken;
            let missing = usize::try_from(taken - self.taken).unwrap_or(SKIPPED).min(SKIPPED);
            self.read(&mut batch, missing)
                .map_err(|error| state.error(format!("{taken} records of the trace"), error.to_string()))?;
            if self.taken == before {
                break;
            }
        }
        let wanted = format!("{taken} records of the trace");
        match (self.taken == taken, self.mark == mark) {
            (true, true) => Ok(()),
            (true, false) => Err(state.error(wanted, "other records: the file has changed".into())),
            (false, _) => Err(state.error(wanted, self.taken.to_string())),
        }
    }
}

/// Returns the hash `mark` after `record` is added. The hash is multiplicative, because a checksum would
/// take longer than reading.
fn marked(mark: u64, record: &Request) -> u64 {
    let place =
        record.address ^ u64::from(record.bytes).rotate_left(40) ^ u64::from(record.volume).rotate_left(20);
    let step = |mark: u64, value: u64| (mark.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
    step(step(mark, place ^ record.op as u64), record.arrival.as_ps())
}

impl Feed {
    /// Appends up to `limit` records to `batch`.
    fn read(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        let limit = usize::try_from(self.left).unwrap_or(limit).min(limit);
        if limit > 0 {
            let before = batch.len();
            let read = self.reader.read(batch, limit);
            self.mark = batch[before..].iter().fold(self.mark, marked);
            let count = read.map_err(|error| WorkloadError::Trace { path: self.path.clone(), error })? as u64;
            self.left -= count;
            self.taken += count;
        }
        Ok(())
    }

    /// Returns the error for a record outside the address space. `after` is the number of records that were
    /// read after it.
    #[cold]
    fn misfit(&self, misfit: Misfit, after: usize, recorded: &Request) -> WorkloadError {
        let problem = match misfit {
            Misfit::Address => format!(
                "it reaches to byte {} of volume {}, and by placement = \"as_recorded\" a volume has 16 TiB",
                recorded.address + u64::from(recorded.bytes),
                recorded.volume
            ),
            Misfit::Volume => format!(
                "it is on volume {}, and by placement = \"as_recorded\" there is room for 524288 volumes",
                recorded.volume
            ),
        };
        let request = self.taken - after as u64;
        WorkloadError::Placement { path: self.path.clone(), request, problem }
    }
}

impl Replay {
    fn fill_kept(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        let from = batch.len();
        self.feed.read(batch, limit)?;
        for place in from..batch.len() {
            let recorded = batch[place];
            if let Err(misfit) = keep(&mut batch[place]) {
                return Err(self.feed.misfit(misfit, batch.len() - 1 - place, &recorded));
            }
        }
        Ok(())
    }

    fn fill_placed(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        if self.compact.is_none() && self.part.is_none() {
            return self.fill_kept(batch, limit);
        }
        let from = batch.len();
        batch.extend(self.waiting.drain(..self.waiting.len().min(limit)));
        loop {
            let want = limit - (batch.len() - from);
            self.records.clear();
            self.feed.read(&mut self.records, want)?;
            self.place(batch)?;
            // Even many records may have none that belongs to this part.
            if self.records.is_empty() || batch.len() > from {
                break;
            }
        }
        // Split records can produce more requests than requested.
        if batch.len() - from > limit {
            self.waiting.extend(batch.drain(from + limit..));
        }
        Ok(())
    }

    /// Maps the fragments of records that belong to this part, and appends the requests to `batch`.
    fn place(&mut self, batch: &mut Vec<Request>) -> Result<(), WorkloadError> {
        let Replay { compact, part, records, pieces, feed, own, .. } = self;
        for (place, record) in records.iter().enumerate() {
            pieces.clear();
            match part {
                Some(part) => part.choose(record, pieces),
                None => pieces.push(*record),
            }
            *own += pieces.len() as u64;
            for piece in pieces.iter_mut() {
                match compact {
                    Some(compact) => compact.place(piece, batch),
                    None => {
                        let recorded = *piece;
                        let kept = keep(piece);
                        kept.map_err(|misfit| feed.misfit(misfit, records.len() - 1 - place, &recorded))?;
                        batch.push(*piece);
                    }
                }
            }
        }
        Ok(())
    }
}

impl Workload for Replay {
    fn fill(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        let from = batch.len();
        self.fill_placed(batch, limit)?;
        self.given += (batch.len() - from) as u64;
        self.arrival.stamp(&mut batch[from..])
    }

    fn pacing(&self) -> Pacing {
        self.arrival.pacing()
    }

    fn expected(&self) -> Option<u64> {
        None
    }

    fn reach(&self) -> Option<u64> {
        None
    }

    fn notes(&self) -> Notes {
        let tally = self.feed.reader.tally();
        let mut notes = remarks(tally);
        if let Some(compact) = &self.compact {
            let extents = compact.extents();
            notes.push(format!("compact placement: {extents} extents, {}", Bytes(extents * EXTENT_BYTES)));
            let cut = self.given + self.waiting.len() as u64 - self.own;
            if cut > 0 {
                notes.push(format!("requests split at the boundaries of extents: {cut}"));
            }
        } else if tally.volumes.len() > 1 && self.part.as_ref().is_none_or(|part| part.parts == 1) {
            notes.push("volumes are 16 TiB apart; placement = \"compact\" makes them adjacent".into());
        }
        Notes { kind: "trace", records: self.given, bad_records: tally.bad_records, notes }
    }
}

/// Notes of the reader, as text.
fn remarks(tally: &Tally) -> Vec<String> {
    let unit = tally
        .time_unit
        .map_or_else(|| "without times".to_string(), |unit| format!("times in {}", unit.name()));
    let mut notes = vec![format!("read as {}, {unit}", tally.format)];
    notes.extend(tally.notes.iter().cloned());
    if tally.volumes.len() > 1 {
        notes.push(format!("volumes: {}", tally.volumes.len()));
    }
    let counts = [
        ("complete records that are not requests (headers, comments, other events), skipped", tally.skipped),
        ("requests recorded out of order", tally.out_of_order),
        (
            "out-of-order requests that could not be sorted; each arrives with the previous request",
            tally.held_back,
        ),
    ];
    let counted = counts.into_iter().filter(|&(_, count)| count > 0);
    notes.extend(counted.map(|(what, count)| format!("{what}: {count}")));
    let bad = tally.first_bad.iter();
    notes.extend(bad.map(|bad| format!("bad record at {}, {}: {}", bad.source_name, bad.place, bad.reason)));
    notes
}

#[cfg(test)]
mod tests;
