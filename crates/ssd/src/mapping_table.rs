//! The mapping table: the page of every logical unit.
//!
//! The table of a small drive is a list with four bytes per unit. With random writes, the list of a large
//! drive would use a page of system memory per written unit. The table of a large drive is therefore
//! divided into parts. A part with few mapped units is a hash table. A part that is written sequentially or
//! is nearly full is a list.
//!
//! The table of a drive with more than 2^32 pages always has parts, whose entries have 34 bits.
//!
//! Hash tables store no keys. The array stores the owner of each page (`owners`), and a lookup compares the
//! unit with the owner. The bits of an entry above its page number hold a part of the hash. A lookup
//! therefore compares the owner of almost no other entry.

#[cfg(test)]
mod tests;

use crate::layout::numbers::{List, Numbers, Packed, is_wide};
use nacre_kernel::state::{State, StateError, StateReader, StateWriter, restore_sparse, save_sparse};
use prefetch_index::prefetch_index;

/// Maximum number of units of a table that is a single list of 64 MiB. In the tests of this crate, small
/// drives also use hash tables.
pub(crate) const LIST_MAX: usize = if cfg!(test) { 1 } else { 1 << 24 };
/// Number of bits of a unit number within its part.
const PART_BITS: u32 = 19;
pub(crate) const PART_UNITS: usize = 1 << PART_BITS;
/// Size in bytes of the largest part, a list with 34 bits per unit.
pub(crate) const PART_BYTES_MAX: u64 = PART_UNITS as u64 * 17 / 4;
/// Number of mapped units at which a part becomes a list, because a hash table would use as much memory.
const HASHED_MAX: usize = PART_UNITS / 100 * 72;
/// Prefetch distance, in entries, when a table is rebuilt.
const AHEAD: usize = 16;
/// Number of consecutively mapped units after which a part becomes a list. These units fill a page of
/// system memory.
pub(crate) const RUN: u32 = 1024;

/// Page of each logical unit, counted from 1; 0 means unmapped.
#[derive(Debug)]
pub(crate) struct Table {
    units: usize,
    /// Single list; empty if the table is divided into parts.
    list: Vec<u32>,
    parts: Vec<Part<Vec<u32>>>,
    /// Parts for page numbers with more than 32 bits.
    wide: Vec<Part<Packed>>,
}

/// Entries of [`PART_UNITS`] units.
#[derive(Clone, Debug, Default)]
struct Part<L> {
    /// Entries indexed by unit if the part is a list, or by hash otherwise.
    entries: L,
    /// Mask of the page number in an entry, counted from 1. The bits above it hold a part of the hash.
    pages: u64,
    /// Number of mapped units.
    count: usize,
    /// Number of the unit after the most recently mapped one.
    next: u64,
    /// Number of units in the current run of consecutively mapped units.
    run: u32,
}

impl Table {
    /// Creates a table of `units` unmapped units, which will be mapped to page numbers up to `pages`.
    pub(crate) fn new(units: usize, pages: u64) -> Table {
        // An entry is a page number plus one, so the last page of exactly 2^32 also needs more than 32 bits.
        let is_wide = is_wide(pages + 1);
        if units <= LIST_MAX && !is_wide { Table::list(units) } else { Table::hashed(units, is_wide) }
    }

    /// Creates a table that is a single list.
    pub(crate) fn list(units: usize) -> Table {
        Table { units, list: vec![0; units], parts: Vec::new(), wide: Vec::new() }
    }

    fn hashed(units: usize, is_wide: bool) -> Table {
        let parts = units.div_ceil(PART_UNITS);
        let (narrow, wide) = if is_wide { (0, parts) } else { (parts, 0) };
        let (parts, wide) = (vec![Part::default(); narrow], vec![Part::default(); wide]);
        Table { units, list: Vec::new(), parts, wide }
    }

    /// Returns the number of units, mapped or not.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.units
    }

    /// Returns whether the table is rebuilt from the owners of pages when state is restored.
    pub(crate) fn is_derived(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the page of `unit`, counted from 1, or 0 if the unit is unmapped. `owners` has the unit of
    /// each page.
    #[inline]
    pub(crate) fn get(&self, unit: u64, owners: &Numbers) -> u64 {
        match self.list.get(unit as usize) {
            Some(&entry) => entry.into(),
            None => match self.parts.get(unit as usize / PART_UNITS) {
                Some(part) => part.get(unit, owners),
                None => self.wide[unit as usize / PART_UNITS].get(unit, owners),
            },
        }
    }

    /// Maps `unit` to page `entry`, counted from 1. An entry of 0 unmaps the unit.
    #[inline]
    pub(crate) fn set(&mut self, unit: u64, entry: u64, owners: &Numbers) {
        match self.list.get_mut(unit as usize) {
            Some(old) => *old = entry as u32,
            None => match self.parts.get_mut(unit as usize / PART_UNITS) {
                Some(part) => part.set(unit, entry, owners),
                None => self.wide[unit as usize / PART_UNITS].set(unit, entry, owners),
            },
        }
    }

    /// Unmaps all units without touching unused memory.
    pub(crate) fn clear(&mut self) {
        *self = if self.is_derived() {
            Table::hashed(self.units, !self.wide.is_empty())
        } else {
            Table::list(self.units)
        };
    }

    /// Prefetches the entry of `unit`.
    #[inline]
    pub(crate) fn prefetch(&self, unit: usize) {
        if let Some(part) = self.parts.get(unit / PART_UNITS) {
            part.entries.prefetch(part.home(unit as u64).0);
        } else if let Some(part) = self.wide.get(unit / PART_UNITS) {
            part.entries.prefetch(part.home(unit as u64).0);
        } else {
            prefetch_index(&self.list, unit);
        }
    }

    /// Returns the entry of `unit` if the table is a list, or 0 otherwise.
    #[inline]
    pub(crate) fn peek(&self, unit: usize) -> u64 {
        self.list.get(unit).map_or(0, |&entry| entry.into())
    }

    /// Returns the number of mapped units.
    pub(crate) fn mapped(&self) -> usize {
        let in_list = self.list.iter().filter(|&&entry| entry != 0).count();
        let of_parts = self.parts.iter().map(|part| part.count);
        in_list + of_parts.chain(self.wide.iter().map(|part| part.count)).sum::<usize>()
    }

    /// Returns the entries of all mapped units.
    pub(crate) fn entries(&self) -> impl Iterator<Item = u64> {
        let of_parts = self.parts.iter().flat_map(Part::pages).chain(self.wide.iter().flat_map(Part::pages));
        self.list.iter().map(|&entry| u64::from(entry)).chain(of_parts).filter(|&entry| entry != 0)
    }

    /// Returns the memory that the table takes, in bytes, including unused parts of lists.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        let of_parts = self.parts.iter().map(Part::bytes).chain(self.wide.iter().map(Part::bytes));
        4 * self.list.len() as u64 + of_parts.sum::<u64>()
    }
}

impl<L: List> Part<L> {
    /// Returns the pages of all slots, counted from 1, or 0 for an empty slot.
    fn pages(&self) -> impl Iterator<Item = u64> {
        (0..self.entries.count()).map(|place| self.entries.number(place) & self.pages)
    }

    #[cfg(test)]
    fn bytes(&self) -> u64 {
        size_of::<Part<L>>() as u64 + self.entries.bytes()
    }

    #[inline]
    fn is_list(&self) -> bool {
        self.entries.count() == PART_UNITS
    }

    /// Returns the first slot for `unit`, and the bits of its hash that are compared.
    #[inline]
    fn home(&self, unit: u64) -> (usize, u64) {
        let within = unit as usize % PART_UNITS;
        if self.is_list() {
            return (within, 0);
        }
        let mixed = (within as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let place = ((mixed >> 32) * self.entries.count() as u64) >> 32;
        (place as usize, mixed & L::MASK & !self.pages)
    }

    /// Returns the slot of `unit` and `true`. If the unit is not mapped, returns the slot at which to insert
    /// it, and `false`.
    #[inline]
    fn find(&self, unit: u64, owners: &Numbers) -> (usize, bool) {
        match owners {
            Numbers::Narrow(owners) => self.find_by(unit, |page| u64::from(owners[page]) == unit),
            Numbers::Wide(_) => self.find_by(unit, |page| owners.get(page) == unit),
        }
    }

    #[inline(always)]
    fn find_by(&self, unit: u64, is_owned: impl Fn(usize) -> bool) -> (usize, bool) {
        let (mut place, hash) = self.home(unit);
        loop {
            let entry = self.entries.number(place);
            if entry == 0 {
                return (place, false);
            }
            if entry & !self.pages == hash && is_owned((entry & self.pages) as usize - 1) {
                return (place, true);
            }
            place = self.after(place);
        }
    }

    #[inline]
    fn after(&self, place: usize) -> usize {
        if place + 1 == self.entries.count() { 0 } else { place + 1 }
    }

    #[inline(never)]
    fn get(&self, unit: u64, owners: &Numbers) -> u64 {
        if self.is_list() {
            return self.entries.number(unit as usize % PART_UNITS);
        }
        if self.count == 0 {
            return 0;
        }
        match self.find(unit, owners) {
            (place, true) => self.entries.number(place) & self.pages,
            _ => 0,
        }
    }

    #[inline(never)]
    fn set(&mut self, unit: u64, entry: u64, owners: &Numbers) {
        if !self.is_list() {
            if entry == 0 {
                return self.remove(unit, owners);
            }
            if entry > self.pages || self.is_full() || self.count == HASHED_MAX {
                self.make_room(entry, owners);
            }
        }
        if self.is_list() {
            let place = unit as usize % PART_UNITS;
            let old = self.entries.number(place);
            self.entries.put(place, entry);
            self.count = self.count + usize::from(entry != 0) - usize::from(old != 0);
            return;
        }
        let (place, is_there) = self.find(unit, owners);
        self.entries.put(place, entry | self.home(unit).1);
        if !is_there {
            self.count += 1;
            self.run = if unit == self.next { self.run + 1 } else { 0 };
            self.next = unit.wrapping_add(1);
            if self.run >= RUN {
                self.become_list(owners);
            }
        }
    }

    /// Returns whether a hash table must grow before another unit is inserted.
    #[inline]
    fn is_full(&self) -> bool {
        (self.count + 1) * 20 > self.entries.count() * 17
    }

    /// Grows the table so that it can store another unit, or the page number `entry`.
    #[cold]
    fn make_room(&mut self, entry: u64, owners: &Numbers) {
        if self.count == HASHED_MAX {
            return self.become_list(owners);
        }
        let places = self.entries.count();
        // The table grows by a quarter, so that 68 to 85 % of the slots are used. A table with wider numbers grows
        // by an eighth and takes as much memory.
        let more = if L::MASK > u32::MAX.into() { places / 8 } else { places / 4 };
        let more = if self.is_full() { more + 4 } else { 0 };
        let places = (places + more).min(PART_UNITS - 1);
        self.rebuild(places, self.pages.max(u64::MAX >> entry.leading_zeros()), owners);
    }

    /// Rebuilds the table with `places` slots and page numbers up to `pages`.
    #[cold]
    fn rebuild(&mut self, places: usize, pages: u64, owners: &Numbers) {
        let old_pages = std::mem::replace(&mut self.pages, pages);
        let old = std::mem::replace(&mut self.entries, L::zeros(places));
        for at in 0..old.count() {
            let entry = old.number(at) & old_pages;
            if at + AHEAD < old.count() {
                owners.prefetch((old.number(at + AHEAD) & old_pages).saturating_sub(1) as usize);
            }
            if entry != 0 {
                let (mut place, hash) = self.home(owners.get(entry as usize - 1));
                while self.entries.number(place) != 0 {
                    place = self.after(place);
                }
                self.entries.put(place, entry | hash);
            }
        }
    }

    /// Converts the part to a list, with a slot for every unit.
    #[cold]
    fn become_list(&mut self, owners: &Numbers) {
        self.rebuild(PART_UNITS, u64::MAX, owners);
    }

    /// Removes `unit`. Later entries move up, so that a search from the first slot of each entry still finds
    /// it.
    fn remove(&mut self, unit: u64, owners: &Numbers) {
        if self.count == 0 {
            return;
        }
        let (mut free, is_there) = self.find(unit, owners);
        if !is_there {
            return;
        }
        self.count -= 1;
        let places = self.entries.count();
        let mut place = self.after(free);
        while self.entries.number(place) != 0 {
            let entry = self.entries.number(place);
            let home = self.home(owners.get((entry & self.pages) as usize - 1)).0;
            let behind = |from: usize| (place + places - from) % places;
            if behind(home) >= behind(free) {
                self.entries.put(free, entry);
                free = place;
            }
            place = self.after(place);
        }
        self.entries.put(free, 0);
    }
}

/// Saves lists. Parts are not saved, because they are rebuilt from the owners of valid pages.
impl State for Table {
    fn save(&self, state: &mut StateWriter) {
        save_sparse(&self.list, state);
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        if self.is_derived() {
            self.clear();
        }
        restore_sparse(&mut self.list, state)
    }
}
