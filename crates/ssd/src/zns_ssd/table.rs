//! The table of zones. It contains the write pointer and the superblocks of each zone.
//!
//! These functions do not model time. They report flash operations to a [`FlashOps`]. The superblocks of a
//! zone are filled one after the other, so that a few numbers per zone determine the location of every
//! unit. A zone is on the dies of one region, and consecutive zones are in different regions.

use crate::config::{Config, ZonesConfig};
use crate::layout::divisor::Divisor;
use crate::layout::geometry::{Cells, Geometry};
use crate::ops::{Cause, FlashOps};
use crate::superblocks::{ABSENT, Superblocks};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Request, Zone, ZoneRefusal, ZoneState};
use nacre_media::store::Store;

/// State of a zone.
#[derive(Clone, Copy, Debug, Value)]
pub(crate) struct Entry {
    pub(crate) state: ZoneState,
    /// Number of units written, i.e. the write pointer relative to the start of the zone.
    pub(crate) written: u32,
    /// Number of units in operations that were issued to the flash. Later units are in the write buffer.
    pub(crate) issued: u32,
    /// Number of the last write to this zone, counted over all zones.
    last_write: u64,
}

const EMPTY: Entry = Entry { state: ZoneState::Empty, written: 0, issued: 0, last_write: 0 };

/// Numbers of zone operations since measurement started.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct Tally {
    pub(super) appends: u64,
    /// Number of zones opened by command. Writes also open zones, but are not counted.
    pub(super) opens: u64,
    pub(super) closes: u64,
    /// Number of zones finished by a trim or a command.
    pub(super) finishes: u64,
    /// Number of resets by a trim or a command. Resets of empty zones are not counted.
    pub(super) resets: u64,
    /// Number of trims that covered only part of a zone and had no effect.
    pub(super) trims_of_parts: u64,
    /// Number of rejections, by reason.
    pub(super) refused: [u64; ZoneRefusal::COUNT],
}

/// All zones of a drive, and the superblocks that contain their data.
#[derive(State)]
#[state(after = "Self::check_restored")]
#[state(bound = "S: Store")]
pub(crate) struct Zones<S> {
    #[state(skip = "from the configuration")]
    pub(super) config: Config,
    #[state(skip = "from the configuration")]
    pub(crate) geometry: Geometry,
    pub(crate) pool: Superblocks<S>,
    pub(crate) zones: Vec<Entry>,
    /// Superblocks of each zone, in the order in which they are filled. [`ABSENT`] marks a missing
    /// superblock.
    pub(crate) members: Vec<u32>,
    writes: u64,
    pub(crate) active: u32,
    pub(crate) open: u32,
    #[state(skip = "from the configuration")]
    pub(crate) limits: Limits,
    #[state(skip = "from the configuration")]
    by_zone: Divisor,
    #[state(skip = "from the configuration")]
    by_superblock: Divisor,
    pub(super) tally: Tally,
}

/// Sizes and limits from the configuration.
pub(crate) struct Limits {
    pub(crate) superblocks: u32,
    pub(crate) zone_units: u32,
    active: u32,
    open: u32,
}

impl<S: Store> Zones<S> {
    /// Creates the empty zones that `zones` of `config` describes.
    pub(crate) fn new(config: &Config, zones: &ZonesConfig, pool: Superblocks<S>) -> Zones<S> {
        let geometry = Geometry::of(config);
        let zone_units = zones.zone_superblocks * geometry.units_per_superblock;
        let count = (geometry.logical_units / u64::from(zone_units)) as u32;
        Zones {
            pool,
            zones: vec![EMPTY; count as usize],
            members: vec![ABSENT; (count * zones.zone_superblocks) as usize],
            writes: 0,
            active: 0,
            open: 0,
            limits: Limits {
                superblocks: zones.zone_superblocks,
                zone_units,
                active: zones.active_zones,
                open: zones.open_zones.unwrap_or(zones.active_zones),
            },
            by_zone: Divisor::new(zone_units),
            by_superblock: Divisor::new(geometry.units_per_superblock),
            tally: Tally::default(),
            config: config.clone(),
            geometry,
        }
    }

    /// Returns the number of bytes of a zone.
    pub(crate) fn zone_bytes(&self) -> u64 {
        u64::from(self.limits.zone_units) * u64::from(self.geometry.unit_bytes)
    }

    /// Returns the number of operations of a zone.
    pub(crate) fn operations_per_zone(&self) -> u32 {
        self.limits.zone_units / self.geometry.operation_units
    }

    /// Returns the region of `zone`.
    pub(crate) fn region_of(&self, zone: u32) -> usize {
        (zone % self.geometry.regions) as usize
    }

    /// Returns the number of superblocks that all zones of a region require, for the region with the most
    /// zones.
    pub(crate) fn superblocks_needed(&self) -> u32 {
        (self.zones.len() as u32).div_ceil(self.geometry.regions) * self.limits.superblocks
    }

    /// Returns whether the flash has enough usable superblocks for every zone.
    pub(crate) fn has_space(&self) -> bool {
        let (zones, regions) = (self.zones.len() as u32, self.geometry.regions);
        let needed = |region: u32| (zones + regions - 1 - region) / regions * self.limits.superblocks;
        (0..regions).all(|region| self.pool.blocks.usable_count(region as usize) >= needed(region))
    }

    /// Returns the zone of `unit`, and the number of the unit in the zone.
    #[inline]
    pub(crate) fn zone_of(&self, unit: u64) -> (u32, u32) {
        let (zone, index) = self.by_zone.divide_wide(unit);
        (zone as u32, index)
    }

    /// Returns the description of a zone for the host.
    pub(crate) fn describe(&self, zone: u32) -> Zone {
        let start = u64::from(zone) * self.zone_bytes();
        let entry = &self.zones[zone as usize];
        let write_pointer = match entry.state {
            ZoneState::Full => start + self.zone_bytes(),
            _ => start + u64::from(entry.written) * u64::from(self.geometry.unit_bytes),
        };
        Zone { start, end: start + self.zone_bytes(), write_pointer, state: entry.state }
    }

    /// Returns the superblock of unit `index` of `zone`, and the number of the unit in the superblock. The
    /// zone must not be empty.
    #[inline]
    pub(crate) fn place(&self, zone: u32, index: u32) -> (u32, u32) {
        let (member, index) = self.by_superblock.divide(index);
        (self.members[(zone * self.limits.superblocks + member) as usize], index)
    }

    /// Returns the zone to which `request` is written, or an error if the zone rejects the write.
    pub(super) fn zone_for(&self, request: &Request) -> Result<u32, ZoneRefusal> {
        let units = self.whole_units(request)?;
        let (zone, index) = self.zone_of(request.address >> self.geometry.unit_shift);
        let Entry { state, written, .. } = self.zones[zone as usize];
        if state != ZoneState::Full && index != written {
            return Err(ZoneRefusal::NotAtWritePointer);
        }
        self.check_write(zone, units)?;
        Ok(zone)
    }

    /// Returns the number of units of `request`, or an error if the request covers only part of a unit.
    pub(super) fn whole_units(&self, request: &Request) -> Result<u32, ZoneRefusal> {
        let unit_bytes = u64::from(self.geometry.unit_bytes);
        let is_whole = |bytes: u64| bytes.is_multiple_of(unit_bytes);
        match is_whole(request.address) && is_whole(request.bytes.into()) {
            true => Ok(request.bytes >> self.geometry.unit_shift),
            false => Err(ZoneRefusal::NotWholeUnits),
        }
    }

    /// Checks that `count` units can be written at the write pointer of `zone`. Returns an error if the
    /// zone rejects the write.
    pub(crate) fn check_write(&self, zone: u32, count: u32) -> Result<(), ZoneRefusal> {
        let Entry { state, written, .. } = self.zones[zone as usize];
        if state == ZoneState::Full {
            return Err(ZoneRefusal::Full);
        }
        if count > self.limits.zone_units - written {
            return Err(ZoneRefusal::Boundary);
        }
        self.check_resources(zone)
    }

    /// Checks that `zone` is open or can be opened. Returns an error if a limit is reached or too few
    /// superblocks are erased.
    fn check_resources(&self, zone: u32) -> Result<(), ZoneRefusal> {
        let state = self.zones[zone as usize].state;
        if state.is_open() {
            return Ok(());
        }
        if state == ZoneState::Empty && self.active >= self.limits.active {
            return Err(ZoneRefusal::TooManyActive);
        }
        let is_implicit = |entry: &Entry| entry.state == ZoneState::ImplicitlyOpen;
        if self.open >= self.limits.open && !self.zones.iter().any(is_implicit) {
            return Err(ZoneRefusal::TooManyOpen);
        }
        let erased = self.pool.erased_count(self.region_of(zone));
        if state == ZoneState::Empty && erased < self.limits.superblocks as usize {
            return Err(ZoneRefusal::WornOut);
        }
        Ok(())
    }

    /// Starts a write that [`Zones::check_write`] has accepted. Opens `zone` if necessary.
    pub(crate) fn begin_write(&mut self, zone: u32) {
        self.writes += 1;
        let entry = &mut self.zones[zone as usize];
        entry.last_write = self.writes;
        if !entry.state.is_open() {
            self.open(zone, ZoneState::ImplicitlyOpen);
        }
    }

    /// Opens `zone` by command. Returns an error if the zone is full, a limit is reached, or too few
    /// superblocks are erased.
    pub(crate) fn open_by_command(&mut self, zone: u32) -> Result<(), ZoneRefusal> {
        let entry = &mut self.zones[zone as usize];
        match entry.state {
            ZoneState::Full => return Err(ZoneRefusal::InvalidTransition),
            ZoneState::ImplicitlyOpen | ZoneState::ExplicitlyOpen => entry.state = ZoneState::ExplicitlyOpen,
            ZoneState::Empty | ZoneState::Closed => {
                self.check_resources(zone)?;
                self.open(zone, ZoneState::ExplicitlyOpen);
            }
        }
        Ok(())
    }

    /// Closes `zone` by command. Returns an error if the zone is empty or full.
    pub(crate) fn close_by_command(&mut self, zone: u32) -> Result<(), ZoneRefusal> {
        match self.zones[zone as usize].state {
            ZoneState::Empty | ZoneState::Full => return Err(ZoneRefusal::InvalidTransition),
            ZoneState::Closed => {}
            ZoneState::ImplicitlyOpen | ZoneState::ExplicitlyOpen => {
                self.change_state(zone, ZoneState::Closed);
            }
        }
        Ok(())
    }

    /// Opens `zone`, which is empty or closed, with the state `to`. If too many zones are then open, closes
    /// another zone.
    fn open(&mut self, zone: u32, to: ZoneState) {
        if self.zones[zone as usize].state == ZoneState::Empty {
            for member in 0..self.limits.superblocks {
                let superblock = self.pool.take_erased(self.region_of(zone));
                self.members[(zone * self.limits.superblocks + member) as usize] = superblock;
            }
        }
        self.change_state(zone, to);
        if self.open > self.limits.open {
            self.close_another(zone);
        }
    }

    /// Closes the least recently written of the implicitly opened zones, except `zone`.
    fn close_another(&mut self, zone: u32) {
        let is_implicit =
            |(other, entry): &(u32, &Entry)| *other != zone && entry.state == ZoneState::ImplicitlyOpen;
        let others = (0..).zip(&self.zones).filter(is_implicit);
        let (oldest, _) = others.min_by_key(|(_, entry)| entry.last_write).expect("the limit was checked");
        self.change_state(oldest, ZoneState::Closed);
    }

    /// Allocates `count` units at the write pointer of `zone` to a host write. The units must not exceed
    /// the current operation. Returns the number of the first page. The caller then calls
    /// [`Zones::issue_complete`].
    #[inline]
    pub(crate) fn take(&mut self, zone: u32, count: u32) -> u64 {
        let (superblock, _) = self.place(zone, self.zones[zone as usize].written);
        self.zones[zone as usize].written += count;
        self.pool.programs.host += u64::from(count);
        self.pool.flash.program_run(superblock, count)
    }

    /// Issues the current operation of `zone` to the flash if it is full. After the last operation, the zone
    /// is full.
    #[inline]
    pub(crate) fn issue_complete<W: FlashOps>(&mut self, zone: u32, work: &mut W) {
        let Entry { written, issued, .. } = self.zones[zone as usize];
        if written == issued + self.geometry.operation_units {
            self.issue(zone, work);
        }
        if written == self.limits.zone_units {
            self.change_state(zone, ZoneState::Full);
        }
    }

    fn issue<W: FlashOps>(&mut self, zone: u32, work: &mut W) {
        let (superblock, index) = self.place(zone, self.zones[zone as usize].issued);
        work.program(
            superblock,
            self.geometry.operation_of(superblock, index),
            Cells::Full,
            Cause::Host,
            false,
            0,
        );
        self.zones[zone as usize].issued += self.geometry.operation_units;
    }

    /// Returns whether the buffer contains a partial operation of `zone`.
    pub(crate) fn is_held(&self, zone: u32) -> bool {
        let Entry { written, issued, .. } = self.zones[zone as usize];
        written > issued
    }

    /// Finishes `zone`, so that it is full. Pads and issues an operation that is partly in the buffer. Later
    /// pages stay erased.
    pub(crate) fn finish<W: FlashOps>(&mut self, zone: u32, work: &mut W) {
        let Entry { state, written, issued, .. } = self.zones[zone as usize];
        if state == ZoneState::Full {
            return;
        }
        self.tally.finishes += 1;
        if written > issued {
            let (superblock, _) = self.place(zone, issued);
            let padding = issued + self.geometry.operation_units - written;
            self.pool.flash.program_run(superblock, padding);
            self.pool.programs.padding += u64::from(padding);
            self.issue(zone, work);
        }
        self.change_state(zone, ZoneState::Full);
    }

    /// Makes `zone` empty. Erases its programmed superblocks, and removes its units from the buffer. Returns
    /// the number of units that were written to the zone.
    pub(crate) fn empty<W: FlashOps>(&mut self, zone: u32, work: &mut W) -> u32 {
        self.change_state(zone, ZoneState::Empty);
        let Entry { written, issued, .. } = self.zones[zone as usize];
        if written > issued {
            let (superblock, _) = self.place(zone, issued);
            self.pool.flash.take_back(superblock, written - issued);
            self.pool.programs.host -= u64::from(written - issued);
        }
        self.zones[zone as usize] = EMPTY;
        for member in 0..self.limits.superblocks {
            let at = (zone * self.limits.superblocks + member) as usize;
            let superblock = std::mem::replace(&mut self.members[at], ABSENT);
            match superblock {
                ABSENT => {}
                _ if self.pool.flash.blocks()[superblock as usize].programmed == 0 => {
                    self.pool.put_erased(superblock);
                }
                _ => _ = self.pool.erase(superblock, work),
            }
        }
        written
    }

    /// Changes the state of `zone` to `to`, and updates the numbers of active and open zones.
    pub(super) fn change_state(&mut self, zone: u32, to: ZoneState) {
        let state = &mut self.zones[zone as usize].state;
        self.active = self.active - u32::from(state.is_active()) + u32::from(to.is_active());
        self.open = self.open - u32::from(state.is_open()) + u32::from(to.is_open());
        *state = to;
    }

    /// Returns the number of partial operations in the buffer.
    pub(crate) fn held_operations(&self) -> u64 {
        self.zones.iter().filter(|entry| entry.written > entry.issued).count() as u64
    }

    /// Returns the maximum number of zones in one region, among the zones for which `is_counted` returns
    /// true.
    pub(crate) fn most_of_region(&self, is_counted: impl Fn(&Entry) -> bool) -> u64 {
        let mut counts = vec![0_u64; self.geometry.regions as usize];
        for (zone, entry) in (0..).zip(&self.zones) {
            counts[self.region_of(zone)] += u64::from(is_counted(entry));
        }
        counts.into_iter().max().unwrap_or(0)
    }

    /// Returns the number of zones in each state.
    pub(crate) fn by_state(&self) -> [u32; ZoneState::COUNT] {
        let mut counts = [0; ZoneState::COUNT];
        self.zones.iter().for_each(|entry| counts[entry.state as usize] += 1);
        counts
    }

    /// Returns the number of units that are written in all zones.
    pub(crate) fn live_units(&self) -> u64 {
        self.zones.iter().map(|entry| u64::from(entry.written)).sum()
    }
}
