//! Bit errors of pages that the drive reads in order to copy them. A copy inside a die is not corrected, so
//! it also has the bit errors of its source.

use super::{Errors, Sensing};
use crate::ops::Copied;
use nacre_kernel::Time;
use nacre_kernel::state::State;
use nacre_media::flash::Block;

/// Bit errors of codewords that were copied with their pages. Empty if every copy is corrected.
#[derive(Default, State)]
pub(crate) struct Carried {
    #[state(skip = "from the configuration")]
    codewords: u32,
    /// Number of bit errors for each page and codeword.
    #[state(sparse)]
    bits: Vec<u32>,
}

impl Carried {
    /// Creates the table for `pages` pages, each with `codewords` codewords.
    pub(crate) fn new(pages: usize, codewords: u32) -> Carried {
        Carried { codewords, bits: vec![0; pages * codewords as usize] }
    }

    /// Returns the memory in bytes that the table takes after every page was copied.
    pub(crate) fn bytes(&self) -> u64 {
        4 * self.bits.len() as u64
    }

    /// Returns the number of bit errors that were copied with a codeword of `page`.
    #[inline]
    pub(crate) fn of(&self, page: u64, codeword: u32) -> u32 {
        if self.bits.is_empty() { 0 } else { self.bits[self.place(page, codeword)] }
    }

    /// Records that a codeword with `bits` bit errors is copied to `page`.
    pub(crate) fn copy(&mut self, page: u64, codeword: u32, bits: u32) {
        let place = self.place(page, codeword);
        self.bits[place] = bits;
    }

    /// Records the erase of `count` pages, starting with `first`.
    pub(crate) fn erase(&mut self, first: u64, count: u32) {
        if !self.bits.is_empty() {
            let (from, to) = (self.place(first, 0), self.place(first + u64::from(count), 0));
            self.bits[from..to].fill(0);
        }
    }

    fn place(&self, page: u64, codeword: u32) -> usize {
        page as usize * self.codewords as usize + codeword as usize
    }
}

impl Errors {
    /// Reads a unit at time `at` in order to copy it, from a superblock with `erases` erases. Returns
    /// whether the unit is uncorrectable. If the unit cannot be rebuilt either, its data is lost.
    pub(crate) fn copy(&mut self, copied: &Copied, erases: u32, at: Time) -> bool {
        let Copied { from, owner, cells, .. } = *copied;
        if owner >= self.geometry.logical_units {
            return false;
        }
        let found = self.decode(from, erases, cells, at);
        let region = self.geometry.region_of(self.geometry.place_at(from).0);
        let copying = &mut self.copying[region];
        copying.senses = copying.senses.max(found.senses);
        copying.decoding += found.decoding;
        found.is_lost && !self.is_lost((owner, 1))
    }

    /// Copies a unit inside its die at time `at`. The copy has the bit errors of the source in addition to
    /// new ones. Nothing is decoded, so the errors are not detected.
    pub(crate) fn copy_inside(&mut self, copied: &Copied, blocks: &[Block], at: Time) {
        let Copied { from, to, owner, cells, .. } = *copied;
        if owner >= self.geometry.logical_units {
            return;
        }
        let [source, target] = [from, to].map(|page| self.geometry.place_at(page).0);
        let erases = blocks[source as usize].erases;
        self.count_from_erase(target, blocks[target as usize].erases);
        let mean = self.mean((self.block_of(from, cells), from), erases, cells, at);
        for codeword in 0..self.code.layout().codewords {
            let wrong = self.wrong_bits(mean, from, erases, codeword);
            self.carried.copy(to, codeword, wrong);
        }
    }

    /// Removes and returns the read retries and the decoding time of the copied operation of `superblock`.
    pub(crate) fn take_copied(&mut self, superblock: u32) -> Sensing {
        let sensing = std::mem::take(&mut self.copying[self.geometry.region_of(superblock)]);
        self.counts.retries += u64::from(sensing.senses);
        sensing
    }
}
