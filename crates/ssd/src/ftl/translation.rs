//! What a drive asks of its translation layer: a page mapping, or zones.

use crate::book::Book;
use crate::flash::backend::{Backend, Held};
use crate::layout::geometry::{Cells, Geometry, Spot};
use crate::recovery::outage::Outage;
use nacre_kernel::event::Payload;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Column, Recovery, Request, Time, Wear, Zone};
use std::ops::Range;

/// Where units lie that one operation holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(crate) struct Found {
    /// `u32::MAX` if they were never written.
    pub(crate) superblock: u32,
    pub(crate) operation: u32,
    pub(crate) spot: Spot,
    /// Whether they have not left the write buffer for the flash.
    pub(crate) is_held: bool,
}

impl Default for Found {
    fn default() -> Found {
        let spot = Spot { die: 0, page: 0, cells: Cells::Full };
        Found { superblock: u32::MAX, operation: 0, spot, is_held: false }
    }
}

/// Where the mapping of a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mapping {
    /// It is known.
    Known,
    /// It is in a page of the mapping table, by its number, which is read from the flash if it was ever programmed.
    InFlash {
        /// The number of the page.
        page: u32,
        /// Where it is.
        found: Option<Found>,
    },
}

/// What a write, a trim or a flush of the host came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Whether it was refused.
    pub(crate) is_refused: bool,
    /// Whether the drive takes no writes any more.
    pub(crate) is_worn_out: bool,
}

/// The bytes of a write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written<'a> {
    /// Which write, of all: its bytes are acknowledged together.
    pub(crate) number: u32,
    pub(crate) request: &'a Request,
    pub(crate) data: &'a Payload,
}

/// A translation layer.
pub(crate) trait Translation: State + Send {
    /// The kind of drive that has it, as reports name it.
    const KIND: &'static str;
    /// Whether bytes are carried.
    const CARRIES_BYTES: bool;
    /// Whether trims take their turn among writes.
    const TRIMS_IN_TURN: bool;

    fn geometry(&self) -> &Geometry;

    /// Looks up the mapping of `unit`, to change it if it `changes`.
    #[inline(always)]
    fn look_up(&mut self, _unit: u32, _changes: bool, _flash: &mut Backend, _book: &mut Book) -> Mapping {
        Mapping::Known
    }

    /// Where `unit` is.
    fn find(&self, unit: u32) -> Found;

    /// Whether `unit` is in the operation that was `found`, and read together with the unit before it.
    fn is_beside(&self, unit: u32, found: &Found) -> bool;

    /// The planes that so many units lie on from `unit` on.
    fn planes_of(&self, unit: u32, units: u32) -> Range<u32>;

    /// A write has its turn. Returns whether it is taken.
    fn admit(&mut self, request: &Request, book: &mut Book) -> Outcome;

    /// Writes `unit` into the buffer.
    fn write(&mut self, unit: u32, written: &Written<'_>, flash: &mut Backend) -> Outcome;

    /// All units of a write are in the buffer.
    fn end_write(&mut self, now: Time);

    /// A write has completed.
    fn acknowledge(&mut self, number: u32);

    /// Trims what is wholly in `request`. Returns `false` if it has to wait for room in the buffer.
    fn trim(&mut self, request: &Request, flash: &mut Backend, book: &mut Book) -> bool;

    /// What the buffer holds goes to the flash. Returns whether the flush waits for programs.
    fn flush(&mut self, flash: &mut Backend) -> bool;

    /// The programs that a flush waited for are over. `number` is the write that is submitted next.
    fn flushed(&mut self) -> Outcome;

    /// An operation is programmed.
    fn programmed(&mut self, superblock: u32, operation: u32);

    /// The flash and the host are idle: something may be cleaned. Returns whether something was issued.
    fn work_while_idle(&mut self, flash: &mut Backend) -> bool;

    /// Reads bytes of the host's data from `address` on.
    fn read_bytes(&self, address: u64, into: &mut [u8]);

    /// Does what a write leaves behind, in no time. Returns what it came to.
    fn precondition(&mut self, request: &Request, book: &mut Book) -> Outcome;

    fn prefetch(&self, requests: &[Request]);

    /// The page of `unit`, which was written.
    fn page_of(&self, _unit: u32) -> u32 {
        unreachable!("bits go wrong in drives with a page mapping only")
    }

    /// How often `superblock` was erased.
    fn erases_of(&self, _superblock: u32) -> u32 {
        unreachable!("bits go wrong in drives with a page mapping only")
    }

    /// Units of `superblock` that went to the flash, and whether it takes no more.
    fn filled(&self, _superblock: u32) -> (u32, bool) {
        unreachable!("only superblocks of a page mapping have parity")
    }

    /// How the cells of `superblock` are used.
    fn cells(&self, _superblock: u32) -> Cells {
        Cells::Full
    }

    /// Moves the data of `superblock`, of which a block was read too often. Returns whether it was moved.
    fn refresh(&mut self, _superblock: u32, _flash: &mut Backend) -> bool {
        false
    }

    /// Power is lost: what the buffer holds, and what of it is lost.
    fn power_fail(&mut self, flash: &mut Backend, lost: &mut Recovery) -> Held;

    /// Power is back: what recovery reads, in addition to erases that are done again. Adds what it found to `recovery`.
    fn recover(&mut self, recovery: &mut Recovery, outage: &mut Outage) -> Time;

    /// The zone that holds `address`.
    fn zone(&self, _address: u64) -> Option<Zone> {
        None
    }

    /// Bytes of the host that were programmed so far.
    fn host_bytes(&self) -> u64;

    fn restart_ledger(&mut self, book: &mut Book);

    fn wear(&self, book: &Book) -> Wear;

    /// Units of parity among what was programmed.
    fn parity_units(&self) -> u64 {
        0
    }

    /// Units that can be programmed until it is worn out, if that is known.
    fn life(&self) -> Option<f64>;

    fn counters(&self, book: &Book, flash: &Backend) -> Vec<(&'static str, u64)>;

    fn columns(&self) -> Vec<Column>;

    fn check_invariants(&self);
}
