use crate::cleaning::laws;
use crate::cleaning::trial::Trial;
use nacre_testkit::assert_close;

#[test]
fn under_uniform_writes_greedy_costs_what_fifo_does_in_the_limit() {
    // The closed form holds for many segments with many pages each. With n segments, the open segment
    // lengthens the lifetime of a page by a share of 1 / 2n. With few pages per segment, random differences
    // decide the victim, and greedy costs less.
    for live in [0.5, 0.6, 0.7, 0.8, 0.9, 0.95] {
        let run = Trial { segments: 256, pages: 512, live, ..Trial::of("\"greedy\"") };
        assert_close(&format!("greedy at {live}"), run.cost(), laws::fifo(live), 0.02);
    }
}

#[test]
fn greedy_costs_more_the_more_local_writes_are() {
    let cost = |hot| Trial { hot, warm_up: 20.0, ..Trial::of("\"greedy\"") }.cost();
    let costs = [0.5, 0.4, 0.3, 0.2, 0.1, 0.05].map(cost);
    assert!(costs.is_sorted_by(|a, b| a < b), "{costs:?}");
    let mixed = laws::fifo_mixed(0.8, &[(0.1, 0.9), (0.9, 0.1)]);
    assert_close("greedy mixes hot and cold as FIFO does", costs[4], mixed, 0.02);
}
