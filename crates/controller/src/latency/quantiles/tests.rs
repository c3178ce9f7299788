use crate::latency::tests::{draws, mean_and_deviation, refused};
use nacre_testkit::assert_close;

#[test]
fn quantile_draws_meet_every_point() {
    let points = [(0.0, 4e-6), (0.5, 10e-6), (0.9, 10e-6), (0.99, 40e-6), (1.0, 200e-6)];
    let written =
        points.map(|(share, s)| format!("{{ share = {share}, latency = \"{} us\" }}", s * 1e6)).join(", ");
    let (latency, values) = draws(&format!("{{ kind = \"quantiles\", points = [{written}] }}"), 1_000_000);
    for (share, bound) in &points[2..] {
        let below = values.iter().filter(|&&value| value <= bound + 1e-12).count() as f64 / 1e6;
        assert_close("share", below, *share, 0.001);
    }
    let step = values.iter().filter(|&&value| value == 10e-6).count() as f64 / 1e6;
    assert_close("share of the step of equal latencies", step, 0.4, 0.005);
    // The mean is .5 * 7 + .4 * 10 + .09 * 25 + .01 * 120 us.
    assert!((latency.mean_s() - 10.95e-6).abs() < 1e-15);
    assert_close("mean", mean_and_deviation(&values).0, 10.95e-6, 0.005);
}

#[test]
fn points_out_of_order_are_refused() {
    let points = |points: &str| refused(&format!("{{ kind = \"quantiles\", points = [{points}] }}"));
    let low = "{ share = 0, latency = \"1 us\" }";
    let high = "{ share = 1, latency = \"9 us\" }";
    assert_eq!(
        points(low),
        "latency.points: they do not cover all requests, given 0 to 0; use shares from 0 to 1"
    );
    let repeated = points(&format!("{low}, {low}, {high}"));
    assert!(repeated.contains("their shares do not rise"), "{repeated}");
    let falling = points(&format!("{low}, {{ share = 0.5, latency = \"10 us\" }}, {high}"));
    assert!(falling.contains("their latencies fall, given 9 us after 10 us"), "{falling}");
}
