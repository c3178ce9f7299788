//! Answers and their moment: none is due before the device is done, counted from when its request is there.

use super::{Folder, PLAIN, checked, offer};
use crate::model::{HostRequest, Model, Payload, Since, TimedReply, Timing};
use crate::opening::open;
use crate::serving::{Body, Disk};
use crate::transport::Transport;
use nacre_kernel::{Op, Time};
use std::time::{Duration, Instant};

/// A request of [`PLAIN`] takes so long.
const LATENCY: Duration = Duration::from_micros(10);
const WAY: Duration = Duration::from_micros(7);

#[expect(clippy::disallowed_methods, reason = "the moment from which its time counts is the wall's")]
fn now() -> Instant {
    Instant::now()
}

fn served(folder: &Folder, dilation: f64, since: Since) -> Disk {
    let way = Transport::of_small(WAY, Duration::ZERO);
    open(offer(checked(PLAIN), &folder.image()), Timing::Emulated { dilation, since }, way).unwrap().0
}

fn ask(model: &Model, after: Time) -> TimedReply {
    let asked = HostRequest { op: Op::Read, offset: 0, bytes: 512, forced: false };
    model.ask(asked, Payload::Read(&mut [0; 512]), after, 0).unwrap()
}

#[test]
fn no_answer_is_due_before_the_device_has_taken_its_time() {
    for dilation in [1.0, 3.0] {
        let folder = Folder::new();
        let disk = served(&folder, dilation, Since::Arrival);
        let Body::Device(model) = &disk.body else { panic!("it is modelled") };
        let waits = LATENCY.mul_f64(dilation);
        for _ in 0..50 {
            let before = now();
            let reply = ask(model, Time::ZERO);
            assert!(reply.deadline >= before + waits);
            // What is asked after something else waits for that, too.
            let later = reply.said.done + Time::from_us(100);
            let before = now();
            let reply = ask(model, later);
            assert!(reply.deadline >= before + waits && reply.said.done - later >= Time::from_us(10));
        }
    }
}

#[test]
fn an_answer_whose_way_is_subtracted_is_due_by_that_earlier_and_no_more() {
    let folder = Folder::new();
    let disk = served(&folder, 1.0, Since::Sending);
    let Body::Device(model) = &disk.body else { panic!("it is modelled") };
    for _ in 0..50 {
        let before = now();
        let reply = ask(model, Time::ZERO);
        assert_eq!(reply.deadline + WAY, reply.done);
        assert!(reply.deadline + WAY >= before + LATENCY);
    }
}
