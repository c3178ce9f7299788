//! Distances between the statistics of two traces.

use crate::profile::{Description, Sizes, Timeline};
use serde::Serialize;

const GAPS: &str = "time between arrivals";
const REQUESTS: &str = "requests over time";
/// Names of the curves that depend on arrival times.
pub(super) const OF_TIME: [&str; 2] = [GAPS, REQUESTS];

/// The distance between two traces in one statistic.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Closeness {
    /// Name of the statistic.
    pub curve: &'static str,
    /// The largest difference between the curves of the statistic for the two traces, from 0 to 1.
    pub distance: f64,
}

/// Returns the distances between `a` and `b`, one per statistic.
pub fn compare(a: &Description, b: &Description) -> Vec<Closeness> {
    let mut found = Vec::new();
    let mut add = |curve, distance| found.push(Closeness { curve, distance });
    let hottest = |x: f64| (a.blocks.share(x) - b.blocks.share(x)).abs();
    add("popularity of blocks", steps().map(hottest).fold(0.0, f64::max));
    let hottest = |x: f64| (a.extents.share(x) - b.extents.share(x)).abs();
    add("popularity of extents", steps().map(hottest).fold(0.0, f64::max));
    let [x, y] = [a, b].map(|side| side.misses.bytes.iter().map(|&bytes| bytes as f64).collect::<Vec<f64>>());
    add("misses", apart((&x, &a.misses.all), (&y, &b.misses.all), 1.0));
    add("misses of reads", apart((&x, &a.misses.reads), (&y, &b.misses.reads), 1.0));
    add("misses of writes", apart((&x, &a.misses.writes), (&y, &b.misses.writes), 1.0));
    add("read share", (read_share(&a.sizes) - read_share(&b.sizes)).abs());
    let [(x, p), (y, q)] = [&a.sizes, &b.sizes].map(size_curve);
    add("request sizes", apart((&x, &p), (&y, &q), 0.0));
    add("sequential share", (a.runs.sequential_share - b.runs.sequential_share).abs());
    if let (Some(a), Some(b)) = (&a.gaps, &b.gaps) {
        add(GAPS, apart((&a.gap_s, &a.share), (&b.gap_s, &b.share), 0.0));
    }
    if let (Some(a), Some(b)) = (&a.reuse, &b.reuse) {
        add("time to reuse", apart((&a.time_s, &a.share), (&b.time_s, &b.share), 0.0));
    }
    if let (Some(a), Some(b)) = (&a.timeline, &b.timeline) {
        let requests = |at: &Timeline| at.reads.iter().zip(&at.writes).map(|(r, w)| (r + w) as f64).collect();
        add(REQUESTS, drift(a, requests(a), b, requests(b)));
        add("footprint over time", drift(a, growth(a), b, growth(b)));
    }
    found
}

/// Returns the shares of the capacity at which curves are compared. Small shares are more closely spaced.
fn steps() -> impl Iterator<Item = f64> {
    (0..=96).map(|step| libm::pow(10.0, f64::from(step - 96) / 24.0))
}

/// Returns the largest difference between two step curves. `before` is the value of each curve before its
/// first point.
fn apart(a: (&[f64], &[f64]), b: (&[f64], &[f64]), before: f64) -> f64 {
    let at = |(xs, ys): (&[f64], &[f64]), x: f64| {
        let after = xs.partition_point(|&point| point <= x);
        after.checked_sub(1).map_or(before, |last| ys[last])
    };
    let points = a.0.iter().chain(b.0);
    points.map(|&x| (at(a, x) - at(b, x)).abs()).fold(0.0, f64::max)
}

fn read_share(sizes: &Sizes) -> f64 {
    let (reads, writes): (u64, u64) = (sizes.reads.iter().sum(), sizes.writes.iter().sum());
    reads as f64 / ((reads + writes).max(1)) as f64
}

fn size_curve(sizes: &Sizes) -> (Vec<f64>, Vec<f64>) {
    let counts = sizes.reads.iter().zip(&sizes.writes).map(|(reads, writes)| (reads + writes) as f64);
    (sizes.bytes.iter().map(|&bytes| f64::from(bytes)).collect(), cumulated(counts.collect()))
}

fn growth(timeline: &Timeline) -> Vec<f64> {
    let mut before = 0.0;
    let added = |&footprint: &f64| footprint - std::mem::replace(&mut before, footprint);
    timeline.footprint_bytes.iter().map(added).collect()
}

/// Returns the cumulative shares of `amounts`.
fn cumulated(amounts: Vec<f64>) -> Vec<f64> {
    let total = amounts.iter().sum::<f64>();
    let mut upto = 0.0;
    let share = |amount| {
        upto += amount;
        if total > 0.0 { upto / total } else { 0.0 }
    };
    amounts.into_iter().map(share).collect()
}

/// Returns the largest difference between the cumulative shares of two timelines. The shares are compared at
/// the ends of 64 equal intervals of the longer duration.
fn drift(a: &Timeline, of_a: Vec<f64>, b: &Timeline, of_b: Vec<f64>) -> f64 {
    let span = |timeline: &Timeline| timeline.start_s.len() as f64 * timeline.width_s;
    let duration = span(a).max(span(b));
    let [a, b] = [(a, of_a), (b, of_b)].map(|(timeline, amounts)| (timeline.width_s, cumulated(amounts)));
    let at = |(width_s, shares): &(f64, Vec<f64>), time_s: f64| {
        let (row, into) = ((time_s / width_s) as usize, time_s / width_s - libm::floor(time_s / width_s));
        let upto = |row: usize| if row == 0 { 0.0 } else { shares[(row - 1).min(shares.len() - 1)] };
        upto(row) + (upto(row + 1) - upto(row)) * into
    };
    let times = (1..=64).map(|part| duration * f64::from(part) / 64.0);
    times.map(|time_s| (at(&a, time_s) - at(&b, time_s)).abs()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::apart;

    #[test]
    fn curves_are_as_far_apart_as_where_they_are_farthest() {
        let a = (&[1.0, 2.0, 4.0][..], &[0.2, 0.5, 1.0][..]);
        assert_eq!(apart(a, a, 0.0), 0.0);
        assert_eq!(apart(a, (&[3.0], &[1.0]), 0.0), 0.5);
        assert_eq!(
            apart(a, (&[0.5], &[1.0]), 0.0),
            1.0,
            "before its first point a curve is at its beginning"
        );
    }
}
