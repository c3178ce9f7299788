//! Tests of failing members.

use super::{BARE, ask, count, faulty, mirror, of_member, read, request, rest, with_bytes, write};
use nacre_kernel::event::{Completions, Payload, RequestId};
use nacre_kernel::{Op, Status, Time};

const FIRST: &str = "read_policy = \"first\"";
const MS: fn(u64) -> Time = Time::from_ms;

#[test]
fn a_read_that_fails_on_one_member_is_answered_by_the_next_and_written_anew() {
    // The fault affects only the first read.
    let sick =
        faulty(BARE, "kind = \"error\", operations = [\"read\"], after = \"1 us\", duration = \"2500 us\"");
    let mut device = with_bytes(FIRST, &[&sick, BARE]);
    assert_eq!(write(&mut *device, MS(1), 4096, 7), Status::Done);
    let (latency, status, data) = ask(&mut *device, MS(2), request(Op::Read, 4096, 4096), Payload::NONE);
    assert_eq!((latency, status), (Time::from_us(11), Status::Done), "1 us to fail, and 10 us of the other");
    assert_eq!(data.bytes().expect("bytes")[0], 7);
    rest(&mut *device);
    assert_eq!(["read_errors", "rewrites", "failed_members"].map(|name| count(&*device, name)), [1, 1, 0]);
    assert_eq!([0, 1].map(|member| of_member(&*device, member, "writes")), [2, 1]);
    assert_eq!(read(&mut *device, MS(4), 4096), (Status::Done, Some(7)));
}

/// If a rewrite waits for a host write, and this write removes the only readable member, the rewrite ends.
#[test]
fn a_rewrite_ends_when_the_member_that_it_would_read_is_removed() {
    let unread = faulty(BARE, "kind = \"error\", operations = [\"read\"]");
    let unwritten = faulty(BARE, "kind = \"error\", operations = [\"write\"]");
    let mut device = with_bytes(FIRST, &[&unread, &unread, &unwritten]);
    device.submit(MS(1), RequestId(0), &request(Op::Write, 0, 4096), vec![1; 4096].into());
    device.submit(MS(1), RequestId(1), &request(Op::Read, 0, 4096), Payload::NONE);
    rest(&mut *device);
    assert_eq!(["read_errors", "rewrites", "failed_members"].map(|name| count(&*device, name)), [2, 0, 1]);
}

/// A drive rejects a partial write of a unit if it has lost the rest of the unit. The mirror therefore
/// rewrites whole units. A member that rejects even this rewrite remains in the mirror.
#[test]
fn unreadable_ranges_are_rewritten_in_whole_units() {
    let drive = "kind = \"ssd\", channels = 1, ways = 1, planes = 1, blocks = 32, pages = 64, page = \"16 KiB\", \
                 unit = \"16 KiB\", read = [\"50 us\"], program = [\"500 us\"], erase = \"3 ms\", bus = \"400 MB/s\", \
                 over_provisioning = \"50 %\", spare_blocks = 0, factory_bad = \"0 %\", buffer = \"64 KiB\", link = \"1 GB/s\"";
    let unread = "kind = \"error\", operations = [\"read\"]";
    let unwritten = format!("{unread}}}, {{ kind = \"error\", operations = [\"write\"]");
    for (fault, rewrites) in [(unread, 1), (&unwritten, 0)] {
        let sick = faulty(drive, fault);
        let mut device = with_bytes(FIRST, &[&sick, BARE]);
        assert_eq!(read(&mut *device, MS(1), 20 << 10).0, Status::Done);
        rest(&mut *device);
        assert_eq!(["rewrites", "failed_members"].map(|name| count(&*device, name)), [rewrites, 0]);
        assert_eq!(of_member(&*device, 1, "bytes_read"), 4096 + (16 << 10));
    }
}

#[test]
fn a_read_that_fails_on_all_members_fails() {
    let sick = faulty(BARE, "kind = \"error\", operations = [\"read\"]");
    let mut device = with_bytes("hedge_after = \"1 us\"", &[&sick, &sick, &sick]);
    assert_eq!(read(&mut *device, MS(1), 0).0, Status::MediaError);
    rest(&mut *device);
    assert_eq!(["read_errors", "rewrites", "failed_members"].map(|name| count(&*device, name)), [3, 0, 0]);
}

#[test]
fn a_member_that_fails_a_write_a_trim_or_a_flush_is_removed() {
    for op in [Op::Write, Op::Trim, Op::Flush] {
        let fault = format!("kind = \"error\", operations = [\"{}\"], start = \"2 ms\"", op.name());
        let sick = faulty(BARE, &fault);
        let mut device = with_bytes("read_policy = \"round_robin\"", &[&sick, BARE]);
        assert_eq!(write(&mut *device, MS(1), 0, 1), Status::Done);
        let bytes = if op == Op::Flush { 0 } else { 4096 };
        let data = if op == Op::Write { vec![2; 4096].into() } else { Payload::NONE };
        assert_eq!(ask(&mut *device, MS(3), request(op, 8192, bytes), data).1, Status::Done, "{op:?}");
        assert_eq!(count(&*device, "failed_members"), 1);
        let before = [0, 1].map(|member| of_member(&*device, member, "reads"));
        for turn in 4..8 {
            assert_eq!(read(&mut *device, MS(turn), 0), (Status::Done, Some(1)));
        }
        let after = [0, 1].map(|member| of_member(&*device, member, "reads"));
        assert_eq!(after, [before[0], before[1] + 4], "nothing is asked of the member that failed");
    }
}

/// A member reports a loss to the first flush, which waits for the other member. The mirror must not keep
/// this member in service when a later flush completes before the first flush.
#[test]
fn a_flush_does_not_overtake_the_loss_that_a_member_reported_to_another() {
    let when = "operations = [\"flush\"], start = \"2 ms\", duration = \"500 us\"";
    let loses = faulty(BARE, &format!("kind = \"error\", {when}"));
    for (other, first) in [("delay", Status::Done), ("error", Status::MediaError)] {
        let time = if other == "delay" { "latency" } else { "after" };
        let slow = faulty(BARE, &format!("kind = \"{other}\", {time} = \"10 ms\", {when}"));
        let mut device = with_bytes("", &[&loses, &slow]);
        device.submit(MS(2), RequestId(1), &request(Op::Flush, 0, 0), Payload::NONE);
        let mut completions = Completions::new();
        device.run(MS(3), &mut completions);
        device.submit(MS(3), RequestId(2), &request(Op::Flush, 0, 0), Payload::NONE);
        device.run(MS(4), &mut completions);
        let (second, _) = completions.get(0);
        assert_eq!((second.id, second.status), (RequestId(2), Status::Done));
        assert_eq!(count(&*device, "failed_members"), 1, "the other member has all data");
        completions.clear();
        device.run(MS(20), &mut completions);
        assert_eq!((completions.len(), completions.get(0).0.status), (1, first));
        rest(&mut *device);
    }
}

#[test]
fn the_last_member_is_never_removed() {
    let sick =
        faulty(BARE, "kind = \"error\", operations = [\"write\"], start = \"2 ms\", duration = \"2 ms\"");
    let dead = faulty(BARE, "kind = \"error\", operations = [\"write\"], start = \"1 ms\"");
    let mut device = with_bytes("", &[&sick, &dead]);
    assert_eq!(write(&mut *device, MS(1), 0, 1), Status::Done, "the second fails");
    assert_eq!(write(&mut *device, MS(3), 0, 2), Status::MediaError, "so does the first");
    assert_eq!(write(&mut *device, MS(5), 0, 3), Status::Done);
    assert_eq!(read(&mut *device, MS(6), 0), (Status::Done, Some(3)));
    assert_eq!(count(&*device, "failed_members"), 1);
}

/// If all members reject a write, the data of each member is unknown, but all reads return the same data.
#[test]
fn a_write_that_all_members_refuse_is_settled_when_it_is_read() {
    let lost = faulty(
        BARE,
        "kind = \"error\", at = \"transport\", after = \"100 us\", operations = [\"write\"], start = \"2 ms\", duration = \"1 ms\"",
    );
    let refused =
        faulty(BARE, "kind = \"error\", operations = [\"write\"], start = \"2 ms\", duration = \"1 ms\"");
    let mut device = with_bytes("read_policy = \"round_robin\"", &[&lost, &refused]);
    assert_eq!(write(&mut *device, MS(1), 0, 1), Status::Done);
    assert_ne!(write(&mut *device, MS(2), 0, 2), Status::Done);
    let first = read(&mut *device, MS(4), 0);
    for turn in 5..9 {
        assert_eq!(read(&mut *device, MS(turn), 0), first);
    }
    assert_eq!(first, (Status::Done, Some(2)), "the first member has it");
    assert_eq!(count(&*device, "resynced_bytes"), 4096);
}

#[test]
fn a_mirror_in_which_nothing_fails_asks_for_nothing_more() {
    let mut device = mirror("", &[BARE, BARE]);
    for turn in 0..100 {
        let op = if turn % 3 == 0 { Op::Write } else { Op::Read };
        ask(&mut *device, MS(turn), request(op, turn * 4096, 4096), Payload::NONE);
    }
    let requests = |name| [0, 1].map(|member| of_member(&*device, member, name)).iter().sum::<u64>();
    assert_eq!((requests("writes"), requests("reads")), (2 * 34, 66));
}
