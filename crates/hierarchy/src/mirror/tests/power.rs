//! Tests of power losses and the reads after them.

use super::{BARE, ask, count, faulty, read, request, rest, with_bytes, write};
use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::{Op, Status, Streams, Time};

/// A member with slower writes than [`BARE`].
const LATER: &str =
    "kind = \"measured\", read = \"10 us\", write = \"90 us\", parallelism = 64, capacity = \"1 MiB\"";
const MS: fn(u64) -> Time = Time::from_ms;

/// Creates a mirror after a power loss during a write, which overwrites bytes of value 1 with bytes of value
/// 2. The first member has completed this write, and the second has not.
fn interrupted(settings: &str, members: [&str; 2]) -> Box<dyn Device> {
    let mut device = with_bytes(settings, &members);
    assert_eq!(write(&mut *device, MS(1), 0, 1), Status::Done);
    assert_eq!(write(&mut *device, MS(2), 65536, 1), Status::Done);
    device.run(MS(3), &mut Completions::new());
    device.submit(MS(3), RequestId(9), &request(Op::Write, 0, 4096), vec![2; 4096].into());
    let at = MS(3) + Time::from_us(50);
    device.run(at, &mut Completions::new());
    device.power_fail(at, &mut Streams::new(1).stream("power"));
    assert_eq!(device.recover(at).done, at);
    device
}

#[test]
fn members_that_differ_are_made_equal_in_the_regions_that_were_written() {
    let mut device = interrupted("bitmap_region = \"16 KiB\"\nresync_chunk = \"8 KiB\"", [BARE, LATER]);
    rest(&mut *device);
    assert_eq!(count(&*device, "resynced_bytes"), 16384, "one region");
    for turn in 5..9 {
        assert_eq!(read(&mut *device, MS(turn), 0), (Status::Done, Some(2)));
    }
    // At this bandwidth, the first chunk of 8 KiB takes 1 ms. The second chunk then starts.
    let mut slow = interrupted(
        "bitmap_region = \"16 KiB\"\nresync_chunk = \"8 KiB\"\nresync_bandwidth = \"8.192 MB/s\"",
        [BARE, LATER],
    );
    let began = MS(3) + Time::from_us(50);
    slow.run(began + Time::from_us(999), &mut Completions::new());
    assert_eq!(slow.next_event(), began + MS(1));
    rest(&mut *slow);
}

/// A read of a range that the slow resync has not reached copies the current version from the first member
/// to the second. After the first member fails, the second returns this version.
#[test]
fn a_read_before_the_resync_makes_members_equal() {
    let settings = "bitmap_region = \"64 KiB\"\nresync_bandwidth = \"1 B/s\"\nresync_chunk = \"512 B\"";
    let dies = faulty(BARE, "kind = \"disconnect\", timeout = \"1 ms\", start = \"10 ms\"");
    let mut device = interrupted(settings, [&dies, LATER]);
    let (latency, status, data) = ask(&mut *device, MS(5), request(Op::Read, 0, 4096), Payload::NONE);
    assert_eq!((status, data.bytes().expect("bytes")[0]), (Status::Done, 2));
    assert_eq!(latency, Time::from_us(100), "read in 10 us, and copied in 90");
    let (_, status, data) = ask(&mut *device, MS(11), request(Op::Read, 0, 4096), Payload::NONE);
    assert_eq!((status, data.bytes().expect("bytes")[0]), (Status::Done, 2), "the other member has it, too");
    // This address is outside the region of the interrupted write.
    assert_eq!(read(&mut *device, MS(20), 65536), (Status::Done, Some(1)));
}

#[test]
fn a_power_loss_during_the_resync_begins_it_anew() {
    let mut device = interrupted("bitmap_region = \"16 KiB\"\nresync_chunk = \"4 KiB\"", [BARE, LATER]);
    let at = MS(3) + Time::from_us(60);
    device.run(at, &mut Completions::new());
    device.power_fail(at, &mut Streams::new(1).stream("power"));
    device.recover(at);
    rest(&mut *device);
    assert_eq!(count(&*device, "resynced_bytes"), 16384);
    for turn in 5..9 {
        assert_eq!(read(&mut *device, MS(turn), 0), (Status::Done, Some(2)));
    }
}

const DISK: &str = "kind = \"hdd\", capacity = \"3 MiB\", rotation = \"15000 /min\", heads = 1, \
    track_to_track_seek = \"0.2 ms\", average_seek = \"3.4 ms\", full_stroke_seek = \"6.6 ms\", \
    outer_rate = \"200 MB/s\", inner_rate = \"120 MB/s\", write_cache = \"64 KiB\"";

/// With volatile buffers, the bit of a region in the write-intent bitmap is cleared only by a flush that
/// follows the writes to this region.
#[test]
fn a_flush_clears_the_bitmap() {
    for (flushes, copied) in [(true, 0), (false, 16384)] {
        let mut device = with_bytes("bitmap_region = \"16 KiB\"", &[DISK, DISK]);
        assert_eq!(write(&mut *device, MS(1), 0, 1), Status::Done);
        if flushes {
            let flushed = ask(&mut *device, MS(50), request(Op::Flush, 0, 0), Payload::NONE);
            assert_eq!(flushed.1, Status::Done);
        }
        device.run(MS(200), &mut Completions::new());
        device.power_fail(MS(200), &mut Streams::new(1).stream("power"));
        device.recover(MS(200));
        rest(&mut *device);
        assert_eq!(count(&*device, "resynced_bytes"), copied, "flushed: {flushes}");
    }
}

/// Each member loses data and reports this to another of two flushes that are outstanding together. Both
/// flushes fail on all members. The members may then differ in the written region.
#[test]
fn members_may_differ_after_flushes_that_fail_on_all_of_them() {
    let when = "operations = [\"flush\"], duration = \"5 ms\"";
    let first = faulty(DISK, &format!("kind = \"error\", start = \"100 ms\", {when}"));
    let late = format!("kind = \"delay\", latency = \"50 ms\", start = \"100 ms\", {when}");
    let second = faulty(DISK, &format!("{late} }}, {{ kind = \"error\", start = \"110 ms\", {when}"));
    let mut device = with_bytes("bitmap_region = \"16 KiB\"", &[&first, &second]);
    assert_eq!(write(&mut *device, MS(1), 0, 1), Status::Done);
    let mut completions = Completions::new();
    for (id, at) in [(1, MS(100)), (2, MS(110))] {
        device.run(at, &mut completions);
        device.submit(at, RequestId(id), &request(Op::Flush, 0, 0), Payload::NONE);
    }
    while completions.len() < 2 {
        device.run(Time::MAX, &mut completions);
    }
    assert!(completions.iter().all(|flush| flush.status == Status::MediaError));
    assert_eq!(count(&*device, "failed_members"), 0, "each member has data that the other lost");
    assert_eq!(read(&mut *device, MS(500), 0), (Status::Done, Some(1)));
    assert_eq!(count(&*device, "resynced_bytes"), 4096, "the read makes its range equal");
}
