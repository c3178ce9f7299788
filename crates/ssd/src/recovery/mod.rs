//! Effects of a power loss, and the time that recovery takes to read flash: checkpoints of the mapping, and
//! spare areas of the pages programmed since the checkpoint.

pub(crate) mod spare_area;
pub(crate) mod versions;

use crate::config::Drive;
use crate::counts::Counts;
use crate::flash::backend::Unfinished;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Recovery, Time};

/// State that is left by power losses.
#[derive(Clone, Debug, Default, State)]
pub(crate) struct Outage {
    /// Time from which the drive serves requests.
    pub(crate) ready: Time,
    /// Effects of the last power loss, until power is restored.
    pub(crate) interrupted: Recovery,
    /// Numbers of erases that recovery repeats.
    pub(crate) erases: Erases,
    /// Total number of units programmed when the latest completed recovery saved the mapping.
    pub(crate) checkpoint: u64,
    /// Total number of units programmed at the end of the latest recovery, which may be in progress.
    pub(crate) next_checkpoint: u64,
}

/// Number of erases that recovery repeats, and the maximum number of these erases on one die.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(crate) struct Erases {
    pub(crate) all: u64,
    pub(crate) most: u64,
}

impl Outage {
    /// Records a power loss at `at`, with the `unfinished` operations and the effects `interrupted`.
    pub(crate) fn interrupt(
        &mut self,
        at: Time,
        unfinished: &Unfinished,
        interrupted: Recovery,
        counts: &mut Counts,
    ) {
        if at < self.ready {
            // The power loss interrupts a recovery. The erases of that recovery are repeated, and it wrote no
            // checkpoint.
            counts.recovering = counts.recovering - (self.ready - at);
        } else {
            self.checkpoint = self.next_checkpoint;
            self.erases = Erases::default();
        }
        self.erases.all += unfinished.erases;
        self.erases.most += unfinished.most_erases;
        self.interrupted = interrupted;
        self.ready = Time::ZERO;
    }

    /// Records that power is restored at `at`. `recovery` determines when the drive is ready.
    pub(crate) fn recovered(&mut self, at: Time, recovery: &Recovery, counts: &mut Counts) {
        self.ready = recovery.done;
        counts.recoveries += 1;
        counts.recovering += recovery.done - at;
        counts.pages_scanned += recovery.pages_scanned;
    }
}

/// Returns the time to read `pages` pages of a recent checkpoint from all dies and transfer `bytes` of each
/// page. Dies sense in parallel, and the dies of a channel transfer sequentially.
pub(crate) fn reading(config: &Drive, pages: u64, bytes: u64) -> Time {
    reading_round(config, bytes) * pages.div_ceil(config.dies_in_all())
}

/// Returns the time in which every die reads a page and transfers `bytes` bytes of it.
pub(crate) fn reading_round(config: &Drive, bytes: u64) -> Time {
    let crossing = config.command + config.bus.time_for(bytes);
    let (sensing, ways) = (config.nand.longest_read(), u64::from(config.ways));
    (sensing + crossing).max(crossing * ways)
}

/// Returns the time to read the spare areas of `pages` pages. The transfer of a spare area takes no channel
/// time in addition to the command.
pub(crate) fn reading_spare(config: &Drive, pages: u64) -> Time {
    reading(config, pages, 0)
}
