use super::{Latency, LatencyFamily, build};
use crate::workbench::{Workbench, workbench};
use nacre_config::{Configuration, Problems, Slot};
use nacre_kernel::Time;

/// A document with a latency distribution.
#[derive(Debug, Configuration)]
struct Document {
    /// The distribution.
    latency: Slot<LatencyFamily>,
}

/// Builds the distribution given by the right-hand side of `latency = ...`.
pub(super) fn latency(bench: &mut Workbench, value: &str) -> Result<Box<dyn Latency>, Problems> {
    let document: Document = bench.read(&format!("latency = {value}"))?;
    build(&document.latency, bench)
}

/// A distribution and samples from it, in seconds.
pub(super) fn draws(value: &str, count: usize) -> (Box<dyn Latency>, Vec<f64>) {
    let mut latency = latency(&mut workbench(3), value).expect("the test's distribution is legal");
    let draws = (0..count).map(|_| latency.draw().as_secs_f64()).collect();
    (latency, draws)
}

/// Mean and standard deviation.
pub(super) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance =
        values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / values.len() as f64;
    (mean, variance.sqrt())
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

/// The error message for an invalid distribution.
pub(super) fn refused(value: &str) -> String {
    latency(&mut workbench(1), value).err().expect("it is refused").to_string()
}

#[test]
fn an_unknown_distribution_is_refused_with_the_nearest_name() {
    assert!(refused("\"exponentiel\"").contains("did you mean \"exponential\"?"));
}

#[test]
fn a_restored_stream_of_latencies_goes_on_as_the_saved_one() {
    for value in [
        "\"10 us\"",
        "{ kind = \"exponential\", mean = \"10 us\" }",
        "{ kind = \"lognormal\", mean = \"10 us\", deviation = \"5 us\" }",
        "{ kind = \"quantiles\", points = [{ share = \"0 %\", latency = \"1 us\" }, { share = \"100 %\", latency = \"9 us\" }] }",
    ] {
        let (mut saved, mut restored) = (draws(value, 500).0, draws(value, 3).0);
        nacre_testkit::restores(&*saved, &mut *restored);
        assert!((0..500).all(|_| saved.draw() == restored.draw()), "{value}");
    }
}
