//! Tests that images of random stacks keep acknowledged and synced data, and that faulty disks are detected.

use super::{Crashed, Fault, Reported, crash};
use nacre_machine::crash::{NoFiles, random_stack};

/// Number of random stacks.
const STACKS: u64 = 24;
/// Number of crashes per stack.
const POINTS: u64 = 60;

fn crashed(seed: u64, fault: Fault) -> Crashed {
    let random = random_stack(seed, 1);
    crash(&random.checked, &NoFiles, POINTS, seed, fault)
        .unwrap_or_else(|error| panic!("seed {seed}: {error}"))
}

#[test]
fn an_image_keeps_what_was_acknowledged_over_kills_and_what_was_synced_over_losses_of_power() {
    let mut all = Crashed::default();
    for seed in 0..STACKS {
        let one = crashed(seed, Fault::None);
        if let Some(finding) = &one.finding {
            panic!("seed {seed}: {finding}\n{}", random_stack(seed, 1).text);
        }
        all.add(&one);
    }
    assert!(all.points() >= STACKS * POINTS, "{all:?}");
    let reached = [all.kills, all.power_losses, all.inside_writes, all.torn_records, all.unsynced_lost];
    assert!(reached.iter().all(|&count| count > 50) && all.checkpoints > 5, "{all:?}");
    assert!(all.trims > 50 && all.transactions > 0, "{all:?}");
    let reported = all.disk_faults.values().fold(Reported::default(), |mut sum, one| {
        sum.add(one);
        sum
    });
    assert!(all.disk_faults.len() >= 11, "each fault in each part: {all:?}");
    assert!(reported.refused > 20 && reported.unreadable > 5 && reported.unharmed > 100, "{reported:?}");
}

#[test]
fn a_file_that_lies_is_found_out_within_a_few_stacks() {
    for fault in [Fault::LyingSync, Fault::LostWrite(20), Fault::NoChecksums] {
        let found = (0..STACKS).find(|&seed| crashed(seed, fault).finding.is_some());
        assert!(found.is_some(), "{fault:?} is not found");
    }
}
