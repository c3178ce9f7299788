use crate::faulty::tests::{US, counts, faulty, latency};
use nacre_kernel::Op;

#[test]
fn a_delay_is_added_and_a_factor_multiplies() {
    let mut device = faulty(&["kind = \"delay\"\nlatency = \"7 us\"\noperations = [\"read\"]"]);
    assert_eq!(latency(&mut *device, US(0), Op::Read), US(17));
    assert_eq!(latency(&mut *device, US(100), Op::Write), US(20), "a write is not touched");
    let of = counts(&*device, 0);
    assert_eq!((of.matching, of.touched, of.added_ps), (1, 1, u128::from(US(7).as_ps())));

    let mut device = faulty(&["kind = \"slow\"\nfactor = 5.0"]);
    assert_eq!(latency(&mut *device, US(0), Op::Read), US(50));
    assert_eq!(latency(&mut *device, US(100), Op::Write), US(100));

    let mut device = faulty(&["kind = \"slow\"\nfactor = 3.0", "kind = \"delay\"\nlatency = \"1 us\""]);
    assert_eq!(latency(&mut *device, US(0), Op::Read), US(31), "the factor is that of the device's time");
    assert_eq!(counts(&*device, 0).added_ps, u128::from(US(20).as_ps()));
}
