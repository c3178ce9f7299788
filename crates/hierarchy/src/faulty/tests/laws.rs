//! Compares latencies, rates, and shares with closed forms.

use super::{US, ask, counts, faulty, latency, request};
use nacre_kernel::event::Payload;
use nacre_kernel::{Op, Time};
use nacre_testkit::assert_close;
use nacre_testkit::closed_loop;

#[test]
fn a_share_is_that_of_the_requests() {
    let mut device = faulty(&["kind = \"error\"\nshare = \"20 %\""]);
    closed_loop(&mut *device, 8, 100_000, |_| request(Op::Read, 0, 4096));
    let of = counts(&*device, 0);
    assert_eq!(of.matching, 100_000);
    // The standard deviation of the count is 126, which is within 1 % of its mean.
    assert_close("errors", of.errors as f64, 20_000.0, 0.025);
    for (share, errors) in [("0 %", 0), ("100 %", 1000)] {
        let mut device = faulty(&[&format!("kind = \"error\"\nshare = \"{share}\"")]);
        closed_loop(&mut *device, 8, 1000, |_| request(Op::Read, 0, 4096));
        assert_eq!(counts(&*device, 0).errors, errors);
    }
}

#[test]
fn only_its_range_is_touched() {
    let fault = "kind = \"delay\"\nlatency = \"5 us\"\nrange_start = \"8 KiB\"\nrange_end = \"16 KiB\"";
    let mut device = faulty(&[fault]);
    let cases = [(0, 8192, 10), (4096, 8192, 15), (8192, 512, 15), (15872, 4096, 15), (16384, 4096, 10)];
    for (turn, (address, bytes, us)) in cases.into_iter().enumerate() {
        let now = Time::from_ms(turn as u64);
        let answer = ask(&mut *device, now, request(Op::Read, address, bytes), Payload::NONE);
        assert_eq!(answer.at - now, US(us), "{bytes} B at {address}");
    }
    assert_eq!(latency(&mut *device, Time::from_ms(9), Op::Flush), Time::ZERO, "a flush has no address");
}
