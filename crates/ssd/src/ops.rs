//! Interface through which changes of the array's state are reported as flash operations, each with its
//! cause.

use crate::layout::geometry::Cells;
use nacre_kernel::Time;
use nacre_kernel::state::Value;
use nacre_media::flash::Block;

/// Cause of a program or a read by the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(crate) enum Cause {
    /// Host data.
    Host,
    /// Garbage collection moves valid data to reclaim space.
    Cleaning,
    /// Refresh moves valid data because a block of its superblock was read too often.
    Refresh,
    /// Wear leveling moves data.
    Wear,
    /// A page of the mapping table.
    Mapping,
}

/// A copied unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copied {
    /// Old and new page number.
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Logical unit to which the pages belong.
    pub(crate) owner: u64,
    /// Cell mode of the old page.
    pub(crate) cells: Cells,
    pub(crate) cause: Cause,
}

/// Receives the flash operations that result from changes of the array's state. The array does not model
/// time. By default, an operation is ignored and takes no time.
pub(crate) trait FlashOps {
    /// Programs an operation. `cause` is the cause of its last unit. If the operation `is_mixed`, its other
    /// units may be host data. `omitted` bytes of its data were never written and are not transferred.
    #[inline]
    fn program(&mut self, _: u32, _operation: u32, _: Cells, _: Cause, _is_mixed: bool, _omitted: u64) {}

    /// Programs the parity operation of a stripe. `cause` is the cause of the last data of the stripe.
    fn program_parity(&mut self, _superblock: u32, _operation: u32, _cells: Cells, _cause: Cause) {}

    /// Reads `units` units of one operation in order to copy or check them.
    #[inline]
    fn read(&mut self, _superblock: u32, _operation: u32, _cells: Cells, _units: u32, _cause: Cause) {}

    /// Records that a unit is copied. The next [`FlashOps::read`] of its superblock includes the unit.
    /// `blocks` lists all superblocks.
    #[inline]
    fn copied(&mut self, _copied: &Copied, _blocks: &[Block]) {}

    /// Erases all blocks of `superblock`.
    fn erase(&mut self, _superblock: u32) {}

    /// Returns the time from which `die` is expected to be idle.
    fn die_free_from(&mut self, _die: u32) -> Time {
        Time::ZERO
    }
}

/// Ignores all operations, so that state changes take no time.
pub(crate) struct Untimed;

impl FlashOps for Untimed {}
