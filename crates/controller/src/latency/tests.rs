use super::{Latency, LatencyFamily, build};
use crate::workbench::Workbench;
use nacre_config::{Configuration, Problems, Slot};
use nacre_kernel::Time;
use nacre_testkit::assert_close;

/// The document around the distribution under test.
#[derive(Debug, Configuration)]
struct Document {
    /// The distribution.
    latency: Slot<LatencyFamily>,
}

/// The distribution that the right-hand side of `latency = ...` describes.
pub(super) fn latency(bench: &mut Workbench, value: &str) -> Result<Box<dyn Latency>, Problems> {
    let document: Document = bench.read(&format!("latency = {value}"))?;
    build(&document.latency, bench)
}

fn draws(value: &str, count: usize) -> (Box<dyn Latency>, Vec<f64>) {
    let mut latency = latency(&mut Workbench::new(3), value).expect("the test's distribution is legal");
    let draws = (0..count).map(|_| latency.draw().as_secs_f64()).collect();
    (latency, draws)
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance =
        values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / values.len() as f64;
    (mean, variance.sqrt())
}

#[test]
fn a_bare_duration_is_constant() {
    let (latency, values) = draws("\"6.7 us\"", 3);
    assert_eq!(values, [6.7e-6; 3]);
    assert_eq!(latency.mean_s(), 6.7e-6);
}

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
    // .5 * 7 + .4 * 10 + .09 * 25 + .01 * 120 us
    assert!((latency.mean_s() - 10.95e-6).abs() < 1e-15);
    assert_close("mean", mean_and_deviation(&values).0, 10.95e-6, 0.005);
}

#[test]
fn a_thousand_pieces_and_one_piece_draw_alike() {
    use super::inverse::{Inverse, Piece};
    let line = |pieces: u64| {
        let at = |n: u64| Time::from_ps(n * 1_000_000 / pieces);
        let pieces: Vec<Piece> =
            (0..pieces).map(|n| Piece { share: 1.0, from: at(n), to: at(n + 1) }).collect();
        Inverse::new(&pieces)
    };
    let (fine, coarse) = (line(1000), line(1));
    for step in 0..10_000 {
        let u = f64::from(step) / 10_000.0;
        assert!(fine.at(u).as_ps().abs_diff(coarse.at(u).as_ps()) <= 1, "they differ at share {u}");
    }
    assert!(fine.at(1.0 - f64::EPSILON) <= Time::from_us(1));
}

#[test]
fn impossible_distributions_are_refused_with_a_remedy() {
    let refused =
        |value: &str| latency(&mut Workbench::new(1), value).err().expect("it is refused").to_string();
    assert_eq!(
        refused("{ kind = \"exponential\", mean = \"1 us\", least = \"2 us\" }"),
        "latency.least (test.toml:1): it is above the mean, given 2 us; the largest allowed is the mean, 1 us"
    );
    assert_eq!(
        refused("{ kind = \"quantiles\", points = [{ share = 0, latency = \"1 us\" }] }"),
        "latency.points: they do not span all requests, given 0 to 0; go from share 0 to share 1"
    );
    assert!(refused("\"6.7\"").contains("it has no unit"), "a number without a unit is no latency");
    assert!(refused("\"exponentiel\"").contains("did you mean \"exponential\"?"));
}
