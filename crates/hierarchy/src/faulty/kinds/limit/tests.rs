use crate::faulty::tests::{US, faulty, request, times};
use nacre_kernel::{Op, Time};
use nacre_testkit::assert_close;
use nacre_testkit::closed_loop;

#[test]
fn a_limit_is_served_exactly() {
    for (fault, per_second) in [
        ("iops = \"2 kHz\"", 2000.0),
        ("bandwidth = \"4096 kB/s\"", 1000.0),
        ("iops = \"2 kHz\"\nbandwidth = \"4096 kB/s\"", 1000.0),
        ("iops = \"500 /s\"\nbandwidth = \"4096 kB/s\"", 500.0),
    ] {
        let mut device = faulty(&[&format!("kind = \"limit\"\n{fault}")]);
        let seen = closed_loop(&mut *device, 16, 5_000, |_| request(Op::Write, 0, 4096));
        assert_close(fault, seen.per_second(), per_second, 0.01);
    }
    // Requests arrive more slowly than the limit, so none waits.
    let mut device = faulty(&["kind = \"limit\"\niops = \"10 kHz\""]);
    let asked: Vec<(Time, Op)> = (0..10).map(|turn| (US(100 * turn), Op::Read)).collect();
    for ((at, _), (came, _)) in times(&mut *device, &asked).into_iter().zip(&asked) {
        assert_eq!(at, *came + US(10));
    }
}

#[test]
fn requests_that_wait_for_a_limit_continue_when_it_ends() {
    let mut device = faulty(&["kind = \"limit\"\niops = \"10 kHz\"\nduration = \"250 us\""]);
    let asked: Vec<(Time, Op)> = (0..6).map(|_| (US(0), Op::Read)).collect();
    let done: Vec<Time> = times(&mut *device, &asked).into_iter().map(|(at, _)| at).collect();
    assert_eq!(done, [US(10), US(110), US(210), US(260), US(260), US(260)]);
}
