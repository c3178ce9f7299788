//! The extents: where the bytes of each erase block are, and which of its pages are programmed.

use crate::buffers::Buffers;
use crate::disk::Disk;
use crate::error::Problem;
use crate::space::{Space, UNIT_BYTES, units};
use nacre_kernel::state::{StateError, StateReader, StateWriter};
use std::collections::BTreeMap;
use std::io;

/// Bytes copied at a time.
const COPY_BYTES: u64 = 1 << 20;

/// The form of the device's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Pages that are erased together, and lie together in the file.
    pub pages_per_extent: u64,
    /// Pages of the whole medium.
    pub pages: u64,
}

impl Geometry {
    /// Bytes of an extent in the file.
    fn extent_bytes(&self) -> u64 {
        u64::from(self.page_bytes) * self.pages_per_extent
    }

    /// Words that say which pages of an extent are programmed.
    fn words(&self) -> usize {
        self.pages_per_extent.div_ceil(64) as usize
    }
}

/// A set of pages of one extent.
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

    /// How many pages there are up to and with the last one in the set.
    fn span(&self) -> u64 {
        let last = self.0.iter().rposition(|&word| word != 0);
        last.map_or(0, |at| at as u64 * 64 + 64 - u64::from(self.0[at].leading_zeros()))
    }
}

/// An erase block with a page programmed.
#[derive(Clone, Debug)]
struct Extent {
    offset: u64,
    programmed: Pages,
    /// What the checkpoint knows as programmed at this offset: must stay. `None` if the checkpoint does not
    /// know the extent.
    kept: Option<Pages>,
}

/// All extents, and the room they leave.
#[derive(Clone, Debug)]
pub(crate) struct Extents {
    geometry: Geometry,
    extents: BTreeMap<u64, Extent>,
    /// Room that only the checkpoint still uses.
    old: Vec<u64>,
    pub(crate) space: Space,
}

impl Extents {
    /// No extents; room begins at `start`.
    pub(crate) fn new(geometry: Geometry, start: u64) -> Extents {
        assert!(geometry.page_bytes > 0 && geometry.pages_per_extent > 0, "{geometry:?} holds no byte");
        Extents { geometry, extents: BTreeMap::new(), old: Vec::new(), space: Space::from(units(start)) }
    }

    /// Bytes of a page.
    pub(crate) fn page_bytes(&self) -> usize {
        self.geometry.page_bytes as usize
    }

    /// Where `page` is, if it is programmed.
    pub(crate) fn find(&self, page: u64) -> Option<u64> {
        let (number, page) = self.split(page);
        let extent = self.extents.get(&number).filter(|extent| extent.programmed.has(page))?;
        Some(extent.offset + page * u64::from(self.geometry.page_bytes))
    }

    /// Where `page` is to be written; it counts as programmed from now on.
    ///
    /// Errors: its extent had to be copied, and the disk failed.
    pub(crate) fn place(&mut self, page: u64, disk: &dyn Disk, buffers: &mut Buffers) -> io::Result<u64> {
        assert!(page < self.geometry.pages, "page {page} of {}", self.geometry.pages);
        let (number, page) = self.split(page);
        let Geometry { page_bytes, .. } = self.geometry;
        let (bytes, words) = (self.geometry.extent_bytes(), self.geometry.words());
        let extent = self.extents.entry(number).or_insert_with(|| {
            let programmed = Pages(vec![0; words].into_boxed_slice());
            Extent { offset: self.space.take(bytes), programmed, kept: None }
        });
        if extent.kept.as_ref().is_some_and(|kept| kept.has(page)) {
            let offset = self.space.take(bytes);
            let used = extent.programmed.span() * u64::from(page_bytes);
            buffers.flush(disk)?;
            buffers.forget();
            copy(disk, extent.offset, offset, used)?;
            self.old.push(extent.offset);
            (extent.offset, extent.kept) = (offset, None);
        }
        extent.programmed.add(page);
        Ok(extent.offset + page * u64::from(page_bytes))
    }

    /// Erases `count` pages from `first` on.
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
                (from..to).for_each(|page| extent.programmed.remove(page));
            }
            if to - from == per || extent.programmed.span() == 0 {
                self.drop_extent(number);
            }
        }
    }

    /// A checkpoint with these extents is durable: they are kept from now on, and what they replaced is not.
    pub(crate) fn keep(&mut self) {
        let bytes = self.geometry.extent_bytes();
        self.old.drain(..).for_each(|offset| self.space.give(offset, bytes));
        self.extents.values_mut().for_each(|extent| extent.kept = Some(extent.programmed.clone()));
    }

    /// How long the file has to be to hold every programmed page.
    pub(crate) fn needed_length(&self) -> u64 {
        let page_bytes = u64::from(self.geometry.page_bytes);
        let ends = self.extents.values().map(|extent| extent.offset + extent.programmed.span() * page_bytes);
        ends.max().unwrap_or(0)
    }

    /// The table for a checkpoint.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut table = StateWriter::new();
        table.section("extents");
        table.put_u64(self.extents.len() as u64);
        for (&number, extent) in &self.extents {
            table.put_u64(number);
            table.put_u64(extent.offset);
            table.put_u64s(&extent.programmed.0);
        }
        table.finish()
    }

    /// Takes in the table of a checkpoint. Errors: it is not one of this geometry.
    pub(crate) fn decode(&mut self, table: &[u8]) -> Result<(), StateError> {
        let mut table = StateReader::new(table);
        table.section("extents")?;
        for _ in 0..table.u64("number of extents")? {
            let (number, offset) = (table.u64("number of an extent")?, table.u64("its offset")?);
            let mut words = vec![0; self.geometry.words()];
            table.u64s_into("words of programmed pages", &mut words)?;
            let programmed = Pages(words.into_boxed_slice());
            let extents = self.geometry.pages.div_ceil(self.geometry.pages_per_extent);
            let sound = number < extents
                && offset % UNIT_BYTES == 0
                && programmed.span() <= self.geometry.pages_per_extent
                && self.space.claim(offset, self.geometry.extent_bytes());
            if !sound {
                return Err(
                    table.error("an extent in room of its own".into(), format!("{number} at {offset}"))
                );
            }
            let kept = Some(programmed.clone());
            self.extents.insert(number, Extent { offset, programmed, kept });
        }
        table.finish()
    }

    fn drop_extent(&mut self, number: u64) {
        let extent = self.extents.remove(&number).expect("an extent is dropped once");
        match extent.kept {
            Some(_) => self.old.push(extent.offset),
            None => self.space.give(extent.offset, self.geometry.extent_bytes()),
        }
    }

    /// The extent of `page` and its place there.
    fn split(&self, page: u64) -> (u64, u64) {
        (page / self.geometry.pages_per_extent, page % self.geometry.pages_per_extent)
    }
}

/// The table at `at` is not what it should be.
pub(crate) fn damaged(at: u64, error: StateError) -> Problem {
    let at = at + error.at as u64;
    Problem::Damaged { part: "the table of extents", at, expected: error.expected, found: error.found }
}

/// Copies `bytes` of the file from one place to another.
fn copy(disk: &dyn Disk, from: u64, to: u64, bytes: u64) -> io::Result<()> {
    let mut buffer = vec![0; COPY_BYTES.min(bytes) as usize];
    let mut done = 0;
    while done < bytes {
        let part = &mut buffer[..COPY_BYTES.min(bytes - done) as usize];
        if disk.read_at(from + done, part)? < part.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        disk.write_at(to + done, part)?;
        done += part.len() as u64;
    }
    Ok(())
}
