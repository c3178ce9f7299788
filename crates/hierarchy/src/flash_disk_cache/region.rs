//! A region: blocks for one kind of pages, including its open blocks.

use nacre_kernel::state::State;
use std::collections::VecDeque;

/// Maximum number of regions.
pub(super) const REGIONS: usize = 2;
/// Marks an absent block.
pub(super) const NO_BLOCK: u32 = u32::MAX;

/// Maximum number of pages per write-back request.
pub(super) const RUN_PAGES: usize = 64;

/// Number of blocks in a region per open block.
const BLOCKS_PER_OPEN: usize = 8;

/// A region: blocks for one kind of pages.
#[derive(Debug, State)]
pub(super) struct Region {
    /// Open blocks, each on a different die, or [`NO_BLOCK`].
    pub(super) open: Vec<u32>,
    /// Open block for pages that move to SLC mode, or [`NO_BLOCK`].
    pub(super) hot: u32,
    /// Erased blocks, in the order of their erases.
    #[state(varies)]
    pub(super) free: VecDeque<u32>,
    /// Number of blocks that are not retired.
    pub(super) blocks: u32,
    /// Whether garbage collection is running. Only garbage collection may use the reserved free blocks.
    pub(super) is_collecting: bool,
}

/// Selects the open block that receives a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// The open block with this index.
    Open(usize),
    /// The open block for pages that move to SLC mode.
    Hot,
}

impl Region {
    /// Creates a region of `blocks` blocks over `dies` dies, in which no block is open.
    pub(super) fn new(blocks: u32, dies: u32) -> Region {
        let open = (blocks as usize / BLOCKS_PER_OPEN).clamp(1, dies as usize);
        let (open, free) = (vec![NO_BLOCK; open], VecDeque::new());
        Region { open, hot: NO_BLOCK, free, blocks, is_collecting: false }
    }

    /// Number of open blocks. The region also reserves this number of free blocks, so that programs need not
    /// wait for an erase.
    pub(super) fn width(&self) -> usize {
        (self.blocks as usize / BLOCKS_PER_OPEN).clamp(1, self.open.len())
    }

    pub(super) fn block(&mut self, stream: Stream) -> &mut u32 {
        match stream {
            Stream::Open(number) => &mut self.open[number],
            Stream::Hot => &mut self.hot,
        }
    }

    /// Stream for disk page `key`, i.e. the open block into which the page is programmed. Adjacent pages are
    /// programmed into one block, because they are evicted together. Collected pages are programmed into a
    /// block that is already open, if possible, to save open blocks.
    pub(super) fn stream(&self, key: u64, is_hot: bool) -> Stream {
        if is_hot {
            return Stream::Hot;
        }
        let width = self.width();
        let own = (key / RUN_PAGES as u64 % width as u64) as usize;
        let is_open = |&number: &usize| self.open[number] != NO_BLOCK;
        // If the region now has fewer streams, it fills the excess open blocks first.
        let left = (width..self.open.len()).find(is_open);
        let other = if self.is_collecting && !is_open(&own) { (0..width).find(is_open) } else { None };
        Stream::Open(left.or(other).unwrap_or(own))
    }

    /// Removes `block` from the open blocks.
    pub(super) fn forget_open(&mut self, block: u32) {
        let open = self.open.iter_mut().chain([&mut self.hot]);
        open.filter(|open| **open == block).for_each(|open| *open = NO_BLOCK);
    }

    /// Index of the next free block to fill, among the blocks for which `is_young` is true. `None` if all
    /// of these blocks are in use. Blocks on a die without an open block are preferred. Among equally
    /// preferred blocks, the block that was erased first is selected.
    pub(super) fn next_free(&self, dies: u32, is_young: impl Fn(u32) -> bool) -> Option<usize> {
        let open = self.open.iter().filter(|&&open| open != NO_BLOCK);
        let is_alone = |block: u32| !open.clone().any(|open| open % dies == block % dies);
        let young = self.free.iter().enumerate().filter(|&(_, &block)| is_young(block));
        let alone = young.clone().find(|&(_, &block)| is_alone(block));
        alone.or_else(|| young.clone().next()).map(|(at, _)| at)
    }
}
