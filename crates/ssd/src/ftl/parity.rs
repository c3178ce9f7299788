//! Programming of superblocks with parity. The parity of a stripe is programmed on its die after the last
//! data of the stripe.
//!
//! Until then, the drive stores the parity next to the write buffer: one operation per open superblock. If a
//! superblock is closed early, its last stripe is shorter.

use crate::ftl::array::Array;
use crate::ftl::parts::regions::Frontier;
use crate::ops::{Cause, FlashOps};
use crate::superblocks::ABSENT;
use nacre_media::store::Store;

impl<S: Store> Array<S> {
    /// Programs the parity of a stripe if the operation that `frontier` issued last completes this stripe.
    #[inline(never)]
    pub(crate) fn end_stripe<W: FlashOps>(&mut self, frontier: usize, cause: Cause, work: &mut W) {
        let (stripe, begun) = self.stripe_at(self.frontiers[frontier].issued);
        if begun == 0 {
            self.program_parity(frontier, stripe - 1, cause, work);
        }
    }

    /// Closes the superblock of `frontier`. The current stripe, if any, becomes its last stripe.
    pub(crate) fn seal_stripe<W: FlashOps>(&mut self, frontier: usize, cause: Cause, work: &mut W) {
        let (stripe, begun) = self.stripe_at(self.frontiers[frontier].issued);
        if begun > 0 {
            self.program_parity(frontier, stripe, cause, work);
        }
    }

    fn program_parity<W: FlashOps>(&mut self, frontier: usize, stripe: u32, cause: Cause, work: &mut W) {
        let Frontier { superblock, cells, .. } = self.frontiers[frontier];
        let stripes = self.geometry.stripes.expect("there are stripes");
        let operation = self.geometry.operation_by_place(superblock, stripes.parity_of(stripe));
        work.program_parity(superblock, operation, cells, cause);
        self.pool.programs.parity += u64::from(self.geometry.operation_units);
    }

    /// Returns the stripe of the operation that starts after the first `units` units of a superblock, and
    /// the position of the operation in the stripe.
    fn stripe_at(&self, units: u32) -> (u32, u32) {
        let (of_data, _) = self.geometry.operations_of(units);
        self.geometry.stripes.map_or((0, 0), |stripes| stripes.stripe_of(of_data))
    }

    /// Returns the number of stripes whose last data operation is in the buffer.
    pub(crate) fn held_parities(&self) -> u64 {
        self.frontiers.iter().map(|open| self.held_parities_of(open)).sum()
    }

    /// Returns the number of stripes of the superblock `open` whose last data operation is in the buffer.
    pub(crate) fn held_parities_of(&self, open: &Frontier) -> u64 {
        let taken = open.taken.next_multiple_of(self.geometry.operation_units);
        u64::from(self.stripe_at(taken).0 - self.stripe_at(open.issued).0)
    }

    /// Returns the number of operations in flash whose stripes have no parity in flash yet.
    pub(crate) fn unprotected_operations(&self) -> u64 {
        let open = self.frontiers.iter().filter(|open| open.superblock != ABSENT);
        open.map(|open| u64::from(self.stripe_at(open.issued).1)).sum()
    }
}
