//! The table of zones: how far each is written, and which superblocks it lies in.
//!
//! It knows no time: what the flash has to do is told to a [`FlashOps`]. The superblocks of a zone are filled one after the
//! other, so that a few numbers for each zone say where every unit is.

use crate::book::Programs;
use crate::config::Config;
use crate::config::ZonesConfig;
use crate::ftl::parts::blocks::Blocks;
use crate::ftl::parts::frontier::ABSENT;
use crate::layout::divisor::Divisor;
use crate::layout::geometry::{Cells, Geometry};
use crate::ops::{Cause, FlashOps};
use crate::zns_ssd::refusal::Refusal;
use nacre_kernel::Zone;
use nacre_kernel::state::{State, Value};
use nacre_media::flash::Flash;
use nacre_media::store::Store;
use std::collections::BTreeSet;

/// What a zone is: the states of NVMe's zones that a host brings about with reads, writes and trims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(crate) enum Phase {
    /// It holds nothing.
    Empty,
    /// It is being written.
    Open,
    /// It was written in part, and another was opened in its place.
    Closed,
    /// It takes nothing before it is reset.
    Full,
}

impl Phase {
    pub(crate) fn is_active(self) -> bool {
        matches!(self, Phase::Open | Phase::Closed)
    }
}

/// A zone.
#[derive(Clone, Copy, Debug, Value)]
pub(crate) struct Entry {
    pub(crate) phase: Phase,
    /// Units written: the write pointer, from the beginning of the zone.
    pub(crate) written: u32,
    /// Units of operations that went to the flash; those behind are in the write buffer.
    pub(crate) issued: u32,
    /// The number of the last write, over all zones.
    last_write: u64,
}

const EMPTY: Entry = Entry { phase: Phase::Empty, written: 0, issued: 0, last_write: 0 };

/// Zones over superblocks of flash.
#[derive(State)]
#[state(after = "Self::check_restored")]
#[state(bound = "S: Store")]
pub(crate) struct ZoneTable<S> {
    #[state(skip = "from the configuration")]
    pub(crate) geometry: Geometry,
    pub(crate) flash: Flash<S>,
    pub(crate) blocks: Blocks,
    pub(crate) zones: Vec<Entry>,
    /// By zone, its superblocks in the order in which they are filled.
    pub(crate) members: Vec<u32>,
    /// Superblocks that are erased, behind the number by which the next to be filled is chosen.
    pub(crate) erased: BTreeSet<(u64, u32)>,
    /// Superblocks erased so far, those erased from the start included.
    erasures: u64,
    /// The superblock erased last.
    last_erased: u32,
    writes: u64,
    pub(crate) active: u32,
    pub(crate) open: u32,
    pub(crate) programs: Programs,
    #[state(skip = "from the configuration")]
    pub(crate) limits: Limits,
    #[state(skip = "from the configuration")]
    by_zone: Divisor,
    #[state(skip = "from the configuration")]
    by_superblock: Divisor,
}

/// What the configuration sets.
pub(crate) struct Limits {
    pub(crate) superblocks: u32,
    pub(crate) zone_units: u32,
    active: u32,
    open: u32,
    youngest_first: bool,
    erases_in_turn: bool,
}

impl<S: Store> ZoneTable<S> {
    /// The empty zones that `zones` of `config` describe.
    pub(crate) fn new(
        config: &Config,
        zones: &ZonesConfig,
        geometry: Geometry,
        store: S,
        blocks: Blocks,
    ) -> ZoneTable<S> {
        let zone_units = zones.zone_superblocks * geometry.units_per_superblock;
        let count = geometry.logical_units / zone_units;
        let usable = blocks.usable();
        let mut table = ZoneTable {
            flash: Flash::new(geometry.superblocks, geometry.units_per_superblock, store),
            blocks,
            zones: vec![EMPTY; count as usize],
            members: vec![ABSENT; (count * zones.zone_superblocks) as usize],
            erased: BTreeSet::new(),
            erasures: 0,
            last_erased: ABSENT,
            writes: 0,
            active: 0,
            open: 0,
            programs: Programs::default(),
            limits: Limits {
                superblocks: zones.zone_superblocks,
                zone_units,
                active: zones.active_zones,
                open: zones.open_zones.unwrap_or(zones.active_zones),
                youngest_first: config.youngest_first,
                erases_in_turn: config.erases_at_once.is_some(),
            },
            by_zone: Divisor::new(zone_units),
            by_superblock: Divisor::new(geometry.units_per_superblock),
            geometry,
        };
        usable.into_iter().for_each(|superblock| table.put_erased(superblock));
        table
    }

    /// Bytes of a zone.
    pub(crate) fn zone_bytes(&self) -> u64 {
        u64::from(self.limits.zone_units) * u64::from(self.geometry.unit_bytes)
    }

    /// Operations of a zone.
    pub(crate) fn operations_per_zone(&self) -> u32 {
        self.limits.zone_units / self.geometry.operation_units
    }

    /// Superblocks of all zones.
    pub(crate) fn superblocks_needed(&self) -> u32 {
        self.members.len() as u32
    }

    /// Whether there is flash for every zone.
    pub(crate) fn has_space(&self) -> bool {
        self.blocks.usable_count(0) >= self.superblocks_needed()
    }

    /// The zone of `unit`, and where in it that lies.
    #[inline]
    pub(crate) fn zone_of(&self, unit: u32) -> (u32, u32) {
        self.by_zone.divide(unit)
    }

    /// The zone with this number, as a host is notified of it.
    pub(crate) fn describe(&self, zone: u32) -> Zone {
        let start = u64::from(zone) * self.zone_bytes();
        let entry = &self.zones[zone as usize];
        let write_pointer = match entry.phase {
            Phase::Full => start + self.zone_bytes(),
            _ => start + u64::from(entry.written) * u64::from(self.geometry.unit_bytes),
        };
        Zone { start, end: start + self.zone_bytes(), write_pointer }
    }

    /// The superblock of unit `index` of `zone`, which holds something, and where in that it lies.
    #[inline]
    pub(crate) fn place(&self, zone: u32, index: u32) -> (u32, u32) {
        let (member, index) = self.by_superblock.divide(index);
        (self.members[(zone * self.limits.superblocks + member) as usize], index)
    }

    /// The zone that takes `count` units from `unit` on. Errors: none does.
    pub(crate) fn zone_for(&self, unit: u32, count: u32) -> Result<u32, Refusal> {
        let (zone, index) = self.zone_of(unit);
        let entry = &self.zones[zone as usize];
        if entry.phase == Phase::Full {
            return Err(Refusal::Full);
        }
        if index != entry.written {
            return Err(Refusal::NotAtWritePointer);
        }
        if count > self.limits.zone_units - index {
            return Err(Refusal::Boundary);
        }
        if entry.phase == Phase::Empty && self.active >= self.limits.active {
            return Err(Refusal::TooManyActive);
        }
        if entry.phase == Phase::Empty && self.erased.len() < self.limits.superblocks as usize {
            return Err(Refusal::WornOut);
        }
        Ok(zone)
    }

    /// `zone`, which takes a write, is open from now on.
    pub(crate) fn begin_write(&mut self, zone: u32) {
        self.writes += 1;
        let entry = &mut self.zones[zone as usize];
        entry.last_write = self.writes;
        match entry.phase {
            Phase::Open => return,
            Phase::Empty => {
                entry.phase = Phase::Open;
                self.active += 1;
                for member in 0..self.limits.superblocks {
                    let superblock = self.take_erased();
                    self.members[(zone * self.limits.superblocks + member) as usize] = superblock;
                }
            }
            Phase::Closed => entry.phase = Phase::Open,
            Phase::Full => unreachable!("a full zone takes no write"),
        }
        self.open += 1;
        if self.open > self.limits.open {
            self.close_another(zone);
        }
    }

    /// The open zone that was written longest ago, but not `zone`, is closed.
    fn close_another(&mut self, zone: u32) {
        let open =
            (0..).zip(&mut self.zones).filter(|(other, entry)| *other != zone && entry.phase == Phase::Open);
        if let Some((_, entry)) = open.min_by_key(|(_, entry)| entry.last_write) {
            entry.phase = Phase::Closed;
            self.open -= 1;
        }
    }

    /// The host writes so many units of `zone`, no more than until an operation is full; gives the number of the first page.
    /// [`ZoneTable::issue_complete`] is to be called then.
    #[inline]
    pub(crate) fn take(&mut self, zone: u32, count: u32) -> u32 {
        let (superblock, _) = self.place(zone, self.zones[zone as usize].written);
        self.zones[zone as usize].written += count;
        self.programs.host += u64::from(count);
        self.flash.program_run(superblock, count)
    }

    /// An operation of `zone` that is full goes to the flash; a zone whose last it is is full.
    #[inline]
    pub(crate) fn issue_complete<W: FlashOps>(&mut self, zone: u32, work: &mut W) {
        let Entry { written, issued, .. } = self.zones[zone as usize];
        if written == issued + self.geometry.operation_units {
            self.issue(zone, work);
        }
        if written == self.limits.zone_units {
            self.leave(zone, Phase::Full);
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
        );
        self.zones[zone as usize].issued += self.geometry.operation_units;
    }

    /// `zone` takes no more: what the buffer holds of it goes to the flash, in an operation that is padded.
    pub(crate) fn finish<W: FlashOps>(&mut self, zone: u32, work: &mut W) {
        let Entry { written, issued, .. } = self.zones[zone as usize];
        if written > issued {
            let (superblock, _) = self.place(zone, issued);
            let padding = issued + self.geometry.operation_units - written;
            self.flash.program_run(superblock, padding);
            self.programs.padding += u64::from(padding);
            self.issue(zone, work);
        }
        self.leave(zone, Phase::Full);
    }

    /// `zone` holds nothing any more: what of it was programmed is erased, and what the buffer holds of it never is
    /// programmed. Gives how many units it held.
    pub(crate) fn reset<W: FlashOps>(&mut self, zone: u32, work: &mut W) -> u32 {
        self.leave(zone, Phase::Empty);
        let Entry { written, issued, .. } = self.zones[zone as usize];
        if written > issued {
            let (superblock, _) = self.place(zone, issued);
            self.flash.take_back(superblock, written - issued);
            self.programs.host -= u64::from(written - issued);
        }
        self.zones[zone as usize] = EMPTY;
        for member in 0..self.limits.superblocks {
            let at = (zone * self.limits.superblocks + member) as usize;
            let superblock = std::mem::replace(&mut self.members[at], ABSENT);
            match superblock {
                ABSENT => {}
                _ if self.flash.blocks()[superblock as usize].programmed == 0 => self.put_erased(superblock),
                _ => self.erase(superblock, work),
            }
        }
        written
    }

    fn erase<W: FlashOps>(&mut self, superblock: u32, work: &mut W) {
        self.flash.erase(superblock);
        self.last_erased = superblock;
        work.erase(superblock);
        if self.blocks.erase(superblock) {
            self.put_erased(superblock);
        }
    }

    /// `zone` is in another phase from now on, in which it is not active.
    fn leave(&mut self, zone: u32, to: Phase) {
        let entry = &mut self.zones[zone as usize];
        self.active -= u32::from(entry.phase.is_active());
        self.open -= u32::from(entry.phase == Phase::Open);
        entry.phase = to;
    }

    fn put_erased(&mut self, superblock: u32) {
        self.erasures += 1;
        let erases = u64::from(self.flash.blocks()[superblock as usize].erases);
        self.erased.insert((if self.limits.youngest_first { erases } else { self.erasures }, superblock));
    }

    /// The erased superblock that is to be filled next; where dies erase in turn not the last one, if there are others.
    fn take_erased(&mut self) -> u32 {
        let is_over = |&&(_, superblock): &&(u64, u32)| superblock != self.last_erased;
        let first = self.erased.iter().find(is_over).filter(|_| self.limits.erases_in_turn);
        let first = *first.or(self.erased.first()).expect("there are as many as a zone has");
        self.erased.remove(&first);
        first.1
    }

    /// Operations that are not full, which the buffer holds.
    pub(crate) fn held_operations(&self) -> u64 {
        self.zones.iter().filter(|entry| entry.written > entry.issued).count() as u64
    }

    /// How many zones are in each phase: empty, open, closed, full.
    pub(crate) fn by_phase(&self) -> [u32; 4] {
        let mut counts = [0; 4];
        self.zones.iter().for_each(|entry| counts[entry.phase as usize] += 1);
        counts
    }

    /// Units that can be read.
    pub(crate) fn live_units(&self) -> u64 {
        self.zones.iter().map(|entry| u64::from(entry.written)).sum()
    }
}
