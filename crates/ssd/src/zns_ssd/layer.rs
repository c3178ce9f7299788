//! Zones as the translation layer of a drive.

use crate::counts::{Counts, Programs};
use crate::flash::backend::{Backend, Held};
use crate::ftl::translation::{Found, Translation, Written};
use crate::layout::geometry::Geometry;
use crate::ops::Untimed;
use crate::recovery::{Outage, reading, reading_round};
use crate::superblocks::ABSENT;
use crate::zns_ssd::table::{Entry, Tally, Zones};
use nacre_kernel::{Column, Recovery, Request, Time, Wear, Zone, ZoneCommand, ZoneRefusal, ZoneState};
use nacre_media::store::Store;
use std::ops::Range;

/// Size in bytes of one entry in the table of zones. An entry names a superblock.
const TABLE_ENTRY_BYTES: u64 = 4;

/// Location of a unit.
struct Place {
    /// Superblock of the unit. For an unwritten unit, a superblock on the dies of its zone.
    superblock: u32,
    /// Number of the unit in the superblock.
    index: u32,
    is_written: bool,
    /// Whether the unit is in the write buffer.
    is_held: bool,
}

impl<S: Store> Zones<S> {
    /// Returns the zone that begins at `address`, or an error if `address` is not the start of a zone.
    fn zone_at(&self, address: u64) -> Result<u32, ZoneRefusal> {
        let (zone, _) = self.zone_of(address >> self.geometry.unit_shift);
        match self.describe(zone).start == address {
            true => Ok(zone),
            false => Err(ZoneRefusal::NotZoneStart),
        }
    }

    /// Returns the zone to which the append `request` is written, or an error if the zone rejects the
    /// append.
    fn zone_for_append(&self, request: &Request) -> Result<u32, ZoneRefusal> {
        let zone = self.zone_at(request.address)?;
        self.check_write(zone, self.whole_units(request)?)?;
        Ok(zone)
    }

    /// Counts the rejection if `result` is an error, and returns `result`.
    fn counted<R>(&mut self, result: Result<R, ZoneRefusal>) -> Result<R, ZoneRefusal> {
        result.inspect_err(|&refusal| self.tally.refused[refusal as usize] += 1)
    }

    /// Resets `zone` by a trim or a command, and counts the reset unless the zone is already empty.
    fn reset(&mut self, zone: u32, flash: &mut Backend, counts: &mut Counts) {
        self.tally.resets += u64::from(self.zones[zone as usize].state != ZoneState::Empty);
        counts.trimmed += u64::from(self.empty(zone, flash));
        counts.forget_taken_back(self.pool.programs.host);
    }

    /// Stores the data of `unit` in `page`: the data of `written`, or zeros if there is none.
    fn fill(&mut self, page: u64, unit: u64, written: Option<&Written<'_>>) {
        let unit_bytes = self.geometry.unit_bytes as usize;
        let bytes = written.and_then(|written| {
            let begin = unit * unit_bytes as u64 - written.request.address;
            Some(&written.data.bytes()?[begin as usize..begin as usize + unit_bytes])
        });
        match bytes {
            Some(bytes) => self.pool.flash.fill(page, bytes),
            None => self.pool.flash.fill(page, &vec![0; unit_bytes]),
        }
    }

    /// Writes `units` units at the write pointer of `zone` without simulated time.
    fn put_in_zone(&mut self, zone: u32, units: u32) {
        self.begin_write(zone);
        for _ in 0..units {
            let page = self.take(zone, 1);
            if S::CARRIES_BYTES {
                self.fill(page, 0, None);
            }
            self.issue_complete(zone, &mut Untimed);
        }
    }

    /// Returns the location of `unit`.
    fn place_of(&self, unit: u64) -> Place {
        let geometry = &self.geometry;
        let (zone, index) = self.zone_of(unit);
        let Entry { written, issued, .. } = self.zones[zone as usize];
        let (is_written, is_held) = (index < written, index < written && index >= issued);
        let (superblock, index) = match is_written {
            true => self.place(zone, index),
            false => {
                let first = self.region_of(zone) as u32 * geometry.superblocks_of_region;
                (first, index % geometry.units_per_superblock)
            }
        };
        Place { superblock, index, is_written, is_held }
    }
}

impl<S: Store> Translation for Zones<S> {
    const KIND: &'static str = "zns_ssd";
    const CARRIES_BYTES: bool = S::CARRIES_BYTES;
    const HAS_ZONES: bool = true;

    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn find(&self, unit: u64) -> Found {
        let geometry = &self.geometry;
        let Place { superblock, index, is_written, is_held } = self.place_of(unit);
        let operation = geometry.operation_of(superblock, index);
        let superblock = if is_written { superblock } else { ABSENT };
        Found { superblock, operation, spot: geometry.spot(operation), is_held }
    }

    fn is_beside(&self, unit: u64, found: &Found) -> bool {
        let other = self.find(unit);
        (other.superblock, other.operation) == (found.superblock, found.operation)
    }

    fn planes_of(&self, unit: u64, units: u32) -> Range<u32> {
        let Place { superblock, index, .. } = self.place_of(unit);
        self.geometry.planes_of(superblock, index, units)
    }

    fn admit(&mut self, request: &Request) -> Result<(), ZoneRefusal> {
        let zone = self.zone_for(request);
        let zone = self.counted(zone)?;
        self.begin_write(zone);
        Ok(())
    }

    fn write(&mut self, unit: u64, written: &Written<'_>, flash: &mut Backend) -> Result<(), ZoneRefusal> {
        let (zone, _) = self.zone_of(unit);
        let page = self.take(zone, 1);
        if S::CARRIES_BYTES {
            self.fill(page, unit, Some(written));
        }
        self.issue_complete(zone, flash);
        Ok(())
    }

    fn end_write(&mut self, _now: Time) {}

    fn acknowledge(&mut self, _number: u32) {}

    /// Resets each zone that the request covers completely. Finishes a zone if the request covers it from its
    /// write pointer to its end. Returns false if the trim must wait for space in the buffer.
    fn trim(&mut self, request: &Request, flash: &mut Backend, counts: &mut Counts) -> bool {
        let (first, last) = self.geometry.units_of(request);
        let (begin, end) = (request.address, request.address + u64::from(request.bytes));
        let is_whole = |zone: &Zone| begin <= zone.start && zone.end <= end;
        let finishes = |zone: &Zone| {
            !is_whole(zone) && begin == zone.write_pointer && end == zone.end && zone.state.is_active()
        };
        let zones = self.zone_of(first).0..=self.zone_of(last).0;
        if zones.clone().any(|zone| finishes(&self.describe(zone))) && !flash.slots.has_room() {
            return false;
        }
        for zone in zones {
            let described = self.describe(zone);
            if is_whole(&described) {
                self.reset(zone, flash, counts);
            } else if finishes(&described) {
                self.finish(zone, flash);
            } else {
                self.tally.trims_of_parts += 1;
            }
        }
        true
    }

    fn place_append(&mut self, request: &Request) -> Result<u64, ZoneRefusal> {
        let zone = self.zone_for_append(request);
        let zone = self.counted(zone)?;
        self.tally.appends += 1;
        Ok(self.describe(zone).write_pointer)
    }

    fn command(
        &mut self,
        command: ZoneCommand,
        address: u64,
        flash: &mut Backend,
        counts: &mut Counts,
    ) -> Option<Result<(), ZoneRefusal>> {
        let zone = self.zone_at(address);
        let zone = match self.counted(zone) {
            Ok(zone) => zone,
            Err(refusal) => return Some(Err(refusal)),
        };
        let done = match command {
            ZoneCommand::Open => self.open_by_command(zone).map(|()| self.tally.opens += 1),
            ZoneCommand::Close => self.close_by_command(zone).map(|()| self.tally.closes += 1),
            ZoneCommand::Finish if self.is_held(zone) && !flash.slots.has_room() => return None,
            ZoneCommand::Finish => {
                self.finish(zone, flash);
                Ok(())
            }
            ZoneCommand::Reset => {
                self.reset(zone, flash, counts);
                Ok(())
            }
            ZoneCommand::Append => unreachable!("an append is a write"),
        };
        Some(self.counted(done))
    }

    /// Does nothing, because the buffer survives a power loss. Returns false, because the flush need not
    /// wait.
    fn flush(&mut self, _flash: &mut Backend) -> bool {
        false
    }

    fn flushed(&mut self) -> Result<(), ZoneRefusal> {
        Ok(())
    }

    fn programmed(&mut self, _superblock: u32, _operation: u32) {}

    fn work_while_idle(&mut self, _flash: &mut Backend) -> bool {
        false
    }

    fn read_unit(&self, unit: u64, offset: usize, into: &mut [u8]) {
        let Place { superblock, index, is_written, .. } = self.place_of(unit);
        match is_written {
            true => self.pool.flash.read(self.geometry.page_at(superblock, index), offset, into),
            false => into.fill(0),
        }
    }

    /// Writes without simulated time. A write beyond the end of a zone continues in the next zone.
    /// Preconditioning has no trims, so a write to the start of a zone that is not empty resets the zone
    /// first.
    fn precondition(&mut self, request: &Request, counts: &mut Counts) -> Result<(), ZoneRefusal> {
        let whole = request.bytes - request.bytes % self.geometry.unit_bytes;
        let end = request.address + u64::from(whole);
        let mut address = request.address;
        let mut all = Ok(());
        while address < end {
            let (zone, index) = self.zone_of(address >> self.geometry.unit_shift);
            if index == 0 && self.zones[zone as usize].state != ZoneState::Empty {
                self.empty(zone, &mut Untimed);
            }
            let to = end.min(self.describe(zone).end);
            let part = Request { address, bytes: (to - address) as u32, ..*request };
            let zone = self.zone_for(&part);
            match self.counted(zone) {
                Ok(zone) => self.put_in_zone(zone, part.bytes >> self.geometry.unit_shift),
                Err(refusal) => all = Err(refusal),
            }
            address = to;
        }
        counts.forget_taken_back(self.pool.programs.host);
        all
    }

    fn prefetch(&self, _requests: &[Request]) {}

    fn zone(&self, address: u64) -> Option<Zone> {
        let (zone, _) = self.zone_of(address >> self.geometry.unit_shift);
        Some(self.describe(zone))
    }

    /// Handles a power loss: closes all open zones. Capacitors save the partial operations in the buffer
    /// and the table of zones.
    fn power_fail(&mut self, _flash: &mut Backend, _lost: &mut Recovery) -> Held {
        let operations = self.held_operations();
        let of_region = self.most_of_region(|zone| zone.written > zone.issued);
        self.close_all();
        if S::CARRIES_BYTES {
            self.forget_write_pointers();
        }
        // Each region programs its operations on its dies.
        let dies = u64::from(self.geometry.dies_of_superblock());
        Held { operations, parities: 0, rounds: of_region.div_ceil(dies) }
    }

    /// Reads the table of zones, and finds the write pointer of each active zone by a binary search among
    /// its operations. Returns the time of these reads.
    fn recover(&mut self, recovery: &mut Recovery, _outage: &mut Outage) -> Time {
        if S::CARRIES_BYTES {
            self.find_write_pointers();
        }
        let config = &self.config;
        // A binary search among N operations takes as many reads as N has bits.
        let looks = u64::from(u32::BITS - self.operations_per_zone().leading_zeros());
        recovery.pages_scanned = looks * u64::from(self.active);
        let bytes = self.members.len() as u64 * TABLE_ENTRY_BYTES;
        let table = reading(config, bytes.div_ceil(config.page.0), config.page.0);
        // Zones are searched in parallel. The search in a zone uses one of its dies at a time.
        let of_region = self.most_of_region(|zone| zone.state.is_active());
        let rounds = of_region.div_ceil(u64::from(self.geometry.dies_of_superblock()));
        table + reading_round(config, 0) * (rounds * looks)
    }

    fn programs(&self) -> &Programs {
        &self.pool.programs
    }

    fn restart_ledger(&mut self, counts: &mut Counts) {
        self.tally = Tally::default();
        *counts = self.pool.new_counts();
    }

    fn wear(&self, counts: &Counts) -> Wear {
        self.pool.wear(counts, &self.config, self.live_units())
    }

    fn life(&self) -> Option<f64> {
        self.pool.life(&self.config, self.superblocks_needed())
    }

    fn counters(&self, counts: &Counts, flash: &Backend) -> Vec<(&'static str, u64)> {
        self.counters_since(counts, flash)
    }

    fn columns(&self) -> Vec<Column> {
        self.all_columns()
    }

    fn check_invariants(&self) {
        self.check_zones();
    }
}
