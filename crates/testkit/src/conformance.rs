//! The suite every device passes, whatever it models.

use nacre_kernel::{
    Activity, ComponentId, ComponentReport, Device, Op, Random, Request, Streams, Time, Trail,
};

/// Requests of one run of the suite.
const REQUESTS: u64 = 2_000;
/// Addresses used of a device without a limit.
const UNLIMITED_BYTES: u64 = 1 << 30;
/// Requests start at multiples of this.
const BLOCK: u64 = 4096;

/// Panics unless the device that `build` makes keeps the contract of [`Device`]:
/// the trail adds up and names known components, nothing is done before it was asked, the same calls
/// give the same results, the ledger fits into the time and starts over when told to, the last block
/// is served, and the future does not delay the past.
pub fn conformance(mut build: impl FnMut() -> Box<dyn Device>) {
    for seed in 0..3 {
        let first = run(&mut *build(), seed);
        let second = run(&mut *build(), seed);
        assert_eq!(first, second, "the same calls on two equal devices differ (seed {seed})");
    }
    the_future_does_not_delay_the_past(&mut *build());
    the_last_block_is_served(&mut *build());
    the_ledger_starts_over(&mut *build());
}

/// Completion times and the last report of a random script.
fn run(device: &mut dyn Device, seed: u64) -> (Vec<Time>, ComponentReport) {
    let mut random = Streams::new(seed).stream("conformance");
    let size = device.capacity().map_or(UNLIMITED_BYTES, |capacity| capacity.0);
    let known = components(&device.report(Time::ZERO));
    let (mut now, mut end, mut trail) = (Time::ZERO, Time::ZERO, Trail::new());
    let mut completions = Vec::new();
    for number in 0..REQUESTS {
        now += Time::from_ns(random.below(100_000));
        if random.chance(0.5) {
            device.advance(now);
        }
        let mark = if random.chance(0.5) { 0 } else { trail.mark() };
        if mark == 0 {
            trail.clear();
        }
        let request = any_request(&mut random, size, now);
        let done = device.submit(now, &request, &mut trail).done;
        assert!(done >= now, "{request:?} is done at {done}, before {now}");
        assert_eq!(trail.total_from(mark), done - now, "the trail of {request:?} does not add up");
        for segment in &trail.segments()[mark..] {
            assert!(known.contains(&segment.component), "{segment:?} is of no component in the report");
        }
        completions.push(done);
        end = end.max(done);
        if number % 100 == 0 {
            device.check_invariants();
        }
    }
    device.advance(end);
    device.check_invariants();
    let report = device.report(end);
    the_ledger_fits(&report, end);
    (completions, report)
}

fn any_request(random: &mut Random, size: u64, arrival: Time) -> Request {
    let op = match random.below(20) {
        0 => Op::Flush,
        1 => Op::Trim,
        2..10 => Op::Write,
        _ => Op::Read,
    };
    let blocks = size / BLOCK;
    let first = random.below(blocks);
    let count = (1 + random.below(8)).min(blocks - first);
    let bytes = if op == Op::Flush { 0 } else { (count * BLOCK) as u32 };
    Request { arrival, address: first * BLOCK, bytes, volume: 0, op }
}

fn components(report: &ComponentReport) -> Vec<ComponentId> {
    std::iter::once(report.id).chain(report.children.iter().flat_map(components)).collect()
}

/// No activity may hold more servers than there are.
fn the_ledger_fits(report: &ComponentReport, elapsed: Time) {
    let resource = [
        Activity::Read,
        Activity::Write,
        Activity::Link,
        Activity::Seek,
        Activity::Rotate,
        Activity::Transfer,
    ];
    for activity in resource {
        let (busy, most) = (report.ledger.busy(activity), elapsed * u64::from(report.servers));
        assert!(busy <= most, "{}: {} for {busy} of {most}", report.path, activity.name());
    }
    report.children.iter().for_each(|child| the_ledger_fits(child, elapsed));
}

fn the_future_does_not_delay_the_past(device: &mut dyn Device) {
    let future = Time::from_s(100);
    let read = Request { arrival: Time::ZERO, address: 0, bytes: BLOCK as u32, volume: 0, op: Op::Read };
    for step in 0..1000 {
        device.submit(future + Time::from_ms(step), &read, &mut Trail::new());
    }
    let mut trail = Trail::new();
    let done = device.submit(Time::ZERO, &read, &mut trail).done;
    assert!(done < future, "a read at the start is done at {done}: it queued behind reads from {future} on");
    assert_eq!(trail.total_from(0), done, "the trail of a read before the future does not add up");
    device.check_invariants();
}

fn the_last_block_is_served(device: &mut dyn Device) {
    let Some(capacity) = device.capacity() else { return };
    assert!(capacity.0 >= BLOCK, "a device of {capacity} holds no block");
    let address = (capacity.0 / BLOCK - 1) * BLOCK;
    for op in [Op::Write, Op::Read] {
        let request = Request { arrival: Time::ZERO, address, bytes: BLOCK as u32, volume: 0, op };
        device.submit(Time::ZERO, &request, &mut Trail::new());
    }
    device.check_invariants();
}

fn the_ledger_starts_over(device: &mut dyn Device) {
    run(device, 7);
    device.restart_ledger();
    device.check_invariants();
    assert_forgotten(&device.report(Time::ZERO));
}

fn assert_forgotten(report: &ComponentReport) {
    assert!(report.ledger.total_busy().is_zero(), "{}: busy time outlived the restart", report.path);
    for activity in Activity::ALL {
        let energy = report.ledger.energy(activity).0;
        assert!(energy == 0.0, "{}: energy of {} outlived the restart", report.path, activity.name());
    }
    for (name, count) in &report.counters {
        assert_eq!(*count, 0, "{}: {name} outlived the restart", report.path);
    }
    report.children.iter().for_each(assert_forgotten);
}
