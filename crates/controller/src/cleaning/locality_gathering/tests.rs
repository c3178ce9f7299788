use crate::cleaning::laws;
use crate::cleaning::trial::Trial;
use nacre_testkit::assert_close;

fn gathering(hot: f64, scattered: bool, warm_up: f64) -> f64 {
    Trial { hot, scattered, warm_up, ..Trial::of("\"locality_gathering\"") }.cost()
}

#[test]
fn under_uniform_writes_every_segment_stays_at_the_same_utilization() {
    assert_close("cost at 80 %", gathering(0.5, false, 30.0), laws::at(0.8), 0.05);
}

#[test]
fn cost_falls_with_locality_and_never_below_perfect_sorting() {
    let localities = [0.5, 0.4, 0.3, 0.2, 0.1, 0.05];
    for (scattered, warm_up) in [(false, 40.0), (true, 80.0)] {
        let costs = localities.map(|hot| gathering(hot, scattered, warm_up));
        assert!(costs.is_sorted_by(|a, b| a > b), "scattered {scattered}: {costs:?}");
        for (hot, cost) in localities.into_iter().zip(costs) {
            assert!(cost >= laws::sorted(0.8, hot), "{cost} at {hot}, scattered {scattered}");
        }
    }
}

#[test]
fn free_space_goes_where_it_saves_most() {
    assert_close("10/90, sorted", gathering(0.1, false, 120.0), laws::sorted(0.8, 0.1), 0.1);
}
