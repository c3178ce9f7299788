//! Tests that a power loss interrupts outstanding requests, and that no client waits for a lost request.

use super::{CACHED_DISK, EMULATED, Folder, PLAIN, checked_with, offer, opened, served, us};
use crate::model::{HostRequest, Payload};
use nacre_kernel::{Op, Time};
use std::io::ErrorKind;
use std::time::Duration;

const ASKED: HostRequest = HostRequest { op: Op::Write, offset: 0, bytes: 512, forced: false };

#[test]
fn a_write_under_way_is_old_or_new_or_torn_by_the_seed() {
    let interrupted = |seed: u64| {
        let folder = Folder::new();
        let uncached = CACHED_DISK.replace("write_cache = \"256 KiB\"", "");
        let disk = opened(offer(checked_with(&uncached, seed), &folder.image()), EMULATED);
        let disk = disk.unwrap_or_else(|error| panic!("{error}"));
        // 16 KiB pass under the head in 82 us. Then the reply is transferred over the interface.
        let whole = served(&uncached, &Folder::new().image()).write_at(us(1), 0, &[1; 16384]).done;
        disk.begin_write_at(us(1), 0, &[1; 16384]);
        let outage = disk.model().power_fail_at(whole - us(40));
        assert_eq!((outage.under_way, outage.acknowledged_lost, outage.bytes_lost), (1, 0, 0));
        disk.bytes().iter().filter(|&&byte| byte == 1).count()
    };
    let seen: Vec<_> = (0..12).map(interrupted).collect();
    assert_eq!(seen, (0..12).map(interrupted).collect::<Vec<_>>());
    assert!(seen.iter().any(|count| (1..16384).contains(count)), "some are torn: {seen:?}");
    assert!(seen.iter().all(|count| count.is_multiple_of(512)), "at sectors: {seen:?}");
}

#[test]
fn writes_that_are_lost_are_not_waited_for() {
    let folder = Folder::new();
    let disk = served(CACHED_DISK, &folder.image());
    let mut now = us(1);
    for number in 0..40 {
        now = disk.write_at(now, number * 37 % 250 * 4096, &[number as u8 + 1; 4096]).done;
    }
    let outage = disk.model().power_fail_at(now);
    assert!(outage.bytes_lost > 40 * 4096 / 2 && outage.acknowledged_lost > 0, "{outage:?}");
    // The destage of each of these writes would take a seek.
    assert!(outage.ready_after < Time::from_ms(50), "{outage:?}");
}

#[test]
fn who_came_before_a_loss_of_power_is_served_and_answered_no_more() {
    let folder = Folder::new();
    let disk = served(PLAIN, &folder.image());
    let model = disk.model();
    let ask = |outages| model.ask(ASKED, Payload::Write(&[5; 512]), Time::ZERO, outages);
    let before = model.outages();
    ask(before).expect("it is served");
    assert!(model.lets_leave(Time::ZERO, before));
    model.power_fail(None).expect("there is room");
    assert!(!model.lets_leave(Time::ZERO, before), "answers stay");
    assert_eq!(ask(before).unwrap_err().kind(), ErrorKind::ConnectionAborted);
    assert!(ask(model.outages()).is_ok(), "who comes now is served");
}

#[test]
fn what_was_answered_is_done_when_the_power_fails_though_answers_leave_early() {
    // The reply precedes the completion by the transport delay. Its write then counts as complete.
    let folder = Folder::new();
    let slow = PLAIN.replace("10 us", "1000 s");
    let disk = served(&slow, &folder.image());
    let model = disk.model();
    let ticket = model.ask(ASKED, Payload::Write(&[5; 512]), Time::ZERO, 0).expect("it is served");
    let mut done = None;
    let way = Duration::from_secs(2000);
    model.look(way, std::iter::once(ticket), |_, answer| done = Some(answer.said.done));
    assert!(model.lets_leave(done.expect("it is done within the time of the way"), 0));
    let outage = model.power_fail(None).expect("there is room");
    assert_eq!((outage.under_way, outage.bytes_lost), (0, 0));
    assert!(disk.bytes()[..512].iter().all(|&byte| byte == 5));
}

#[test]
fn without_a_model_nothing_is_said_to_be_lost() {
    let folder = Folder::new();
    let disk = opened(offer(checked_with(PLAIN, 1), &folder.image()), crate::model::Timing::None);
    let disk = disk.unwrap_or_else(|error| panic!("{error}"));
    let error = disk.power_fail(None).unwrap_err().to_string();
    assert!(error.starts_with("--timing none has no modeled device"), "{error}");
}
