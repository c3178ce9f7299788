//! Operations that a change of state causes in the flash, and their causes.

use crate::layout::geometry::Cells;
use nacre_kernel::Time;
use nacre_kernel::state::Value;
use nacre_media::flash::Block;

/// Cause of a program or a read by the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(crate) enum Cause {
    /// Host data.
    Host,
    /// Valid data moves to gain erased space.
    Cleaning,
    /// Valid data moves because a block of its superblock was read too often.
    Refresh,
    /// Data moves to wear blocks evenly.
    Wear,
    /// A page of the mapping table.
    Mapping,
}

/// A copied unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copied {
    /// Its old and its new number.
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Its logical unit.
    pub(crate) owner: u32,
    /// Cell mode of the old location.
    pub(crate) cells: Cells,
    pub(crate) cause: Cause,
}

/// Receives the operations that a change of state causes in the flash. The array itself has no notion of
/// time.
pub(crate) trait FlashOps {
    /// Programs an operation. `cause` is that of its last unit; if it `is_mixed`, other units may be host
    /// data.
    fn program(&mut self, superblock: u32, operation: u32, cells: Cells, cause: Cause, is_mixed: bool);

    /// Programs the parity operation of a stripe; `cause` is that of the last data of the stripe.
    fn program_parity(&mut self, superblock: u32, operation: u32, cells: Cells, cause: Cause);

    /// Reads this many units of one operation, to copy or check them.
    fn read(&mut self, superblock: u32, operation: u32, cells: Cells, units: u32, cause: Cause);

    /// Adds a unit to the next read of an operation of its superblock; `blocks` are the superblocks.
    #[inline]
    fn copied(&mut self, _copied: &Copied, _blocks: &[Block]) {}

    /// Erases all blocks of `superblock`.
    fn erase(&mut self, superblock: u32);

    /// Time from which `die` is expected to be idle.
    fn die_free_from(&mut self, die: u32) -> Time;
}

/// Ignores all operations: state changes take no time.
pub(crate) struct Untimed;

impl FlashOps for Untimed {
    #[inline]
    fn program(&mut self, _superblock: u32, _operation: u32, _cells: Cells, _cause: Cause, _is_mixed: bool) {}

    #[inline]
    fn read(&mut self, _superblock: u32, _operation: u32, _cells: Cells, _units: u32, _cause: Cause) {}

    fn program_parity(&mut self, _superblock: u32, _operation: u32, _cells: Cells, _cause: Cause) {}

    fn erase(&mut self, _superblock: u32) {}

    fn die_free_from(&mut self, _die: u32) -> Time {
        Time::ZERO
    }
}
