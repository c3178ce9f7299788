//! Traces of real systems in many published formats.
//!
//! A reader takes opened and decompressed [`Source`]s, and returns [`Request`]s in time order, the first at
//! zero. It reports every guess: skipped, moved, and unknown data is in its [`Tally`].
//!
//! Each format is a module with one line in [`FORMATS`]. It rates how well it matches the head of a file,
//! decodes it, and may write it.
//!
//! **Order.** Times may decrease in many formats. Requests at most 4096 positions away from their position in
//! time order are moved there; others arrive with the previous request. Both are counted.
//!
//! **Volumes.** Every device, LUN, ASU, or file of a format gets a dense [`Request::volume`], in order of
//! first appearance; the names are in [`Tally::volumes`].

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
    /// Appends up to `limit` requests to `out` and returns the number; zero at the end of the trace.
    fn read(&mut self, out: &mut Vec<Request>, limit: usize) -> Result<usize, TraceError>;
    /// Counts so far. Bad and skipped records count when decoded, up to 12,288 requests ahead of those
    /// returned.
    fn tally(&self) -> &Tally;
}

/// Relation of several inputs of one format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Several {
    /// Parts of one recording with one clock and common volumes: merged by time.
    Merged,
    /// Recordings of one disk each with one clock: merged by time, one volume per file.
    VolumePerFile,
    /// Unrelated clocks or volumes: one input only.
    One,
}

/// One trace format.
pub struct Format {
    /// Its name on the command line.
    pub kind: &'static str,
    /// Summary in one line.
    pub summary: &'static str,
    /// The usual endings of file names, without the dot.
    pub extensions: &'static [&'static str],
    /// Default time unit; `None` for formats without time.
    pub time_unit: Option<TimeUnit>,
    /// Whether files of the format exist in other time units, so that the user may select one.
    pub unit_varies: bool,
    /// Another common unit, if neither the file nor the format defines it.
    pub unit_unsaid: Option<&'static str>,
    /// Relation of several inputs.
    pub several: Several,
    /// For formats with several events per request: whether a head contains a queue event.
    pub queued: Option<fn(Head<'_>) -> bool>,
    /// Page size in bytes, for formats whose addresses are opaque numbers: the user may override it.
    pub page_bytes: Option<u64>,
    /// Match of the head of a file, from 0 (impossible) to 100 (certain).
    pub detect: fn(Head<'_>) -> u8,
    /// A decoder for one input.
    pub open: fn(&OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError>,
    /// A writer, if the format can be written.
    pub create: Option<Create>,
}

/// Creates a writer of a format on a sink.
pub type Create = fn(Box<dyn Write + Send>, &WriteOptions) -> Result<Box<dyn TraceWriter>, TraceError>;

/// Options for decoding one input.
pub struct OpenOptions<'a> {
    /// Time unit: that of the user or the format; nanoseconds if there is none.
    pub unit: TimeUnit,
    /// Bytes of a page: those of the user or the format; zero if there are none.
    pub page_bytes: u64,
    /// The head of this input.
    pub head: Head<'a>,
    /// Event that is a request, if the format records several.
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
