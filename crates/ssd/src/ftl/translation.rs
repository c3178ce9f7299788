//! Interface of a translation layer, which is a page mapping or a zone mapping.

use crate::counts::{Counts, Programs};
use crate::flash::backend::{Backend, Held};
use crate::layout::geometry::{Cells, Geometry, Spot};
use crate::recovery::Outage;
use nacre_kernel::event::Payload;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Column, Recovery, Request, Time, Wear, Zone, ZoneCommand, ZoneRefusal};
use std::ops::Range;

/// Location of units in one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(crate) struct Found {
    /// Superblock number; `u32::MAX` if the units were never written.
    pub(crate) superblock: u32,
    pub(crate) operation: u32,
    pub(crate) spot: Spot,
    /// Whether the units are still in the write buffer.
    pub(crate) is_held: bool,
}

impl Default for Found {
    fn default() -> Found {
        let spot = Spot { die: 0, page: 0, cells: Cells::Full };
        Found { superblock: u32::MAX, operation: 0, spot, is_held: false }
    }
}

/// Location of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mapping {
    /// The mapping is in DRAM.
    Known,
    /// The mapping is in a page of the mapping table. The page is read from flash if it was ever programmed.
    InFlash {
        /// Number of the page.
        page: u32,
        /// Location of the page; `None` if it was never programmed.
        found: Option<Found>,
    },
}

/// Data of a write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written<'a> {
    /// Number of the write. All data of a write is acknowledged together.
    pub(crate) number: u32,
    pub(crate) request: &'a Request,
    pub(crate) data: &'a Payload,
}

/// A flash translation layer.
pub(crate) trait Translation: State + Send {
    /// Type of the drive in reports.
    const KIND: &'static str;
    /// Whether the translation layer stores data.
    const CARRIES_BYTES: bool;
    /// Whether the translation layer has zones. Trims are then ordered among writes.
    const HAS_ZONES: bool;

    fn geometry(&self) -> &Geometry;

    /// Looks up the mapping of `unit`. `changes` means that the request will modify the mapping.
    #[inline(always)]
    fn look_up(&mut self, _unit: u64, _changes: bool, _flash: &mut Backend, _counts: &mut Counts) -> Mapping {
        Mapping::Known
    }

    /// Returns the location of `unit`.
    fn find(&self, unit: u64) -> Found;

    /// Returns whether `unit` is in the operation `found`, so that it is read together with the preceding
    /// unit.
    fn is_beside(&self, unit: u64, found: &Found) -> bool;

    /// Returns the planes that hold `units` units starting with `unit`.
    fn planes_of(&self, unit: u64, units: u32) -> Range<u32>;

    /// Checks a write at the front of the queue. Returns an error if the write is rejected. A drive without
    /// zones rejects writes and flushes only when it is worn out.
    fn admit(&mut self, request: &Request) -> Result<(), ZoneRefusal>;

    /// Records a write of the bytes `new` of `unit`. Returns the number of bytes that must be read from the
    /// previous page of the unit if it has one.
    #[inline]
    fn cover(&mut self, _unit: u64, new: &Range<u32>) -> u32 {
        let unit_bytes = self.geometry().unit_bytes;
        if new.len() as u32 == unit_bytes { 0 } else { unit_bytes }
    }

    /// Writes `unit` into the buffer. Returns an error if the write is rejected.
    fn write(&mut self, unit: u64, written: &Written<'_>, flash: &mut Backend) -> Result<(), ZoneRefusal>;

    /// Records that all units of a write are in the buffer.
    fn end_write(&mut self, now: Time);

    /// Records that a write has completed.
    fn acknowledge(&mut self, number: u32);

    /// Trims the units that `request` covers completely. Returns `false` if the trim must wait for space in
    /// the buffer.
    fn trim(&mut self, request: &Request, flash: &mut Backend, counts: &mut Counts) -> bool;

    /// Issues the data in the buffer. Returns whether the flush must wait for programs.
    fn flush(&mut self, flash: &mut Backend) -> bool;

    /// Completes a flush after the programs that it waited for. Returns an error if data is left in the
    /// buffer.
    fn flushed(&mut self) -> Result<(), ZoneRefusal>;

    /// Records that an operation is programmed.
    fn programmed(&mut self, superblock: u32, operation: u32);

    /// Runs garbage collection while the flash and the host are idle. Returns whether commands were issued.
    fn work_while_idle(&mut self, flash: &mut Backend) -> bool;

    /// Reads bytes of `unit`, starting at `offset`. An unwritten unit reads as zeros.
    fn read_unit(&self, unit: u64, offset: usize, into: &mut [u8]);

    /// Reads bytes of host data, starting at `address`.
    fn read_bytes(&self, address: u64, into: &mut [u8]) {
        let Geometry { unit_bytes, unit_shift, .. } = *self.geometry();
        let mut done = 0;
        while done < into.len() {
            let at = address + done as u64;
            let offset = (at % u64::from(unit_bytes)) as usize;
            let end = into.len().min(done + unit_bytes as usize - offset);
            self.read_unit(at >> unit_shift, offset, &mut into[done..end]);
            done = end;
        }
    }

    /// Applies a write without simulated time. Returns an error if part of the write is rejected.
    fn precondition(&mut self, request: &Request, counts: &mut Counts) -> Result<(), ZoneRefusal>;

    fn prefetch(&self, requests: &[Request]);

    /// Returns the page of `unit`. The unit must have been written.
    fn page_of(&self, _unit: u64) -> u64 {
        unreachable!("bits go wrong in drives with a page mapping only")
    }

    /// Returns the erase count of `superblock`.
    fn erases_of(&self, _superblock: u32) -> u32 {
        unreachable!("bits go wrong in drives with a page mapping only")
    }

    /// Returns the number of units of `superblock` that were issued to the flash, and whether the superblock
    /// is closed.
    fn filled(&self, _superblock: u32) -> (u32, bool) {
        unreachable!("only superblocks of a page mapping have parity")
    }

    /// Returns the cell mode of `superblock`.
    fn cells(&self, _superblock: u32) -> Cells {
        Cells::Full
    }

    /// Moves the data of `superblock` because one of its blocks was read too often. Returns whether the data
    /// was moved.
    fn refresh(&mut self, _superblock: u32, _flash: &mut Backend) -> bool {
        false
    }

    /// Handles a power loss, and adds its effects to `lost`. Returns the contents of the buffer.
    fn power_fail(&mut self, flash: &mut Backend, lost: &mut Recovery) -> Held;

    /// Recovers after power is restored, and adds the result to `recovery`. Returns the time for reading
    /// flash, without the time of repeated erases.
    fn recover(&mut self, recovery: &mut Recovery, outage: &mut Outage) -> Time;

    /// Returns the zone that contains `address`, or `None` if the drive has no zones.
    fn zone(&self, _address: u64) -> Option<Zone> {
        None
    }

    /// Assigns an address to an append at the front of the queue, and returns this address. The zone begins
    /// at the address of `request`. Returns an error if the zone rejects the append.
    fn place_append(&mut self, _request: &Request) -> Result<u64, ZoneRefusal> {
        unreachable!("only drives with zones take appends")
    }

    /// Performs a command other than an append on the zone that begins at `address`. Returns `None` if the
    /// command must wait for space in the buffer.
    fn command(
        &mut self,
        _command: ZoneCommand,
        _address: u64,
        _flash: &mut Backend,
        _counts: &mut Counts,
    ) -> Option<Result<(), ZoneRefusal>> {
        unreachable!("only drives with zones take commands to zones")
    }

    /// Returns the numbers of programs since the drive was new.
    fn programs(&self) -> &Programs;

    fn restart_ledger(&mut self, counts: &mut Counts);

    fn wear(&self, counts: &Counts) -> Wear;

    /// Returns the number of units that can be programmed until the drive is worn out, if known.
    fn life(&self) -> Option<f64>;

    fn counters(&self, counts: &Counts, flash: &Backend) -> Vec<(&'static str, u64)>;

    fn columns(&self) -> Vec<Column>;

    fn check_invariants(&self);
}
