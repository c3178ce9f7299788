//! Tests of faults that are added to a served device and cleared.

use super::{EMULATED, Folder, PLAIN, checked, offer, opened, served, us};
use crate::model::Timing;
use crate::serving::Disk;
use nacre_kernel::{ErrorCode, Op, Status, Time};

/// Returns the maximum modeled latency of requests of the type with index `kind` in `TIMED`.
fn slowest(disk: &Disk, kind: usize) -> Time {
    disk.model().latencies().modeled[kind].max().expect("there are some")
}

#[test]
fn a_stall_holds_every_answer_until_it_ends_and_is_in_the_latencies() {
    let folder = Folder::new();
    let disk = served(PLAIN, &folder.image());
    let settings = "kind = \"stall\"\nstart = \"100 us\"\nduration = \"500 us\"";
    assert_eq!(disk.model().add_fault_at(us(50), settings), Ok(0));
    assert_eq!(disk.write_at(us(60), 0, &[1; 512]).done, us(70), "before it starts");
    assert_eq!(disk.read_at(us(200), 0, &mut [0; 512]).done, us(650));
    assert_eq!(disk.read_at(us(700), 0, &mut [0; 512]).done, us(710), "it is over");
    assert_eq!(slowest(&disk, 0), us(450));
    let told = disk.faults();
    assert_eq!((told[0].kind, told[0].matching, told[0].touched), ("stall", 1, 1));
    assert!((told[0].added_s - 440e-6).abs() < 1e-12 && !told[0].active && !told[0].cleared);
}

#[test]
fn what_a_fault_holds_back_continues_when_it_is_cleared() {
    let folder = Folder::new();
    let disk = served(PLAIN, &folder.image());
    disk.model().add_fault_at(us(0), "kind = \"delay\"\nlatency = \"5 ms\"").expect("it is legal");
    disk.begin_write_at(us(100), 0, &[7; 512]);
    assert_eq!(disk.model().clear_faults_at(us(400), Some(0)), [0]);
    assert_eq!(disk.read_at(us(500), 0, &mut [0; 512]).done, us(510), "nothing is added any more");
    assert_eq!(slowest(&disk, 1), us(300), "it continued when the fault was cleared");
    let told = &disk.faults()[0];
    assert!(told.cleared && (told.added_s - 290e-6).abs() < 1e-12);
}

#[test]
fn a_limit_that_is_cleared_lets_everything_go() {
    let folder = Folder::new();
    let disk = served(PLAIN, &folder.image());
    disk.model().add_fault_at(us(0), "kind = \"limit\"\niops = \"1 kHz\"").expect("it is legal");
    for number in 0..4 {
        disk.begin_write_at(us(10), number * 512, &[number as u8 + 1; 512]);
    }
    // One request completes at 20 us. Without clearing, the others would start at 1010, 2010, and 3010 us.
    assert_eq!(disk.model().clear_faults_at(us(100), None), [0]);
    let mut all = [0; 2048];
    assert_eq!(disk.read_at(us(200), 0, &mut all).done, us(210));
    for (number, bytes) in all.chunks(512).enumerate() {
        assert!(bytes.iter().all(|&byte| byte == number as u8 + 1), "write {number}");
    }
    assert_eq!(slowest(&disk, 1), us(120), "three began at 100, one after the other");
}

#[test]
fn corruption_is_in_the_image_and_the_fault_is_not() {
    let folder = Folder::new();
    let disk = served(PLAIN, &folder.image());
    disk.write_at(us(1), 0, &[1; 512]);
    disk.model().add_fault_at(us(20), "kind = \"lost_write\"\nevery = 2").expect("it is legal");
    for (number, fill) in [(1, 2), (2, 3)] {
        assert_eq!(disk.write_at(us(100 * number), 0, &[fill; 512]).status, Status::Done);
    }
    assert_eq!(&disk.bytes()[..512], [2; 512]);
    assert_eq!(disk.faults()[0].silent_bytes, 512);
    drop(disk);
    let again = served(PLAIN, &folder.image());
    assert!(again.faults().is_empty());
    assert_eq!(&again.bytes()[..512], [2; 512]);
}

#[test]
fn errors_reach_the_client_and_a_power_loss_leaves_nothing_behind() {
    let folder = Folder::new();
    let disk = served(PLAIN, &folder.image());
    disk.model().add_fault_at(us(0), "kind = \"error\"\noperations = [\"flush\"]").expect("it is legal");
    disk.model()
        .add_fault_at(us(0), "kind = \"stall\"\nduration = \"1 s\"\noperations = [\"read\"]")
        .expect("legal");
    assert_eq!(disk.ask_at(us(10), Op::Flush, 0, 0).status, Status::MediaError);
    disk.begin_write_at(us(20), 0, &[1; 512]);
    disk.model().power_fail_at(us(40));
    assert_eq!(disk.model().clear_faults_at(us(50), None), [0, 1]);
    assert_eq!(disk.read_at(us(60), 0, &mut [0; 512]).done, us(70));
}

#[test]
fn without_faults_it_is_the_device_alone_and_bad_ones_are_refused() {
    let folder = Folder::new();
    let disk = served(PLAIN, &folder.image());
    let said = disk.add_fault("kind = \"stall\"\nperiod = \"1 s\"").expect_err("it has no duration");
    assert!(said.message.contains("fault.duration") && said.message.contains("give a duration"), "{said:?}");
    assert_eq!(said.code, ErrorCode::ConflictingSettings);
    let said =
        disk.add_fault("kind = \"error\"\nrange_start = \"64 KiB\"").expect_err("the device ends there");
    assert!(said.message.contains("65536 B"), "{said:?}");
    assert!(disk.faults().is_empty(), "nothing was added");
    let said = disk.clear_faults(Some(3)).expect_err("there is none");
    assert_eq!(
        (said.code, &*said.message),
        (ErrorCode::UnknownName, "there is no fault 3 to clear; there is none")
    );
    let raw = Folder::new();
    let raw = opened(offer(checked(PLAIN), &raw.image()), Timing::None).expect("it can be served");
    assert_eq!(raw.add_fault("kind = \"error\"").expect_err("no device").code, ErrorCode::NotSupported);
    assert_eq!(EMULATED, disk.timing());
}

#[test]
fn operations_of_the_medium_go_wrong_and_what_they_did_stays() {
    let folder = Folder::new();
    let disk = served(PLAIN, &folder.image());
    let write_all = |at: u64, fill: u8| {
        let done =
            (0..128).map(|sector| disk.write_at(us(at + 20 * sector), 512 * sector, &[fill; 512]).status);
        assert!(done.into_iter().all(|status| status == Status::Done), "no error is reported");
    };
    write_all(1, 1);
    assert_eq!(disk.medium_fault(Some("lost_program"), 5), Ok(0));
    write_all(10_000, 2);
    let lost = disk.medium_fault(None, 0).expect("it is modeled");
    let before = disk.bytes();
    let old = before.iter().filter(|&&byte| byte == 1).count() as u64;
    assert!(lost > 0 && old > 0 && old.is_multiple_of(512) && old < 64 << 10, "{lost} programs, {old} bytes");
    assert_eq!(disk.medium_fault(None, 0), Ok(0), "it is over");
    // The replay of the journal writes the correct data.
    disk.close().expect("there is room");
    drop(disk);
    let again = served(PLAIN, &folder.image());
    assert!(again.bytes() == before, "the image keeps what went wrong");
    let said = again.medium_fault(Some("power_loss"), 0).expect_err("it is put into no medium");
    assert!(
        said.code == ErrorCode::UnknownName && said.message.contains("lying_flush, lost_program"),
        "{said:?}"
    );
}

#[test]
fn a_flush_that_lies_saves_nothing() {
    let folder = Folder::new();
    let disk = served(super::CACHED_DISK, &folder.image());
    assert_eq!(disk.medium_fault(Some("lying_flush"), 0), Ok(0));
    let written = disk.write_at(us(1), 0, &[1; 512]).done;
    let flushed = disk.ask_at(written, Op::Flush, 0, 0);
    assert_eq!((flushed.status, flushed.done), (Status::Done, written), "at once");
    assert_eq!(disk.model().power_fail_at(written).bytes_lost, 512);
    assert_eq!(disk.medium_fault(None, 0), Ok(1));
    let written = disk.write_at(us(100_000), 0, &[1; 512]).done;
    let flushed = disk.ask_at(written, Op::Flush, 0, 0);
    assert!(flushed.done > written);
    assert_eq!(disk.model().power_fail_at(flushed.done).bytes_lost, 0);
}

#[test]
fn the_power_fails_in_a_recovery_and_what_was_flushed_stays() {
    let folder = Folder::new();
    let disk = served(super::BARE_SSD, &folder.image());
    let written = disk.write_at(us(1), 0, &[7; 4096]).done;
    let flushed = disk.ask_at(written, Op::Flush, 0, 0).done;
    let once = disk.model().power_fail_at(flushed).ready_after;
    assert!(once > Time::ZERO);
    let twice = disk.model().power_fail_twice_at(flushed + once, 500);
    assert!(twice.ready_after > Time::ZERO && twice.bytes_lost == 0);
    assert_eq!(disk.model().with(|device| device.power_failures()), 3);
    assert!(disk.bytes()[..4096].iter().all(|&byte| byte == 7));
}
