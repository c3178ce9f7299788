//! Traces of real systems in many published formats.
//!
//! A reader takes opened and decompressed [`Source`]s, and returns [`Request`]s in time order. The first
//! request is at time zero. The [`Tally`] of the reader reports every guess: it counts skipped, reordered,
//! and unknown data.
//!
//! Each format is a module and one entry in [`FORMATS`]. A format has functions to score how well it matches
//! the head of a file, to decode a file, and, optionally, to write one.
//!
//! **Order.** Times may decrease in many formats. Requests that are at most 4096 positions away from their
//! position in time order are sorted. Other late requests arrive at the time of the previous request. The
//! tally counts both kinds.
//!
//! **Volumes.** Every device, LUN, ASU, or file of a format is assigned a dense [`Request::volume`] in order
//! of first appearance. The names are in [`Tally::volumes`].

pub mod alibaba;
pub mod arc;
pub mod blkparse;
pub mod blktrace;
pub mod cachelib;
pub mod clock;
pub mod decode;
pub mod detect;
pub mod disksim;
pub mod error;
pub mod fields;
pub mod fio_iolog;
pub mod fiu;
pub mod k5cloud;
pub mod lcs;
mod left_out;
pub mod msr;
pub mod nacre;
pub mod nacre_csv;
mod objects;
pub mod open;
pub mod options;
pub mod oracle_general;
pub mod plausible;
pub mod reader;
pub mod sample;
pub mod source;
pub mod spc;
pub mod ssdsim;
pub mod summary;
pub mod systor;
pub mod tally;
pub mod tencent;
pub mod volumes;
pub mod vscsi;
pub mod write;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use detect::{detect, format_named};
pub use error::{Fault, Location, TraceError};
pub use open::open;
pub use options::{Action, Options, TimeUnit};
pub use plausible::{Implausible, implausible_span};
pub use sample::Sampler;
pub use source::{Head, Source};
pub use summary::Summary;
pub use tally::{BadRecord, Tally};
pub use write::{TraceWriter, WriteOptions, Written, create};

use decode::Decoder;
use nacre_kernel::Request;
use std::io::Write;

/// Returns the requests of a trace in time order.
pub trait TraceReader: Send {
    /// Appends up to `limit` requests to `out`. Returns their number, which is zero at the end of the trace.
    fn read(&mut self, out: &mut Vec<Request>, limit: usize) -> Result<usize, TraceError>;
    /// Returns the counts so far. A bad or skipped record is counted when it is decoded, which may be up to
    /// 12,288 requests before the reader returns the requests around it.
    fn tally(&self) -> &Tally;
}

/// Relation between several inputs of one format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Several {
    /// Parts of one recording with a common clock and common volumes. The inputs are merged by time.
    Merged,
    /// Recordings of one disk each, with a common clock. The inputs are merged by time, and each file is one
    /// volume.
    VolumePerFile,
    /// Recordings whose clocks or volumes are unrelated. Only one input is allowed.
    One,
}

/// One trace format.
pub struct Format {
    /// Name on the command line.
    pub kind: &'static str,
    /// One-line summary.
    pub summary: &'static str,
    /// Usual file name extensions, without the dot.
    pub extensions: &'static [&'static str],
    /// Default time unit. `None` for formats without times.
    pub time_unit: Option<TimeUnit>,
    /// Whether some files of the format have other time units, so that the user may select the unit.
    pub unit_varies: bool,
    /// Note on another common time unit, for formats that do not specify the unit. `None` if no other unit
    /// is common.
    pub unit_unsaid: Option<&'static str>,
    /// Relation between several inputs.
    pub several: Several,
    /// Function that returns whether the head of a file contains a queue event. `None` if the format has only
    /// one event per request.
    pub queued: Option<fn(Head<'_>) -> bool>,
    /// Page size in bytes for formats whose addresses are opaque numbers. `None` for other formats. The user
    /// may override the page size.
    pub page_bytes: Option<u64>,
    /// Function that scores the head of a file, from 0 (impossible) to 100 (certain).
    pub detect: fn(Head<'_>) -> u8,
    /// Function that creates a decoder for one input.
    pub open: fn(&OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError>,
    /// Function that creates a writer. `None` if the format cannot be written.
    pub create: Option<Create>,
}

/// Type of the functions that create a writer of one format for an output stream.
pub type Create = fn(Box<dyn Write + Send>, &WriteOptions) -> Result<Box<dyn TraceWriter>, TraceError>;

/// Options for decoding one input.
pub struct OpenOptions<'a> {
    /// Time unit that the user selected, or else that of the format. Nanoseconds if there is neither.
    pub unit: TimeUnit,
    /// Page size in bytes that the user selected, or else that of the format. Zero if there is neither.
    pub page_bytes: u64,
    /// Head of this input.
    pub head: Head<'a>,
    /// Event that counts as a request, if the format records several events per request.
    pub action: Action,
}

/// All formats.
pub static FORMATS: &[&Format] = &[
    &nacre::FORMAT,
    &nacre_csv::FORMAT,
    &vscsi::FORMAT,
    &msr::FORMAT,
    &spc::FORMAT,
    &ssdsim::FORMAT,
    &disksim::FORMAT,
    &blkparse::FORMAT,
    &blktrace::FORMAT,
    &fio_iolog::FORMAT,
    &systor::FORMAT,
    &alibaba::FORMAT,
    &tencent::FORMAT,
    &k5cloud::FORMAT,
    &fiu::FORMAT,
    &cachelib::FORMAT,
    &lcs::FORMAT,
    &oracle_general::FORMAT,
    &arc::FORMAT,
];
