//! Flash whose pages are programmed with one or two bits per cell, and whose bit errors increase with wear.
//!
//! # Model
//! A block consists of *slots*. A slot is one row of cells. With one bit per cell (SLC), a slot is one page.
//! With two bits per cell (MLC), a slot is two pages. Every erased slot can be programmed in either mode. The
//! slots of a block must be programmed in order. Any other order causes a panic, because a controller must
//! not request it. An erase wears all cells of its block equally.
//!
//! The number of bit errors of a programmed page is sampled from a Poisson distribution. The bit error rate
//! is `rate (cycles / (endurance f))^exponent`: it equals `rate` at the endurance of the mode and follows a
//! power of the number of erases. `f` is log-normal with median one, and differs between slots and modes.
//! During retention, the share `drift` of that rate is added per day. Bit errors persist until the block is
//! erased.
//!
//! With a [`Store`] that carries data, these bits are inverted in the data that is read. Their positions
//! depend only on the page and its program.
//!
//! # Not modeled
//! - Time and energy of the operations. The controller accounts for them, because it overlaps operations.
//! - Read disturb and program interference.
//! - Stuck-at bits, and slower programs of worn cells.
//! - Clustered errors: the errors of one page are independent, whereas measured errors cluster.
//!
//! # Sources
//! roberts-2009, section II, for the two modes (endurance ratio of 10 or more; an SLC slot equals two MLC
//! pages). mielke-2008: errors of multi-level cells increase with cycles and with time since the program.
//! hetzler-2012 fits them with formulas close to a power of the cycles.
//!
//! # Checks
//! Slots out of order, a change of mode within a slot, and pages beyond the block are rejected. Mean and
//! variance of bit errors follow the formula in both modes. The number of inverted bits equals the counted
//! errors, at the same positions in every read. The counters of programs and erases match the operations.

mod nand;
#[cfg(test)]
mod tests;
pub(crate) mod wrong_bits;

use crate::store::Store;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Random, Time};

pub use nand::Nand;
pub use wrong_bits::{Aging, ErrorModel};

/// Mode of a slot, i.e. the number of bits per cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
#[repr(u8)]
pub enum Mode {
    /// One bit per cell. A slot is one page.
    Slc,
    /// Two bits per cell. A slot is two pages.
    #[default]
    Mlc,
}

impl Mode {
    /// Number of pages in a slot.
    #[inline]
    pub const fn pages(self) -> u32 {
        match self {
            Mode::Slc => 1,
            Mode::Mlc => 2,
        }
    }
}

/// Flash blocks with their data. Each slot is in SLC or MLC mode.
#[derive(Debug, State)]
#[state(bound = "S: Store")]
pub struct DualModeFlash<S> {
    #[state(skip = "who carries the bytes keeps them next to the state")]
    store: S,
    #[state(skip = "from the configuration")]
    aging: Aging,
    /// Number of pages of a block, as a shift. A block has `1 << page_shift` pages if all slots are in MLC
    /// mode.
    #[state(skip = "from the configuration")]
    page_shift: u32,
    blocks: Vec<Block>,
    /// Random factors by which the bit error rate of each slot is multiplied, one per mode.
    #[state(skip = "drawn from the seed")]
    weakness: Vec<[f32; 2]>,
    pages: Vec<Page>,
    random: Random,
    programs: u64,
    erases: u64,
}

/// One erase block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Value)]
struct Block {
    /// Number of the next page to program. Page numbers count two pages per slot in either mode.
    next: u32,
    erases: u32,
    /// Bit error rate of a slot of median strength, in each mode.
    rates: [f64; 2],
}

/// One programmed page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Value)]
struct Page {
    /// Time up to which bit errors of the page were simulated.
    known: Time,
    bits: u32,
    wrong: u16,
    /// Number of programs of this page, modulo 2^16. It determines the positions of the bit errors.
    serial: u16,
    mode: Mode,
}

impl<S: Store> DualModeFlash<S> {
    /// Creates `blocks` erased blocks of `slots` slots each, with data in `store`. The number of slots must
    /// be a power of two. The strengths of the slots are random.
    pub fn new(blocks: u32, slots: u32, aging: Aging, mut random: Random, store: S) -> DualModeFlash<S> {
        assert!(slots.is_power_of_two(), "{slots} slots");
        let all = (blocks * slots) as usize;
        let weakness = (0..all).map(|_| aging.weakness(&mut random)).collect();
        DualModeFlash {
            store,
            aging,
            page_shift: slots.trailing_zeros() + 1,
            blocks: vec![Block::default(); blocks as usize],
            weakness,
            pages: vec![Page::default(); 2 * all],
            random,
            programs: 0,
            erases: 0,
        }
    }

    /// Number of the next page of `block` to program. `None` if the block is full.
    #[inline]
    pub fn next(&self, block: u32) -> Option<u32> {
        let next = self.blocks[block as usize].next;
        (next < 1 << self.page_shift).then_some((block << self.page_shift) + next)
    }

    /// Programs the next page of `block` in `mode` at `now`, and returns its number. The page uses `bits`
    /// bits, including spare bytes. The caller then stores the data with [`DualModeFlash::fill`].
    ///
    /// # Panics
    ///
    /// If every page of the block is programmed, or the other half of the slot is in another mode.
    pub fn program(&mut self, block: u32, mode: Mode, bits: u32, now: Time) -> u32 {
        let page = self.next(block).unwrap_or_else(|| panic!("block {block} has no erased page"));
        let state = &mut self.blocks[block as usize];
        let is_second = page & 1 == 1;
        assert!(!is_second || mode == Mode::Mlc, "page {page} is the second of a slot in MLC");
        state.next += if mode == Mode::Slc { 2 } else { 1 };
        let weakness = self.weakness[(page >> 1) as usize][mode as usize];
        let mean = state.rates[mode as usize] * f64::from(weakness) * f64::from(bits);
        let wrong = wrong_bits::poisson(mean, &mut self.random).min(bits / 4) as u16;
        let serial = self.pages[page as usize].serial.wrapping_add(1);
        self.pages[page as usize] = Page { known: now, bits, wrong, serial, mode };
        self.programs += 1;
        page
    }

    /// Skips the next slot of `block`, which is not programmed until the next erase.
    ///
    /// # Panics
    ///
    /// If the first page of the slot is already programmed.
    pub fn skip(&mut self, block: u32) {
        let state = &mut self.blocks[block as usize];
        assert!(state.next.is_multiple_of(2), "half of a slot is programmed");
        state.next += 2;
    }

    /// Stores `bytes` in `page`, which was just programmed.
    #[inline]
    pub fn fill(&mut self, page: u32, bytes: &[u8]) {
        if S::CARRIES_BYTES {
            self.store.program(u64::from(page), bytes);
        }
    }

    /// Number of bit errors of `page` at `now`.
    #[inline]
    pub fn wrong_bits(&mut self, page: u32, now: Time) -> u32 {
        let block = &self.blocks[(page >> self.page_shift) as usize];
        let state = &mut self.pages[page as usize];
        if self.aging.drift > 0.0 && now > state.known {
            let mode = state.mode as usize;
            let rate = block.rates[mode] * f64::from(self.weakness[(page >> 1) as usize][mode]);
            let mean = rate * f64::from(state.bits) * self.aging.drifted(now - state.known);
            // Bit errors are rare. If the mean is tiny, they are sampled in a later call, when more time has
            // passed.
            if mean > 1e-6 {
                let more = wrong_bits::poisson(mean, &mut self.random);
                state.wrong = (u32::from(state.wrong) + more).min(state.bits / 4) as u16;
                state.known = now;
            }
        }
        u32::from(state.wrong)
    }

    /// Copies the bytes of `page` to `into`, including bit errors. The data precedes the spare bytes. Returns
    /// false if the page was programmed without data.
    pub fn read(&self, page: u32, into: &mut [u8]) -> bool {
        let has_bytes = S::CARRIES_BYTES && self.store.read(u64::from(page), 0, into);
        if has_bytes {
            self.invert(page, into);
        }
        has_bytes
    }

    /// Inverts the bits of `bytes` that have errors in `page`. A second call restores the data.
    pub fn invert(&self, page: u32, bytes: &mut [u8]) {
        let Page { wrong, serial, bits, .. } = self.pages[page as usize];
        wrong_bits::invert(bytes, bits, u32::from(wrong), u64::from(page) << 16 | u64::from(serial));
    }

    /// Erases `block`.
    pub fn erase(&mut self, block: u32) {
        let state = &mut self.blocks[block as usize];
        state.next = 0;
        state.erases += 1;
        state.rates = self.aging.rates(state.erases);
        self.erases += 1;
        self.store.erase(u64::from(block) << self.page_shift, 1 << self.page_shift);
    }

    /// Mode in which `page` was programmed.
    #[inline]
    pub fn mode(&self, page: u32) -> Mode {
        self.pages[page as usize].mode
    }

    /// Block that contains `page`.
    #[inline]
    pub fn block_of(&self, page: u32) -> u32 {
        page >> self.page_shift
    }

    /// Number of pages in a block if all slots are in MLC mode.
    #[inline]
    pub fn pages_per_block(&self) -> u32 {
        1 << self.page_shift
    }

    /// Number of blocks.
    pub fn blocks(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// Total number of erases of `block`.
    #[inline]
    pub fn erases_of(&self, block: u32) -> u32 {
        self.blocks[block as usize].erases
    }

    /// Total number of pages programmed.
    pub fn programs(&self) -> u64 {
        self.programs
    }

    /// Total number of blocks erased.
    pub fn erases(&self) -> u64 {
        self.erases
    }
}
