//! The page table: where the newest version of every logical page is.

use nacre_kernel::state::{State, Value};

/// Logical pages in one chunk of the table. Chunks come into being when a page of theirs is first mapped, so
/// memory follows what was touched and not the capacity.
const CHUNK: usize = 4096;
const CHUNK_SHIFT: u32 = CHUNK.trailing_zeros();

/// Where a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) enum Location {
    /// It was never written: it reads as zero.
    Nowhere,
    /// In this page of the flash.
    Flash(u32),
    /// In this slot of the write buffer.
    Buffer(u32),
}

/// Four bytes for each page: 0 is nowhere, flash pages count from 1, buffer slots from the top down.
#[derive(State)]
pub(super) struct PageTable {
    #[state(elements_vary)]
    chunks: Vec<Option<Box<[u32; CHUNK]>>>,
    #[state(skip = "from the configuration")]
    flash_pages: u64,
}

impl PageTable {
    /// A table of `pages` logical pages, none of them mapped yet, over `flash_pages`.
    pub(super) fn new(pages: u64, flash_pages: u64) -> PageTable {
        let chunks = usize::try_from(pages.div_ceil(CHUNK as u64)).expect("chunks fit into memory");
        PageTable { chunks: (0..chunks).map(|_| None).collect(), flash_pages }
    }

    /// The most flash pages and buffer slots that four bytes can tell apart, with one value for nowhere.
    pub(super) const PLACES_MAX: u64 = u32::MAX as u64;

    /// Where page `lpn` is.
    #[inline]
    pub(super) fn get(&self, lpn: u32) -> Location {
        self.decode(self.entry(lpn))
    }

    /// Page `lpn` is at `location` from now on.
    #[inline]
    pub(super) fn set(&mut self, lpn: u32, location: Location) {
        let entry = match location {
            Location::Nowhere => 0,
            Location::Flash(page) => page + 1,
            Location::Buffer(slot) => u32::MAX - slot,
        };
        let chunk = &mut self.chunks[(lpn >> CHUNK_SHIFT) as usize];
        let chunk = chunk.get_or_insert_with(|| Box::new([0; CHUNK]));
        chunk[lpn as usize % CHUNK] = entry;
    }

    /// The raw entry of page `lpn`: reading it brings it into the processor's caches.
    #[inline]
    pub(super) fn entry(&self, lpn: u32) -> u32 {
        self.chunks[(lpn >> CHUNK_SHIFT) as usize].as_ref().map_or(0, |chunk| chunk[lpn as usize % CHUNK])
    }

    /// Bytes it takes in the memory of the simulation.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.chunks.iter().flatten().count() * CHUNK * 4 + self.chunks.len() * 8
    }

    /// Every page that is mapped, with its place, in their order.
    pub(super) fn mapped(&self) -> impl Iterator<Item = (u32, Location)> + '_ {
        let chunks = self.chunks.iter().enumerate();
        chunks.filter_map(|(number, chunk)| Some((number, chunk.as_ref()?))).flat_map(
            move |(number, chunk)| {
                let entries = chunk.iter().enumerate().filter(|&(_, &entry)| entry != 0);
                entries.map(move |(index, &entry)| ((number * CHUNK + index) as u32, self.decode(entry)))
            },
        )
    }

    #[inline]
    fn decode(&self, entry: u32) -> Location {
        if entry == 0 {
            Location::Nowhere
        } else if u64::from(entry) <= self.flash_pages {
            Location::Flash(entry - 1)
        } else {
            Location::Buffer(u32::MAX - entry)
        }
    }
}
