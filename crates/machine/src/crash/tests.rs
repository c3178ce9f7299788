//! Tests that every device of the catalog and every random stack holds its durability guarantees.

use super::drawn::of_kind;
use super::planted::{FORMS, PAIRED, of_family};
use super::{Nothing, OfScenario, drawn};
use crate::capable::{PRECONDITIONED, WITH_TRANSACTIONS};
use crate::rooms::Rooms;
use crate::scenario::{Checked, Document, check};
use crate::stack::build;
use nacre_config::{Descriptor, Families, Table};
use nacre_crash::branches::branch_off;
use nacre_crash::report::BRANCHES;
use nacre_crash::{Fault, Options, crash, replay};
use nacre_device::DeviceFamily;
use nacre_kernel::{Capabilities, Streams};
use nacre_testkit::workbench::Rooms as Tables;
use nacre_testkit::{Workbench, charges_what_it_did, keeps_its_bytes};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

static TABLES: [&Table<DeviceFamily>; 3] =
    [nacre_hierarchy::DEVICES, nacre_controller::DEVICES, nacre_ssd::DEVICES];

fn others(family: &str) -> Vec<&'static Descriptor> {
    let families = crate::rooms::families();
    families.into_iter().filter(|known| known.name == family).flat_map(|known| known.descriptors).collect()
}

/// Shrinks the flash drive or array in `toml`. The tables of a full-size one take gigabytes, and checking
/// them takes seconds.
fn smaller(toml: &str) -> String {
    toml.lines().fold(String::new(), |text, line| {
        let line = match line.split(' ').next() {
            Some("blocks") => "blocks = 192",
            Some("pages") => "pages = 4",
            Some("spare_blocks") => "spare_blocks = 4",
            Some("segment") => "segment = \"1 MiB\"",
            // This is the size of the SLC cache.
            Some("size") => "size = \"4 MB\"",
            _ => line,
        };
        text + line + "\n"
    })
}

/// A device of the catalog, shrunk, and a workbench that builds it.
pub(super) fn cataloged(text: &str) -> (Workbench, String) {
    (Workbench::new(Tables { devices: &TABLES, others }, 1), smaller(&Workbench::cataloged(text)))
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

/// The kinds of device that have the property independent of the devices below them.
fn kinds_that(has: impl Fn(Capabilities) -> bool) -> String {
    let has_it = |kind: &&'static str| {
        let (_, checked) = of_kind(kind, &mut Streams::new(1).stream("stack")).expect("it is legal");
        let built = build(&checked, &Nothing).unwrap_or_else(|problems| panic!("{kind}: {problems}"));
        let others = |path: &str| {
            let (device, _) = path.rsplit_once(".kind").unwrap_or_default();
            device.ends_with(".device") || device.ends_with("backing") || device.contains(".member[")
        };
        has(built.device.capabilities()) && !checked.resolved.iter().any(|value| others(&value.path))
    };
    let mut found: Vec<&str> = Rooms::new().kinds("device").into_iter().filter(has_it).collect();
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
fn the_table_of_promises_has_every_kind_of_device() {
    let document = include_str!("../../../../docs/crashing.md");
    let rows: Vec<&str> = document.lines().filter(|line| line.starts_with("| `")).collect();
    for kind in Rooms::new().kinds("device") {
        let count = rows.iter().filter(|row| row.contains(&format!("`{kind}`"))).count();
        assert_eq!(count, 1, "rows of {kind} in docs/crashing.md");
    }
}

/// Number of stacks in the fixed corpus, and number of power losses of each stack.
const STACKS: u64 = 60;
const POINTS: u64 = 500;

/// Branches and faults that the corpus reached.
#[derive(Default)]
struct Reached {
    branches: BTreeMap<&'static str, u64>,
    faults: BTreeSet<Fault>,
}

impl Reached {
    fn crash(&mut self, name: &str, checked: &Checked, options: &Options) {
        let mut stack = OfScenario::new(checked, &Nothing).expect("it was built when it was drawn");
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
        let drawn = drawn(seed, POINTS);
        reached.crash(&format!("seed {seed}: {}", drawn.text), &drawn.checked, &drawn.options);
        kinds.insert(drawn.checked.scenario.stack.kind());
    }
    for family in &FORMS {
        let (seed, checked) = of_family(family).next().expect("it is drawn often");
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
    let known: BTreeSet<&str> = Rooms::new().kinds("device").into_iter().collect();
    assert_eq!(kinds, known, "a kind that is never drawn needs values in hints.rs");
    println!("{:?}", reached.branches);
    let missed: Vec<_> = BRANCHES.into_iter().filter(|branch| reached.branches[branch] == 0).collect();
    assert!(missed.is_empty(), "the corpus reaches no {missed:?}");
    let missed: Vec<_> = Fault::ALL.into_iter().filter(|fault| !reached.faults.contains(fault)).collect();
    assert!(missed.is_empty(), "the corpus has no {missed:?}");
}

#[test]
fn the_same_seed_draws_and_finds_the_same() {
    let run = || {
        let drawn = drawn(7, 300);
        let mut stack = OfScenario::new(&drawn.checked, &Nothing).expect("it was built when it was drawn");
        let report = crash(&mut stack, &drawn.options, &mut |_| ControlFlow::Continue(()));
        (drawn.text, super::report_json(&report).to_string())
    };
    assert_eq!(run(), run());
}

#[test]
fn a_thousand_power_losses_branch_off_one_moment_and_leave_nothing_behind() {
    let lines: Vec<String> = (0..40).map(|number| format!("50000000 ps write {} 2", number % 7)).collect();
    let sequence = format!("blocks 512\n{}\n", lines.join("\n")).parse().expect("these are steps");
    for kind in ["ssd", "envy", "hdd", "onyx", "server_cache"] {
        let (_, checked) = of_kind(kind, &mut Streams::new(3).stream("stack")).expect("it is legal");
        let mut stack = OfScenario::new(&checked, &Nothing).expect("it was built when it was drawn");
        let report =
            branch_off(&mut stack, &sequence, 1_000, 1).unwrap_or_else(|broken| panic!("{kind}: {broken:?}"));
        assert!(report.points() >= 1_000 && report.lives == 1, "{kind}: {} points", report.points());
    }
}

/// Regressions, each of which once violated a guarantee: a description, a scenario, and, after a line of
/// dashes, the steps.
const KEPT: [(&str, &str); 64] = [
    (
        "parts_of_a_write_back_wait_for_a_later_one",
        include_str!("kept/parts_of_a_write_back_wait_for_a_later_one.crash"),
    ),
    ("part_of_a_write_around_the_cache", include_str!("kept/part_of_a_write_around_the_cache.crash")),
    ("flush_overtakes_the_report_of_a_loss", include_str!("kept/flush_overtakes_the_report_of_a_loss.crash")),
    ("loss_reported_to_a_flush_of_a_chunk", include_str!("kept/loss_reported_to_a_flush_of_a_chunk.crash")),
    ("flush_holds_the_place_of_a_write", include_str!("kept/flush_holds_the_place_of_a_write.crash")),
    (
        "copy_changes_while_it_is_written_back",
        include_str!("kept/copy_changes_while_it_is_written_back.crash"),
    ),
    ("part_of_a_lost_unit", include_str!("kept/part_of_a_lost_unit.crash")),
    ("split_off_beside_an_unreadable_block", include_str!("kept/split_off_beside_an_unreadable_block.crash")),
    ("failed_on_purpose_beside_a_lost_page", include_str!("kept/failed_on_purpose_beside_a_lost_page.crash")),
    ("lines_behind_other_answers", include_str!("kept/lines_behind_other_answers.crash")),
    ("accesses_that_wait_for_each_other", include_str!("kept/accesses_that_wait_for_each_other.crash")),
    ("parts_of_a_block_that_moves_up", include_str!("kept/parts_of_a_block_that_moves_up.crash")),
    ("pages_lost_before_they_are_fetched", include_str!("kept/pages_lost_before_they_are_fetched.crash")),
    ("safe_chunk_is_lost", include_str!("kept/safe_chunk_is_lost.crash")),
    ("read_behind_a_page_that_cannot_leave", include_str!("kept/read_behind_a_page_that_cannot_leave.crash")),
    ("joined_programs_of_two_times", include_str!("kept/joined_programs_of_two_times.crash")),
    ("lost_where_an_extent_came_to", include_str!("kept/lost_where_an_extent_came_to.crash")),
    ("read_of_a_chunk_to_be_written_again", include_str!("kept/read_of_a_chunk_to_be_written_again.crash")),
    ("gone_before_it_was_read", include_str!("kept/gone_before_it_was_read.crash")),
    ("read_behind_a_refusal", include_str!("kept/read_behind_a_refusal.crash")),
    ("part_beside_a_lost_page", include_str!("kept/part_beside_a_lost_page.crash")),
    ("trim_under_way", include_str!("kept/trim_under_way.crash")),
    ("flush_passes_trim", include_str!("kept/flush_passes_trim.crash")),
    ("flush_settles_too_early", include_str!("kept/flush_settles_too_early.crash")),
    ("trimmed_in_part", include_str!("kept/trimmed_in_part.crash")),
    ("card_behind_cache", include_str!("kept/card_behind_cache.crash")),
    ("backing_of_word_lines", include_str!("kept/backing_of_word_lines.crash")),
    ("pages_go_back_one_by_one", include_str!("kept/pages_go_back_one_by_one.crash")),
    ("refused_in_part", include_str!("kept/refused_in_part.crash")),
    ("aborted_write_under_way", include_str!("kept/aborted_write_under_way.crash")),
    ("no_share_of_invalid_pages", include_str!("kept/no_share_of_invalid_pages.crash")),
    ("torn_over_a_clean_page", include_str!("kept/torn_over_a_clean_page.crash")),
    ("refused_pages_are_told", include_str!("kept/refused_pages_are_told.crash")),
    ("refused_and_read_as_before", include_str!("kept/refused_and_read_as_before.crash")),
    ("refused_and_known_by_a_table", include_str!("kept/refused_and_known_by_a_table.crash")),
    ("lost_until_it_is_taken", include_str!("kept/lost_until_it_is_taken.crash")),
    ("flush_behind_a_refused_page", include_str!("kept/flush_behind_a_refused_page.crash")),
    ("told_and_flushed_again", include_str!("kept/told_and_flushed_again.crash")),
    ("flush_passes_what_left", include_str!("kept/flush_passes_what_left.crash")),
    ("trimmed_and_as_it_was", include_str!("kept/trimmed_and_as_it_was.crash")),
    ("copy_hides_a_loss", include_str!("kept/copy_hides_a_loss.crash")),
    ("copy_in_flash_hides_a_loss", include_str!("kept/copy_in_flash_hides_a_loss.crash")),
    ("quiet_since_long", include_str!("kept/quiet_since_long.crash")),
    ("quiet_behind_a_read", include_str!("kept/quiet_behind_a_read.crash")),
    ("second_write_is_done_first", include_str!("kept/second_write_is_done_first.crash")),
    ("second_part_is_done_first", include_str!("kept/second_part_is_done_first.crash")),
    ("swap_of_a_full_segment", include_str!("kept/swap_of_a_full_segment.crash")),
    ("exchange_without_a_page_to_spare", include_str!("kept/exchange_without_a_page_to_spare.crash")),
    ("copy_outlasts_erase", include_str!("kept/copy_outlasts_erase.crash")),
    ("part_of_a_block_that_comes_in", include_str!("kept/part_of_a_block_that_comes_in.crash")),
    ("taken_and_not_saved", include_str!("kept/taken_and_not_saved.crash")),
    ("unreadable_and_written_again", include_str!("kept/unreadable_and_written_again.crash")),
    ("unreadable_and_as_before", include_str!("kept/unreadable_and_as_before.crash")),
    ("unread_and_interrupted", include_str!("kept/unread_and_interrupted.crash")),
    ("part_of_a_block_over_one_that_leaves", include_str!("kept/part_of_a_block_over_one_that_leaves.crash")),
    ("flush_that_was_cut_and_unread", include_str!("kept/flush_that_was_cut_and_unread.crash")),
    ("older_write_goes_back_over_a_newer", include_str!("kept/older_write_goes_back_over_a_newer.crash")),
    ("corrected_by_strength_in_flash", include_str!("kept/corrected_by_strength_in_flash.crash")),
    ("corrected_by_strength_in_pcm", include_str!("kept/corrected_by_strength_in_pcm.crash")),
    ("corrected_by_strength_behind_a_cache", include_str!("kept/corrected_by_strength_behind_a_cache.crash")),
    ("lost_and_back_while_written", include_str!("kept/lost_and_back_while_written.crash")),
    ("written_anew_and_not_saved", include_str!("kept/written_anew_and_not_saved.crash")),
    ("flush_of_a_worn_drive", include_str!("kept/flush_of_a_worn_drive.crash")),
    ("lost_while_it_is_taken_anew", include_str!("kept/lost_while_it_is_taken_anew.crash")),
];

/// Regressions with flushes that had no effect.
const KEPT_OF_LIES: [(&str, &str); 3] = [
    ("goes_through_after_all", include_str!("kept/goes_through_after_all.crash")),
    ("told_before_a_flush_that_lied", include_str!("kept/told_before_a_flush_that_lied.crash")),
    ("nothing_to_gain", include_str!("kept/nothing_to_gain.crash")),
];

#[test]
fn fixed_violations_of_guarantees_do_not_come_back() {
    let lies = KEPT_OF_LIES.map(|kept| (kept, Fault::LyingFlush));
    let all = KEPT.map(|kept| (kept, Fault::PowerLoss)).into_iter().chain(lies);
    for ((name, text), fault) in all {
        let (scenario, steps) = text.split_once("---\n").expect("steps come behind dashes");
        let document = Document { text: scenario, name, overrides: &[], seed: None };
        let checked = check(&document).unwrap_or_else(|problems| panic!("{name}: {problems}"));
        let mut stack = OfScenario::new(&checked, &Nothing).expect("it carries bytes");
        let steps = steps.parse().unwrap_or_else(|problem| panic!("{name}: {problem}"));
        let result = replay(&mut stack, &steps, fault, 0);
        assert_eq!(result, Ok(()), "{name}");
    }
}
