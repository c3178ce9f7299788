//! A write-back cache of pages in frames of a memory that is written in place, in front of a slower device.
//! It is shared by the disk caches in DRAM and in phase-change memory.
//!
//! A frame holds one page. The least recently used page is evicted; a dirty page is written back first. If
//! more than `dirty_limit` pages are dirty, the pages that have been dirty for longest are written back and
//! stay as clean pages. At most [`WRITE_BACKS`] write-backs are in progress; an operation that needs another
//! one waits.
//!
//! Content and evictions are decided when the lookup of a request ends. A frame is *busy* while its page is
//! being fetched or written. Requests for that page wait at the frame in order of arrival, and the page is
//! not evicted. The data of a fetched page is available on arrival: reads do not wait until it is in the
//! memory.
//!
//! | operation | waits for |
//! |---|---|
//! | read of a page | the page, if it is being fetched or written |
//! | write of a page | the page, if it is being fetched or written, and until a fetched page is in the memory |
//! | fetch from the backing | write-backs and trims of its pages |
//! | page that enters a frame | the slot for the write-back of the dirty page that leaves the frame |
//! | write-back | its page, read from the frame; a slot for write-backs in progress; earlier write-backs and trims of the page |
//! | trim of the backing | earlier write-backs and trims of its pages; its busy pages, which are then dropped if they are clean |
//! | flush, if the memory is volatile | earlier writes, then the write-backs of all dirty pages and earlier ones |
//! | page without a frame | a frame that is not busy |

mod back;
mod busy;
mod cache;
mod counts;
mod device;
mod fetching;
mod operation;
mod power;
mod reads;
mod report;
#[cfg(test)]
mod tests;
mod waiting;
mod writes;

pub(crate) use cache::FrameCache;
use nacre_kernel::state::State;
use nacre_kernel::{Activity, Bytes, Resource, Time, Wear};

/// Maximum write-backs in progress.
pub(crate) const WRITE_BACKS: usize = 32;

/// Marks an absent page.
const NONE: u64 = u64::MAX;

/// A memory of frames.
pub(crate) trait Memory: State + Send {
    /// Whether a power loss loses its content.
    const IS_VOLATILE: bool;
    /// Bytes that a power loss leaves old or new.
    const ATOMIC_UNIT: u32;
    /// Name of its model.
    const KIND: &'static str;

    /// Whether it holds data.
    fn carries_bytes(&self) -> bool;

    /// Whether a code covers a frame, so that writing a part of a page needs the rest of it.
    fn has_code(&self) -> bool;

    /// Reads `frame` from `now`; its data goes to `into`, which is empty without data.
    fn read(&mut self, frame: u32, now: Time, into: &mut [u8]) -> Access;

    /// Encodes a page from `now`, without blocking anything else; returns when it can be written.
    fn encode(&mut self, now: Time) -> Time;

    /// Starts to write an encoded page to `frame`; returns the duration.
    fn begin_write(&mut self, frame: u32, now: Time) -> Access;

    /// Sets the data of `frame` to `bytes`.
    fn land(&mut self, frame: u32, bytes: &[u8]);

    /// Looks a page up from `now`; returns the end time.
    fn look_up(&mut self, now: Time) -> Time;

    /// A frame's bytes as they are, without taking time.
    fn peek(&self, frame: u32, into: &mut [u8]);

    /// Handles a power failure at `at`: unfinished work does not happen, and is not charged.
    fn power_fail(&mut self, at: Time);

    fn restart_ledger(&mut self);

    /// The memory's part of the report.
    fn report(&self, elapsed: Time) -> MemoryReport;
}

/// A frame was read or written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// Start of the work of the memory itself.
    pub(crate) begin: Time,
    pub(crate) done: Time,
    /// Division of the time: waiting, the memory, the code.
    pub(crate) spans: [(Activity, Time); 3],
    /// Whether the data read is correct.
    pub(crate) is_good: bool,
}

/// Report of a memory.
#[derive(Debug)]
pub(crate) struct MemoryReport {
    pub(crate) resources: Vec<Resource>,
    pub(crate) is_energy_modeled: bool,
    pub(crate) idle_energy: Option<nacre_kernel::Energy>,
    pub(crate) counters: Vec<(&'static str, u64)>,
    pub(crate) cost: Option<f64>,
    pub(crate) area_mm2: Option<f64>,
    pub(crate) lifetime_days: Option<f64>,
    pub(crate) wear: Option<Wear>,
    pub(crate) columns: Vec<nacre_kernel::Column>,
}

/// The settings of a cache of frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Bytes of a page; a power of two.
    pub(crate) page: Bytes,
    pub(crate) frames: u32,
    /// Maximum dirty frames.
    pub(crate) dirty_frames: u32,
}
