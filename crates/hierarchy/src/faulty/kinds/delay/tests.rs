use crate::faulty::tests::{faulty, request};
use nacre_kernel::Op;
use nacre_testkit::assert_close;
use nacre_testkit::closed_loop;

#[test]
fn a_random_delay_has_its_mean() {
    let mut device = faulty(&["kind = \"delay\"\nlatency = { kind = \"exponential\", mean = \"50 us\" }"]);
    let seen = closed_loop(&mut *device, 1, 40_000, |_| request(Op::Read, 0, 4096));
    assert_close("mean latency", seen.end.as_secs_f64() / 40_000.0, 60e-6, 0.02);
}
