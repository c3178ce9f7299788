//! Contents of the blocks after each step of a run.

use std::collections::BTreeMap;

/// Content of a block that the device reports as lost. This value is even, so it differs from all words
/// that a test writes, which are odd.
pub(super) const UNREAD: u64 = u64::MAX - 1;

/// Content of each block after each step that changed the block. A single word fills the whole block.
#[derive(Debug, Default)]
pub(super) struct History {
    blocks: BTreeMap<u64, Vec<(u64, u64)>>,
}

impl History {
    /// The blocks that any step has changed, in ascending order.
    pub(super) fn blocks(&self) -> Vec<u64> {
        self.blocks.keys().copied().collect()
    }

    /// Records that `block` contains `word` after `step`, and after later steps until its content changes
    /// again.
    pub(super) fn hold(&mut self, step: u64, block: u64, word: u64) {
        self.blocks.entry(block).or_default().push((step, word));
    }

    /// Drops all steps after the first `steps`, and sets the block contents to `found`. An unreadable block,
    /// e.g. after a disconnect, may have any content.
    pub(super) fn continue_after(&mut self, steps: u64, found: &[u64]) {
        for (versions, &word) in self.blocks.values_mut().zip(found) {
            versions.retain(|&(step, _)| step <= steps);
            if word == UNREAD {
                versions.push((steps, UNREAD));
            }
        }
    }

    /// Largest number of steps between `least` and `most` after which all blocks had the contents `found`.
    /// `None` if there is no such number.
    pub(super) fn steps_of(&self, found: &[u64], least: u64, most: u64) -> Option<u64> {
        (least..=most).rev().find(|&steps| {
            self.blocks.values().zip(found).all(|(versions, &found)| {
                let newest = versions.iter().rfind(|&&(step, _)| step <= steps);
                let word = newest.map_or(0, |&(_, word)| word);
                word == found || word == UNREAD || found == UNREAD
            })
        })
    }

    /// Finds a block whose content in `found` is wrong, i.e. the block had this content neither after `least`
    /// steps nor after any later step. Returns the block and this content.
    pub(super) fn stranger(&self, found: &[u64], least: u64) -> Option<(u64, u64)> {
        let is_known = |versions: &[(u64, u64)], word: u64| {
            let base = versions.iter().rfind(|&&(step, _)| step <= least).map_or(0, |&(_, word)| word);
            word == UNREAD
                || base == UNREAD
                || word == base
                || versions.iter().any(|&(step, known)| step > least && known == word)
        };
        let mut blocks = self.blocks.iter().zip(found);
        blocks
            .find(|((_, versions), word)| !is_known(versions, **word))
            .map(|((&block, _), &word)| (block, word))
    }
}
