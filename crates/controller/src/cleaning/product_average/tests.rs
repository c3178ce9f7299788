use super::ProductAverage;
use crate::cleaning::trial::Trial;
use crate::cleaning::{Cleaner, Decision, Partition, Place, View, laws};
use nacre_kernel::Ratio;
use nacre_testkit::assert_close;

fn cost(hot: f64, scattered: bool) -> f64 {
    Trial { hot, scattered, warm_up: 80.0, ..Trial::of("\"product_average\"") }.cost()
}

#[test]
fn under_uniform_writes_every_segment_stays_at_the_same_utilisation() {
    assert_close("cost at 80 %", cost(0.5, false), laws::at(0.8), 0.05);
}

#[test]
fn high_locality_costs_less_and_never_below_perfect_sorting() {
    for scattered in [false, true] {
        let costs = [0.5, 0.1, 0.05].map(|hot| (hot, cost(hot, scattered)));
        assert!(costs.is_sorted_by(|a, b| a.1 > b.1), "scattered {scattered}: {costs:?}");
        // Even writes leave nothing to sort: utilizations that vary a little cost a little less than equal ones there.
        for (hot, cost) in costs.into_iter().skip(1) {
            assert!(cost >= laws::sorted(0.8, hot), "{cost} at {hot}, scattered {scattered}");
        }
    }
}

#[test]
fn partitions_of_sixteen_are_near_greedy_for_uniform_writes_and_better_at_high_locality() {
    let cost = |policy, hot| Trial { hot, warm_up: 40.0, ..Trial::of(policy) }.cost();
    let partitioned = r#"{ kind = "product_average", segments_per_partition = 16 }"#;
    for hot in [0.5, 0.2, 0.05] {
        let (hybrid, greedy) = (cost(partitioned, hot), cost("\"greedy\"", hot));
        let most = if hot == 0.5 { 1.2 } else { 1.0 };
        assert!(hybrid < most * greedy, "at {hot}: {hybrid}, greedy {greedy}");
    }
}

/// Three segments of 100 pages of which `partition` was cleaned after 400 drained pages, and then after `elapsed`
/// more, when the segment was `live`.
fn decide(policy: &mut ProductAverage, partition: usize, elapsed: u64, live: u32) -> Decision {
    let partitions =
        [0, 1, 2].map(|first| Partition { first, count: 1, active: first, ..Partition::default() });
    let mut at = |drained, live| {
        let places = [Place { programmed: 100, live, ..Place::default() }; 3];
        let view = View { pages_per_segment: 100, places: &places, partitions: &partitions, drained };
        policy.decide(&view, partition)
    };
    at(400, 100);
    at(400 + elapsed, live)
}

#[test]
fn a_segment_above_the_average_gives_what_brings_its_product_down_to_it() {
    let mut policy = ProductAverage::new(1, Ratio(1.0));
    // Half live, once in 100 pages: the product 1 / 100, which is the average as well.
    assert_eq!(decide(&mut policy, 0, 100, 50), Decision::clean(0));
    // 4/5 live, once in 100 pages: 4 / 100. The average is 5 / 200, so a cost of 5/2 is allowed, that is
    // 100 * 5/7 = 71.4 live pages of 80.
    assert_eq!(decide(&mut policy, 1, 100, 80), Decision { victim: 1, to_lower: 4, to_higher: 4 });
    // 4/5 live, once in 400 pages: 4 / 400, below the average of 6 / 300.
    assert_eq!(decide(&mut policy, 2, 400, 80), Decision::clean(2));
}

#[test]
fn one_cleaning_goes_its_step_of_the_way_to_the_average() {
    let mut policy = ProductAverage::new(1, Ratio(0.5));
    decide(&mut policy, 0, 100, 50);
    // Of the 8.6 pages above the average half.
    assert_eq!(decide(&mut policy, 1, 100, 80), Decision { victim: 1, to_lower: 2, to_higher: 2 });
}

#[test]
fn the_last_segment_gives_all_to_the_one_before() {
    let mut policy = ProductAverage::new(1, Ratio(1.0));
    decide(&mut policy, 0, 100, 50);
    // 4 / 100; the average is 5 / 200, and 8.6 of its 80 live pages are too many.
    assert_eq!(decide(&mut policy, 2, 100, 80), Decision { victim: 2, to_lower: 8, to_higher: 0 });
}
