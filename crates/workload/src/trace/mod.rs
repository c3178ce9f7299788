//! Traces of real systems in many published formats.
//!
//! A reader takes opened and decompressed [`Source`]s and returns [`Request`]s in time order, with the first
//! at time zero. It reports every guess: its [`Tally`] counts skipped, reordered, and unknown data.
//!
//! Each format is a module and one entry in [`FORMATS`]. It scores how well it matches the head of a file,
//! decodes the file, and can optionally write files.
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
    /// Appends up to `limit` requests to `out` and returns their number; zero at the end of the trace.
    fn read(&mut self, out: &mut Vec<Request>, limit: usize) -> Result<usize, TraceError>;
    /// Returns the counts so far. Bad and skipped records are counted when they are decoded, up to 12,288
    /// requests before they are returned.
    fn tally(&self) -> &Tally;
}

/// Relation between several inputs of one format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Several {
    /// Parts of one recording with a common clock and common volumes. They are merged by time.
    Merged,
    /// Recordings of one disk each with a common clock. They are merged by time, with one volume per file.
    VolumePerFile,
    /// Unrelated clocks or volumes. Only one input is allowed.
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
    /// Default time unit; `None` for formats without time.
    pub time_unit: Option<TimeUnit>,
    /// Whether files of the format exist with other time units, so that the user may select one.
    pub unit_varies: bool,
    /// Another common time unit, if neither the file nor the format specifies it.
    pub unit_unsaid: Option<&'static str>,
    /// Relation between several inputs.
    pub several: Several,
    /// For formats with several events per request: whether the head of a file contains a queue event.
    pub queued: Option<fn(Head<'_>) -> bool>,
    /// Page size in bytes for formats whose addresses are opaque numbers. The user may override it.
    pub page_bytes: Option<u64>,
    /// Score of the head of a file, from 0 (impossible) to 100 (certain).
    pub detect: fn(Head<'_>) -> u8,
    /// Creates a decoder for one input.
    pub open: fn(&OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError>,
    /// Creates a writer, if the format can be written.
    pub create: Option<Create>,
}

/// Creates a writer of a format for a sink.
pub type Create = fn(Box<dyn Write + Send>, &WriteOptions) -> Result<Box<dyn TraceWriter>, TraceError>;

/// Options for decoding one input.
pub struct OpenOptions<'a> {
    /// Time unit of the user or the format; nanoseconds if there is none.
    pub unit: TimeUnit,
    /// Page size of the user or the format in bytes; zero if there is none.
    pub page_bytes: u64,
    /// Head of this input.
    pub head: Head<'a>,
    /// Event that counts as a request, if the format records several.
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
