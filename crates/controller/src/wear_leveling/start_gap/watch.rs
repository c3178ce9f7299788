//! Detects the most-written rows of a domain, using little memory.

use nacre_kernel::state::State;

/// Counters of the most-written rows in one window (Misra and Gries 1982). Every row with more than `1 /
/// (counters + 1)` of the writes has a counter. The count is too low by at most this share of the writes.
#[derive(Clone, Debug, State)]
pub(super) struct Watch {
    rows: Vec<u64>,
    counts: Vec<u64>,
    /// Number of writes in this window.
    seen: u64,
}

impl Watch {
    pub(super) fn new(counters: u32) -> Watch {
        let counters = counters as usize;
        Watch { rows: vec![0; counters], counts: vec![0; counters], seen: 0 }
    }

    /// Number of writes in this window so far.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    /// Records `times` writes to `row`.
    #[inline]
    pub(super) fn note(&mut self, row: u64, times: u64) {
        self.seen += times;
        let of_row =
            self.rows.iter().zip(&self.counts).position(|(&known, &count)| known == row && count > 0);
        if let Some(place) = of_row.or_else(|| self.counts.iter().position(|&count| count == 0)) {
            self.rows[place] = row;
            self.counts[place] += times;
            return;
        }
        let least = self.counts.iter().copied().min().unwrap_or(0).min(times);
        self.counts.iter_mut().for_each(|count| *count -= least);
        if times > least {
            // At least one counter is free now.
            let free = self.counts.iter().position(|&count| count == 0).expect("the least was taken away");
            (self.rows[free], self.counts[free]) = (row, times - least);
        }
    }

    /// Ends the window. Returns a lower bound for the share of this window's writes that went to the
    /// most-written row.
    pub(super) fn close(&mut self) -> f64 {
        let most = self.counts.iter().copied().max().unwrap_or(0);
        let share = if self.seen == 0 { 0.0 } else { most as f64 / self.seen as f64 };
        self.counts.fill(0);
        self.seen = 0;
        share
    }
}
