//! Power-loss tests of devices that store data.

use crate::workbench::Workbench;
use nacre_crash::{Media, Options, Report, Stack, crash};
use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::{ComponentReport, Op, Request, Streams, Time};
use std::ops::ControlFlow;

/// A device that stores data, described by a TOML text.
#[derive(Debug)]
pub struct Described<'a> {
    workbench: Workbench,
    toml: &'a str,
}

impl<'a> Described<'a> {
    /// Creates the device that the content of a TOML table describes.
    pub fn new(workbench: Workbench, toml: &'a str) -> Described<'a> {
        Described { workbench, toml }
    }
}

impl Stack for Described<'_> {
    fn build(&mut self, media: &Media) -> Box<dyn Device> {
        self.workbench.use_bytes(media);
        self.workbench.build(self.toml).unwrap_or_else(|problems| panic!("{}: {problems}", self.toml))
    }
}

/// Panics unless the device that `toml` describes holds its durability guarantees. Reads must return the last
/// write. After each of `points` power losses, the guarantees must allow the content of every block. Some
/// power losses occur during recovery or before a completion. The device is saved and restored between power
/// losses. Returns the report of the test.
pub fn keeps_its_bytes(workbench: Workbench, toml: &str, points: u64) -> Report {
    let name = toml.lines().next().unwrap_or_default();
    keeps(&mut Described::new(workbench, toml), name, points, 1)
}

/// Number of requests that are submitted before each power loss of [`charges_what_it_did`]. Some of these
/// requests complete before the power loss.
const OUTSTANDING: u32 = 300;

/// Panics if the device that `toml` describes charges time after a power loss to work that the power loss
/// interrupted. After power losses with hundreds of outstanding requests, no resource may have been busy
/// for longer than the elapsed time.
pub fn charges_what_it_did(workbench: Workbench, toml: &str) {
    let (mut workbench, mut random) = (workbench.with_bytes(), Streams::new(1).stream("requests"));
    for completing in [0, 3, 30, 150] {
        let build = workbench.build(toml);
        let mut device = build.unwrap_or_else(|problems| panic!("{toml}: {problems}"));
        let blocks = device.capacity().map_or(1 << 20, |capacity| capacity.0 / 4096).min(1 << 20);
        let mut begun = Time::ZERO;
        for _ in 0..2 {
            for id in 0..OUTSTANDING {
                let op = if random.chance(0.5) { Op::Write } else { Op::Read };
                let address = random.below(blocks) * 4096;
                let request = Request { arrival: begun, address, bytes: 4096, volume: 0, op };
                let bytes = if op == Op::Write { vec![1; 4096].into() } else { Payload::NONE };
                device.submit(begun, RequestId(id), &request, bytes);
            }
            let (mut completed, mut last) = (0, begun);
            while completed < completing {
                let mut completions = Completions::new();
                device.run(Time::MAX, &mut completions);
                completed += completions.len();
                last = completions.iter().last().expect("300 requests complete").at;
            }
            // The power loss occurs between two events.
            let next = device.next_event().max(last);
            let at = Time::from_ps(u64::midpoint(last.as_ps(), next.as_ps()));
            device.run(at, &mut Completions::new());
            device.power_fail(at, &mut Streams::new(completing as u64).stream("chance"));
            begun = device.recover(at).done;
            device.run(begun, &mut Completions::new());
            device.check_invariants();
            has_time_for_all(&device.report(begun), begun);
        }
    }
}

fn has_time_for_all(report: &ComponentReport, elapsed: Time) {
    for resource in &report.resources {
        let share = resource.utilization(elapsed);
        assert!(share < 1.0 + 1e-9, "{}: {} are busy for {share} of {elapsed}", report.path, resource.name);
    }
    report.children.iter().for_each(|child| has_time_for_all(child, elapsed));
}

/// Like [`keeps_its_bytes`], for any stack `stack`, with random operations from `seed`. Messages contain
/// `name`.
pub fn keeps(stack: &mut dyn Stack, name: &str, points: u64, seed: u64) -> Report {
    let report = crash(stack, &Options::new(points, seed), &mut |_| ControlFlow::Continue(()));
    if let Some(finding) = &report.finding {
        panic!("{name}, seed {seed}: {}\n{}", finding.problem, finding.sequence);
    }
    report
}
