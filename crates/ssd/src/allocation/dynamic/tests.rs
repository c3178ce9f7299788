//! The die of a page.

use crate::tests::driven::driven;
use crate::tests::unit;
use nacre_kernel::{Op, Time};

#[test]
fn a_page_goes_to_the_die_that_is_free_first() {
    // The first four go to the four dies; the fifth to the die whose program is fast.
    let mut device = driven(
        "allocation = \"dynamic\"\nprogram = [\"500 us\", \"100 us\"]\nbus = \"4 GB/s\"\ncommand = \"0 s\"",
    );
    (0..4).for_each(|number| _ = device.submit(Time::from_us(number), &unit(Op::Write, number)));
    // All program their slow page until 500 us; the second round ends 100 us later, in the same order.
    device.write_all(Time::from_us(10), 4..8);
    let busy = device.rest();
    assert!(busy > Time::from_us(600) && busy < Time::from_us(620), "{busy}");
}
