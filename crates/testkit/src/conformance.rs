//! Conformance tests that every device must pass.

mod bytes;
mod durability;
mod script;

pub use durability::durability;

use crate::reports::{assert_forgotten, components, the_ledger_fits};
use crate::requests::BLOCK;
use crate::restoring::what_is_damaged_is_refused;
use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::state;
use nacre_kernel::{Op, Request, Streams, Time};
use script::{Script, Seen};

/// Number of requests of a run.
const REQUESTS: u64 = 1_500;
/// Number of runs of each type, each with a different seed.
const SEEDS: u64 = 3;

/// Panics unless the devices from `build` satisfy the contract of [`Device`]:
///
/// - every request completes once, in time order, not before it was submitted; a canceled request never does;
/// - `next_event` is never in the past and never before the time to which the device was run, and the device
///   becomes idle;
/// - the spans of a request sum to its latency and name components of the report;
/// - results do not depend on the steps in which the device is run;
/// - a device that stores no data and is restored from a state saved between any two events continues like
///   the saved device;
/// - if the device stores data, a read returns data that is consistent with earlier and concurrent writes;
/// - after a power loss and recovery, the device serves requests, and earlier outstanding requests never
///   complete;
/// - resources are busy for at most the elapsed time, and a restarted ledger is empty;
/// - the last block can be accessed, and a damaged state is rejected or restored without a panic.
///
/// `pause` is the maximum time between two requests. Shorter pauses cause longer queues.
pub fn conformance(pause: Time, mut build: impl FnMut() -> Box<dyn Device>) {
    for seed in 0..SEEDS {
        let whole = run(&mut *build(), seed, pause, 1);
        let again = run(&mut *build(), seed, pause, 1);
        assert_eq!(whole, again, "the same requests on two equal devices differ (seed {seed})");
        let stepped = run(&mut *build(), seed, pause, 5);
        assert_eq!(whole, stepped, "the steps in which a device is run matter (seed {seed})");
        a_closed_loop_completes(&mut *build(), seed);
        a_restored_device_continues(&mut build, seed, pause);
        it_serves_after_power_losses(&mut *build(), seed, pause);
    }
    the_ledger_restarts(&mut *build(), pause);
    the_last_block_is_served(&mut *build());
}

/// Runs an open loop on a new device, with up to `steps` calls of `run` between two requests.
fn run(device: &mut dyn Device, seed: u64, pause: Time, steps: u64) -> Seen {
    let mut script = Script::new(device, seed);
    let mut cuts = Streams::new(seed).stream("steps");
    for number in 0..REQUESTS {
        let at = script.next_arrival(pause);
        for _ in 1..cuts.below(steps) + 1 {
            let between = Time::from_ps(cuts.below((at - script.now).as_ps() + 1));
            script.run(device, script.now + between);
        }
        script.run(device, at);
        script.submit(device);
        if number % 100 == 0 {
            device.check_invariants();
        }
        script.cancel_one(device);
    }
    finish(script, device)
}

fn finish(mut script: Script, device: &mut dyn Device) -> Seen {
    script.drain(device);
    device.check_invariants();
    let report = device.report(script.now);
    let known = components(&report);
    for span in script.spans() {
        assert!(known.contains(&span.component), "{span:?} is of no component in the report");
    }
    the_ledger_fits(&report, script.now);
    script.seen(report)
}

/// Keeps sixteen requests outstanding. Each completion is immediately followed by a new request.
fn a_closed_loop_completes(device: &mut dyn Device, seed: u64) {
    let mut script = Script::new(device, seed);
    (0..16).for_each(|_| script.submit(device));
    let mut submitted = 16;
    while submitted < REQUESTS {
        let completed = script.run_once(device, Time::MAX);
        assert!(completed > 0, "{} requests are outstanding, and nothing is due", script.outstanding());
        for _ in 0..completed {
            script.submit(device);
            submitted += 1;
        }
    }
    finish(script, device);
}

fn a_restored_device_continues(build: &mut dyn FnMut() -> Box<dyn Device>, seed: u64, pause: Time) {
    let mut device = build();
    if device.capabilities().carries_bytes {
        // The state does not contain the data of a medium, and another device has another medium.
        return;
    }
    let mut script = Script::new(&*device, seed);
    let mut random = Streams::new(seed).stream("saved");
    for round in 0..12 {
        for _ in 0..random.below(80) {
            let at = script.next_arrival(pause);
            script.run(&mut *device, at);
            script.submit(&mut *device);
        }
        // This time is between two events, with requests outstanding.
        for _ in 0..random.below(4) {
            let next = device.next_event();
            if next < Time::MAX {
                script.run_once(&mut *device, next + Time::from_ps(1));
            }
        }
        let bytes = state::saved(&*device).expect("it can be saved");
        let mut restored = build();
        let taken = state::restored(&mut *restored, &bytes);
        taken.unwrap_or_else(|error| panic!("its own state is refused: {error}"));
        assert!(state::saved(&*restored).as_ref() == Ok(&bytes), "what was restored is not what was saved");
        restored.check_invariants();
        if seed == 0 && round == 0 {
            what_is_damaged_is_refused(&bytes, &mut random, &mut *build);
        }
        assert_eq!(device.next_event(), restored.next_event(), "the next event (seed {seed})");
        let mut fork = script.clone();
        let (mut saved, mut other) = (device, restored);
        for _ in 0..100 {
            let at = script.next_arrival(pause);
            fork.next_arrival(pause);
            script.run(&mut *saved, at);
            fork.run(&mut *other, at);
            script.submit(&mut *saved);
            fork.submit(&mut *other);
        }
        assert_eq!(script.completed(), fork.completed(), "a restored device differs (seed {seed})");
        let states = [state::saved(&*saved), state::saved(&*other)].map(|state| state.expect("as before"));
        let differs = states[0].iter().zip(&states[1]).position(|(one, other)| one != other);
        if let Some(at) = differs {
            let before = String::from_utf8_lossy(&states[0][at.saturating_sub(60)..at + 20]);
            panic!("the states differ at byte {at} at last (seed {seed}), behind {before:?}");
        }
        assert_eq!(states[0].len(), states[1].len(), "the lengths of the states at last (seed {seed})");
        let reports = [saved.report(script.now), other.report(script.now)];
        assert_eq!(format!("{:?}", reports[0]), format!("{:?}", reports[1]), "the reports (seed {seed})");
        device = other;
    }
}

fn it_serves_after_power_losses(device: &mut dyn Device, seed: u64, pause: Time) {
    let mut script = Script::new(device, seed);
    let mut random = Streams::new(seed).stream("power");
    for _ in 0..20 {
        for _ in 0..random.below(60) {
            let at = script.next_arrival(pause);
            script.run(device, at);
            script.submit(device);
        }
        // This is the time of an event, or a time between two events.
        let next = device.next_event();
        let at = if next < Time::MAX && random.chance(0.5) { next } else { script.next_arrival(pause) };
        script.run(device, at);
        device.power_fail(at, &mut random);
        script.power_failed();
        let mut recovery = device.recover(at);
        if random.chance(0.3) {
            // This time is within the recovery.
            let until = at + Time::from_ps(random.below((recovery.done - at).as_ps() + 1));
            script.run(device, until);
            device.power_fail(until, &mut random);
            recovery = device.recover(until);
        }
        assert!(recovery.done >= at, "it is ready at {}, before the power loss at {at}", recovery.done);
        device.check_invariants();
    }
    script.drain(device);
    device.check_invariants();
}

fn the_ledger_restarts(device: &mut dyn Device, pause: Time) {
    let mut script = Script::new(device, 7);
    for _ in 0..REQUESTS / 4 {
        let at = script.next_arrival(pause);
        script.run(device, at);
        script.submit(device);
    }
    script.drain(device);
    device.restart_ledger(script.now);
    device.check_invariants();
    assert_forgotten(&device.report(Time::ZERO));
}

fn the_last_block_is_served(device: &mut dyn Device) {
    let Some(capacity) = device.capacity() else { return };
    assert!(capacity.0 >= BLOCK, "a device of {capacity} holds no block");
    if device.zones().is_some() {
        return;
    }
    let address = (capacity.0 / BLOCK - 1) * BLOCK;
    let (mut now, mut completions) = (Time::ZERO, Completions::new());
    for op in [Op::Write, Op::Read] {
        let request = Request { arrival: now, address, bytes: BLOCK as u32, volume: 0, op };
        let has_bytes = op == Op::Write && device.capabilities().carries_bytes;
        let data = if has_bytes { vec![7; BLOCK as usize].into() } else { Payload::NONE };
        device.submit(now, RequestId(0), &request, data);
        completions.clear();
        device.run(Time::MAX, &mut completions);
        assert_eq!(completions.len(), 1, "{request:?} is lost");
        now = completions.get(0).0.at;
    }
    device.check_invariants();
}

/// A request that the suite submitted.
#[derive(Clone, Debug)]
struct Outstanding {
    id: RequestId,
    at: Time,
    request: Request,
    /// Number of the request in the script.
    number: u64,
}
