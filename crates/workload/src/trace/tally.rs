//! Counters of a reader: records, bad records, and skipped records.

use super::error::{Fault, Location, TraceError, excerpt};
use super::options::TimeUnit;

/// Maximum number of bad records whose location and reason are stored. Further bad records are only counted.
pub const BAD_RECORDS_KEPT: usize = 10;

/// Number of records after which the format of a file is accepted, even if most later records are bad.
const SETTLED: u64 = 1000;

/// A bad record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRecord {
    /// Name of the file.
    pub source_name: String,
    /// Location in the file.
    pub place: Location,
    /// Actual and expected content.
    pub reason: String,
}

/// Counts of a reader so far.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Name of the format.
    pub format: &'static str,
    /// Time unit in the file. `None` for formats without times.
    pub time_unit: Option<TimeUnit>,
    /// Number of requests returned.
    pub records: u64,
    /// Number of malformed records, which were skipped.
    pub bad_records: u64,
    /// The first [`BAD_RECORDS_KEPT`] bad records.
    pub first_bad: Vec<BadRecord>,
    /// Number of valid records that are not requests: headers, comments, notes, and events other than the
    /// selected action.
    pub skipped: u64,
    /// Number of requests whose time is before that of a preceding request in the file. They are sorted if
    /// they are at most 4096 positions out of order.
    pub out_of_order: u64,
    /// Number of requests that are more than 4096 positions out of order. They arrive together with the
    /// previous request.
    pub held_back: u64,
    /// Name of each volume in the trace, indexed by [`nacre_kernel::Request::volume`]. Empty for formats
    /// without volumes.
    pub volumes: Vec<String>,
    /// Notes for the user about reading the trace.
    pub notes: Vec<String>,
}

/// Counts of a source during decoding, and the rule for bad records.
#[derive(Debug)]
pub struct Log {
    /// Name of the file.
    pub source_name: String,
    /// Name of the format with which the file is read.
    pub format: &'static str,
    /// Whether the first bad record is fatal.
    pub strict: bool,
    /// Time unit that the user selected, if any.
    pub unit_given: Option<TimeUnit>,
    /// Number of requests decoded so far. Decoders update this number before they call [`Log::bad`].
    pub good: u64,
    /// Number of bad records so far.
    pub bad: u64,
    /// Number of complete records that are not requests.
    pub skipped: u64,
    /// The first bad records.
    pub first_bad: Vec<BadRecord>,
}

impl Log {
    /// Creates an empty log.
    pub fn new(source_name: &str, format: &'static str, strict: bool, unit_given: Option<TimeUnit>) -> Log {
        Log {
            source_name: source_name.to_string(),
            format,
            strict,
            unit_given,
            good: 0,
            bad: 0,
            skipped: 0,
            first_bad: Vec::new(),
        }
    }

    /// Records a bad record. `found` is its content as text or bytes.
    ///
    /// Returns an error if bad records are fatal, or if most records of the file so far are bad.
    #[cold]
    pub fn bad(&mut self, place: Location, fault: Fault, found: &[u8]) -> Result<(), TraceError> {
        if let (Fault::TOO_LATE, Some(unit)) = (fault, self.unit_given) {
            return Err(self.wrong_unit(place, unit));
        }
        let reason = if self.strict || self.first_bad.len() < BAD_RECORDS_KEPT {
            format!("{}: {}", fault.0, excerpt(found))
        } else {
            String::new()
        };
        self.bad_because(place, 1, reason)
    }

    /// Adds `count` bad records at one location. Returns an error in the same cases as [`Log::bad`].
    #[cold]
    pub fn bad_because(&mut self, place: Location, count: u64, reason: String) -> Result<(), TraceError> {
        if self.strict {
            let source_name = self.source_name.clone();
            return Err(TraceError::BadRecord { source_name, place, problem: reason });
        }
        self.bad += count;
        if self.first_bad.len() < BAD_RECORDS_KEPT {
            self.first_bad.push(BadRecord { source_name: self.source_name.clone(), place, reason });
        }
        if self.good + self.bad <= SETTLED && self.bad > SETTLED / 2 {
            return Err(self.wrong_format());
        }
        Ok(())
    }

    /// Returns an error if the trace has no requests (unless `empty_is_valid`), or if a short trace has more
    /// bad records than requests.
    pub fn end(&self, empty_is_valid: bool) -> Result<(), TraceError> {
        let settled = self.good + self.bad > SETTLED;
        if (self.good == 0 && !empty_is_valid) || (!settled && self.bad > self.good) {
            return Err(self.wrong_format());
        }
        Ok(())
    }

    fn wrong_unit(&self, place: Location, unit: TimeUnit) -> TraceError {
        let shorter: Vec<&str> =
            TimeUnit::ALL.iter().take_while(|&&other| other != unit).map(|other| other.name()).collect();
        TraceError::TimeUnit {
            given: unit.name(),
            problem: format!(
                "the record at {place} of {} would be more than 120 days after the first",
                self.source_name
            ),
            remedy: match shorter.is_empty() {
                true => "check the times in the file".into(),
                false => format!("{} would be plausible", shorter.join(" or ")),
            },
        }
    }

    fn wrong_format(&self) -> TraceError {
        let mut found =
            format!("{} requests, {} bad records and {} others", self.good, self.bad, self.skipped);
        if let Some(first) = self.first_bad.first() {
            found.push_str(&format!("; the first bad one is at {}: {}", first.place, first.reason));
        }
        TraceError::WrongFormat {
            source_name: self.source_name.clone(),
            format: self.format,
            found,
            remedy: "check that the file is complete, or set its format".into(),
        }
    }
}
