//! Reports data loss to the host by failing flushes.

use crate::Time;
use crate::state::Value;

/// Data loss that failed flushes report to the host.
///
/// A loss is reported once. The first flush that ends after the loss fails. Every other flush that was
/// submitted before that instant and is outstanding also fails. Completions of different flushes can reach
/// the host in another order, and the host must not receive the success of a flush before the report. A flush
/// that a host submits in response to the report does not fail again, even at the same instant.
#[derive(Clone, Copy, Debug, Default, Value)]
pub struct LossReport {
    /// Whether data was lost that no flush has reported.
    is_due: bool,
    /// Time at which a flush reported the latest loss.
    reported: Option<Time>,
}

impl LossReport {
    /// Records a loss, which the next flush reports.
    pub fn lose(&mut self) {
        self.is_due = true;
    }

    /// Whether a flush that was submitted at `submitted` and ends at `now` fails because of a loss.
    pub fn fails_flush(&mut self, submitted: Time, now: Time) -> bool {
        if std::mem::take(&mut self.is_due) {
            self.reported = Some(now);
            return true;
        }
        self.reported.is_some_and(|reported| submitted < reported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_fails_the_flushes_that_are_outstanding_when_it_is_reported() {
        let at = Time::from_ps;
        let mut report = LossReport::default();
        assert!(!report.fails_flush(at(0), at(10)));
        report.lose();
        assert!(report.fails_flush(at(5), at(20)), "the first that ends");
        assert!(report.fails_flush(at(19), at(30)), "submitted before the report");
        assert!(!report.fails_flush(at(20), at(20)), "submitted in response to it, and ends at once");
        assert!(!report.fails_flush(at(50), at(60)));
        report.lose();
        assert!(report.fails_flush(at(70), at(70)), "a new loss, although the flush takes no time");
        assert!(!report.fails_flush(at(70), at(70)));
    }
}
