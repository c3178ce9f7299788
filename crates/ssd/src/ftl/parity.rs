//! What fills superblocks with parity: that of a stripe is programmed on its die behind the last data of the stripe.
//!
//! Until then the drive keeps it next to the write buffer, one operation for each superblock that is being filled. A
//! superblock that is closed before it is full ends with a shorter stripe.

use crate::ftl::array::Array;
use crate::ftl::parts::frontier::{Frontier, NOBODY};
use crate::ops::{Cause, FlashOps};
use nacre_media::store::Store;

impl<S: Store> Array<S> {
    /// An operation of `frontier` is full: it, or one before it that the buffer held until now, goes to the flash, with the
    /// parity of its stripe behind the last of that.
    #[inline(never)]
    pub(crate) fn complete_in_stripe<W: FlashOps>(&mut self, frontier: usize, cause: Cause, work: &mut W) {
        self.frontiers[frontier].operation_end += self.geometry.operation_units;
        self.issue_stripes(frontier, self.held_units(frontier), cause, work);
    }

    /// Full operations of `frontier` go to the flash while more than `held` units wait there.
    pub(crate) fn issue_stripes<W: FlashOps>(
        &mut self,
        frontier: usize,
        held: u32,
        cause: Cause,
        work: &mut W,
    ) {
        let units = self.geometry.operation_units;
        let is_mixed = frontier < self.host_frontiers;
        loop {
            let open = &mut self.frontiers[frontier];
            if open.issued + units > open.taken || open.taken - open.issued <= held {
                return;
            }
            work.program(open.superblock, open.next_operation, open.cells, cause, is_mixed);
            open.issued += units;
            open.next_operation = self.geometry.operation_of(open.superblock, open.issued);
            let issued = open.issued;
            let (stripe, begun) = self.stripe_at(issued);
            if begun == 0 {
                self.program_parity(frontier, stripe - 1, cause, work);
            }
        }
    }

    /// Nothing more goes into the superblock of `frontier`: the stripe it is at is shorter than others.
    pub(crate) fn seal_stripe<W: FlashOps>(&mut self, frontier: usize, cause: Cause, work: &mut W) {
        let (stripe, begun) = self.stripe_at(self.frontiers[frontier].issued);
        if begun > 0 {
            self.program_parity(frontier, stripe, cause, work);
        }
    }

    fn program_parity<W: FlashOps>(&mut self, frontier: usize, stripe: u32, cause: Cause, work: &mut W) {
        let Frontier { superblock, cells, .. } = self.frontiers[frontier];
        let stripes = self.geometry.stripes.expect("there are stripes");
        work.program_parity(superblock, stripes.parity_of(stripe), cells, cause);
        if let Some(parity) = &mut self.parity.0 {
            parity.add(self.geometry.operation_units);
        }
    }

    /// The stripe of the operation behind so many units of a superblock, and operations of data before it there.
    fn stripe_at(&self, units: u32) -> (u32, u32) {
        let (of_data, _) = self.geometry.operations_of(units);
        self.geometry.stripes.map_or((0, 0), |stripes| stripes.stripe_of(of_data))
    }

    /// Stripes that end with operations which the buffer holds.
    pub(crate) fn held_parities(&self) -> u64 {
        let units = self.geometry.operation_units;
        let ends = |open: &Frontier| {
            self.stripe_at(open.taken.next_multiple_of(units)).0 - self.stripe_at(open.issued).0
        };
        self.frontiers.iter().map(|open| u64::from(ends(open))).sum()
    }

    /// Operations on the flash whose stripes have no parity there yet.
    pub(crate) fn unprotected_operations(&self) -> u64 {
        let open = self.frontiers.iter().filter(|open| open.superblock != NOBODY);
        open.map(|open| u64::from(self.stripe_at(open.issued).1)).sum()
    }
}
