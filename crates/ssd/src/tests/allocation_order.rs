//! Tests of the order of planes under static allocation.

use crate::layout::geometry::Cells;
use crate::ops::{Cause, FlashOps};
use crate::tests::array::small;
use nacre_kernel::Time;

/// Records the planes on which pages are programmed.
#[derive(Default)]
struct Planes {
    superblocks: Vec<u32>,
    dies: Vec<u32>,
    count: u32,
}

impl FlashOps for Planes {
    fn program(&mut self, superblock: u32, operation: u32, _: Cells, _: Cause, _: bool, _omitted: u64) {
        self.superblocks.push(superblock);
        self.dies.push(operation % self.count);
    }

    fn program_parity(&mut self, _superblock: u32, _operation: u32, _cells: Cells, _cause: Cause) {
        unreachable!("there is no parity");
    }

    fn read(&mut self, _superblock: u32, _operation: u32, _cells: Cells, _units: u32, _cause: Cause) {}

    fn erase(&mut self, _superblock: u32) {}

    fn die_free_from(&mut self, _die: u32) -> Time {
        Time::ZERO
    }
}

#[test]
fn pages_that_follow_each_other_go_to_channels_ways_and_planes_in_the_order_of_its_letters() {
    // The expected values are the planes of page numbers in each order, for two channels, three ways, and two
    // planes.
    for (order, sizes) in [
        ("cwp", [("channel", 2), ("way", 3), ("plane", 2)]),
        ("cpw", [("channel", 2), ("plane", 2), ("way", 3)]),
        ("wcp", [("way", 3), ("channel", 2), ("plane", 2)]),
        ("pwc", [("plane", 2), ("way", 3), ("channel", 2)]),
        ("pcw", [("plane", 2), ("channel", 2), ("way", 3)]),
    ] {
        let settings =
            format!("ways = 3\nplanes = 2\nallocation = {{ kind = \"static\", order = \"{order}\" }}");
        let mut array = small(&settings, "greedy");
        let mut planes = Planes { count: 6, ..Planes::default() };
        (0..24).for_each(|unit| assert!(array.write(unit, &[], &mut planes)));
        for page in 0..24 {
            let mut left = page;
            let mut of = std::collections::BTreeMap::new();
            for (part, size) in sizes {
                of.insert(part, left % size);
                left /= size;
            }
            let die = of["way"] * 2 + of["channel"];
            assert_eq!(planes.dies[page as usize], die, "the die of page {page} in {order}");
            let plane = planes.superblocks[page as usize] / 512;
            assert_eq!(plane, die * 2 + of["plane"], "the plane of page {page} in {order}");
        }
    }
}
