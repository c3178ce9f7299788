//! Extents: locations of erase blocks and of their programmed pages in the file.

use crate::error::Problem;
use crate::geometry::Geometry;
use crate::space::{Space, UNIT_BYTES, units};
use crate::superblock::Checkpoint;
use nacre_kernel::state::{StateError, StateReader, StateWriter};
use std::collections::BTreeMap;
use std::io;

mod unused;

/// A set of pages of one extent, as a bitmap.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pages(Box<[u64]>);

impl Pages {
    fn has(&self, page: u64) -> bool {
        self.0[(page / 64) as usize] >> (page % 64) & 1 == 1
    }

    fn add(&mut self, page: u64) {
        self.0[(page / 64) as usize] |= 1 << (page % 64);
    }

    fn remove(&mut self, page: u64) {
        self.0[(page / 64) as usize] &= !(1 << (page % 64));
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Returns the number of pages up to and including the last page in the set.
    fn span(&self) -> u64 {
        let last = self.0.iter().rposition(|&word| word != 0);
        last.map_or(0, |at| at as u64 * 64 + 64 - u64::from(self.0[at].leading_zeros()))
    }
}

/// The programmed pages of an extent, and the slot that contains each page.
#[derive(Clone, Debug)]
struct Current {
    programmed: Pages,
    /// Pages whose current location is the second slot.
    second: Pages,
}

impl Current {
    fn new(words: usize) -> Current {
        let none = Pages(vec![0; words].into_boxed_slice());
        Current { programmed: none.clone(), second: none }
    }

    /// Returns the current slot of `page`, or its most recent slot if it is not programmed.
    fn place_of(&self, page: u64) -> usize {
        usize::from(self.second.has(page))
    }
}

/// An erase block with programmed pages. A page that belongs to the checkpoint is not overwritten: when it is
/// programmed again, it is written to the other slot of the extent.
#[derive(Clone, Debug)]
struct Extent {
    /// Offsets of the two slots in the file, or 0 for a slot that is not allocated.
    offsets: [u64; 2],
    now: Current,
    /// Checksum of each programmed page. The list is empty without checksums.
    checksums: Box<[u32]>,
    /// State of the extent in the checkpoint, or `None` if it is not in the checkpoint.
    kept: Option<Current>,
}

/// A programmed page: its number, its location, and its checksum, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Programmed {
    pub(crate) page: u64,
    pub(crate) offset: u64,
    pub(crate) checksum: Option<u32>,
}

/// All extents of an image, and the unused space of the file.
#[derive(Clone, Debug)]
pub(crate) struct Extents {
    geometry: Geometry,
    has_checksums: bool,
    extents: BTreeMap<u64, Extent>,
    /// Offsets of the extents that only the checkpoint uses.
    old: Vec<u64>,
    /// Number of pages of the checkpoint in the extents `old`.
    old_pages: u64,
    pub(crate) space: Space,
}

impl Extents {
    /// Creates an empty set of extents. Unused space starts at `start`.
    pub(crate) fn new(geometry: Geometry, start: u64, has_checksums: bool) -> Extents {
        assert!(geometry.page_bytes > 0 && geometry.pages_per_extent > 0, "{geometry:?} holds no byte");
        let space = Space::from(units(start));
        Extents { geometry, has_checksums, extents: BTreeMap::new(), old: Vec::new(), old_pages: 0, space }
    }

    /// Returns whether pages have checksums.
    pub(crate) fn have_checksums(&self) -> bool {
        self.has_checksums
    }

    /// Returns the size of a page, in bytes.
    pub(crate) fn page_bytes(&self) -> usize {
        self.geometry.page_bytes as usize
    }

    /// Returns the location of `page`, or `None` if it is not programmed.
    pub(crate) fn find(&self, page: u64) -> Option<Programmed> {
        let (number, index) = self.split(page);
        let extent = self.extents.get(&number).filter(|extent| extent.now.programmed.has(index))?;
        Some(self.programmed_in(number, extent, index))
    }

    fn programmed_in(&self, number: u64, extent: &Extent, index: u64) -> Programmed {
        let Geometry { page_bytes, pages_per_extent, .. } = self.geometry;
        Programmed {
            page: number * pages_per_extent + index,
            offset: extent.offsets[extent.now.place_of(index)] + index * u64::from(page_bytes),
            checksum: extent.checksums.get(index as usize).copied(),
        }
    }

    /// Returns all programmed pages.
    pub(crate) fn programmed(&self) -> impl Iterator<Item = Programmed> + '_ {
        self.extents.iter().flat_map(move |(&number, extent)| {
            let pages = (0..extent.now.programmed.span()).filter(|&page| extent.now.programmed.has(page));
            pages.map(move |page| self.programmed_in(number, extent, page))
        })
    }

    /// Replaces the checksum of each programmed page with the checksum of the data that `read` returns.
    pub(crate) fn accept(
        &mut self,
        mut read: impl FnMut(u64, &mut [u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut bytes = vec![0; self.page_bytes()];
        let found: Vec<Programmed> = self.programmed().filter(|page| page.checksum.is_some()).collect();
        for Programmed { page, offset, .. } in found {
            bytes.fill(0);
            read(offset, &mut bytes)?;
            let (number, index) = self.split(page);
            let extent = self.extents.get_mut(&number).expect("it was just found");
            extent.checksums[index as usize] = crc32fast::hash(&bytes);
        }
        Ok(())
    }

    /// Returns the location to which the caller must write `page`. The page counts as programmed afterwards.
    /// `checksum` is its checksum, if any.
    pub(crate) fn place(&mut self, page: u64, checksum: Option<u32>) -> u64 {
        assert!(page < self.geometry.pages, "page {page} of {}", self.geometry.pages);
        let (number, page) = self.split(page);
        let Geometry { page_bytes, .. } = self.geometry;
        let (bytes, words) = (self.geometry.extent_bytes(), self.geometry.words());
        let sums = if self.has_checksums { self.geometry.pages_per_extent as usize } else { 0 };
        let extent = self.extents.entry(number).or_insert_with(|| Extent {
            offsets: [0; 2],
            now: Current::new(words),
            checksums: vec![0; sums].into_boxed_slice(),
            kept: None,
        });
        if let (Some(place), Some(checksum)) = (extent.checksums.get_mut(page as usize), checksum) {
            *place = checksum;
        }
        let kept = extent.kept.as_ref().filter(|kept| kept.programmed.has(page));
        let place = kept.map_or_else(|| extent.now.place_of(page), |kept| 1 - kept.place_of(page));
        if extent.offsets[place] == 0 {
            extent.offsets[place] = self.space.take(bytes);
        }
        extent.now.programmed.add(page);
        match place {
            0 => extent.now.second.remove(page),
            _ => extent.now.second.add(page),
        }
        extent.offsets[place] + page * u64::from(page_bytes)
    }

    /// Erases `count` pages, starting at `first`.
    pub(crate) fn erase(&mut self, first: u64, count: u64) {
        if count == 0 {
            return;
        }
        let per = self.geometry.pages_per_extent;
        let end = first + count;
        let touched: Vec<u64> =
            self.extents.range(first / per..end.div_ceil(per)).map(|(&at, _)| at).collect();
        for number in touched {
            let from = first.max(number * per) - number * per;
            let to = end.min((number + 1) * per) - number * per;
            let extent = self.extents.get_mut(&number).expect("it was just listed");
            if to - from < per {
                (from..to).for_each(|page| extent.now.programmed.remove(page));
            }
            if to - from == per || extent.now.programmed.span() == 0 {
                self.drop_extent(number);
            }
        }
    }

    /// Records that a checkpoint with the current extents is durable. Releases the extents that only the
    /// previous checkpoint used.
    pub(crate) fn keep(&mut self) {
        let bytes = self.geometry.extent_bytes();
        self.old.drain(..).for_each(|offset| self.space.give(offset, bytes));
        self.old_pages = 0;
        self.extents.values_mut().for_each(|extent| extent.kept = Some(extent.now.clone()));
    }

    /// Returns the file length that all programmed pages require.
    pub(crate) fn needed_length(&self) -> u64 {
        let page_bytes = u64::from(self.geometry.page_bytes);
        let ends = self.extents.values().flat_map(|extent| {
            let pages = 0..extent.now.programmed.span();
            let last_in = |place| {
                let is_in =
                    |page: &u64| extent.now.programmed.has(*page) && extent.now.place_of(*page) == place;
                pages.clone().rev().find(is_in).map(|page| extent.offsets[place] + (page + 1) * page_bytes)
            };
            [last_in(0), last_in(1)]
        });
        ends.flatten().max().unwrap_or(0)
    }

    /// Releases the space of both copies of a checkpoint.
    pub(crate) fn give(&mut self, checkpoint: &Checkpoint) {
        checkpoint.offsets.iter().for_each(|&offset| self.space.give(offset, checkpoint.bytes()));
    }

    /// Returns the extent table for a checkpoint.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut table = StateWriter::new();
        table.section("extents");
        table.put_u64(self.extents.len() as u64);
        for (&number, extent) in &self.extents {
            table.put_u64(number);
            extent.offsets.iter().for_each(|&offset| table.put_u64(offset));
            table.put_u64s(&extent.now.programmed.0);
            table.put_u64s(&extent.now.second.0);
            let programmed =
                (0..).zip(&extent.checksums).filter(|&(page, _)| extent.now.programmed.has(page));
            programmed.for_each(|(_, &checksum)| table.put_u32(checksum));
        }
        table.finish()
    }

    /// Loads the extent table of a checkpoint. Returns an error if the table does not match this geometry.
    pub(crate) fn decode(&mut self, table: &[u8]) -> Result<(), StateError> {
        let mut table = StateReader::new(table);
        table.section("extents")?;
        for _ in 0..table.u64("number of extents")? {
            let number = table.u64("number of an extent")?;
            let offsets = [table.u64("its first slot")?, table.u64("its second slot")?];
            let mut now = Current::new(self.geometry.words());
            table.u64s_into("words of programmed pages", &mut now.programmed.0)?;
            table.u64s_into("words of pages in the second slot", &mut now.second.0)?;
            let extents = self.geometry.pages.div_ceil(self.geometry.pages_per_extent);
            let bytes = self.geometry.extent_bytes();
            let mut has_room = |offset: u64| {
                offset == 0 || offset.is_multiple_of(UNIT_BYTES) && self.space.claim(offset, bytes)
            };
            let sound = number < extents
                && now.programmed.span() <= self.geometry.pages_per_extent
                && offsets.map(&mut has_room) == [true; 2]
                && (0..now.programmed.span())
                    .all(|page| !now.programmed.has(page) || offsets[now.place_of(page)] != 0);
            if !sound {
                return Err(
                    table.error("an extent in its own space".into(), format!("{number} at {offsets:?}"))
                );
            }
            let sums = if self.has_checksums { self.geometry.pages_per_extent as usize } else { 0 };
            let mut checksums = vec![0; sums].into_boxed_slice();
            for (page, checksum) in (0..).zip(&mut checksums) {
                if now.programmed.has(page) {
                    *checksum = table.u32("checksum of a page")?;
                }
            }
            let kept = Some(now.clone());
            self.extents.insert(number, Extent { offsets, now, checksums, kept });
        }
        table.finish()
    }

    fn drop_extent(&mut self, number: u64) {
        let extent = self.extents.remove(&number).expect("an extent is dropped once");
        self.old_pages += extent.kept.as_ref().map_or(0, |kept| kept.programmed.count());
        for offset in extent.offsets.into_iter().filter(|&offset| offset != 0) {
            match extent.kept {
                Some(_) => self.old.push(offset),
                None => self.space.give(offset, self.geometry.extent_bytes()),
            }
        }
    }

    /// Returns the number of the extent that contains `page`, and the index of the page in the extent.
    fn split(&self, page: u64) -> (u64, u64) {
        (page / self.geometry.pages_per_extent, page % self.geometry.pages_per_extent)
    }
}

/// Returns the error for an invalid table at offset `at`.
pub(crate) fn damaged(at: u64, error: StateError) -> Problem {
    let at = at + error.at as u64;
    Problem::Damaged { part: "the table of extents", at, expected: error.expected, found: error.found }
}
