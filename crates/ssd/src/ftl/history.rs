//! Write amplification over time, recorded in bounded memory.

use crate::counts::Programs;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Column, Time};

/// Maximum number of intervals. When it is exceeded, adjacent intervals are merged.
const SPANS_MAX: usize = 1024;

/// Numbers of units that were programmed up to the time `at`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
struct Sum {
    at: Time,
    host: u64,
    cleaned: u64,
}

/// Numbers of programmed units, recorded at intervals of a fixed number of host units.
#[derive(Clone, Debug, PartialEq, State)]
pub(crate) struct History {
    /// Numbers at the start of measurement.
    start: Sum,
    #[state(varies)]
    sums: Vec<Sum>,
    /// Most recent numbers, which may not belong to an interval yet.
    newest: Sum,
    /// Minimum number of host units in an interval.
    each: u64,
    /// Total number of host units at which the numbers are recorded next.
    next: u64,
}

impl History {
    /// Creates the history of a new drive, with intervals of at least `each` host units.
    pub(crate) fn new(each: u64) -> History {
        let start = Sum::default();
        History { start, sums: Vec::new(), newest: start, each, next: each }
    }

    /// Clears the history at the start of measurement.
    pub(crate) fn restart(&mut self, programs: &Programs) {
        self.start = Sum { at: self.newest.at, host: programs.host, cleaned: programs.cleaned };
        self.newest = self.start;
        self.sums.clear();
        self.next = programs.host + self.each;
    }

    /// Records the numbers of units programmed until `at`.
    #[inline]
    pub(crate) fn note(&mut self, at: Time, programs: &Programs) {
        self.newest = Sum { at: self.newest.at.max(at), host: programs.host, cleaned: programs.cleaned };
        if programs.host >= self.next {
            self.add();
        }
    }

    #[cold]
    fn add(&mut self) {
        self.sums.push(self.newest);
        if self.sums.len() > SPANS_MAX {
            self.each *= 2;
            self.sums = self.sums.iter().copied().skip(1).step_by(2).collect();
        }
        self.next = self.newest.host + self.each;
    }

    /// Returns columns with one row per interval: the end time since measurement started, the numbers of
    /// units programmed in the interval, and the write amplification.
    pub(crate) fn columns(&self) -> [Column; 4] {
        let last = self.sums.last().unwrap_or(&self.start);
        let rest = (self.newest.host > last.host).then_some(self.newest);
        let ends = || self.sums.iter().copied().chain(rest);
        let spans = || std::iter::once(self.start).chain(ends()).zip(ends());
        let host = |before: &Sum, sum: &Sum| (sum.host - before.host) as f64;
        let cleaned = |before: &Sum, sum: &Sum| (sum.cleaned - before.cleaned) as f64;
        let column = |name, value: &dyn Fn(&Sum, &Sum) -> f64| Column {
            name,
            values: spans().map(|(before, sum)| value(&before, &sum)).collect(),
        };
        let cost = |before: &Sum, sum: &Sum| match host(before, sum) {
            0.0 => f64::NAN,
            units => cleaned(before, sum) / units,
        };
        [
            column("cleaning.end_s", &|_, sum| sum.at.saturating_sub(self.start.at).as_secs_f64()),
            column("cleaning.host", &host),
            column("cleaning.cleaned", &cleaned),
            column("cleaning.cost", &cost),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(host: u64, cleaned: u64) -> Programs {
        Programs { host, cleaned, ..Programs::default() }
    }

    fn column<'a>(columns: &'a [Column], name: &str) -> &'a [f64] {
        &columns.iter().find(|column| column.name == name).unwrap().values
    }

    #[test]
    fn a_long_history_keeps_every_unit_in_few_spans() {
        let mut history = History::new(8);
        history.note(Time::from_s(5), &programs(100, 40));
        history.restart(&programs(100, 40));
        for second in 1..=10_001 {
            history.note(Time::from_s(5 + second), &programs(100 + 3 * second, 40 + 6 * second));
        }
        let columns = history.columns();
        assert!(column(&columns, "cleaning.end_s").len() <= SPANS_MAX + 1);
        assert_eq!(column(&columns, "cleaning.end_s").last(), Some(&10_001.0));
        assert_eq!(column(&columns, "cleaning.host").iter().sum::<f64>(), 30_003.0);
        assert_eq!(column(&columns, "cleaning.cleaned").iter().sum::<f64>(), 60_006.0);
        assert!(column(&columns, "cleaning.cost").iter().all(|&cost| cost == 2.0));
    }
}
