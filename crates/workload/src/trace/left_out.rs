//! Operations of a trace that are left out because a request cannot express them: counted by name.

use std::collections::BTreeMap;

/// The most different names that are counted apart.
const NAMES_MAX: usize = 32;
/// What all further ones are counted as.
const OTHERS: &str = "others";

/// How often each operation was left out.
#[derive(Debug, Default)]
pub(super) struct LeftOut(BTreeMap<String, u64>);

impl LeftOut {
    /// Counts one operation of this name.
    #[cold]
    pub(super) fn add(&mut self, name: String) {
        let is_full = self.0.len() >= NAMES_MAX && !self.0.contains_key(&name);
        *self.0.entry(if is_full { OTHERS.into() } else { name }).or_insert(0) += 1;
    }

    /// A line with the counts, if there are any: `what` are these operations, in the plural.
    pub(super) fn note(&self, what: &str) -> Option<String> {
        let total: u64 = self.0.values().sum();
        let each: Vec<_> = self.0.iter().map(|(name, count)| format!("{name} {count}")).collect();
        (total > 0).then(|| format!("{what}, left out: {total} ({})", each.join(", ")))
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
        assert!(note.starts_with("operations, left out: 74 (op00 38, op01 1, "), "{note}");
        assert!(note.contains("others 5"), "{note}");
    }
}
