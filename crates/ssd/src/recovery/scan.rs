//! Read time of recovery: checkpoints of the mapping, and spare areas of the pages programmed since.

use crate::config::Drive;
use nacre_kernel::Time;

/// Time to read this many `pages` of a fresh checkpoint, spread over all dies, with `bytes` of each
/// transferred: dies sense in parallel, and those of a channel transfer in turn.
pub(crate) fn reading(config: &Drive, pages: u64, bytes: u64) -> Time {
    reading_round(config, bytes) * pages.div_ceil(config.dies_in_all())
}

/// Time in which every die reads a page, of which `bytes` are transferred.
pub(crate) fn reading_round(config: &Drive, bytes: u64) -> Time {
    let crossing = config.command + config.bus.time_for(bytes);
    let (sensing, ways) = (config.nand.longest_read(), u64::from(config.ways));
    (sensing + crossing).max(crossing * ways)
}

/// As before, for spare areas alone, which are as short as a command.
pub(crate) fn reading_spare(config: &Drive, pages: u64) -> Time {
    reading(config, pages, 0)
}
