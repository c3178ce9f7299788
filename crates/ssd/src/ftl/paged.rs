//! Page mapping: a table maps each logical unit to an arbitrary physical unit.

use crate::config::{Config, Unwritten};
use crate::counts::{Counts, Programs};
use crate::flash::backend::{Backend, Held};
use crate::ftl::array::Array;
use crate::ftl::history::History;
use crate::ftl::mapping_cache::Lookup;
use crate::ftl::report;
use crate::ftl::translation::{Found, Mapping, Translation, Written};
use crate::layout::geometry::{Cells, Geometry};
use crate::ops::{FlashOps, Untimed};
use crate::recovery::versions::{Version, Versions};
use crate::recovery::{self, Outage};
use crate::superblocks::ABSENT;
use nacre_kernel::state::State;
use nacre_kernel::{Column, Op, Recovery, Request, Time, Wear, ZoneRefusal};
use nacre_media::store::Store;
use prefetch_index::prefetch_index;
use std::ops::Range;

/// A page mapping with superblocks.
#[derive(State)]
#[state(after = "Self::check_restored")]
#[state(bound = "S: Store")]
pub(crate) struct Paged<S> {
    #[state(skip = "from the configuration")]
    pub(crate) config: Config,
    pub(crate) array: Array<S>,
    history: History,
    /// Versions of units, recorded until they are in flash. Empty if the drive does not store data.
    versions: Versions,
    /// Buffer for the bytes of a unit during a write.
    #[state(skip = "of no meaning between two requests")]
    page: Vec<u8>,
}

impl<S: Store> Paged<S> {
    pub(crate) fn new(config: Config, array: Array<S>) -> Paged<S> {
        Paged {
            history: History::new(u64::from(array.geometry.units_per_superblock)),
            versions: Versions::default(),
            page: vec![0; array.pool.flash.store().page_bytes()],
            array,
            config,
        }
    }

    /// Checks that versions are recorded only if the drive stores data.
    fn check_restored(&mut self) -> Result<(), String> {
        if !S::CARRIES_BYTES {
            self.versions = Versions::default();
        }
        Ok(())
    }

    #[inline(never)]
    fn write_bytes(&mut self, unit: u64, written: &Written<'_>, flash: &mut Backend) -> bool {
        let mut page = std::mem::take(&mut self.page);
        self.read_unit(unit, 0, &mut page);
        let before = (self.array.entry(unit) != 0).then(|| page.clone());
        if let Some(new) = written.data.bytes() {
            overlay(&mut page, unit << self.array.geometry.unit_shift, new, written.request.address);
        }
        let is_written = self.array.write(unit, &page, flash);
        self.page = page;
        if is_written && !self.config.is_power_protected() {
            let (superblock, operation) = self.array.locate(self.array.entry(unit) - 1);
            self.versions.push(Version {
                unit,
                superblock,
                operation,
                write: written.number,
                is_acknowledged: false,
                has_landed: false,
                before,
            });
        }
        is_written
    }

    /// Writes `unit` with its current data, without simulated time. Returns `false` if the drive is
    /// read-only.
    fn put_untimed(&mut self, unit: u64) -> bool {
        if !S::CARRIES_BYTES {
            return self.array.write(unit, &[], &mut Untimed);
        }
        let mut page = std::mem::take(&mut self.page);
        self.read_unit(unit, 0, &mut page);
        let is_written = self.array.write(unit, &page, &mut Untimed);
        self.page = page;
        is_written
    }

    /// Looks up the mapping of `unit` in the cache of a mapping table in flash. If the page of the table must
    /// be read, the result contains the page, and its location if it is in flash.
    fn look_up_in<W: FlashOps>(
        &mut self,
        unit: u64,
        changes: bool,
        work: &mut W,
        counts: &mut Counts,
    ) -> Option<(u32, Option<Found>)> {
        let mapping = self.array.mapping.as_mut()?;
        counts.lookups += 1;
        let Lookup::Miss { page, programmed } = mapping.look_up(unit, changes) else { return None };
        counts.misses += 1;
        let unit = self.array.geometry.logical_units + u64::from(page);
        // A drive that is modeled as full has its whole mapping table in flash.
        let is_in_flash = self.array.entry(unit) != 0 || self.config.unwritten == Unwritten::Flash;
        let found = is_in_flash.then(|| self.find(unit));
        if let Some(leaving) = programmed {
            self.array.write_mapping(leaving, work);
        }
        Some((page, found))
    }

    /// Returns the number of valid units.
    fn valid_units(&self) -> u64 {
        self.array.places.iter().map(|place| u64::from(place.live)).sum()
    }
}

/// Returns an error if a write was rejected. A drive with page mapping rejects writes only when it is worn
/// out.
fn written_if(is_written: bool) -> Result<(), ZoneRefusal> {
    if is_written { Ok(()) } else { Err(ZoneRefusal::WornOut) }
}

/// Replaces the part of `page` that the data `new` covers. `page` starts at address `begin`, and `new` at
/// `address`.
fn overlay(page: &mut [u8], begin: u64, new: &[u8], address: u64) {
    let from = begin.max(address);
    let to = (begin + page.len() as u64).min(address + new.len() as u64);
    if from < to {
        let (into, of) = ((from - begin) as usize, (from - address) as usize);
        let count = (to - from) as usize;
        page[into..into + count].copy_from_slice(&new[of..of + count]);
    }
}

impl<S: Store> Translation for Paged<S> {
    const KIND: &'static str = "ssd";
    const CARRIES_BYTES: bool = S::CARRIES_BYTES;
    const HAS_ZONES: bool = false;

    #[inline]
    fn geometry(&self) -> &Geometry {
        &self.array.geometry
    }

    #[inline(always)]
    fn look_up(&mut self, unit: u64, changes: bool, flash: &mut Backend, counts: &mut Counts) -> Mapping {
        if self.array.mapping.is_none() {
            return Mapping::Known;
        }
        let Some((page, found)) = self.look_up_in(unit, changes, flash, counts) else {
            return Mapping::Known;
        };
        Mapping::InFlash { page, found }
    }

    #[inline]
    fn find(&self, unit: u64) -> Found {
        let Some(page) = self.array.entry(unit).checked_sub(1) else {
            let operation = self.array.operation_unwritten(unit);
            let spot = self.array.geometry.spot(operation);
            return Found { superblock: ABSENT, operation, spot, is_held: false };
        };
        let (superblock, operation) = self.array.locate(page);
        let spot = self.array.spot(superblock, operation);
        Found { superblock, operation, spot, is_held: self.array.is_held(page) }
    }

    #[inline]
    fn is_beside(&self, unit: u64, found: &Found) -> bool {
        let Some(page) = self.array.entry(unit).checked_sub(1) else {
            let is_same = found.operation == self.array.operation_unwritten(unit);
            return found.superblock == ABSENT
                && is_same
                && self.array.geometry.shares_a_page_with_last(unit);
        };
        self.array.locate(page) == (found.superblock, found.operation)
    }

    fn planes_of(&self, unit: u64, units: u32) -> Range<u32> {
        let geometry = &self.array.geometry;
        let (superblock, index) = match self.array.entry(unit).checked_sub(1) {
            Some(page) => geometry.place_at(page),
            None => self.array.place_unwritten(unit),
        };
        geometry.planes_of(superblock, index, units)
    }

    #[inline]
    fn admit(&mut self, request: &Request) -> Result<(), ZoneRefusal> {
        self.array.handles.choose(request.volume);
        written_if(!self.array.is_worn_out)
    }

    #[inline]
    fn cover(&mut self, unit: u64, new: &Range<u32>) -> u32 {
        let Array { partial, table, owners, .. } = &mut self.array;
        partial.write(unit, new, || table.get(unit, owners) != 0)
    }

    #[inline]
    fn write(&mut self, unit: u64, written: &Written<'_>, flash: &mut Backend) -> Result<(), ZoneRefusal> {
        // Other writes may have been served in the meantime.
        self.array.handles.choose(written.request.volume);
        written_if(match S::CARRIES_BYTES {
            true => self.write_bytes(unit, written, flash),
            false => self.array.write(unit, &[], flash),
        })
    }

    #[inline]
    fn end_write(&mut self, now: Time) {
        self.history.note(now, &self.array.pool.programs);
    }

    fn acknowledge(&mut self, number: u32) {
        self.versions.acknowledge(number);
    }

    /// Unmaps the units that the request covers completely.
    fn trim(&mut self, request: &Request, flash: &mut Backend, counts: &mut Counts) -> bool {
        let unit_bytes = u64::from(self.array.geometry.unit_bytes);
        let first = request.address.div_ceil(unit_bytes);
        let end = (request.address + u64::from(request.bytes)) / unit_bytes;
        for unit in first..end.max(first) {
            if self.array.entry(unit) != 0 {
                self.array.trim(unit);
                if let Some(errors) = &mut flash.errors {
                    errors.replace(unit);
                }
                counts.trimmed += 1;
                self.versions.trim(unit);
            }
        }
        true
    }

    fn flush(&mut self, flash: &mut Backend) -> bool {
        if self.config.is_power_protected() {
            return false;
        }
        if !self.array.is_worn_out {
            self.array.flush(flash);
        }
        true
    }

    fn flushed(&mut self) -> Result<(), ZoneRefusal> {
        written_if(!self.array.is_worn_out || self.array.held_operations() == 0)
    }

    fn programmed(&mut self, superblock: u32, operation: u32) {
        self.versions.programmed(superblock, operation);
    }

    fn work_while_idle(&mut self, flash: &mut Backend) -> bool {
        let is_wanted = self.array.rules.erased_while_idle > 0 && self.array.cleans_while_idle();
        if is_wanted {
            self.array.clean_a_little(flash);
        }
        is_wanted
    }

    fn read_unit(&self, unit: u64, offset: usize, into: &mut [u8]) {
        match self.array.entry(unit) {
            0 => into.fill(0),
            entry => self.array.pool.flash.read(entry - 1, offset, into),
        }
    }

    fn precondition(&mut self, request: &Request, counts: &mut Counts) -> Result<(), ZoneRefusal> {
        let (first, last) = self.array.geometry.units_of(request);
        self.array.handles.choose(request.volume);
        let mut all = true;
        for unit in first..=last {
            self.look_up_in(unit, true, &mut Untimed, counts);
            self.array.partial.forget(unit);
            all &= self.put_untimed(unit);
        }
        written_if(all)
    }

    /// Prefetches the mappings of all `requests`, and then the valid bits of the pages that they replace.
    #[inline]
    fn prefetch(&self, requests: &[Request]) {
        let unit = |request: &Request| (request.address >> self.array.geometry.unit_shift) as usize;
        requests.iter().for_each(|request| self.array.table.prefetch(unit(request)));
        for request in requests.iter().filter(|request| request.op == Op::Write) {
            let entry = self.array.table.peek(unit(request));
            prefetch_index(&self.array.valid, entry.saturating_sub(1) as usize / 64);
        }
    }

    fn page_of(&self, unit: u64) -> u64 {
        self.array.entry(unit) - 1
    }

    fn erases_of(&self, superblock: u32) -> u32 {
        self.array.pool.erases_of(superblock)
    }

    fn filled(&self, superblock: u32) -> (u32, bool) {
        match self.array.frontiers.iter().find(|open| open.superblock == superblock) {
            Some(open) => (open.issued, false),
            None => (self.array.pool.flash.blocks()[superblock as usize].programmed, true),
        }
    }

    fn cells(&self, superblock: u32) -> Cells {
        self.array.cells(superblock)
    }

    fn refresh(&mut self, superblock: u32, flash: &mut Backend) -> bool {
        self.array.refresh(superblock, flash)
    }

    /// Handles a power loss, which clears the write buffer and all DRAM.
    fn power_fail(&mut self, flash: &mut Backend, lost: &mut Recovery) -> Held {
        let held = Held {
            operations: self.array.held_operations(),
            parities: self.array.held_parities(),
            rounds: self.array.held_rounds(),
        };
        let damage = self.damage(flash);
        let gone = self.versions.fail();
        lost.programs_lost = gone.operations.len() as u64;
        lost.bytes_lost =
            gone.acknowledged.union(&damage.units).count() as u64 * u64::from(self.array.geometry.unit_bytes);
        lost.pages_damaged = damage.pages;
        lost.blocks_forgotten = self.array.mapping.as_mut().map_or(0, |mapping| mapping.forget());
        self.array.empty_buffer();
        let mut older = std::collections::BTreeMap::new();
        for (unit, before) in gone.back {
            match before {
                // A unit that was trimmed after that write may read as zeros immediately.
                Some(_) if self.array.entry(unit) == 0 => {}
                Some(_) if damage.units.contains(&unit) => {}
                Some(bytes) => _ = older.insert(unit, bytes),
                None if self.array.entry(unit) != 0 => self.array.trim(unit),
                None => {}
            }
        }
        self.array.fall_back(&older);
        for unit in damage.units {
            if self.array.entry(unit) != 0 {
                self.array.trim(unit);
            }
        }
        if S::CARRIES_BYTES {
            self.array.table.clear();
        }
        held
    }

    /// Rebuilds the mapping from the checkpoint and the spare areas.
    fn recover(&mut self, recovery: &mut Recovery, outage: &mut Outage) -> Time {
        if S::CARRIES_BYTES {
            let Array { spare, owners, table, .. } = &mut self.array;
            spare.find_mapping(owners, table);
        }
        let geometry = &self.array.geometry;
        let programs = self.array.pool.flash.programs();
        let entries = self.config.mapping().mapping.entries();
        let every = (entries.checkpoint_every.0 / u64::from(geometry.unit_bytes)).max(1);
        let since = (programs - outage.checkpoint) % every;
        recovery.pages_scanned = since.div_ceil(u64::from(geometry.units_per_page));
        outage.next_checkpoint = programs;
        let mappings =
            if geometry.mapping_units > 0 { geometry.mapping_units.into() } else { geometry.logical_units };
        let table = mappings * entries.entry.0;
        recovery::reading(&self.config, table.div_ceil(self.config.page.0), self.config.page.0)
            + recovery::reading_spare(&self.config, recovery.pages_scanned)
            + self.finding_parity()
    }

    fn programs(&self) -> &Programs {
        &self.array.pool.programs
    }

    fn restart_ledger(&mut self, counts: &mut Counts) {
        self.array.handles.restart_ledger();
        *counts = self.array.pool.new_counts();
        self.history.restart(&self.array.pool.programs);
    }

    fn wear(&self, counts: &Counts) -> Wear {
        self.array.pool.wear(counts, &self.config, self.valid_units())
    }

    fn life(&self) -> Option<f64> {
        let pool = &self.array.pool;
        let expected = pool.life(&self.config, self.array.superblocks_needed())?;
        if !self.array.is_worn_out {
            return Some(expected);
        }
        // The drive is worn out, so the total number of units that it could program is known.
        Some((pool.programs.on_media() + pool.programs.parity) as f64)
    }

    fn counters(&self, counts: &Counts, flash: &Backend) -> Vec<(&'static str, u64)> {
        report::paged_counters(&self.array, counts, flash)
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = report::paged_columns(&self.array, self.valid_units());
        columns.extend(self.history.columns());
        columns
    }

    fn check_invariants(&self) {
        self.array.check_invariants();
    }
}

impl<S: Store> Paged<S> {
    /// Returns the time to recompute the parity of incomplete stripes from their pages in flash. If
    /// capacitors preserve the parity, the time is zero.
    fn finding_parity(&self) -> Time {
        if self.config.is_power_protected() {
            return Time::ZERO;
        }
        let geometry = &self.array.geometry;
        let pages = u64::from(geometry.pages_of(geometry.operation_units));
        recovery::reading(&self.config, self.array.unprotected_operations() * pages, self.config.page.0)
    }
}
