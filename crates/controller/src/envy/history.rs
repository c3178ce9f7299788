//! History of the cleaning cost, in bounded memory.

use nacre_kernel::state::{State, Value};
use nacre_kernel::{Column, Time};

/// Maximum number of points. If there are more, adjacent points are merged.
const POINTS_MAX: usize = 2048;

/// Number of cleanings, and the numbers of pages that they copied and reclaimed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) struct Cleanings {
    pub(super) count: u64,
    /// Number of valid pages copied.
    pub(super) copied: u64,
    /// Number of pages reclaimed for programming.
    pub(super) gained: u64,
}

impl Cleanings {
    /// The counts of one cleaning of a segment with `pages` pages and `copied` valid pages.
    pub(super) fn of(copied: u32, pages: u32) -> Cleanings {
        Cleanings { count: 1, copied: u64::from(copied), gained: u64::from(pages.saturating_sub(copied)) }
    }
}

/// The counts of all cleanings that ended after the previous point, and no later than `end`.
#[derive(Clone, Copy, Debug, PartialEq, Value)]
struct Point {
    end: Time,
    cleanings: Cleanings,
}

/// Time series of cleanings. To limit memory, adjacent points are merged.
#[derive(Clone, Debug, PartialEq, State)]
pub(super) struct History {
    #[state(varies)]
    points: Vec<Point>,
    /// Minimum number of cleanings per point. The last point may have fewer.
    each: u64,
}

impl History {
    pub(super) fn new() -> History {
        History { points: Vec::new(), each: 1 }
    }

    /// Records cleanings that ended at `end`, after all earlier ones.
    pub(super) fn record(&mut self, end: Time, cleanings: Cleanings) {
        match self.points.last_mut() {
            Some(last) if last.cleanings.count < self.each => join(last, Point { end, cleanings }),
            _ => self.points.push(Point { end, cleanings }),
        }
        if self.points.len() > POINTS_MAX {
            self.each *= 2;
            let halved = self.points.chunks(2).map(|pair| {
                let mut point = pair[0];
                pair[1..].iter().for_each(|&other| join(&mut point, other));
                point
            });
            self.points = halved.collect();
        }
    }

    /// Columns with one row per point: the end time of the point relative to `start`, and the counts of its
    /// cleanings.
    pub(super) fn columns(&self, start: Time) -> Vec<Column> {
        let column = |name, value: fn(&Cleanings) -> f64| Column {
            name,
            values: self.points.iter().map(|point| value(&point.cleanings)).collect(),
        };
        let ends = self.points.iter().map(|point| point.end.saturating_sub(start).as_secs_f64());
        vec![
            Column { name: "cleaning.end_s", values: ends.collect() },
            column("cleaning.copied", |cleanings| cleanings.copied as f64),
            column("cleaning.gained", |cleanings| cleanings.gained as f64),
            column(
                "cleaning.cost",
                |&Cleanings { copied, gained, .. }| {
                    if gained == 0 { f64::NAN } else { copied as f64 / gained as f64 }
                },
            ),
        ]
    }
}

fn join(point: &mut Point, other: Point) {
    let Cleanings { count, copied, gained } = other.cleanings;
    point.end = other.end;
    point.cleanings.count += count;
    point.cleanings.copied += copied;
    point.cleanings.gained += gained;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_history_keeps_every_page_in_few_points() {
        let mut history = History::new();
        for second in 1..=10_000 {
            history.record(Time::from_s(second), Cleanings::of(3, 8));
        }
        let columns = history.columns(Time::from_s(0));
        let values = |name: &str| &columns.iter().find(|column| column.name == name).unwrap().values;
        assert!(values("cleaning.end_s").len() <= POINTS_MAX);
        assert_eq!(values("cleaning.end_s").last(), Some(&10_000.0));
        assert_eq!(values("cleaning.copied").iter().sum::<f64>(), 30_000.0);
        assert_eq!(values("cleaning.gained").iter().sum::<f64>(), 50_000.0);
        assert!(values("cleaning.cost").iter().all(|&cost| cost == 0.6));
    }
}
