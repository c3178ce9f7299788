use crate::cleaning::trial::{Trial, policy};
use crate::cleaning::{Partition, SegmentState, View};

#[test]
fn the_victim_has_the_largest_gain_for_its_cost() {
    // (1 - u) age / (1 + u) is .2 * 900 / 1.8 = 100, .6 * 100 / 1.4 = 43, and .5 * 200 / 1.5 = 67. A full
    // segment has 0.
    let place =
        |live, written_at| SegmentState { programmed: 100, live, written_at, ..SegmentState::default() };
    let places = [place(80, 100), place(40, 900), place(50, 800), place(100, 0)];
    let partitions = [Partition { count: 4, active: 1, live: 270, ..Partition::default() }];
    let view = View { pages_per_segment: 100, places: &places, partitions: &partitions, drained: 1000 };
    let mut cleaner = policy("\"cost_benefit\"", 5).unwrap();
    assert_eq!(cleaner.decide(&view, 0).victim, 0);
}

#[test]
fn it_beats_greedy_on_hot_and_cold_data_by_a_little() {
    // Both policies receive the same writes, so even a difference of 0.1 % is significant.
    for hot in [0.1, 0.05] {
        let cost = |policy| Trial { hot, warm_up: 40.0, ..Trial::of(policy) }.cost();
        let (weighed, greedy) = (cost("\"cost_benefit\""), cost("\"greedy\""));
        assert!(weighed < greedy, "{weighed} against {greedy} at {hot}");
    }
}
