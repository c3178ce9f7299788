use crate::faulty::tests::{US, counts, faulty, times};
use nacre_kernel::{Op, Status};

#[test]
fn nothing_is_reached_while_disconnected() {
    let fault = "kind = \"disconnect\"\nstart = \"100 us\"\nduration = \"50 us\"\ntimeout = \"1 ms\"";
    let asked = [(US(80), Op::Read), (US(95), Op::Write), (US(110), Op::Read), (US(150), Op::Read)];
    let mut device = faulty(&[fault]);
    let expected = [
        (US(90), Status::Done),
        // The reply is lost.
        (US(1115), Status::TransportError),
        (US(1110), Status::TransportError),
        (US(160), Status::Done),
    ];
    assert_eq!(times(&mut *device, &asked), expected);
    let of = counts(&*device, 0);
    assert_eq!((of.touched, of.errors, of.reported_bytes), (2, 2, 8192));
}
