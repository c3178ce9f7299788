use crate::latency::tests::{draws, mean_and_deviation, refused};
use nacre_testkit::assert_close;

#[test]
fn lognormal_draws_have_their_mean_and_deviation() {
    let (latency, values) =
        draws("{ kind = \"lognormal\", mean = \"10 us\", deviation = \"10 us\" }", 1_000_000);
    let (mean, deviation) = mean_and_deviation(&values);
    assert_close("mean", mean, 10e-6, 0.005);
    assert_close("deviation", deviation, 10e-6, 0.03);
    assert_eq!(latency.mean_s(), 10e-6);
    let median = values.iter().filter(|&&value| value <= 10e-6 / 2f64.sqrt()).count();
    assert_close("share below the median, mean / sqrt(2)", median as f64 / 1e6, 0.5, 0.005);
}

#[test]
fn without_deviation_every_draw_is_the_mean() {
    let (_, values) = draws("{ kind = \"lognormal\", mean = \"10 us\", deviation = \"0 s\" }", 100);
    assert!(values.iter().all(|value| (value - 10e-6).abs() < 1e-12), "{values:?}");
    assert!(refused("{ kind = \"lognormal\", mean = \"0 s\", deviation = \"1 us\" }").contains("above zero"));
}
