//! Tests that every device of the catalog and every random stack holds its durability guarantees.

use super::planted::{FORMS, PAIRED, of_family};
use super::random_stack::of_kind;
use super::{NoFiles, ScenarioStack, random_stack};
use crate::capable::{PRECONDITIONED, WITH_TRANSACTIONS};
use crate::models::Models;
use crate::scenario::{Checked, Document, check};
use crate::stack::build;
use nacre_config::{Descriptor, Families, Table};
use nacre_crash::branches::branch_off;
use nacre_crash::report::BRANCHES;
use nacre_crash::{Fault, Options, crash, replay};
use nacre_device::DeviceFamily;
use nacre_kernel::{Capabilities, Streams};
use nacre_testkit::workbench::Models as TestModels;
use nacre_testkit::{Workbench, charges_what_it_did, keeps_its_bytes};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

static TABLES: [&Table<DeviceFamily>; 3] =
    [nacre_hierarchy::DEVICES, nacre_controller::DEVICES, nacre_ssd::DEVICES];

fn others(family: &str) -> Vec<&'static Descriptor> {
    let families = crate::models::families();
    families.into_iter().filter(|known| known.name == family).flat_map(|known| known.descriptors).collect()
}

/// Shrinks the flash drive or array in `toml`. The tables of a full-size device take gigabytes, and checking
/// them takes seconds.
fn smaller(toml: &str) -> String {
    toml.lines().fold(String::new(), |text, line| {
        let line = match line.split(' ').next() {
            Some("blocks") => "blocks = 192",
            Some("pages") => "pages = 4",
            Some("spare_blocks") => "spare_blocks = 4",
            Some("segment") => "segment = \"1 MiB\"",
            // This line sets the size of the SLC cache.
            Some("size") => "size = \"4 MB\"",
            _ => line,
        };
        text + line + "\n"
    })
}

/// Shrinks a device of the catalog. Returns a workbench that builds it, and the shrunk text.
pub(super) fn cataloged(text: &str) -> (Workbench, String) {
    (Workbench::new(TestModels { devices: &TABLES, others }, 1), smaller(&Workbench::cataloged(text)))
}

#[test]
fn every_device_of_the_catalog_keeps_its_bytes() {
    let mut tried = 0;
    for (name, text) in crate::catalog::device_texts() {
        let (workbench, toml) = cataloged(text);
        let report = keeps_its_bytes(workbench, &toml, 100);
        assert!(report.points() >= 100, "{name}: {:?}", report.branches);
        tried += 1;
    }
    assert!(tried >= 11, "{tried} devices");
}

#[test]
fn every_device_of_the_catalog_is_charged_for_what_it_did_before_a_loss_of_power() {
    for (_, text) in crate::catalog::device_texts() {
        let (workbench, toml) = cataloged(text);
        charges_what_it_did(workbench, &toml);
    }
}

/// Returns the kinds of devices that have the property `has` regardless of the devices below them.
fn kinds_that(has: impl Fn(Capabilities) -> bool) -> String {
    let has_it = |kind: &&'static str| {
        let (_, checked) = of_kind(kind, &mut Streams::new(1).stream("stack")).expect("it is legal");
        let built = build(&checked, &NoFiles).unwrap_or_else(|problems| panic!("{kind}: {problems}"));
        let others = |path: &str| {
            let (device, _) = path.rsplit_once(".kind").unwrap_or_default();
            device.ends_with(".device") || device.ends_with("backing") || device.contains(".member[")
        };
        has(built.device.capabilities()) && !checked.resolved.iter().any(|value| others(&value.path))
    };
    let mut found: Vec<&str> = Models::new().kinds("device").into_iter().filter(has_it).collect();
    found.sort_unstable();
    let last = found.pop().expect("messages name one at least");
    if found.is_empty() { last.into() } else { format!("{} and {last}", found.join(", ")) }
}

#[test]
fn the_kinds_that_messages_name_are_those_that_can_do_it() {
    assert_eq!(kinds_that(|can| can.preconditions), PRECONDITIONED);
    assert_eq!(kinds_that(|can| can.transactions), WITH_TRANSACTIONS);
}

#[test]
fn the_table_of_guarantees_has_every_kind_of_device() {
    let document = include_str!("../../../../docs/crashing.md");
    let rows: Vec<&str> = document.lines().filter(|line| line.starts_with("| `")).collect();
    for kind in Models::new().kinds("device") {
        let count = rows.iter().filter(|row| row.contains(&format!("`{kind}`"))).count();
        assert_eq!(count, 1, "rows of {kind} in docs/crashing.md");
    }
}

/// Number of stacks in the fixed corpus, and number of power losses of each stack.
const STACKS: u64 = 60;
const POINTS: u64 = 500;

/// Branches of the simulation and faults that occurred in the tests of the corpus.
#[derive(Default)]
struct Reached {
    branches: BTreeMap<&'static str, u64>,
    faults: BTreeSet<Fault>,
}

impl Reached {
    fn crash(&mut self, name: &str, checked: &Checked, options: &Options) {
        let mut stack = ScenarioStack::new(checked, &NoFiles).expect("it was built when it was generated");
        let report = crash(&mut stack, options, &mut |_| ControlFlow::Continue(()));
        if let Some(finding) = report.finding {
            panic!("{name}: {}\n{}", finding.problem, finding.sequence);
        }
        for (branch, count) in report.branches {
            *self.branches.entry(branch).or_default() += count;
        }
        self.faults.extend(report.faults.into_keys());
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "with --nocapture it prints how often each branch is reached")]
fn the_corpus_keeps_its_bytes_and_has_every_kind_of_device_every_fault_and_every_branch() {
    let (mut kinds, mut reached) = (BTreeSet::new(), Reached::default());
    for seed in 0..STACKS {
        let random = random_stack(seed, POINTS);
        reached.crash(&format!("seed {seed}: {}", random.text), &random.checked, &random.options);
        kinds.insert(random.checked.scenario.stack.kind());
    }
    for family in &FORMS {
        let (seed, checked) = of_family(family).next().expect("it is generated often");
        reached.crash(family.name, &checked, &Options::new(POINTS, seed));
    }
    // A power loss damages paired pages during a program, which is rare in a drive with slow firmware.
    for (seed, checked) in of_family(&PAIRED).skip(1) {
        if reached.branches["pages_damaged"] > 0 {
            break;
        }
        reached.crash(PAIRED.name, &checked, &Options::new(POINTS, seed));
    }
    for fault in Fault::INJECTED {
        // Every second run has faults, and some of the first runs use all of their power losses.
        let mut seeds = 1..20;
        while !reached.faults.contains(&fault) {
            let seed = seeds.next().expect("one of the runs has the fault");
            let (_, checked) = of_kind("hdd", &mut Streams::new(seed).stream("stack")).expect("it is legal");
            let options = Options { faults: vec![fault], ..Options::new(POINTS, seed) };
            reached.crash(fault.name(), &checked, &options);
        }
    }
    let known: BTreeSet<&str> = Models::new().kinds("device").into_iter().collect();
    assert_eq!(kinds, known, "a kind that is never generated needs values in hints.rs");
    println!("{:?}", reached.branches);
    let missed: Vec<_> = BRANCHES.into_iter().filter(|branch| reached.branches[branch] == 0).collect();
    assert!(missed.is_empty(), "the corpus reaches no {missed:?}");
    let missed: Vec<_> = Fault::ALL.into_iter().filter(|fault| !reached.faults.contains(fault)).collect();
    assert!(missed.is_empty(), "the corpus has no {missed:?}");
}

#[test]
fn the_same_seed_gives_the_same_stack_and_report() {
    let run = || {
        let random = random_stack(7, 300);
        let mut stack =
            ScenarioStack::new(&random.checked, &NoFiles).expect("it was built when it was generated");
        let report = crash(&mut stack, &random.options, &mut |_| ControlFlow::Continue(()));
        (random.text, super::report_json(&report).to_string())
    };
    assert_eq!(run(), run());
}

#[test]
fn a_thousand_power_losses_from_one_state_leave_it_unchanged() {
    let lines: Vec<String> = (0..40).map(|number| format!("50000000 ps write {} 2", number % 7)).collect();
    let sequence = format!("blocks 512\n{}\n", lines.join("\n")).parse().expect("these are steps");
    for kind in ["ssd", "envy", "hdd", "onyx", "server_cache"] {
        let (_, checked) = of_kind(kind, &mut Streams::new(3).stream("stack")).expect("it is legal");
        let mut stack = ScenarioStack::new(&checked, &NoFiles).expect("it was built when it was generated");
        let report =
            branch_off(&mut stack, &sequence, 1_000, 1).unwrap_or_else(|broken| panic!("{kind}: {broken:?}"));
        assert!(report.points() >= 1_000 && report.device_runs == 1, "{kind}: {} points", report.points());
    }
}

/// Lists the names and texts of the given files in the folder `regressions`.
macro_rules! regressions {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("regressions/", $name, ".crash")))),+]
    };
}

/// Regressions, each of which once violated a guarantee. Each file has a description, a scenario, and,
/// after a line of dashes, the steps of the test.
const REGRESSIONS: &[(&str, &str)] = regressions![
    "flush_overtakes_failing_flush_of_tiers",
    "overlapping_writes_to_open_rows",
    "split_write_back_deadlock",
    "interrupted_write_around_cache",
    "second_flush_misses_loss",
    "tier_flush_consumes_loss_report",
    "flushes_fill_host_queue",
    "write_during_write_back_read",
    "partial_write_to_lost_unit",
    "write_back_near_unreadable_block",
    "injected_read_error_near_lost_page",
    "link_transfer_time_negative",
    "bank_conflict_deadlock",
    "writes_during_promotion",
    "fetch_of_rejected_pages",
    "swapped_chunk_lost_by_card",
    "read_during_failed_eviction",
    "multi_plane_program_time",
    "loss_after_extent_migration",
    "read_waits_for_chunk_rewrite",
    "block_evicted_before_read",
    "read_of_partly_rejected_write",
    "partial_read_near_lost_page",
    "power_loss_before_trim",
    "flush_recorded_as_after_trim",
    "flush_clears_dirty_too_early",
    "partial_trim_of_dirty_block",
    "power_loss_during_recovery_of_card",
    "cache_over_paired_page_drive",
    "cache_page_smaller_than_atomic_unit",
    "partly_rejected_write_breakdown",
    "rollback_during_outstanding_writes",
    "hybrid_victim_without_invalid_pages",
    "torn_write_over_clean_page",
    "read_of_reported_lost_page",
    "rejected_write_back_counts_as_clean",
    "rejected_write_back_with_persistent_table",
    "rejected_page_rewritten_in_cache",
    "flush_ignores_rejected_page",
    "flush_after_reported_loss",
    "flush_ignores_evicted_block",
    "stale_copy_of_trimmed_page",
    "pcm_cache_copy_masks_lost_page",
    "outstanding_read_of_lost_page",
    "resync_of_disks_in_standby",
    "flash_cache_copy_masks_lost_page",
    "idle_time_computed_too_late",
    "erase_delayed_by_read",
    "writes_complete_out_of_order",
    "partial_writes_complete_out_of_order",
    "wear_swap_of_full_segment",
    "wear_swap_without_erased_page",
    "erase_before_relocation_ends",
    "partial_write_during_fill",
    "accepted_write_back_not_durable",
    "interrupted_overwrite_of_unreadable_page",
    "interrupted_overwrite_returns_earlier_version",
    "interrupted_write_near_lost_page",
    "partial_write_during_eviction",
    "interrupted_flush_of_lost_page",
    "older_write_through_overwrites_newer",
    "ldpc_correction_missing_in_flash",
    "ldpc_correction_missing_in_pcm",
    "uncorrected_ldpc_data_written_back",
    "interrupted_rewrite_of_lost_page",
    "lost_block_rewritten_without_flush",
    "flush_of_worn_drive_not_recorded",
    "lost_block_rewritten_to_backing",
];

/// Regressions with flushes that had no effect.
const WITH_LYING_FLUSHES: &[(&str, &str)] = regressions![
    "rejected_part_written_through",
    "lying_flush_after_reported_loss",
    "garbage_collection_without_gain",
];

#[test]
fn fixed_violations_of_guarantees_do_not_come_back() {
    let with_lying_flushes = WITH_LYING_FLUSHES.iter().map(|regression| (regression, Fault::LyingFlush));
    let all = REGRESSIONS.iter().map(|regression| (regression, Fault::PowerLoss)).chain(with_lying_flushes);
    for (&(name, text), fault) in all {
        let (scenario, steps) = text.split_once("---\n").expect("steps come behind dashes");
        let document = Document { text: scenario, name, overrides: &[], seed: None };
        let checked = check(&document).unwrap_or_else(|problems| panic!("{name}: {problems}"));
        let mut stack = ScenarioStack::new(&checked, &NoFiles).expect("it carries bytes");
        let steps = steps.parse().unwrap_or_else(|problem| panic!("{name}: {problem}"));
        let result = replay(&mut stack, &steps, fault, 0);
        assert_eq!(result, Ok(()), "{name}");
    }
}
