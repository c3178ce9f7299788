use super::{Config, ProductAverage};
use crate::cleaning::trial::Trial;
use crate::cleaning::{Cleaner, Decision, Partition, SegmentState, View, laws};
use nacre_kernel::Ratio;
use nacre_testkit::assert_close;

fn cost(policy: &'static str, hot: f64, scattered: bool) -> f64 {
    Trial { hot, scattered, warm_up: 80.0, ..Trial::of(policy) }.cost()
}

/// The policy without and with `raises`.
const POLICIES: [&str; 2] = ["\"product_average\"", "{ kind = \"product_average\", raises = true }"];

#[test]
fn under_uniform_writes_every_segment_stays_at_the_same_utilization() {
    for policy in POLICIES {
        assert_close(policy, cost(policy, 0.5, false), laws::at(0.8), 0.05);
    }
}

#[test]
fn high_locality_costs_less_and_never_below_perfect_sorting() {
    for (scattered, policy) in
        [(false, POLICIES[0]), (true, POLICIES[0]), (false, POLICIES[1]), (true, POLICIES[1])]
    {
        let costs = [0.5, 0.1, 0.05].map(|hot| (hot, cost(policy, hot, scattered)));
        assert!(costs.is_sorted_by(|a, b| a.1 > b.1), "{policy}, scattered {scattered}: {costs:?}");
        // Uniform writes leave nothing to sort; small variations of the utilizations reduce the cost
        // slightly.
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

/// The policy with one segment per partition.
fn by_step(step: f64, raises: bool) -> ProductAverage {
    let config = Config { segments_per_partition: 1, step: Ratio(step), raises };
    ProductAverage { config, partitions: Vec::new() }
}

/// Decision for an array of three segments of 100 pages each. `partition` was cleaned after 400 drained
/// pages, and is cleaned again after `elapsed` further drained pages, when it has `live` valid pages.
fn decide(policy: &mut ProductAverage, partition: usize, elapsed: u64, live: u32) -> Decision {
    let partitions =
        [0, 1, 2].map(|first| Partition { first, count: 1, active: first, ..Partition::default() });
    let mut at = |drained, live| {
        let places = [SegmentState { programmed: 100, live, ..SegmentState::default() }; 3];
        let view = View { pages_per_segment: 100, places: &places, partitions: &partitions, drained };
        policy.decide(&view, partition)
    };
    at(400, 100);
    at(400 + elapsed, live)
}

#[test]
fn a_segment_above_the_average_gives_what_brings_its_product_down_to_it() {
    let mut policy = by_step(1.0, false);
    // 1/2 valid, cleaned once per 100 pages: the product is 1 / 100, which is also the average.
    assert_eq!(decide(&mut policy, 0, 100, 50), Decision::clean(0));
    // 4/5 valid, cleaned once per 100 pages: 4 / 100. The average is 5 / 200, so a cost of 5/2 is allowed,
    // i.e. 100 * 5/7 = 71.4 valid pages of 80.
    assert_eq!(decide(&mut policy, 1, 100, 80), Decision { to_lower: 4, to_higher: 4, ..Decision::clean(1) });
    // 4/5 valid, cleaned once per 400 pages: 4 / 400, below the average of 6 / 300.
    assert_eq!(decide(&mut policy, 2, 400, 80), Decision::clean(2));
}

#[test]
fn one_that_raises_gives_or_takes_what_brings_its_product_to_the_average() {
    let mut policy = by_step(1.0, true);
    assert_eq!(decide(&mut policy, 0, 100, 50), Decision::clean(0));
    // 4/5 valid, cleaned once per 100 pages: 4 / 100, with 1/5 of a page written to it per page. The average
    // is 1/40. The product (100 - f) / f^2 / 5 equals 1/40 at f = 24.6, so the excess is 4.6 valid pages.
    assert_eq!(decide(&mut policy, 1, 100, 80), Decision { to_lower: 2, to_higher: 2, ..Decision::clean(1) });
    // 4/5 valid, cleaned once per 400 pages: 1 / 100, with 1/20 of a page written to it per page. The average
    // is 1/50. The product (100 - f) / f^2 / 20 equals 1/50 at f = 14.6, so 5 pages move in, all from the
    // only neighbor.
    assert_eq!(decide(&mut policy, 2, 400, 80), Decision { from_lower: 5, ..Decision::clean(2) });
}

#[test]
fn one_cleaning_goes_its_step_of_the_way_to_the_average() {
    let mut policy = by_step(0.5, false);
    decide(&mut policy, 0, 100, 50);
    // This is half of the excess of 8.6 pages.
    assert_eq!(decide(&mut policy, 1, 100, 80), Decision { to_lower: 2, to_higher: 2, ..Decision::clean(1) });
}

#[test]
fn the_last_segment_gives_all_to_the_one_before() {
    let mut policy = by_step(1.0, false);
    decide(&mut policy, 0, 100, 50);
    // The product is 4 / 100 and the average 5 / 200: an excess of 8.6 valid pages out of 80.
    assert_eq!(decide(&mut policy, 2, 100, 80), Decision { to_lower: 8, ..Decision::clean(2) });
}
