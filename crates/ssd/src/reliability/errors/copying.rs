//! Bit errors of pages that the drive reads in order to copy them.

use super::{Errors, Sensing};
use crate::ops::Copied;
use nacre_kernel::Time;
use nacre_media::flash::Block;

impl Errors {
    /// Reads a unit at time `at` in order to copy it, from a superblock with `erases` erases. Returns whether
    /// the unit is uncorrectable. If it cannot be rebuilt either, its data is lost.
    pub(crate) fn copy(&mut self, copied: &Copied, erases: u32, at: Time) -> bool {
        let Copied { from, owner, cells, .. } = *copied;
        if owner >= self.geometry.logical_units {
            return false;
        }
        let found = self.decode(from, erases, cells, at);
        let region = self.geometry.region_of(from >> self.geometry.shift);
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
        let erases = |page: u32| blocks[(page >> self.geometry.shift) as usize].erases;
        let (erases, erases_to) = (erases(from), erases(to));
        self.count_from_erase(to >> self.geometry.shift, erases_to);
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
