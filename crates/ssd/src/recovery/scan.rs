//! Read time of recovery: checkpoints of the mapping, and spare areas of the pages programmed since the
//! checkpoint.

use crate::config::Drive;
use nacre_kernel::Time;

/// Time to read `pages` pages of a recent checkpoint from all dies and transfer `bytes` of each page. Dies
/// sense in parallel, and the dies of a channel transfer sequentially.
pub(crate) fn reading(config: &Drive, pages: u64, bytes: u64) -> Time {
    reading_round(config, bytes) * pages.div_ceil(config.dies_in_all())
}

/// Time in which every die reads a page, of which `bytes` are transferred.
pub(crate) fn reading_round(config: &Drive, bytes: u64) -> Time {
    let crossing = config.command + config.bus.time_for(bytes);
    let (sensing, ways) = (config.nand.longest_read(), u64::from(config.ways));
    (sensing + crossing).max(crossing * ways)
}

/// Time to read the spare areas of `pages` pages. A spare area is as short as a command on the channel.
pub(crate) fn reading_spare(config: &Drive, pages: u64) -> Time {
    reading(config, pages, 0)
}
