//! The simulator is only worth something if it finds what is wrong: mistakes and faults, planted into every kind of
//! device.

use super::drawn::of_kind;
use super::{Nothing, OfScenario};
use crate::rooms::Rooms;
use crate::scenario::Checked;
use nacre_config::Families;
use nacre_crash::{Fault, Media, Options, Report, Stack, crash};
use nacre_kernel::{Capabilities, Device, Persistence, Streams};
use nacre_testkit::planted::{Mistake, Planted};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Stacks within which each mistake is found.
const SEEDS: u64 = 24;
/// Losses of power of each.
const POINTS: u64 = 400;

struct Mistaken<'a, 'b>(&'b mut OfScenario<'a>, Mistake);

impl Stack for Mistaken<'_, '_> {
    fn build(&mut self, media: &Media) -> Box<dyn Device> {
        Box::new(Planted::new(self.0.build(media), self.1))
    }
}

/// Whether a device with these capabilities can make the mistake at all.
fn applies(mistake: Mistake, capabilities: &Capabilities) -> bool {
    let Capabilities { persistence, atomic_unit, transactions, .. } = *capabilities;
    match mistake {
        Mistake::AcknowledgedEarly => persistence == Persistence::OnAcknowledgement,
        Mistake::FlushThatLies => persistence.needs_flush(),
        Mistake::LossUntold | Mistake::CapacitorOverstated => persistence != Persistence::OnAcknowledgement,
        Mistake::TornTakenForWhole => atomic_unit < 512,
        Mistake::AbortThatCommits | Mistake::CommitThatLies => transactions,
        Mistake::StaleRestore | Mistake::MappingOffByOne | Mistake::WearForgotten | Mistake::NeverReady => {
            true
        }
        // Whether a recovery takes time, and a medium wears out, no capability says.
        Mistake::RefusalHidden | Mistake::RecoversOnce => false,
    }
}

/// Whether a recovery takes time, and a medium wears out, no capability says: these are found somewhere.
const NO_CAPABILITY: [Mistake; 2] = [Mistake::RefusalHidden, Mistake::RecoversOnce];

/// Caches that survive a loss of power and forget what went back only when it is safe there: over a backing that
/// promises less they keep more than the stack promises, and mistakes about that do not show.
const KEEP_MORE: [&str; 2] = ["flash_disk_cache", "pcm_disk_cache"];
const OF_PROMISES: [Mistake; 3] = [Mistake::FlushThatLies, Mistake::LossUntold, Mistake::CapacitorOverstated];

/// Stacks with a device of this kind at their top, and the seeds they are drawn from. From some seeds none is legal.
fn drawn(kind: &'static str) -> impl Iterator<Item = (u64, Checked)> {
    let legal = move |seed| of_kind(kind, &mut Streams::new(seed).stream("stack"));
    (0..SEEDS).filter_map(move |seed| legal(seed).map(|(_, checked)| (seed, checked)))
}

fn crashed(stack: &mut dyn Stack, faults: &[Fault], seed: u64) -> Report {
    let options = Options { faults: faults.to_vec(), replays: 0, ..Options::new(POINTS, seed) };
    crash(stack, &options, &mut |_| ControlFlow::Continue(()))
}

#[test]
fn every_mistake_is_found_in_every_kind_of_device_that_can_make_it() {
    let mut anywhere = BTreeSet::new();
    for kind in Rooms::new().kinds("device") {
        let (mut possible, mut found) = (BTreeSet::new(), BTreeSet::new());
        for (seed, checked) in drawn(kind) {
            let mut stack = OfScenario::new(&checked, &Nothing).expect("it was built when it was drawn");
            let capabilities = stack.build(&Media::new()).capabilities();
            for mistake in Mistake::ALL {
                if applies(mistake, &capabilities) {
                    possible.insert(mistake);
                } else if !NO_CAPABILITY.contains(&mistake) || anywhere.contains(&mistake) {
                    continue;
                }
                if found.contains(&mistake) {
                    continue;
                }
                if crashed(&mut Mistaken(&mut stack, mistake), &[], seed).finding.is_some() {
                    found.insert(mistake);
                }
            }
        }
        if KEEP_MORE.contains(&kind) {
            possible.retain(|mistake| !OF_PROMISES.contains(mistake));
        }
        let missed: Vec<_> = possible.difference(&found).collect();
        assert!(missed.is_empty(), "{kind}: {missed:?} are not found within {SEEDS} stacks");
        anywhere.extend(found);
    }
    assert_eq!(anywhere, Mistake::ALL.into_iter().collect(), "each is found somewhere");
}

/// No device has means to see them; the auditor has, in every kind of device.
#[test]
fn every_fault_of_the_medium_is_seen_in_every_kind_of_device() {
    for kind in Rooms::new().kinds("device") {
        // Their codes see wrong bits, and the page is refused.
        let has_code = |fault: &Fault| *fault == Fault::BitRot && KEEP_MORE.contains(&kind);
        let unseen = Fault::INJECTED.into_iter().filter(|&fault| fault != Fault::LyingFlush);
        for fault in unseen.filter(|fault| !has_code(fault)) {
            let is_seen = drawn(kind).any(|(seed, checked)| {
                let mut stack = OfScenario::new(&checked, &Nothing).expect("it was built when it was drawn");
                let report = crashed(&mut stack, &[fault], seed);
                assert!(report.finding.is_none(), "nobody is blamed for what cannot be seen");
                report.faults.get(&fault).is_some_and(|tried| tried.lost_unseen > 0)
            });
            assert!(is_seen, "{kind}: {} is not seen within {SEEDS} stacks", fault.name());
        }
    }
}
