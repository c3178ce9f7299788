//! What the flash has to do for a change of state, and why.

use crate::layout::geometry::Cells;
use nacre_kernel::Time;
use nacre_kernel::state::Value;
use nacre_media::flash::Block;

/// Why a page is programmed or read by the drive itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(crate) enum Cause {
    /// Data of the host.
    Host,
    /// Live data moves to make erased space.
    Cleaning,
    /// Live data moves since a block of its superblock was read so often.
    Refresh,
    /// Data moves so that blocks wear evenly.
    Wear,
    /// A page of the mapping table.
    Mapping,
}

/// A unit that is copied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copied {
    /// Its number before, and from now on.
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Whose it is.
    pub(crate) owner: u32,
    /// Those it lay in.
    pub(crate) cells: Cells,
    pub(crate) cause: Cause,
}

/// What the flash has to do for a change of state. The array knows no time; whoever keeps it listens here.
pub(crate) trait FlashOps {
    /// An operation is programmed; `cause` is that of its last unit, and others of it may be the host's where it
    /// `is_mixed`.
    fn program(&mut self, superblock: u32, operation: u32, cells: Cells, cause: Cause, is_mixed: bool);

    /// An operation with the parity of a stripe is programmed; `cause` is that of the last data of the stripe.
    fn program_parity(&mut self, superblock: u32, operation: u32, cells: Cells, cause: Cause);

    /// So many units of one operation are read, to be copied or looked into.
    fn read(&mut self, superblock: u32, operation: u32, cells: Cells, units: u32, cause: Cause);

    /// A unit is among those that the next read of an operation of its superblock is for; `blocks` are the superblocks.
    #[inline]
    fn copied(&mut self, _copied: &Copied, _blocks: &[Block]) {}

    /// Every block of `superblock` is erased.
    fn erase(&mut self, superblock: u32);

    /// From when on `die` has nothing to do, as far as is known.
    fn die_free_from(&mut self, die: u32) -> Time;
}

/// Nobody listens: state changes in no time.
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
