//! Steps of a run: random requests, like those of a program.

use super::{BLOCK, BLOCKS_MAX, ImageRun, LOCATIONS, read};
use crate::error::NotTaken;
use crate::step::Step;
use nacre_kernel::{Status, Streams};
use std::ops::Range;

impl ImageRun<'_> {
    /// Performs a random step. Returns an error if the device violates a guarantee.
    pub(super) fn any_step(&mut self) -> Result<(), String> {
        self.wrote = None;
        match self.random.below(12) {
            0 => {
                self.change(Step::Flush)?;
                self.device.sync().map_err(|error| error.to_string())?;
                // The mark of this sync is not synced yet.
                (self.marked, self.synced) = (self.synced, self.steps);
            }
            1 => {
                let blocks = self.range();
                let mut into = vec![0; ((blocks.end - blocks.start) * BLOCK) as usize];
                self.device.read(self.device.until(), blocks.start * BLOCK, &mut into);
            }
            2 if self.random.below(4) == 0 => {
                self.device.checkpoint().map_err(|error| format!("{error:?}"))?;
                (self.synced, self.marked) = (self.steps, self.steps);
                self.crashed.checkpoints += 1;
            }
            3 if !self.device.is_in_transaction() => self.trim()?,
            4 if !self.device.is_in_transaction() => self.zero()?,
            5 | 6 if self.device.device().capabilities().transactions => self.transact()?,
            _ => {
                let first = self.location();
                self.write(first)?;
            }
        }
        Ok(())
    }

    fn location(&mut self) -> u64 {
        let location = self.random.below(LOCATIONS.min(self.blocks));
        // Half of the blocks are at the end of the device.
        if location.is_multiple_of(2) { location } else { self.blocks - 1 - location }
    }

    fn range(&mut self) -> Range<u64> {
        let first = self.location();
        first..(first + 1 + self.random.below(BLOCKS_MAX)).min(self.blocks)
    }

    /// Performs `step` on the device. Returns `None` if its transaction does not have enough space. The step
    /// then has no effect.
    fn change(&mut self, step: Step<'_>) -> Result<Option<Status>, String> {
        match self.device.change(self.device.until(), step) {
            Ok(done) => Ok(Some(done.completion.status)),
            Err(NotTaken::Refused(_)) => Ok(None),
            Err(error) => Err(format!("{step:?}: {error:?}")),
        }
    }

    /// Writes blocks, starting at `first`. The number of the step determines the words, even if earlier steps
    /// were undone.
    pub(super) fn write(&mut self, first: u64) -> Result<(), String> {
        let count = (1 + self.random.below(BLOCKS_MAX)).min(self.blocks - first);
        let (mut bytes, mut words) = (Vec::new(), Vec::new());
        for block in first..first + count {
            let word = Streams::new(self.steps).stream(&format!("block {block}")).bits() | 1;
            words.push(word);
            bytes.extend(word.to_le_bytes().repeat(BLOCK as usize / 8));
        }
        match self.change(Step::Write { address: first * BLOCK, bytes: &bytes })? {
            None => return Ok(()),
            Some(Status::Done) => self.wrote = Some(first),
            // Reads show how much of the write a worn-out medium accepted.
            Some(_) => words = read(&mut self.device, &(first..first + count).collect::<Vec<_>>())?,
        }
        for (block, word) in (first..).zip(words) {
            self.history.hold(self.steps, block, word);
        }
        Ok(())
    }

    /// Trims blocks or resets a zone, and then reads the blocks. The device may choose their content, but
    /// must not change it later.
    fn trim(&mut self) -> Result<(), String> {
        let blocks = self.range();
        let bytes = ((blocks.end - blocks.start) * BLOCK) as u32;
        self.change(Step::Trim { address: blocks.start * BLOCK, bytes })?;
        self.crashed.trims += 1;
        self.hold_what_is_read(blocks)?;
        self.hold_all()
    }

    fn zero(&mut self) -> Result<(), String> {
        let blocks = self.range();
        let bytes = ((blocks.end - blocks.start) * BLOCK) as u32;
        self.crashed.trims += 1;
        match self.change(Step::Zero { address: blocks.start * BLOCK, bytes })? {
            Some(Status::Done) => {
                blocks.for_each(|block| self.history.hold(self.steps, block, 0));
                Ok(())
            }
            _ => self.hold_what_is_read(blocks),
        }
    }

    /// Begins a transaction, or commits or rolls back the open one. After a rollback, the history is updated
    /// from the blocks that are read.
    fn transact(&mut self) -> Result<(), String> {
        if !self.device.is_in_transaction() {
            return self.change(Step::Begin).map(drop);
        }
        self.crashed.transactions += 1;
        if self.random.chance(0.5) {
            return self.change(Step::Commit).map(drop);
        }
        self.change(Step::Abort)?;
        self.hold_all()
    }

    fn hold_all(&mut self) -> Result<(), String> {
        let blocks = self.history.blocks();
        blocks.into_iter().try_for_each(|block| self.hold_what_is_read(block..block + 1))
    }

    fn hold_what_is_read(&mut self, blocks: Range<u64>) -> Result<(), String> {
        let blocks: Vec<u64> = blocks.collect();
        for (block, word) in blocks.iter().copied().zip(read(&mut self.device, &blocks)?) {
            self.history.hold(self.steps, block, word);
        }
        Ok(())
    }
}
