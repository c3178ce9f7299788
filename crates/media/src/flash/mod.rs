//! Flash: pages that are programmed once. An erase clears all pages of a block.
//!
//! # Model
//! All blocks have the same number of pages. A page is programmed only after its block was erased, and the
//! pages of a block are programmed in order. Any other order causes a panic, because a controller must not
//! request it. Every erase wears its block by one cycle. If power fails during a program, the page contains
//! undefined data and cannot be programmed before the next erase. An interrupted erase has to be repeated.
//! With a [`Store`] that carries data, programs, copies, and erases also apply to the data.
//!
//! # Not modeled
//! - Overlap of operations: the controller of dies and channels schedules them.
//! - Bit errors, read disturb, and retention.
//! - Slower programs of worn cells.
//! - Time and energy of operations: they are settings of [`Nand`].
//! - Failures: a block stays usable after its rated cycles, like the chips tested by Wu and Zwaenepoel
//!   (ASPLOS 1994, section 2).
//!
//! # Sources
//! wu-1994, section 2: pages are programmed once and erased in large blocks, with limited cycles.
//!
//! # Checks
//! Programming a page twice, out of order, or beyond the block is rejected. The counters of programs and
//! erases match the operations.

mod nand;

pub use nand::{Nand, Operation, OperationEnergy, ProgramErase, Timing};

use crate::store::Store;
use nacre_kernel::state::{State, Value};

/// Blocks of flash with their data.
#[derive(Debug, State)]
#[state(after = "Self::check")]
#[state(bound = "S: Store")]
pub struct Flash<S> {
    #[state(skip = "who carries the bytes keeps them next to the state")]
    store: S,
    #[state(same)]
    pages_per_block: u32,
    #[state(skip = "from the configuration")]
    page_shift: u32,
    blocks: Vec<Block>,
    programs: u64,
    erases: u64,
}

/// One erase block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub struct Block {
    /// Number of pages programmed since the last erase.
    pub programmed: u32,
    /// Total number of erases.
    pub erases: u32,
}

impl<S: Store> Flash<S> {
    /// Creates `blocks` erased blocks of `pages_per_block` pages each, with data in `store`. The page numbers
    /// of each block start at a multiple of a power of two. Numbers between the last page of a block and the
    /// next block are not used.
    pub fn new(blocks: u32, pages_per_block: u32, store: S) -> Flash<S> {
        assert!(pages_per_block > 0, "a block has a page");
        let blocks = vec![Block::default(); blocks as usize];
        let page_shift = pages_per_block.next_power_of_two().trailing_zeros();
        Flash { store, pages_per_block, page_shift, blocks, programs: 0, erases: 0 }
    }

    /// Reserves the next page of `block` for a program, and returns its global number. The caller then stores
    /// the data with [`Flash::fill`] or [`Flash::fill_from`].
    ///
    /// # Panics
    ///
    /// If every page of the block is programmed, so that it must be erased first.
    #[inline]
    pub fn program(&mut self, block: u32) -> u64 {
        self.program_run(block, 1)
    }

    /// Reserves the next `count` pages of `block`. Returns the number of the first page.
    ///
    /// # Panics
    ///
    /// If the block has fewer than `count` erased pages.
    #[inline]
    pub fn program_run(&mut self, block: u32, count: u32) -> u64 {
        let state = &mut self.blocks[block as usize];
        assert!(count <= self.pages_per_block - state.programmed, "block {block} has no erased page");
        let page = (u64::from(block) << self.page_shift) + u64::from(state.programmed);
        state.programmed += count;
        self.programs += u64::from(count);
        page
    }

    /// Cancels the reservation of the last `count` pages of `block`, which will be reserved again later.
    ///
    /// # Panics
    ///
    /// If fewer than `count` pages were reserved.
    pub fn take_back(&mut self, block: u32, count: u32) {
        let state = &mut self.blocks[block as usize];
        assert!(count <= state.programmed, "block {block} has no such pages");
        state.programmed -= count;
        self.programs -= u64::from(count);
    }

    /// Stores `bytes` in `page`, which was just programmed.
    #[inline]
    pub fn fill(&mut self, page: impl Into<u64>, bytes: &[u8]) {
        if S::CARRIES_BYTES {
            self.store.program(page.into(), bytes);
        }
    }

    /// Copies the data of page `from` to `page`, which was just programmed.
    #[inline]
    pub fn fill_from(&mut self, page: impl Into<u64>, from: impl Into<u64>) {
        if S::CARRIES_BYTES {
            self.store.copy(from.into(), page.into());
        }
    }

    /// Copies bytes of `page`, starting at `offset`, to `into`. A page programmed without data reads as
    /// zeros.
    #[inline]
    pub fn read(&self, page: impl Into<u64>, offset: usize, into: &mut [u8]) {
        let page = page.into();
        if !self.store.read(page, offset, into) && self.is_programmed(page) {
            into.fill(0);
        }
    }

    fn is_programmed(&self, page: u64) -> bool {
        let index = page & ((1 << self.page_shift) - 1);
        (index as u32) < self.blocks[self.block_of(page) as usize].programmed
    }

    /// Erases `block`.
    pub fn erase(&mut self, block: u32) {
        let state = &mut self.blocks[block as usize];
        state.programmed = 0;
        state.erases += 1;
        self.erases += 1;
        self.store.erase(u64::from(block) << self.page_shift, u64::from(self.pages_per_block));
    }

    /// Block that contains `page`.
    #[inline]
    pub fn block_of(&self, page: impl Into<u64>) -> u32 {
        (page.into() >> self.page_shift) as u32
    }

    /// Number of pages in a block.
    #[inline]
    pub fn pages_per_block(&self) -> u32 {
        self.pages_per_block
    }

    /// Blocks, in the order of their numbers.
    #[inline]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Total number of pages programmed.
    pub fn programs(&self) -> u64 {
        self.programs
    }

    /// Total number of blocks erased.
    pub fn erases(&self) -> u64 {
        self.erases
    }

    fn check(&mut self) -> Result<(), String> {
        match self.blocks.iter().find(|block| block.programmed > self.pages_per_block) {
            None => Ok(()),
            Some(block) => Err(format!("{} pages programmed of {}", block.programmed, self.pages_per_block)),
        }
    }

    /// Store that contains the data.
    pub fn store(&self) -> &S {
        &self.store
    }
}

#[cfg(test)]
mod tests;
