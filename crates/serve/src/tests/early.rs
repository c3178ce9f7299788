//! Tests of reply times: no reply is sent before the device completes the request, relative to the arrival of
//! the request.

use super::{Folder, PLAIN, checked, offer};
use crate::model::{Answer, Early, HostRequest, Model, Payload, Since, TimedReply, Timing};
use crate::opening::open;
use crate::serving::{Body, Disk};
use crate::transport::Transport;
use crate::turnaround::Beyond;
use nacre_kernel::{Op, Time};
use std::time::{Duration, Instant};

/// Latency of a request to the device [`PLAIN`].
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

/// Reads a sector at the simulated time `after` or later, and returns the reply. The device may run ahead of
/// the clock by `ahead`.
fn ask(model: &Model, after: Time, early: Early, ahead: Duration) -> TimedReply {
    let asked = HostRequest { op: Op::Read, offset: 0, bytes: 512, forced: false };
    let ticket = model.ask(asked, Payload::None, after, 0).unwrap();
    let mut found: Option<Answer> = None;
    while found.is_none() {
        model.look(ahead, std::iter::once(ticket), |_, answer| found = Some(answer));
    }
    model.reply(ticket, 512, early, found.unwrap().said)
}

#[test]
fn no_answer_is_due_before_the_device_has_taken_its_time() {
    for dilation in [1.0, 3.0] {
        let folder = Folder::new();
        let disk = served(&folder, dilation, Since::Arrival);
        let Body::Device(model) = &disk.body else { panic!("it is modeled") };
        let waits = LATENCY.mul_f64(dilation);
        for _ in 0..50 {
            let before = now();
            let reply = ask(model, Time::ZERO, Early::Not, Duration::ZERO);
            assert!(reply.deadline >= before + waits && now() >= reply.deadline - waits);
            // A request that must follow another request waits for it.
            let later = reply.said.done + Time::from_us(100);
            let before = now();
            let reply = ask(model, later, Early::Not, Duration::ZERO);
            assert!(reply.deadline >= before + waits && reply.said.done - later >= Time::from_us(10));
        }
    }
}

#[test]
fn an_answer_whose_way_is_subtracted_is_due_by_that_earlier_and_no_more() {
    let folder = Folder::new();
    let disk = served(&folder, 1.0, Since::Sending);
    let Body::Device(model) = &disk.body else { panic!("it is modeled") };
    for _ in 0..50 {
        let before = now();
        let early = Early::By(Beyond::Sooner(Duration::ZERO));
        let reply = ask(model, Time::ZERO, early, WAY);
        assert!(reply.deadline + WAY >= before + LATENCY);
        // The device has completed when the reply is due.
        let (not, spent) = (ask(model, Time::ZERO, Early::Not, WAY), reply.deadline - reply.sent);
        assert!(spent >= LATENCY && not.deadline - not.sent >= LATENCY + WAY);
    }
}
