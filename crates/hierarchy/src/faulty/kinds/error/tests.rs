use crate::faulty::tests::{BYTES, US, ask, behind, counts, faulty, latency, request, with_bytes};
use nacre_kernel::event::Payload;
use nacre_kernel::{Op, Status, Time};

#[test]
fn every_nth_request_fails_and_no_other() {
    let mut device =
        faulty(&["kind = \"error\"\nevery = 4\nafter = \"3 us\"\noperations = [\"write\", \"flush\"]"]);
    for number in 1..=100 {
        let now = Time::from_ms(number);
        let op = if number.is_multiple_of(2) { Op::Write } else { Op::Flush };
        let bytes = if op == Op::Write { 4096 } else { 0 };
        let answer = ask(&mut *device, now, request(op, 0, bytes), Payload::NONE);
        let (after, status) = match number % 4 {
            0 => (US(3), Status::MediaError),
            _ if op == Op::Flush => (Time::ZERO, Status::Done),
            _ => (US(20), Status::Done),
        };
        assert_eq!((answer.at - now, answer.status), (after, status), "request {number}");
        assert_eq!(latency(&mut *device, now + US(500), Op::Read), US(10), "reads are not touched");
    }
    let of = counts(&*device, 0);
    assert_eq!((of.matching, of.touched, of.errors, of.reported_bytes), (100, 25, 25, 25 * 4096));
}

#[test]
fn a_medium_error_changes_nothing_and_a_transport_error_everything() {
    let (device, status, found, silent) = behind("kind = \"error\"");
    assert_eq!((status, silent), (Status::MediaError, 0));
    assert_eq!(found, [1; BYTES]);
    assert_eq!(counts(&*device, 0).reported_bytes, BYTES as u64);
    let (_, status, found, silent) = behind("kind = \"error\"\nat = \"transport\"");
    assert_eq!((status, silent), (Status::TransportError, 0));
    assert_eq!(found, [2; BYTES]);
}

#[test]
fn a_read_that_fails_returns_no_bytes() {
    for at in ["medium", "transport"] {
        let mut device = with_bytes(&[&format!("kind = \"error\"\nat = \"{at}\"")]);
        let answer = ask(&mut *device, Time::ZERO, request(Op::Read, 0, 4096), Payload::NONE);
        assert!(answer.status != Status::Done && answer.data.is_none());
    }
}
