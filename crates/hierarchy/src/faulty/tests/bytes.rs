//! Tests of data on the medium behind a fault, and of the counts of corrupted bytes.

use super::{BYTES, ask, counts, request, with_bytes};
use nacre_kernel::event::Payload;
use nacre_kernel::{Op, Time};

/// A simulation without data makes the same random choices as a simulation with data.
#[test]
fn faults_are_the_same_without_bytes() {
    let faults = [
        "kind = \"torn_write\"\nshare = \"30 %\"",
        "kind = \"bit_rot\"\nshare = \"30 %\"",
        "kind = \"lost_write\"\nshare = \"10 %\"",
        "kind = \"error\"\nshare = \"10 %\"",
    ];
    let mut devices = [super::faulty(&faults), with_bytes(&faults)];
    for turn in 0..500 {
        let answers = devices.each_mut().map(|device| {
            let data =
                if device.capabilities().carries_bytes { vec![1; BYTES].into() } else { Payload::NONE };
            let answer = ask(&mut **device, Time::from_ms(turn), request(Op::Write, 0, BYTES as u32), data);
            (answer.at, answer.status)
        });
        assert_eq!(answers[0], answers[1]);
    }
    for number in 0..faults.len() {
        assert!(counts(&*devices[0], number).touched > 20);
        assert_eq!(counts(&*devices[0], number), counts(&*devices[1], number));
    }
}
