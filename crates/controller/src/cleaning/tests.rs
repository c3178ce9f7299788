//! Tests of all cleaning policies on the same cleaning mechanism.

use super::trial::{Trial, policy};
use super::workbench::{Array, Writes};
use super::{Cleaner, Decision, Partition, SegmentState, Unfit, View, laws};
use nacre_kernel::state::State;
use nacre_testkit::assert_close;

/// A policy whose partitions have one position each. The policy cleans the active segment and moves no
/// pages to other partitions.
#[derive(State)]
struct InPlace;

impl Cleaner for InPlace {
    fn partition_segments(&self) -> Option<u32> {
        Some(1)
    }

    fn decide(&mut self, view: &View<'_>, partition: usize) -> Decision {
        Decision::clean(view.partitions[partition].active)
    }
}

/// A policy may select only a victim that is in the partition and has an invalid page. eNVy, the flash
/// drive, and policies in Python use the same check.
#[test]
fn a_victim_is_in_its_partition_and_cleaning_it_gains_something() {
    let place = |programmed, live| SegmentState { programmed, live, ..SegmentState::default() };
    let partition = |first| Partition { first, count: 2, active: first, ..Partition::default() };
    let places = [place(8, 8), place(8, 7), place(0, 0), place(8, 0)];
    let partitions = [partition(0), partition(2)];
    let view = View { pages_per_segment: 8, places: &places, partitions: &partitions, drained: 0 };
    let fitness = |partition| [0, 1, 2, 3].map(|place| view.fitness(partition, place));
    assert_eq!(
        fitness(0),
        [Err(Unfit::GainsNothing), Ok(()), Err(Unfit::Elsewhere), Err(Unfit::Elsewhere)],
        "all live, one page not, and what is in another partition"
    );
    assert_eq!(fitness(1)[2..], [Err(Unfit::GainsNothing), Ok(())], "nothing programmed, and nothing live");
}

#[test]
fn a_segment_always_cleaned_at_one_utilization_costs_its_live_by_its_free_share() {
    for live in [0.2, 0.5, 0.8, 0.9, 0.95] {
        let cost = Trial { live, segments: 3, pages: 2000, warm_up: 400.0, ..Trial::of("") }
            .cost_of(Box::new(InPlace));
        assert_close(&format!("cost at {live}"), cost, laws::at(live), 0.02);
    }
}

#[test]
fn the_three_policies_of_the_paper_stand_to_each_other_as_in_its_figure_8() {
    for (scattered, warm_up, localities) in
        [(false, 25.0, [0.5, 0.4, 0.2, 0.1]), (true, 60.0, [0.5, 0.3, 0.2, 0.05])]
    {
        for hot in localities {
            let cost = |policy| Trial { hot, scattered, warm_up, ..Trial::of(policy) }.cost();
            let (greedy, gathering, hybrid) =
                (cost("\"greedy\""), cost("\"locality_gathering\""), cost("\"hybrid\""));
            let found = format!("at {hot}: greedy {greedy}, gathering {gathering}, hybrid {hybrid}");
            assert!(hybrid < gathering, "hybrid is always below gathering, {found}");
            match hot {
                0.5 => {
                    assert!(greedy < hybrid && hybrid < 1.2 * greedy, "hybrid is close to greedy, {found}");
                }
                ..=0.2 => assert!(hybrid < greedy, "hybrid is the lowest, {found}"),
                _ => {}
            }
        }
    }
}

#[test]
fn the_ends_of_the_partition_sizes_are_gathering_and_fifo() {
    for hot in [0.5, 0.1] {
        let cost = |policy| Trial { hot, warm_up: 10.0, ..Trial::of(policy) }.cost();
        let (one, gathering) =
            (cost(r#"{ kind = "hybrid", segments_per_partition = 1 }"#), cost("\"locality_gathering\""));
        let (all, fifo) = (cost(r#"{ kind = "hybrid", segments_per_partition = 128 }"#), cost("\"fifo\""));
        assert!(one == gathering && all == fifo, "{one} {gathering}, {all} {fifo}");
    }
}

#[test]
fn every_policy_keeps_every_page_at_every_utilization() {
    let policies =
        ["greedy", "fifo", "locality_gathering", "product_average", "hybrid", "cost_benefit", "d_choices"]
            .map(|kind| format!("\"{kind}\""));
    for described in &policies {
        for live in [0.05, 0.5, 0.97] {
            let mut cleaner = policy(described, 32).unwrap();
            let mut array = Array::new(32, 64, live, &*cleaner);
            let mut writes = Writes::new(array.len(), 0.1, 0.9, true, 3);
            array.cost(20.0, &mut writes, &mut *cleaner);
            array.check();
        }
    }
}

/// Every policy except external ones is saved and restored. The restored policy then makes the same
/// decisions as the saved policy.
#[test]
fn a_restored_policy_decides_as_the_saved_one() {
    for model in super::MODELS.iter().filter(|model| model.descriptor.kind != "external") {
        let described = format!("\"{}\"", model.descriptor.kind);
        let (mut cleaner, mut restored) = (policy(&described, 32).unwrap(), policy(&described, 32).unwrap());
        let mut array = Array::new(32, 64, 0.8, &*cleaner);
        let mut writes = Writes::new(array.len(), 0.1, 0.9, true, 3);
        array.cost(7.3, &mut writes, &mut *cleaner);
        nacre_testkit::restores(&*cleaner, &mut *restored);
        let (mut other, mut same) = (array.clone(), writes.clone());
        let costs = [array.cost(9.0, &mut writes, &mut *cleaner), other.cost(9.0, &mut same, &mut *restored)];
        assert!(costs[0] == costs[1] && costs[0] > 0.0, "{described}: {costs:?}");
        nacre_testkit::restores(&*cleaner, &mut *restored);
    }
}
