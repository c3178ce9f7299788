use crate::host_interface::tests::{built, served_at_once};
use nacre_kernel::{Op, Time};

#[test]
fn a_request_takes_driver_and_link_and_many_what_the_slower_of_them_takes() {
    // 4,096 B at 2 GB/s are 2.048 us.
    let alone = Time::from_ns(1000 + 2048);
    for (op, bytes, expected) in [
        (Op::Read, 4096, alone),
        (Op::Write, 4096, alone),
        (Op::Read, 8192, alone + Time::from_ns(2048)),
        (Op::Flush, 0, Time::from_us(1)),
    ] {
        let mut interface = built("kind = \"direct\"\ndriver = \"1 us\"\nlink = \"2 GB/s\"");
        assert_eq!(served_at_once(&mut *interface, Time::ZERO, op, bytes), expected, "{op:?} of {bytes}");
    }
    let mut interface = built("kind = \"direct\"\ndriver = \"1 us\"\nlink = \"2 GB/s\"");
    let last = (0..10).map(|_| served_at_once(&mut *interface, Time::ZERO, Op::Read, 4096)).last();
    assert_eq!(last, Some(Time::from_ns(1000 + 10 * 2048)));
    let mut interface = built("kind = \"direct\"\ndriver = \"5 us\"\ncpus = 2\nlink = \"2 GB/s\"");
    let last = (0..10).map(|_| served_at_once(&mut *interface, Time::ZERO, Op::Read, 4096)).last();
    assert_eq!(last, Some(Time::from_ns(5 * 5000 + 2 * 2048)));
}
