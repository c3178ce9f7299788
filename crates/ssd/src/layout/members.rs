//! Members of a stripe. A unit is rebuilt from the units at the same position in the other operations of
//! its stripe.

use crate::layout::geometry::Geometry;
use nacre_kernel::state::Value;

/// A data or parity unit from which another unit of its stripe is rebuilt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) struct Member {
    /// Number of the unit. For parity, the number of the first data unit at the same position in the stripe.
    pub(crate) page: u64,
    pub(crate) is_parity: bool,
    /// Number of the operation in the superblock, and position of the unit in the operation.
    pub(crate) operation: u32,
    pub(crate) within: u32,
}

impl Geometry {
    /// Returns the other members of the stripe of unit `page` that are in flash. The superblock has `units`
    /// units in flash. The last stripe has parity if it is full, or if the superblock `is_closed`. Until
    /// then, its parity is in the drive's memory. The result is empty without parity.
    pub(crate) fn others(&self, page: u64, units: u32, is_closed: bool) -> Vec<Member> {
        let Some(stripes) = &self.stripes else { return Vec::new() };
        let (superblock, index) = self.place_at(page);
        let (of_data, within) = self.operations_of(index);
        let (stripe, own) = stripes.stripe_of(of_data);
        let first = stripe * stripes.of_data();
        let (written, _) = self.operations_of(units);
        let page_of = |place: u32| self.page_at(superblock, (first + place) * self.operation_units + within);
        let is_written = |place: u32| first + place < written;
        let data = (0..stripes.of_data()).filter(|&place| place != own && is_written(place));
        let mut others: Vec<Member> = data
            .map(|place| Member {
                page: page_of(place),
                is_parity: false,
                operation: self.operation_at(superblock, first + place),
                within,
            })
            .collect();
        if is_closed || is_written(stripes.of_data() - 1) {
            let operation = self.operation_by_place(superblock, stripes.parity_of(stripe));
            others.push(Member { page: page_of(0), is_parity: true, operation, within });
        }
        others
    }
}
