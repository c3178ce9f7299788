//! The tables of the cache, with the location and state of pages.

use super::operation::NONE as NOTHING;
use crate::programmable::{GlobalStatus, PageUse};
use crate::replacement::index::Index;
use nacre_kernel::state::{State, Value};
use nacre_media::dual_mode_flash::Mode;
use prefetch_index::prefetch_index;

/// Marks an absent page of the disk.
pub(super) const NONE: u64 = u64::MAX;

/// State of a flash page: an entry of the page status table (FPST).
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct PageStatus {
    /// Number of the disk page, or [`NONE`].
    pub(super) key: u64,
    /// Operation that programs the page, or `NOTHING`.
    pub(super) program: u32,
    /// Number of cache accesses when the page entered the cache or was last promoted to SLC mode.
    pub(super) since: u64,
    /// Number of hits since the page entered the cache or was last promoted to SLC mode. The number
    /// saturates.
    pub(super) hits: u16,
    /// Number of the page's code.
    pub(super) code: u8,
    pub(super) is_dirty: bool,
}

impl Default for PageStatus {
    fn default() -> PageStatus {
        PageStatus { key: NONE, program: NOTHING, since: 0, hits: 0, code: 0, is_dirty: false }
    }
}

impl PageStatus {
    /// Number of hits of the page, and number of cache accesses when the counting of these hits started.
    #[inline]
    pub(super) fn used(&self) -> PageUse {
        PageUse { since: self.since, hits: self.hits }
    }
}

/// Mode and code that a slot has after its next erase, and whether it is retired.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct SlotStatus {
    pub(super) mode: Mode,
    /// Number of the slot's code.
    pub(super) code: u8,
    pub(super) is_retired: bool,
}

/// State of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
#[repr(u8)]
pub(super) enum Use {
    /// The block is erased.
    Free,
    /// The block is open, i.e. partly programmed.
    Open,
    /// The block is full.
    Closed,
    /// The block is retired.
    Retired,
}

/// An entry of the block status table (FBST). The medium stores the erase count.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct BlockStatus {
    pub(super) used: Use,
    pub(super) region: u8,
    /// Number of valid pages.
    pub(super) valid: u32,
    /// Number of pages programmed since the last erase.
    pub(super) programmed: u32,
    /// Operation that erases the block, or `NOTHING`.
    pub(super) erase: u32,
    /// Sum of the code strengths of the block's slots, relative to the first code.
    pub(super) strengths: u32,
    /// Number of slots changed from MLC to SLC mode.
    pub(super) lowered: u32,
    /// Number of slots that are not retired.
    pub(super) slots: u32,
    /// Whether the block's data was moved into it from a much less worn block.
    pub(super) is_relieved: bool,
}

/// The tables.
#[derive(Debug, State)]
pub(super) struct Tables {
    /// The hash table (FCHT), which maps disk pages to flash pages.
    index: Index,
    pub(super) pages: Vec<PageStatus>,
    pub(super) slots: Vec<SlotStatus>,
    pub(super) blocks: Vec<BlockStatus>,
    pub(super) global: GlobalStatus,
}

/// Sizes of the tables in a real controller, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) hash: u64,
    pub(super) page_status: u64,
    pub(super) block_status: u64,
    pub(super) global_status: u64,
}

impl Tables {
    /// Creates empty tables for `blocks` blocks.
    pub(super) fn new(blocks: u32, slots: u32, mode: Mode) -> Tables {
        let all = blocks as usize * slots as usize;
        let block = BlockStatus {
            used: Use::Free,
            region: 0,
            valid: 0,
            programmed: 0,
            erase: NOTHING,
            strengths: 0,
            lowered: 0,
            slots,
            is_relieved: false,
        };
        Tables {
            index: Index::new(2 * all),
            pages: vec![PageStatus::default(); 2 * all],
            slots: vec![SlotStatus { mode, code: 0, is_retired: false }; all],
            blocks: vec![block; blocks as usize],
            global: GlobalStatus::default(),
        }
    }

    /// Flash page that contains disk page `key`; `None` if it is not cached.
    #[inline]
    pub(super) fn find(&self, key: u64) -> Option<u32> {
        self.index.find(key, |page| self.pages[page as usize].key == key).ok()
    }

    /// Sets the status of `page`, which was just programmed. No other flash page may contain the same disk
    /// page.
    #[inline]
    pub(super) fn insert(&mut self, page: u32, block: u32, status: PageStatus) {
        let key = status.key;
        let vacancy = self.index.find(key, |page| self.pages[page as usize].key == key);
        let vacancy = vacancy.expect_err("a page is in the cache once");
        self.index.occupy(vacancy, page);
        self.pages[page as usize] = status;
        self.blocks[block as usize].valid += 1;
    }

    /// Invalidates `page`, and adds its hits to the global status.
    #[inline]
    pub(super) fn invalidate(&mut self, page: u32, block: u32) {
        let status = &mut self.pages[page as usize];
        self.index.vacate(status.key, page);
        self.global.leaves(status.used());
        (status.key, status.program) = (NONE, NOTHING);
        self.blocks[block as usize].valid -= 1;
    }

    /// Moves the content of `from`, with its status, to `to`, which was just programmed.
    pub(super) fn relocate(&mut self, [from, to]: [u32; 2], blocks: [u32; 2]) {
        let status = self.pages[from as usize];
        self.index.relocate(status.key, from, to);
        self.pages[to as usize] = status;
        (self.pages[from as usize].key, self.pages[from as usize].program) = (NONE, NOTHING);
        self.blocks[blocks[0] as usize].valid -= 1;
        self.blocks[blocks[1] as usize].valid += 1;
    }

    /// Number of disk pages in flash.
    pub(super) fn valid(&self) -> usize {
        self.index.len()
    }

    /// Prefetches the hash table slot at which the search for `key` starts.
    pub(super) fn prefetch(&self, key: u64) {
        self.index.prefetch(key);
    }

    /// Prefetches the status of the page that most likely contains `key`.
    pub(super) fn prefetch_page(&self, key: u64) {
        prefetch_index(&self.pages, self.index.glance(key) as usize);
    }

    /// Returns the sizes of the tables. An entry of the hash table consists of the number of a disk page and
    /// the number of a flash page, 4 B each. A page has a key of 4 B, and 3 B for code, mode, hits, and
    /// flags. A block has 4 B for erases, and 4 B for strengths and slots.
    pub(super) fn sizes(&self) -> Sizes {
        let (pages, blocks) = (self.pages.len() as u64, self.blocks.len() as u64);
        Sizes { hash: 8 * pages, page_status: 7 * pages, block_status: 8 * blocks, global_status: 24 }
    }

    /// Panics unless the tables are consistent with each other.
    pub(super) fn check_invariants(&self, pages_per_block: u32) {
        self.index.check_invariants();
        let mut valid = 0;
        for (number, block) in self.blocks.iter().enumerate() {
            let first = number * pages_per_block as usize;
            let pages = &self.pages[first..first + pages_per_block as usize];
            let held = pages.iter().filter(|page| page.key != NONE).count();
            assert_eq!(held, block.valid as usize, "valid pages of block {number}");
            assert!(block.valid <= block.programmed, "block {number}: {block:?}");
            valid += held;
        }
        assert_eq!(valid, self.index.len(), "pages in the hash table");
        for (number, page) in self.pages.iter().enumerate().filter(|(_, page)| page.key != NONE) {
            assert_eq!(self.find(page.key), Some(number as u32), "the page of {}", page.key);
        }
    }
}
