//! Steps of a run, i.e. requests of a program.

use super::{BLOCK, BLOCKS_MAX, Life, PLACES, read};
use crate::error::NotTaken;
use crate::step::Step;
use nacre_kernel::{Status, Streams};
use std::ops::Range;

impl Life<'_> {
    /// Performs a random step. Returns an error if the device violates a guarantee.
    pub(super) fn any_step(&mut self) -> Result<(), String> {
        self.wrote = None;
        match self.random.below(12) {
            0 => {
                self.change(Step::Flush)?;
                self.kept.sync().map_err(|error| error.to_string())?;
                // The mark that this sync wrote is not synced yet.
                (self.marked, self.synced) = (self.synced, self.steps);
            }
            1 => {
                let blocks = self.range();
                let mut into = vec![0; ((blocks.end - blocks.start) * BLOCK) as usize];
                self.kept.read(self.kept.until(), blocks.start * BLOCK, &mut into);
            }
            2 if self.random.below(4) == 0 => {
                self.kept.checkpoint().map_err(|error| format!("{error:?}"))?;
                (self.synced, self.marked) = (self.steps, self.steps);
                self.crashed.checkpoints += 1;
            }
            3 if !self.kept.is_in_transaction() => self.trim()?,
            4 if !self.kept.is_in_transaction() => self.zero()?,
            5 | 6 if self.kept.device().capabilities().transactions => self.transact()?,
            _ => {
                let first = self.place();
                self.write(first)?;
            }
        }
        Ok(())
    }

    fn place(&mut self) -> u64 {
        let place = self.random.below(PLACES.min(self.blocks));
        // Half of the blocks are at the end of the device.
        if place.is_multiple_of(2) { place } else { self.blocks - 1 - place }
    }

    fn range(&mut self) -> Range<u64> {
        let first = self.place();
        first..(first + 1 + self.random.below(BLOCKS_MAX)).min(self.blocks)
    }

    /// Performs `step` on the device. Returns `None` if its transaction does not have enough space. The step
    /// then has no effect.
    fn change(&mut self, step: Step<'_>) -> Result<Option<Status>, String> {
        match self.kept.change(self.kept.until(), step) {
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
            Some(_) => words = read(&mut self.kept, &(first..first + count).collect::<Vec<_>>())?,
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

    /// Begins a transaction, or ends the open one. After a rollback, the blocks are read.
    fn transact(&mut self) -> Result<(), String> {
        if !self.kept.is_in_transaction() {
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
        for (block, word) in blocks.iter().copied().zip(read(&mut self.kept, &blocks)?) {
            self.history.hold(self.steps, block, word);
        }
        Ok(())
    }
}
