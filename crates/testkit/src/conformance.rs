//! The suite every device passes, whatever it models.

use crate::requests::{BLOCK, UNLIMITED_BYTES, any_request, in_zone};
use crate::restoring::a_restored_device_goes_on;
use nacre_kernel::{
    Activity, Breakdown, ComponentId, ComponentReport, Data, Device, Op, Request, Resource, Streams, Time,
};

/// Requests of one run of the suite.
const REQUESTS: u64 = 2_000;
/// How far apart they are at most.
const PAUSE: Time = Time::from_us(100);

/// Panics unless the device that `build` makes keeps the contract of [`Device`]:
/// the breakdown adds up and names known components, nothing is done before it was asked, the same calls
/// give the same results, advancing changes no completion, the ledger fits into the time and starts over
/// when told to, the last block is served, what is restored goes on as what was saved, and the future does not delay
/// the past.
pub fn conformance(mut build: impl FnMut() -> Box<dyn Device>) {
    conformance_in_order(&mut build);
    the_future_does_not_delay_the_past(&mut *build());
}

/// As [`conformance`], of a device that serves requests in the order of their submission, and says so among
/// what its model leaves out: to it the future may delay the past.
pub fn conformance_in_order(build: impl FnMut() -> Box<dyn Device>) {
    conformance_at(PAUSE, build);
}

/// The same with requests up to `pause` apart. Of a device that more is asked than it can do, timelines close gaps
/// that have not come yet, and fewer where what is over is forgotten: advancing changes completions then.
pub fn conformance_at(pause: Time, mut build: impl FnMut() -> Box<dyn Device>) {
    let run = |device: &mut dyn Device, seed, advances| run(device, seed, Time::ZERO, (pause, advances));
    for seed in 0..3 {
        let first = run(&mut *build(), seed, Advances::Often);
        let second = run(&mut *build(), seed, Advances::Often);
        assert_eq!(first, second, "the same calls on two equal devices differ (seed {seed})");
        let never = run(&mut *build(), seed, Advances::Never);
        assert_eq!(first.completions, never.completions, "advancing changed a completion (seed {seed})");
    }
    the_last_block_is_served(&mut *build());
    the_ledger_starts_over(&mut *build());
    a_restored_device_goes_on(&mut build);
}

/// How often a script calls [`Device::advance`].
#[derive(Clone, Copy, PartialEq)]
enum Advances {
    /// Before every other request.
    Often,
    Never,
}

/// What a script saw.
#[derive(Debug, PartialEq)]
struct Run {
    completions: Vec<Time>,
    report: ComponentReport,
    /// When all work was over.
    drained: Time,
}

/// Runs a random script from `from` on.
fn run(device: &mut dyn Device, seed: u64, from: Time, (pause, advances): (Time, Advances)) -> Run {
    let mut random = Streams::new(seed).stream("conformance");
    let size = device.capacity().map_or(UNLIMITED_BYTES, |capacity| capacity.0);
    let known = components(&device.report(Time::ZERO));
    let (mut now, mut end, mut breakdown) = (from, from, Breakdown::new());
    let mut completions = Vec::new();
    for number in 0..REQUESTS {
        now += Time::from_ns(random.below(pause.as_ps() / 1000));
        if random.chance(0.5) && advances == Advances::Often {
            device.advance(now);
        }
        let mark = if random.chance(0.5) { 0 } else { breakdown.mark() };
        if mark == 0 {
            breakdown.clear();
        }
        let request = any_request(&mut random, size, now);
        let request = in_zone(&mut random, request, device.zone(request.address));
        let done = device.submit(now, &request, Data::None, &mut breakdown).done;
        assert!(done >= now, "{request:?} is done at {done}, before {now}");
        assert_eq!(breakdown.total_from(mark), done - now, "the breakdown of {request:?} does not add up");
        for span in &breakdown.spans()[mark..] {
            assert!(known.contains(&span.component), "{span:?} is of no component in the report");
        }
        completions.push(done);
        end = end.max(done);
        if number % 100 == 0 {
            device.check_invariants();
        }
    }
    let drained = end.max(device.busy_until());
    device.advance(drained);
    device.check_invariants();
    let report = device.report(drained - from);
    the_ledger_fits(&report, drained - from);
    Run { completions, report, drained }
}

pub(crate) fn components(report: &ComponentReport) -> Vec<ComponentId> {
    std::iter::once(report.id).chain(report.children.iter().flat_map(components)).collect()
}

/// No resource is busy for longer than its servers were there, and only a model of energy gives any.
pub(crate) fn the_ledger_fits(report: &ComponentReport, elapsed: Time) {
    let path = &report.path;
    for (index, Resource { name, servers, ledger }) in report.resources.iter().enumerate() {
        let others = &report.resources[..index];
        assert!(others.iter().all(|other| other.name != *name), "{path}: two resources are called {name}");
        let available_ps = u128::from(elapsed.as_ps()) * u128::from(*servers);
        let (busy, most) = (ledger.total_busy_s(), available_ps as f64 / 1e12);
        assert!(busy <= most, "{path}: {name} was busy for {busy} s of {most} s");
    }
    if !report.is_energy_modelled {
        assert_eq!(report.idle_energy, None, "{path}: idle energy, though energy is not modelled");
        for activity in Activity::ALL {
            let energy = report.energy(activity).0;
            assert!(energy == 0.0, "{path}: energy of {}, though it is not modelled", activity.name());
        }
    }
    report.children.iter().for_each(|child| the_ledger_fits(child, elapsed));
}

fn the_future_does_not_delay_the_past(device: &mut dyn Device) {
    let future = Time::from_s(100);
    let read = Request { arrival: Time::ZERO, address: 0, bytes: BLOCK as u32, volume: 0, op: Op::Read };
    for step in 0..1000 {
        device.submit(future + Time::from_ms(step), &read, Data::None, &mut Breakdown::new());
    }
    let mut breakdown = Breakdown::new();
    let done = device.submit(Time::ZERO, &read, Data::None, &mut breakdown).done;
    assert!(done < future, "a read at the start is done at {done}: it queued behind reads from {future} on");
    assert_eq!(breakdown.total_from(0), done, "the breakdown of a read before the future does not add up");
    device.check_invariants();
}

fn the_last_block_is_served(device: &mut dyn Device) {
    let Some(capacity) = device.capacity() else { return };
    assert!(capacity.0 >= BLOCK, "a device of {capacity} holds no block");
    let address = (capacity.0 / BLOCK - 1) * BLOCK;
    for op in [Op::Write, Op::Read] {
        let request = Request { arrival: Time::ZERO, address, bytes: BLOCK as u32, volume: 0, op };
        device.submit(Time::ZERO, &request, Data::None, &mut Breakdown::new());
    }
    device.check_invariants();
}

fn the_ledger_starts_over(device: &mut dyn Device) {
    let Run { drained, .. } = run(device, 7, Time::ZERO, (PAUSE, Advances::Often));
    device.restart_ledger();
    device.check_invariants();
    assert_forgotten(&device.report(Time::ZERO));
    // What was done before may not be charged afterwards.
    run(device, 8, drained, (PAUSE, Advances::Often));
}

pub(crate) fn assert_forgotten(report: &ComponentReport) {
    for Resource { name, ledger, .. } in &report.resources {
        assert!(ledger.total_busy_s() == 0.0, "{}: busy time of {name} outlived the restart", report.path);
    }
    for activity in Activity::ALL {
        let energy = report.energy(activity).0;
        assert!(energy == 0.0, "{}: energy of {} outlived the restart", report.path, activity.name());
    }
    for (name, count) in &report.counters {
        assert_eq!(*count, 0, "{}: {name} outlived the restart", report.path);
    }
    report.children.iter().for_each(assert_forgotten);
}
