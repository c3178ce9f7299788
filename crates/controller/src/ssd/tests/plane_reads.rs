//! Planes that read by themselves.
//!
//! Reads that come at random, a rate l for each plane, and take a fixed time s, wait l s^2 / (2 (1 - l s)) on average in
//! the queue of their plane (Pollaczek 1930, Khinchine 1932; Kleinrock, *Queueing Systems*, vol. 1, equation 5.66), and in
//! one queue of a die that reads one page after the other the same with the rate of all planes.

use super::super::die::{Die, Suspending};
use super::*;
use nacre_kernel::{Breakdown, Data};
use nacre_testkit::assert_close;
use nacre_testkit::drive::poisson;

const READ: Time = Time::from_us(50);

/// One die of two planes, programs of 500 us and reads of 50 us; nothing else takes time to speak of.
fn one_die(settings: &str) -> Box<dyn Device> {
    drive(&format!(
        "channels = 1\nways = 1\nplanes = 2\nbus = \"400 GB/s\"\ncommand = \"0 s\"\nlink = \"40000 GB/s\"\n{settings}"
    ))
}

/// What a read of `count` units from `number` on takes that comes at `at`, in microseconds.
fn latency(device: &mut dyn Device, at: u64, number: u64, count: u32) -> f64 {
    let at = Time::from_us(at);
    let request = units(Op::Read, number, count);
    (device.submit(at, &request, Data::None, &mut Breakdown::new()).done - at).as_secs_f64() * 1e6
}

/// Reads of both planes at one time, of one of them again, and of a page of each.
fn four_reads(settings: &str) -> [f64; 4] {
    let mut device = one_die(settings);
    [(0, 1), (1, 1), (2, 1), (4, 2)].map(|(number, count)| latency(&mut *device, 0, number, count))
}

#[test]
fn pages_of_two_planes_are_read_at_one_time() {
    let assert_all = |found: [f64; 4], expected: [f64; 4]| {
        for (found, expected) in found.into_iter().zip(expected) {
            assert_close("a read", found, expected, 0.005);
        }
    };
    assert_all(four_reads("independent_plane_reads = true"), [50.0, 50.0, 100.0, 150.0]);
    assert_all(four_reads(""), [50.0, 100.0, 150.0, 200.0]);
    // Wherever pages go, and where what is read was written.
    for settings in ["allocation = \"static\"", "zones = {}"] {
        let mut device = one_die(&format!("independent_plane_reads = true\n{settings}"));
        let written: Vec<Request> = (0..64).map(|number| unit(Op::Write, number)).collect();
        device.precondition(&written);
        let found = [(0, 1), (1, 1), (2, 1)].map(|(number, count)| latency(&mut *device, 0, number, count));
        assert_close(settings, found[0], 50.0, 0.005);
        assert_close(settings, found[1], 50.0, 0.005);
        assert_close(settings, found[2], 100.0, 0.005);
    }
}

#[test]
fn reads_of_two_planes_wait_for_one_program_and_suspend_it_once() {
    let mut device = one_die("independent_plane_reads = true");
    device.submit(Time::ZERO, &units(Op::Write, 8, 2), Data::None, &mut Breakdown::new());
    assert_close("plane 0", latency(&mut *device, 10, 0, 1), 540.0, 0.001);
    assert_close("plane 1", latency(&mut *device, 20, 1, 1), 530.0, 0.001);
    let mut device = one_die("independent_plane_reads = true\nsuspend = \"10 us\"\nresume = \"5 us\"");
    device.submit(Time::ZERO, &units(Op::Write, 8, 2), Data::None, &mut Breakdown::new());
    assert_close("suspends", latency(&mut *device, 100, 0, 1), 60.0, 0.005);
    assert_close("is suspended", latency(&mut *device, 120, 1, 1), 50.0, 0.005);
    assert_close("the same plane", latency(&mut *device, 120, 3, 1), 100.0, 0.005);
    assert_eq!(counter(&report(&*device), "suspensions"), 1);
    // Suspended at 100 us, read from 110 to 220 us, resumed.
    assert_close("the program ends", device.busy_until().as_secs_f64() * 1e6, 625.0, 0.001);
}

#[test]
fn reads_wait_for_their_plane_alone() {
    let never = Suspending { suspend: None, resume: Time::ZERO, most: 8 };
    for load in [0.2, 0.5, 0.8] {
        let read = READ.as_secs_f64();
        let mut planes = random("planes");
        let (mut sum, mut last, count) = (0.0, Time::ZERO, 400_000);
        let mut die = Die::on(0, 64, READ).with_planes(4);
        for (number, at) in poisson(random("reads"), 4.0 * load / read).take(count).enumerate() {
            let plane = planes.below(4) as u32;
            sum += (die.read_on(plane..plane + 1, at, READ, &never).start - at).as_secs_f64();
            if number % 64 == 0 {
                die.forget_before(at);
                die.check_invariants();
            }
            last = at;
        }
        let rate = count as f64 / last.as_secs_f64() / 4.0;
        let expected = rate * read * read / (2.0 * (1.0 - rate * read));
        assert_close(&format!("wait at load {load}"), sum / count as f64, expected, 0.02);
    }
}
