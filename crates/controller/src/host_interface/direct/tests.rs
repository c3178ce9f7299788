use crate::host_interface::tests::{alone, ends, together};
use nacre_kernel::{Op, Time};

#[test]
fn a_driver_and_its_link_take_what_the_slower_of_them_takes() {
    // 4,096 B at 2 GB/s are 2.048 us.
    let plain = "kind = \"direct\"\ndriver = \"1 us\"\nlink = \"2 GB/s\"";
    for (op, bytes, expected) in
        [(Op::Read, 4096, 3048), (Op::Write, 4096, 3048), (Op::Read, 8192, 3048 + 2048), (Op::Flush, 0, 1000)]
    {
        assert_eq!(alone(plain, op, bytes), Time::from_ns(expected), "{op:?} of {bytes}");
    }
    assert_eq!(ends(plain, &together(10, Op::Read, 4096))[9], Time::from_ns(1000 + 10 * 2048));
    let slow = "kind = \"direct\"\ndriver = \"5 us\"\ncpus = 2\nlink = \"2 GB/s\"";
    assert_eq!(ends(slow, &together(10, Op::Read, 4096))[9], Time::from_ns(5 * 5000 + 2 * 2048));
}
