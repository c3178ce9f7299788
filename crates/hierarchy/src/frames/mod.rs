//! A write-back page cache in front of a slower device. Its frames are in a memory that is written in place.
//! The disk caches in DRAM and in phase-change memory share this code.
//!
//! A frame holds one page. The least recently used page is evicted, and a dirty page is written back first.
//! If more than `dirty_limit` pages are dirty, the pages that have been dirty longest are written back and
//! stay cached as clean pages. At most [`WRITE_BACKS`] write-backs are in progress. An operation that needs
//! another write-back waits.
//!
//! Content and evictions are decided when the lookup of a request ends. A frame is *busy* while its page is
//! being fetched or written. Requests for that page wait at the frame in order of arrival, and the page is
//! not evicted. The data of a fetched page is available on arrival, so reads do not wait until it is in the
//! memory.
//!
//! | operation | waits for |
//! |---|---|
//! | read of a page | the fetch or write of the page, if one is in progress |
//! | write of a page | the fetch or write of the page, if one is in progress, including the write of a fetched page to the memory |
//! | fetch from the backing | write-backs and trims of the same pages |
//! | page that enters a frame | the slot for the write-back of the dirty page that leaves the frame |
//! | write-back | the read of the page from its frame, a slot for write-backs in progress, and earlier write-backs and trims of the page |
//! | trim of the backing | earlier write-backs and trims of the same pages, and busy pages in its range, which are then dropped if they are clean |
//! | flush, if the memory is volatile | earlier writes, then all earlier write-backs and those of all dirty pages |
//! | page without a frame | a frame that is not busy |

mod back;
mod busy;
mod cache;
mod counts;
mod device;
mod fetching;
mod modes;
mod operation;
mod power;
mod reads;
mod report;
mod switching;
#[cfg(test)]
mod tests;
mod waiting;
mod writes;

pub(crate) use cache::FrameCache;
pub(crate) use modes::ModeRules;
use nacre_kernel::state::State;
use nacre_kernel::{Activity, Bytes, Resource, Time, Wear};

/// Maximum number of write-backs in progress.
pub(crate) const WRITE_BACKS: usize = 32;

/// Marks an absent page.
const NONE: u64 = u64::MAX;

/// A memory that consists of frames.
pub(crate) trait Memory: State + Send {
    /// Whether a power loss destroys the content.
    const IS_VOLATILE: bool;
    /// Atomic write unit in bytes. After a power loss, each unit is either old or new.
    const ATOMIC_UNIT: u32;
    /// Name of the memory's model.
    const KIND: &'static str;

    /// Whether the memory stores data.
    fn carries_bytes(&self) -> bool;

    /// Whether an error-correcting code covers each frame. If so, writing a portion of a page requires
    /// reading the rest of the page.
    fn has_code(&self) -> bool;

    /// Reads `frame` into `into`, starting at `now`. `into` is empty in a simulation without data.
    fn read(&mut self, frame: u32, now: Time, into: &mut [u8]) -> Access;

    /// Encodes a page, starting at `now`, without blocking other work. Returns the time at which it can be
    /// written.
    fn encode(&mut self, now: Time) -> Time;

    /// Starts to write an encoded page to `frame`. Returns the times of the write.
    fn begin_write(&mut self, frame: u32, now: Time) -> Access;

    /// Sets the data of `frame` to `bytes`.
    fn land(&mut self, frame: u32, bytes: &[u8]);

    /// Looks up a page, starting at `now`. Returns the end time.
    fn look_up(&mut self, now: Time) -> Time;

    /// Records that a page leaves its frame.
    fn leaves(&mut self) {}

    /// Rebuilds the tables that a power loss has destroyed. Returns the duration.
    fn rebuild(&mut self) -> Time {
        Time::ZERO
    }

    /// Reads the raw bytes of a frame without advancing simulated time.
    fn peek(&self, frame: u32, into: &mut [u8]);

    /// Handles a power loss at `at`. Unfinished work is not performed and not charged.
    fn power_fail(&mut self, at: Time);

    fn restart_ledger(&mut self);

    /// Rules for switching rows, each of two frames, between MLC and SLC mode, and pages to stronger codes.
    /// `None` if the memory has one mode and one code.
    fn mode_rules(&self) -> Option<ModeRules> {
        None
    }

    /// Whether the page in `frame` has at least as many bit errors as its code corrects. False if its next
    /// write will use a stronger code.
    fn is_at_limit(&self, _frame: u32) -> bool {
        false
    }

    /// Decoding times of the code of `frame` and of the next stronger code. `None` if this code is
    /// the strongest.
    fn stronger(&self, _frame: u32) -> Option<[Time; 2]> {
        None
    }

    /// Selects the next stronger code for `frame`, starting with its next write.
    fn raise(&mut self, _frame: u32) {
        unreachable!("the code is fixed")
    }

    /// Switches the row of `frame` to SLC mode. If the frame `has_page`, this page is rewritten. Returns
    /// the end time.
    fn to_slc(&mut self, _frame: u32, _has_page: bool, _now: Time) -> Time {
        unreachable!("the mode is fixed")
    }

    /// Switches the row of `frame`, whose page has left, back to MLC mode.
    fn to_mlc(&mut self, _frame: u32) {
        unreachable!("the mode is fixed")
    }

    /// Copies the page of one frame to another; returns the end time.
    fn move_page(&mut self, _from: u32, _to: u32, _now: Time) -> Time {
        unreachable!("the mode is fixed")
    }

    /// The memory's portion of the report.
    fn report(&self, elapsed: Time) -> MemoryReport;
}

/// Times and outcome of reading or writing a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// Time at which the memory starts its work.
    pub(crate) begin: Time,
    pub(crate) done: Time,
    /// Time at which the memory has also completed the additional work that the access caused, e.g. wear
    /// leveling.
    pub(crate) rests: Time,
    /// Times spent waiting, in the memory, and in the error-correcting code.
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

/// Settings of a cache with frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Size of a page in bytes, which must be a power of two.
    pub(crate) page: Bytes,
    pub(crate) frames: u32,
    /// Maximum number of dirty frames.
    pub(crate) dirty_frames: u32,
}
