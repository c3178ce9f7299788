//! What cleaning cost over time, in bounded memory.

use nacre_kernel::{Column, Time};

/// Points kept; when there are more, every other one is dropped.
const POINTS_MAX: usize = 2048;

/// Totals at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    end: Time,
    drained: u64,
    cleaned: u64,
}

/// Totals after cleanings, evenly thinned out.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct History {
    points: Vec<Point>,
    /// Of so many cleanings one is kept.
    every: u64,
    cleanings: u64,
}

impl History {
    pub(super) fn new() -> History {
        History { points: Vec::new(), every: 1, cleanings: 0 }
    }

    /// A cleaning ended at `end`, when so many pages had been drained and cleaned.
    pub(super) fn record(&mut self, end: Time, drained: u64, cleaned: u64) {
        self.cleanings += 1;
        if !self.cleanings.is_multiple_of(self.every) {
            return;
        }
        self.points.push(Point { end, drained, cleaned });
        if self.points.len() > POINTS_MAX {
            let mut index = 0;
            self.points.retain(|_| {
                index += 1;
                index % 2 == 0
            });
            self.every *= 2;
        }
    }

    /// One row for each span between two kept cleanings, from `start` on.
    pub(super) fn columns(&self, start: Time) -> Vec<Column> {
        let mut before = Point { end: start, drained: 0, cleaned: 0 };
        let (mut ends, mut drained, mut cleaned, mut costs) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for &point in &self.points {
            let pages = (point.drained - before.drained) as f64;
            let copies = (point.cleaned - before.cleaned) as f64;
            ends.push((point.end.saturating_sub(start)).as_secs_f64());
            drained.push(pages);
            cleaned.push(copies);
            // 0 / 0 is NaN: nothing was drained in that span.
            costs.push(copies / pages);
            before = point;
        }
        vec![
            Column { name: "cleaning.end_s", values: ends },
            Column { name: "cleaning.drained", values: drained },
            Column { name: "cleaning.copied", values: cleaned },
            Column { name: "cleaning.cost", values: costs },
        ]
    }
}
