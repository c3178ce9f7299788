use super::super::Summary;
use super::super::statistics::{assert_mean, settled_mean};
use super::*;
use crate::drive::poisson;
use crate::queueing::mg1_wait;
use nacre_kernel::{Bandwidth, Bytes, Random};
use nacre_media::disk::{Draw, Layout, SeekCurve, SeekTimes};

const ROTATION: Time = Time::from_ms(4);
/// Size of a track in bytes, which takes one rotation at 200 MB/s. A cylinder has one track.
const TRACK: u64 = 800_000;

fn curve() -> SeekCurve {
    let us = Time::from_us;
    SeekCurve::fit(SeekTimes { track_to_track: us(200), average: us(3400), full_stroke: us(6600) }).unwrap()
}

/// Returns a disk of 1,001 cylinders with one surface and a constant data rate. Writes need an additional
/// settling time of 3 ms.
fn disk() -> Disk {
    let layout = Layout::new(Bytes(1001 * TRACK), ROTATION, Bandwidth(200e6), Bandwidth(200e6), 1);
    Disk::new(layout, curve(), Draw::default(), Time::from_ms(3))
}

/// Returns a disk with one cylinder of two tracks, which never seeks.
fn one_cylinder() -> Disk {
    let layout = Layout::new(Bytes(2 * TRACK), ROTATION, Bandwidth(200e6), Bandwidth(200e6), 2);
    Disk::new(layout, curve(), Draw::default(), Time::ZERO)
}

fn read(cylinder: u64, share_of_turn: f64, bytes: u32) -> Request {
    let address = cylinder * TRACK + (share_of_turn * TRACK as f64) as u64;
    Request { arrival: Time::ZERO, address, bytes, volume: 0, op: Op::Read }
}

fn write(cylinder: u64, share_of_turn: f64, bytes: u32) -> Request {
    Request { op: Op::Write, ..read(cylinder, share_of_turn, bytes) }
}

fn firmware(policy: Policy, depth: usize) -> Firmware {
    Firmware { policy, depth, age_limit: None }
}

/// Returns the numbers of the requests in completion order.
fn order(visits: &[Visit]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..visits.len()).collect();
    order.sort_by_key(|&request| visits[request].done);
    order
}

/// Returns the order in which `requests` that arrive simultaneously are served.
fn order_of(firmware: Firmware, requests: &[Request]) -> Vec<usize> {
    order(&serve(&disk(), firmware, requests, Load::Open(&vec![Time::ZERO; requests.len()])))
}

/// Returns the order in which requests to the starts of `cylinders` are served.
fn order_of_cylinders(firmware: Firmware, cylinders: &[u64]) -> Vec<usize> {
    order_of(firmware, &cylinders.iter().map(|&cylinder| read(cylinder, 0.0, 1)).collect::<Vec<_>>())
}

#[test]
fn one_request_takes_its_seek_its_wait_and_its_transfer() {
    let arrival = Time::from_ms(1);
    for (request, settle) in [(read(500, 0.25, 4096), 0), (write(500, 0.25, 4096), 3)] {
        let visits = serve(&disk(), firmware(Policy::ShortestAccess, 32), &[request], Load::Open(&[arrival]));
        let on_track = arrival + curve().time(0.5) + Time::from_ms(settle);
        // A quarter of a rotation is 1 ms. The platters are at angle 0 at time 0.
        let mut sector = Time::from_ms(1);
        while sector < on_track {
            sector += ROTATION;
        }
        let expected = sector + Time::from_ps(4096 * 5000);
        assert!(visits[0].done.as_ps().abs_diff(expected.as_ps()) <= 1, "{visits:?}, expected {expected}");
    }
}

#[test]
fn the_shortest_seek_counts_cylinders_from_where_the_arm_stands() {
    // From cylinder 0, the order is 50, 55 (distance 5), 40 (15), 90 (50, whereas 100 has 60), and 100.
    let cylinders = [100, 90, 40, 50, 55];
    let shortest = firmware(Policy::ShortestSeek, 32);
    assert_eq!(order_of_cylinders(shortest, &[0, 90, 40, 50, 55]), [0, 2, 3, 4, 1]);
    // From cylinder 0, the order is 40, 50, 55, 90, and 100.
    assert_eq!(order_of_cylinders(shortest, &cylinders), [2, 3, 4, 1, 0]);
    // The policy selects among the two oldest requests: 90 of (100, 90), 100 of (100, 40), 50 of (40, 50), 55
    // of (40, 55), and 40.
    assert_eq!(order_of_cylinders(firmware(Policy::ShortestSeek, 2), &cylinders), [1, 0, 3, 4, 2]);
    for policy in [Policy::FirstCome, Policy::ShortestSeek, Policy::ShortestAccess] {
        assert_eq!(order_of_cylinders(firmware(policy, 1), &cylinders), [0, 1, 2, 3, 4]);
    }
    assert_eq!(order_of_cylinders(firmware(Policy::FirstCome, 32), &cylinders), [0, 1, 2, 3, 4]);
}

#[test]
fn of_equal_seeks_the_oldest_goes_first() {
    let shortest = firmware(Policy::ShortestSeek, 32);
    // Cylinder 200 is first because no other request has arrived. Then 100 and 300 have equal distances, and
    // two requests are on one cylinder.
    let requests = [200, 300, 100, 300].map(|cylinder| read(cylinder, 0.0, 1));
    let times = [0, 1, 2, 3].map(Time::from_us);
    let visits = serve(&disk(), shortest, &requests, Load::Open(&times));
    assert_eq!(order(&visits), [0, 1, 3, 2]);
    // A write has the same seek distance as a read on the same cylinder, although it settles longer.
    assert_eq!(order_of(shortest, &[write(10, 0.0, 1), read(10, 0.0, 1)]), [0, 1]);
}

#[test]
fn the_shortest_access_counts_seek_settling_and_rotation() {
    let shortest = firmware(Policy::ShortestAccess, 32);
    // On the cylinder of the arm, sectors are served in the order of their angles.
    assert_eq!(order_of(shortest, &[0.75, 0.5, 0.25].map(|share| read(0, share, 1))), [2, 1, 0]);
    // A seek by one cylinder takes 0.2 ms. A sector on that cylinder at 0.1 rotations (0.4 ms) can be reached
    // in time, and precedes a sector at 0.15 rotations on the current cylinder.
    assert_eq!(order_of(shortest, &[read(0, 0.15, 1), read(1, 0.1, 1)]), [1, 0]);
    // A sector at 0.02 rotations (0.08 ms) has passed when the arm arrives.
    assert_eq!(order_of(shortest, &[read(0, 0.9, 1), read(1, 0.02, 1)]), [0, 1]);
    // Half a rotation on the current cylinder takes 2 ms. A seek by 500 cylinders takes longer, although the
    // sector follows soon after the arrival of the arm.
    assert!(curve().time(0.5) > Time::from_ms(4) && curve().time(0.5) < Time::from_ms(5));
    assert_eq!(order_of(shortest, &[read(500, 0.25, 1), read(0, 0.5, 1)]), [1, 0]);
    // A write needs 3 ms to settle, so it misses its sector at 0.1 rotations and is served one rotation
    // later, at 1.1 rotations.
    assert_eq!(order_of(shortest, &[write(1, 0.1, 1), read(1, 0.15, 1)]), [1, 0]);
    // The transfer is ignored: the first request takes half a rotation longer but is still served first.
    assert_eq!(order_of(shortest, &[read(0, 0.2, 1), read(0, 0.1, TRACK as u32 / 2)]), [1, 0]);
    // The oldest request wins ties.
    assert_eq!(order_of(shortest, &[read(0, 0.3, 8), read(0, 0.3, 4)]), [0, 1]);
}

#[test]
fn what_arrives_at_the_moment_of_a_decision_takes_part_in_it() {
    let requests = [read(0, 0.0, 1), read(900, 0.0, 1), read(10, 0.0, 1)];
    let free = Time::from_ps(5000);
    for (late, expected) in [(0, [0, 2, 1]), (1, [0, 1, 2])] {
        let times = [Time::ZERO, Time::ZERO, free + Time::from_ps(late)];
        let visits = serve(&disk(), firmware(Policy::ShortestSeek, 32), &requests, Load::Open(&times));
        assert_eq!(visits[0].done, free, "a byte takes 5 ns");
        assert_eq!(order(&visits), expected);
    }
    // The next request of a closed loop arrives at the same time.
    let visits = serve(&disk(), firmware(Policy::ShortestSeek, 32), &requests, Load::Closed { clients: 2 });
    assert_eq!((order(&visits), visits[2].arrived), (vec![0, 2, 1], free));
}

#[test]
fn what_has_waited_longer_than_the_limit_goes_first() {
    // The first request takes half a rotation (2 ms). The others would be served in the order 3, 2, 1.
    let requests = [read(0, 0.0, TRACK as u32 / 2), read(900, 0.0, 1), read(800, 0.0, 1), read(10, 0.0, 1)];
    let ms = Time::from_ms;
    let served = |age_limit| {
        let firmware = Firmware { age_limit, ..firmware(Policy::ShortestSeek, 32) };
        order(&serve(&disk(), firmware, &requests, Load::Open(&[ms(0), ms(0), ms(1), ms(1)])))
    };
    assert_eq!(served(None), [0, 3, 2, 1]);
    assert_eq!(served(Some(ms(2))), [0, 3, 1, 2], "2 ms are not longer than 2 ms, but the access to 3 is");
    assert_eq!(
        served(Some(ms(2) - Time::from_ps(1))),
        [0, 1, 2, 3],
        "the oldest, then those that aged meanwhile"
    );
    assert_eq!(served(Some(Time::ZERO)), [0, 1, 2, 3], "first come first served");
}

/// Returns reads of `bytes` bytes that begin at random offsets in the first track.
fn on_one_track(random: &mut Random, count: usize, bytes: u32) -> Vec<Request> {
    (0..count).map(|_| read(0, random.unit() * 0.99, bytes)).collect()
}

#[test]
fn on_one_track_first_come_waits_as_pollaczek_and_khinchine_have_it() {
    // The wait is uniform from 0 to 4 ms, and the transfer takes 20 us: E[S] = 2.02 ms, and E[S^2] = (4 ms)^2
    // / 12 + E[S]^2.
    let (mean, variance) = (2.02e-3, 16e-6 / 12.0);
    let rate = 0.6 / mean;
    let expected = mean + mg1_wait(rate, mean, variance + mean * mean);
    assert_mean("disk M/G/1", expected, 0.02, |random| {
        let requests = on_one_track(random, 30_000, 4000);
        let times: Vec<Time> = poisson(random.clone(), rate).take(requests.len()).collect();
        let visits = serve(&one_cylinder(), firmware(Policy::FirstCome, 32), &requests, Load::Open(&times));
        settled_mean(&visits.iter().map(|visit| visit.latency().as_secs_f64()).collect::<Vec<_>>())
    });
}

#[test]
fn on_one_track_the_shortest_access_passes_no_request_by() {
    // Without transfers, each request is served when it first passes the head. Its latency is uniform from 0
    // to 4 ms, independent of other requests, so n clients complete 2 n requests per rotation. One byte takes
    // 5 ns.
    for clients in [1, 4, 32] {
        let expected = 2.0 * clients as f64 / 4e-3;
        let summary = |random: &mut Random, depth| {
            let requests = on_one_track(random, 20_000, 1);
            let firmware = firmware(Policy::ShortestAccess, depth);
            Summary::of(&serve(&one_cylinder(), firmware, &requests, Load::Closed { clients }))
        };
        assert_mean("disk SATF rate", expected, 0.01, |random| summary(random, clients).per_second);
        assert_mean("disk SATF median", 2e-3, 0.03, |random| summary(random, clients).p50.as_secs_f64());
        assert_mean("disk SATF tail", 3.96e-3, 0.002, |random| summary(random, clients).p99.as_secs_f64());
        // With a depth of one, the order is first come, first served, and each request takes half a rotation.
        assert_mean("disk SATF of one", 500.0, 0.01, |random| summary(random, 1).per_second);
    }
}
