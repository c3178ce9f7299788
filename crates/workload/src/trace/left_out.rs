//! Operations of a trace that Nacre skips because requests cannot express them, counted by name.

use std::collections::BTreeMap;

/// Maximum number of different names.
const NAMES_MAX: usize = 32;
/// Name under which operations with further names are counted, once there are [`NAMES_MAX`] names.
const OTHERS: &str = "others";

/// Number of skipped operations for each name.
#[derive(Debug, Default)]
pub(super) struct LeftOut(BTreeMap<String, u64>);

impl LeftOut {
    /// Counts one operation with this name.
    #[cold]
    pub(super) fn add(&mut self, name: String) {
        let is_full = self.0.len() >= NAMES_MAX && !self.0.contains_key(&name);
        *self.0.entry(if is_full { OTHERS.into() } else { name }).or_insert(0) += 1;
    }

    /// Returns a note with the counts. `None` if no operation was skipped. `what` is the plural noun for the
    /// operations.
    pub(super) fn note(&self, what: &str) -> Option<String> {
        let total: u64 = self.0.values().sum();
        let each: Vec<_> = self.0.iter().map(|(name, count)| format!("{name} {count}")).collect();
        (total > 0).then(|| format!("{what}, skipped: {total} ({})", each.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_past_the_bound_are_counted_together() {
        let mut left = LeftOut::default();
        assert_eq!(left.note("operations"), None);
        for name in 0..NAMES_MAX + 5 {
            left.add(format!("op{name:02}"));
            left.add("op00".into());
        }
        let note = left.note("operations").expect("some were left out");
        assert!(note.starts_with("operations, skipped: 74 (op00 38, op01 1, "), "{note}");
        assert!(note.contains("others 5"), "{note}");
    }
}
