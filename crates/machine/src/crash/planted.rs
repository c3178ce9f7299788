//! Tests that the power-loss tests find planted bugs and faults in every kind of device.

#![expect(clippy::print_stdout, reason = "with --nocapture the tests say how many stacks it takes")]

use super::random_stack::of_kind;
use super::{NoFiles, ScenarioStack};
use crate::models::Models;
use crate::scenario::Checked;
use nacre_config::Families;
use nacre_crash::{Fault, Media, Options, Report, Stack, crash};
use nacre_kernel::event::Device;
use nacre_kernel::{Capabilities, Persistence, Streams};
use nacre_testkit::planted::{Bug, Planted};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// Number of stacks within which each bug must be found and each media fault must be detected.
const SEEDS: u64 = 96;
/// Number of power losses of each stack.
const POINTS: u64 = 400;

struct WithBug<'a, 'b>(&'b mut ScenarioStack<'a>, Bug);

impl Stack for WithBug<'_, '_> {
    fn build(&mut self, media: &Media) -> Box<dyn Device> {
        Box::new(Planted::new(self.0.build(media), self.1))
    }
}

/// Returns whether a device with these capabilities can have the bug.
fn applies(bug: Bug, capabilities: &Capabilities) -> bool {
    let Capabilities { persistence, atomic_unit, transactions, .. } = *capabilities;
    match bug {
        Bug::AcknowledgedEarly => persistence == Persistence::OnAcknowledgement,
        Bug::FlushIgnored => persistence.needs_flush(),
        Bug::LossHidden | Bug::PersistenceOverstated => persistence != Persistence::OnAcknowledgement,
        Bug::AtomicUnitOverstated => atomic_unit < 512,
        Bug::AbortCommits | Bug::CommitIgnored => transactions,
        Bug::RestoresOldState
        | Bug::MappingOffByOne
        | Bug::WearForgotten
        | Bug::NeverReady
        | Bug::SpuriousError => true,
        Bug::RefusalHidden | Bug::SecondRecoveryZeroes | Bug::DamageHidden => false,
    }
}

/// Returns whether a bug can appear in a stack whose test without bugs returned `honest`. This check is
/// needed because the capabilities do not state whether recovery takes time, the medium wears out, or pages
/// share word lines.
fn comes_up(bug: Bug, honest: &Report) -> bool {
    let branch = |name| honest.branches[name] > 0;
    match bug {
        Bug::RefusalHidden => honest.faults.get(&Fault::EndOfLife).is_some_and(|tried| tried.injected > 0),
        Bug::SecondRecoveryZeroes => branch("power_lost_while_recovering") && branch("recovery_takes_time"),
        Bug::DamageHidden => branch("pages_damaged"),
        _ => false,
    }
}

/// Caches that survive a power loss and keep blocks until these are durable in the backing device. If the
/// backing device has weaker guarantees, these caches preserve more than guaranteed, which hides some bugs.
const KEEP_MORE: [&str; 2] = ["flash_disk_cache", "pcm_disk_cache"];
/// NVRAM cards with durable rows. Their rows usually close before the host is notified of a write, so these
/// cards also preserve more than guaranteed.
const DURABLE_ROWS: &str = "nvram_card of durable rows";
const OF_GUARANTEES: [Bug; 3] = [Bug::FlushIgnored, Bug::LossHidden, Bug::PersistenceOverstated];
/// Bugs that caches hide, because the cache usually has a copy of data that the device below it rejects or
/// damages.
const OF_BACKINGS: [Bug; 2] = [Bug::RefusalHidden, Bug::DamageHidden];

/// A family of stacks in which bugs are planted. There is one family per kind of device, and more for kinds
/// with several ways to store data.
pub(super) struct Family {
    pub(super) name: &'static str,
    kind: &'static str,
    /// Texts that the scenarios of the family contain.
    has: &'static [&'static str],
}

pub(super) const FORMS: [Family; 10] = [
    Family { name: "server_cache that writes back", kind: "server_cache", has: &["write_back = {"] },
    Family {
        name: "server_cache with a table that survives",
        kind: "server_cache",
        has: &["write_back = {", "table = \"persistent\""],
    },
    Family { name: "onyx with late completion", kind: "onyx", has: &["completion = \"late\""] },
    Family { name: DURABLE_ROWS, kind: "nvram_card", has: &["volatile = false"] },
    Family {
        name: "flash_disk_cache that lowers its density",
        kind: "flash_disk_cache",
        has: &["lowers_density = true"],
    },
    Family { name: "ssd with its mapping in flash", kind: "ssd", has: &["\"cached_"] },
    Family { name: "ssd that wears out", kind: "ssd", has: &["endurance = 3"] },
    Family { name: "ssd whose bits go wrong", kind: "ssd", has: &["errors = "] },
    Family { name: "ssd with parity", kind: "ssd", has: &["parity = "] },
    PAIRED,
];

pub(super) const PAIRED: Family = Family {
    name: "ssd that loses paired pages",
    kind: "ssd",
    has: &["power_protected = false", "paired_page_loss = true", "\"900 us\""],
};

impl Family {
    /// Returns whether stacks of this family hide the bug, or reveal it so rarely that a few stacks are not
    /// enough.
    fn hides(&self, bug: Bug) -> bool {
        let keeps_more = KEEP_MORE.contains(&self.kind);
        let is_card = self.kind == "nvram_card";
        match bug {
            // Only cards with durable rows need flushes. Pages that share a word line may be lost even after
            // a flush, and the drive reports this.
            Bug::FlushIgnored => keeps_more || is_card || self.name == PAIRED.name,
            // This bug writes zeros over the last write, which is not at the write pointer, so a zone rejects
            // it.
            Bug::SecondRecoveryZeroes => self.kind == "zns_ssd",
            bug if OF_GUARANTEES.contains(&bug) => keeps_more || self.name == DURABLE_ROWS,
            bug => keeps_more && OF_BACKINGS.contains(&bug),
        }
    }
}

/// Returns one family per kind of device.
fn kinds() -> impl Iterator<Item = Family> {
    Models::new().kinds("device").into_iter().map(|kind| Family { name: kind, kind, has: &[] })
}

/// Returns valid stacks of a family, with their seeds.
pub(super) fn of_family(family: &Family) -> impl Iterator<Item = (u64, Checked)> {
    let Family { name, kind, has } = *family;
    let legal = move |seed| {
        let stack = of_kind(kind, &mut Streams::new(seed).stream("stack"));
        let (text, checked) =
            stack.unwrap_or_else(|| panic!("{name}: no valid stack was generated from seed {seed}"));
        has.iter().all(|word| text.contains(word)).then_some((seed, checked))
    };
    (0..SEEDS * 40).filter_map(legal)
}

fn crashed(stack: &mut dyn Stack, faults: &[Fault], seed: u64) -> Report {
    let options = Options { faults: faults.to_vec(), replays: 0, ..Options::new(POINTS, seed) };
    crash(stack, &options, &mut |_| ControlFlow::Continue(()))
}

#[test]
fn every_mistake_is_found_in_every_kind_of_device_that_can_make_it() {
    let mut anywhere = BTreeSet::new();
    for family in kinds().chain(FORMS) {
        let (mut possible, mut found) = (BTreeMap::<Bug, u64>::new(), BTreeMap::new());
        for (number, (seed, checked)) in (1..=SEEDS).zip(of_family(&family)) {
            let mut stack =
                ScenarioStack::new(&checked, &NoFiles).expect("it was built when it was generated");
            let capabilities = stack.build(&Media::new()).capabilities();
            let honest = crashed(&mut stack, &[], seed);
            assert!(honest.finding.is_none(), "{}, seed {seed}: {:?}", family.name, honest.finding);
            for bug in Bug::ALL {
                if family.hides(bug) || !applies(bug, &capabilities) && !comes_up(bug, &honest) {
                    continue;
                }
                *possible.entry(bug).or_default() += 1;
                if found.contains_key(&bug) {
                    continue;
                }
                if crashed(&mut WithBug(&mut stack, bug), &[], seed).finding.is_some() {
                    found.insert(bug, number);
                }
            }
            if number > 1 && possible.keys().all(|bug| found.contains_key(bug)) && anywhere.len() > 10 {
                break;
            }
        }
        // A bug that is possible in only one stack had only one chance of detection, because rejected data
        // may never be read again.
        possible.retain(|_, stacks| *stacks > 1);
        let missed: Vec<_> = possible.keys().filter(|bug| !found.contains_key(bug)).collect();
        assert!(missed.is_empty(), "{}: {missed:?} are not found within {SEEDS} stacks", family.name);
        println!("{}: stacks until each is found: {found:?}", family.name);
        anywhere.extend(found.into_keys());
    }
    assert_eq!(anywhere, Bug::ALL.into_iter().collect(), "each is found somewhere");
}

/// Plants a bug: the drive damages paired pages, but does not count their data as lost.
#[test]
fn lost_paired_pages_that_are_not_reported_are_found() {
    let mut damaged = 0;
    let found = (1..=SEEDS).zip(of_family(&PAIRED)).find(|(_, (seed, checked))| {
        let mut stack = ScenarioStack::new(checked, &NoFiles).expect("it was built when it was generated");
        let honest = crashed(&mut stack, &[], *seed);
        assert!(honest.finding.is_none(), "seed {seed}: {:?}", honest.finding);
        damaged += honest.branches["pages_damaged"];
        let report = crashed(&mut WithBug(&mut stack, Bug::DamageHidden), &[], *seed);
        report.finding.is_some()
    });
    assert!(damaged > 0, "no page was damaged");
    println!("found with stack {}", found.expect("hidden damage is found").0);
}

/// Tests that the auditor detects media faults that the devices cannot detect, in every kind of device.
#[test]
fn every_fault_of_the_medium_is_seen_in_every_kind_of_device() {
    for family in kinds() {
        // These devices have codes that detect bit errors, so the page is rejected.
        let has_code = |fault: &Fault| *fault == Fault::BitRot && KEEP_MORE.contains(&family.kind);
        let unseen = Fault::INJECTED.into_iter().filter(|&fault| fault != Fault::LyingFlush);
        let mut seen = Vec::new();
        for fault in unseen.filter(|fault| !has_code(fault)) {
            let with = (1..=SEEDS).zip(of_family(&family)).find(|(_, (seed, checked))| {
                let mut stack =
                    ScenarioStack::new(checked, &NoFiles).expect("it was built when it was generated");
                let report = crashed(&mut stack, &[fault], *seed);
                assert!(report.finding.is_none(), "undetectable faults are not findings");
                report.faults.get(&fault).is_some_and(|tried| tried.lost_silently > 0)
            });
            let (number, _) = with.unwrap_or_else(|| {
                panic!("{}: {} is not seen within {SEEDS} stacks", family.name, fault.name())
            });
            seen.push(format!("{} {number}", fault.name()));
        }
        println!("{}: stacks until each is seen: {}", family.name, seen.join(", "));
    }
}
