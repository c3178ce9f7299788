use crate::latency::tests::{draws, mean_and_deviation, refused};
use nacre_testkit::assert_close;

#[test]
fn exponential_draws_have_their_mean_and_deviation() {
    let (latency, values) =
        draws("{ kind = \"exponential\", mean = \"10 us\", least = \"2 us\" }", 1_000_000);
    let (mean, deviation) = mean_and_deviation(&values);
    assert_close("mean", mean, 10e-6, 0.005);
    assert_close("deviation", deviation, 8e-6, 0.005);
    assert!(values.iter().all(|&value| value >= 2e-6), "nothing is below the least");
    assert_eq!(latency.mean_s(), 10e-6);
}

#[test]
fn a_least_above_the_mean_is_refused() {
    assert_eq!(
        refused("{ kind = \"exponential\", mean = \"1 us\", least = \"2 us\" }"),
        "latency.least (test.toml:1): it is above the mean, given 2 us; the largest allowed is the mean, 1 us"
    );
}
