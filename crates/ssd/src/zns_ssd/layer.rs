//! Zones as the translation layer of a drive.

use crate::book::Book;
use crate::config::Config;
use crate::flash::backend::Backend;
use crate::flash::backend::Held;
use crate::ftl::report::{block_columns, life, wear};
use crate::ftl::translation::Found;
use crate::ftl::translation::{Outcome, Translation, Written};
use crate::layout::geometry::Geometry;
use crate::ops::Untimed;
use crate::recovery::outage::Outage;
use crate::recovery::scan::{reading, reading_spare};
use crate::zns_ssd::refusal::Refusal;
use crate::zns_ssd::report::Tally;
use crate::zns_ssd::table::{Phase, ZoneTable};
use nacre_kernel::state::State;
use nacre_kernel::{Column, Recovery, Request, Time, Wear, Zone};
use nacre_media::store::Store;
use std::ops::Range;

/// Zones over superblocks of flash.
#[derive(State)]
#[state(bound = "S: Store")]
pub(crate) struct Zones<S> {
    #[state(skip = "from the configuration")]
    config: Config,
    table: ZoneTable<S>,
    tally: Tally,
}

impl<S: Store> Zones<S> {
    pub(crate) fn new(config: Config, table: ZoneTable<S>) -> Zones<S> {
        Zones { config, table, tally: Tally::default() }
    }

    /// The zone that takes the write `request`. Errors: none does.
    fn zone_for(&self, request: &Request) -> Result<u32, Refusal> {
        let unit_bytes = u64::from(self.table.geometry.unit_bytes);
        if !request.address.is_multiple_of(unit_bytes) || !u64::from(request.bytes).is_multiple_of(unit_bytes)
        {
            return Err(Refusal::NotWholeUnits);
        }
        let (first, last) = self.table.geometry.units_of(request);
        self.table.zone_for(first, last - first + 1)
    }

    #[cold]
    fn refuse(&mut self, refusal: Refusal) -> Outcome {
        self.tally.refused[refusal as usize] += 1;
        Outcome { is_refused: true, is_worn_out: refusal == Refusal::WornOut }
    }

    /// Page `page` holds the bytes of `unit`, as a write brings them.
    fn fill(&mut self, page: u32, unit: u32, written: Option<&Written<'_>>) {
        let unit_bytes = self.table.geometry.unit_bytes as usize;
        let bytes = written.and_then(|written| {
            let begin = u64::from(unit) * unit_bytes as u64 - written.request.address;
            Some(&written.data.bytes()?[begin as usize..begin as usize + unit_bytes])
        });
        match bytes {
            Some(bytes) => self.table.flash.fill(page, bytes),
            None => self.table.flash.fill(page, &vec![0; unit_bytes]),
        }
    }

    /// Writes so many units of `zone` in no time.
    fn put_in_zone(&mut self, zone: u32, units: u32) {
        self.table.begin_write(zone);
        for _ in 0..units {
            let page = self.table.take(zone, 1);
            if S::CARRIES_BYTES {
                self.fill(page, 0, None);
            }
            self.table.issue_complete(zone, &mut Untimed);
        }
    }

    /// The superblock of `unit`, and its operation. What was never written has the operation of no superblock that would
    /// hold it.
    fn locate(&self, unit: u32) -> (u32, u32) {
        let geometry = &self.table.geometry;
        let (zone, index) = self.table.zone_of(unit);
        if index < self.table.zones[zone as usize].written {
            let (superblock, index) = self.table.place(zone, index);
            return (superblock, geometry.operation_of(superblock, index));
        }
        (u32::MAX, geometry.operation_of(0, unit % geometry.units_per_superblock))
    }
}

impl<S: Store> Translation for Zones<S> {
    const KIND: &'static str = "zns_ssd";
    const CARRIES_BYTES: bool = S::CARRIES_BYTES;
    const TRIMS_IN_TURN: bool = true;

    fn geometry(&self) -> &Geometry {
        &self.table.geometry
    }

    fn find(&self, unit: u32) -> Found {
        let (superblock, operation) = self.locate(unit);
        let (zone, index) = self.table.zone_of(unit);
        let is_held = superblock != u32::MAX && index >= self.table.zones[zone as usize].issued;
        Found { superblock, operation, spot: self.table.geometry.spot(operation), is_held }
    }

    fn is_beside(&self, unit: u32, found: &Found) -> bool {
        self.locate(unit) == (found.superblock, found.operation)
    }

    fn planes_of(&self, unit: u32, units: u32) -> Range<u32> {
        let geometry = &self.table.geometry;
        let (zone, index) = self.table.zone_of(unit);
        match self.locate(unit).0 {
            u32::MAX => geometry.planes_of(0, unit % geometry.units_per_superblock, units),
            superblock => geometry.planes_of(superblock, self.table.place(zone, index).1, units),
        }
    }

    fn admit(&mut self, request: &Request, _book: &mut Book) -> Outcome {
        match self.zone_for(request) {
            Ok(zone) => {
                self.table.begin_write(zone);
                Outcome::default()
            }
            Err(refusal) => self.refuse(refusal),
        }
    }

    fn write(&mut self, unit: u32, written: &Written<'_>, flash: &mut Backend) -> Outcome {
        let (zone, _) = self.table.zone_of(unit);
        let page = self.table.take(zone, 1);
        if S::CARRIES_BYTES {
            self.fill(page, unit, Some(written));
        }
        self.table.issue_complete(zone, flash);
        Outcome::default()
    }

    fn end_write(&mut self, _now: Time) {}

    fn acknowledge(&mut self, _number: u32) {}

    /// Zones that lie wholly in the request are reset; one of which it has all behind the write pointer is finished.
    fn trim(&mut self, request: &Request, flash: &mut Backend, book: &mut Book) -> bool {
        let (first, last) = self.table.geometry.units_of(request);
        let (begin, end) = (request.address, request.address + u64::from(request.bytes));
        let finishes = |zone: u32| {
            let described = self.table.describe(zone);
            let phase = self.table.zones[zone as usize].phase;
            let is_whole = begin <= described.start && described.end <= end;
            !is_whole && begin == described.write_pointer && end == described.end && phase.is_active()
        };
        let mut zones = self.table.zone_of(first).0..=self.table.zone_of(last).0;
        if zones.clone().any(finishes) && !flash.slots.has_room() {
            return false;
        }
        zones.by_ref().for_each(|zone| {
            let described = self.table.describe(zone);
            let phase = self.table.zones[zone as usize].phase;
            if begin <= described.start && described.end <= end {
                self.tally.resets += u64::from(phase != Phase::Empty);
                book.trimmed += u64::from(self.table.reset(zone, flash));
                book.forget_taken_back(self.table.programs.host);
            } else if begin == described.write_pointer && end == described.end && phase.is_active() {
                self.tally.finishes += 1;
                self.table.finish(zone, flash);
            } else {
                self.tally.trims_of_parts += 1;
            }
        });
        true
    }

    /// What is in the buffer survives.
    fn flush(&mut self, _flash: &mut Backend) -> bool {
        false
    }

    fn flushed(&mut self) -> Outcome {
        Outcome::default()
    }

    fn programmed(&mut self, _superblock: u32, _operation: u32) {}

    fn work_while_idle(&mut self, _flash: &mut Backend) -> bool {
        false
    }

    /// What was never written is zero.
    fn read_bytes(&self, address: u64, into: &mut [u8]) {
        let unit_bytes = self.table.geometry.unit_bytes as usize;
        let mut done = 0;
        while done < into.len() {
            let place = address + done as u64;
            let offset = place as usize % unit_bytes;
            let end = into.len().min(done + unit_bytes - offset);
            let (zone, index) = self.table.zone_of((place >> self.table.geometry.unit_shift) as u32);
            if index < self.table.zones[zone as usize].written {
                let (superblock, index) = self.table.place(zone, index);
                let page = (superblock << self.table.geometry.shift) + index;
                self.table.flash.read(page, offset, &mut into[done..end]);
            } else {
                into[done..end].fill(0);
            }
            done = end;
        }
    }

    /// Over the end of a zone a write continues in the next. At the beginning of a zone that holds something it resets that
    /// first: trims are not among what brings a drive into its state.
    fn precondition(&mut self, request: &Request, book: &mut Book) -> Outcome {
        let whole = request.bytes - request.bytes % self.table.geometry.unit_bytes;
        let end = request.address + u64::from(whole);
        let mut address = request.address;
        let mut all = Outcome::default();
        while address < end {
            let (zone, index) = self.table.zone_of((address >> self.table.geometry.unit_shift) as u32);
            if index == 0 && self.table.zones[zone as usize].phase != Phase::Empty {
                self.table.reset(zone, &mut Untimed);
            }
            let to = end.min(self.table.describe(zone).end);
            let part = Request { address, bytes: (to - address) as u32, ..*request };
            match self.zone_for(&part) {
                Ok(zone) => self.put_in_zone(zone, part.bytes >> self.table.geometry.unit_shift),
                Err(refusal) => all = self.refuse(refusal),
            }
            address = to;
        }
        book.forget_taken_back(self.table.programs.host);
        all
    }

    fn prefetch(&self, _requests: &[Request]) {}

    fn zone(&self, address: u64) -> Option<Zone> {
        let (zone, _) = self.table.zone_of((address >> self.table.geometry.unit_shift) as u32);
        Some(self.table.describe(zone))
    }

    /// Capacitors save the operations that are not full and the table of zones.
    fn power_fail(&mut self, _flash: &mut Backend, _lost: &mut Recovery) -> Held {
        let operations = self.table.held_operations();
        self.table.close_all();
        if S::CARRIES_BYTES {
            self.table.forget_write_pointers();
        }
        let dies = u64::from(self.table.geometry.dies);
        Held { operations, parities: 0, rounds: operations.div_ceil(dies) }
    }

    /// The table is read, and the write pointer of each active zone is looked for among the pages of its superblocks, by
    /// halves.
    fn recover(&mut self, recovery: &mut Recovery, _outage: &mut Outage) -> Time {
        if S::CARRIES_BYTES {
            self.table.find_write_pointers();
        }
        let config = &self.config;
        // Halving finds one of so many operations, or none, in as many looks as that number has bits.
        let looks = u64::from(u32::BITS - self.table.operations_per_zone().leading_zeros());
        recovery.pages_scanned = looks * u64::from(self.table.active);
        let bytes = self.table.members.len() as u64 * config.mapping_entry.0;
        let table = reading(config, bytes.div_ceil(config.page.0), config.page.0);
        // Zones are looked into side by side, each by one die at a time.
        table + reading_spare(config, u64::from(self.table.active)) * looks
    }

    fn host_bytes(&self) -> u64 {
        self.table.programs.host * u64::from(self.table.geometry.unit_bytes)
    }

    fn restart_ledger(&mut self, book: &mut Book) {
        self.tally = Tally::default();
        *book = Book::behind(self.table.programs, self.table.flash.erases());
    }

    fn wear(&self, book: &Book) -> Wear {
        let ZoneTable { programs, flash, blocks, geometry, .. } = &self.table;
        Wear {
            valid: Some(self.table.live_units()),
            ..wear(book, programs, flash, blocks, geometry, &self.config)
        }
    }

    fn life(&self) -> Option<f64> {
        life(
            &self.config,
            (&self.table.flash, &self.table.blocks),
            &self.table.geometry,
            self.table.superblocks_needed(),
        )
    }

    fn counters(&self, book: &Book, flash: &Backend) -> Vec<(&'static str, u64)> {
        super::report::counters(&self.table, &self.tally, book, flash)
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = Vec::from(block_columns(&self.table.flash, &self.table.blocks));
        columns.extend(super::report::columns(&self.table));
        columns
    }

    fn check_invariants(&self) {
        self.table.check_invariants();
    }
}
