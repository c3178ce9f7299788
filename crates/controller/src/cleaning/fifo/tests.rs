use crate::cleaning::laws;
use crate::cleaning::trial::{Trial, policy};
use crate::cleaning::workbench::Array;
use nacre_testkit::assert_close;

#[test]
fn under_uniform_writes_fifo_costs_what_desnoyers_derived() {
    // With n segments, a page stays valid longer than in the closed form by a share of 1 / 2n: see greedy.
    for live in [0.5, 0.6, 0.7, 0.8, 0.9, 0.95] {
        let run = Trial { segments: 512, pages: 256, live, ..Trial::of("\"fifo\"") };
        assert_close(&format!("FIFO at {live}"), run.cost(), laws::fifo(live), 0.02);
    }
}

#[test]
fn hot_and_cold_pages_mixed_in_one_queue_follow_the_same_law() {
    for hot in [0.2, 0.1, 0.05] {
        for scattered in [false, true] {
            let law = laws::fifo_mixed(0.8, &[(hot, 1.0 - hot), (1.0 - hot, hot)]);
            let run = Trial { hot, scattered, warm_up: 40.0, ..Trial::of("\"fifo\"") };
            assert_close(&format!("FIFO at {hot}"), run.cost(), law, 0.02);
        }
    }
}

#[test]
fn segments_are_cleaned_in_a_circle() {
    let mut cleaner = policy("\"fifo\"", 9).unwrap();
    let mut array = Array::new(9, 64, 0.75, &*cleaner);
    let mut actives = vec![array.view().partitions[0].active];
    for write in 0..10_000 {
        array.write(write * 7919 % array.len(), &mut *cleaner);
        let active = array.view().partitions[0].active;
        if actives.last() != Some(&active) {
            actives.push(active);
        }
    }
    assert!(actives.len() > 100);
    assert!(actives.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 8), "{actives:?}");
}
