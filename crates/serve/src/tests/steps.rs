//! Tests that single manual requests use the same device, data, and image as requests of clients, and have a
//! latency breakdown.

use super::{CACHED_DISK, EMULATED, Folder, PLAIN, checked, offer, opened};
use crate::model::Timing;
use crate::serving::{Body, Disk};
use crate::stepping::StepRequest;
use nacre_kernel::{Op, Time};

const READ: StepRequest = StepRequest { op: Op::Read, offset: 4096, bytes: 4096, fill: None };
const WRITE: StepRequest = StepRequest { op: Op::Write, fill: Some(0x5A), ..READ };
/// Sleeps for `time`. Always returns `true`, so that the wait continues.
#[expect(clippy::disallowed_methods, reason = "a step takes wall time")]
fn sleep(time: std::time::Duration) -> bool {
    std::thread::sleep(time);
    true
}

const FLUSH: StepRequest = StepRequest { op: Op::Flush, offset: 0, bytes: 0, fill: None };

fn bytes(disk: &Disk) -> Vec<u8> {
    let Body::Device(model) = &disk.body else { panic!("a device is modeled") };
    let mut into = vec![0; 12 << 10];
    model.with(|device| device.read(device.until(), 0, &mut into));
    into
}

#[test]
fn what_a_step_spent_adds_up_and_what_it_wrote_is_kept() {
    let folder = Folder::new();
    let disk = opened(offer(checked(CACHED_DISK), &folder.image()), EMULATED).unwrap();
    let mut issued = Time::ZERO.as_ns_f64();
    for request in [WRITE, READ, FLUSH] {
        let (reply, answered) = disk.step(request, disk.outages(), &mut sleep).unwrap();
        let spent: f64 = answered.spent.iter().map(|spent| spent.ns).sum();
        assert!((spent - answered.latency_ns).abs() < 0.001, "{answered:?}");
        assert!(answered.is_done && answered.issued_ns >= issued, "{answered:?}");
        // The write may be on the medium before the flush, because wall-clock time continues between two
        // steps.
        let takes_none = request.op == Op::Flush && answered.latency_ns == 0.0;
        assert!(takes_none || answered.latency_ns > 0.0 && reply.deadline > reply.sent, "{answered:?}");
        issued = answered.issued_ns;
    }
    let counted = disk.tally.counted();
    assert_eq!([counted[0].requests, counted[1].requests, counted[4].requests], [1, 1, 1]);
    drop(disk);
    // The image of a killed server contains the step.
    let disk = opened(offer(checked(CACHED_DISK), &folder.image()), EMULATED).unwrap();
    let expected: Vec<u8> =
        (0..12 << 10).map(|at| if (4096..8192).contains(&at) { 0x5A } else { 0 }).collect();
    assert!(bytes(&disk) == expected);
}

#[test]
fn a_step_that_cannot_be_taken_says_why() {
    let folder = Folder::new();
    let refused = |disk: &Disk, request| {
        disk.step(request, disk.outages(), &mut sleep).expect_err("refused").to_string()
    };
    let disk = opened(offer(checked(PLAIN), &folder.image()), EMULATED).unwrap();
    for offset in [64 << 10, u64::MAX] {
        assert!(refused(&disk, StepRequest { offset, ..READ }).contains("past the end"), "{offset}");
    }
    for request in [StepRequest { bytes: 0, ..READ }, StepRequest { bytes: 1, ..FLUSH }] {
        assert!(refused(&disk, request).contains("a flush has no size"), "{request:?}");
    }
    assert!(refused(&disk, StepRequest { fill: None, ..WRITE }).contains("fill"));
    assert!(refused(&disk, StepRequest { fill: Some(1), ..READ }).contains("fill"));
    let before = disk.outages();
    disk.power_fail(None).unwrap();
    assert!(disk.step(READ, before, &mut sleep).is_err(), "who came before is not answered");
    drop(disk);
    let mut offer = offer(checked(PLAIN), &folder.image());
    offer.read_only = true;
    let disk = opened(offer, EMULATED).unwrap();
    assert!(refused(&disk, WRITE).contains("read-only"));
    disk.step(READ, 0, &mut sleep).unwrap();
    let folder = Folder::new();
    let raw = opened(super::offer(checked(PLAIN), &folder.image()), Timing::None).unwrap();
    assert!(refused(&raw, READ).contains("no modeled device"));
}
