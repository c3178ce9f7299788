//! Transactions: the old version of a page is preserved until the commit.
//!
//! The versions written by an open transaction stay in the write buffer. The previous version, the
//! *shadow*, stays at its location. Cleaning moves a shadow in flash like a valid page. A shadow in the
//! buffer keeps its slot (wu-1994, section 6). A changed page therefore takes one slot of the buffer if its
//! shadow is in flash, and two slots if its shadow is in the buffer.
//!
//! A transaction starts and ends only while no request is outstanding; the caller first waits for all
//! requests.

use super::model::Envy;
use super::page_table::Location;
use super::write_buffer::SlotState;
use nacre_kernel::{Completion, Op, Refused, Status, Time, Transactions};
use nacre_media::store::Store;
use std::collections::BTreeSet;

impl<S: Store> Envy<S> {
    /// Maximum number of buffer slots for the versions and shadows of a transaction, i.e. half of all slots.
    /// The other half remains available for draining.
    fn slots_for_transaction(&self) -> u32 {
        self.buffer.capacity() / 2
    }

    /// Opens a transaction.
    pub(super) fn open_transaction(&mut self) -> Result<(), Refused> {
        if self.is_transaction_open() {
            return Err(Refused::TransactionOpen);
        }
        self.writable = SlotState::Uncommitted;
        Ok(())
    }

    /// Whether a transaction is open.
    pub(super) fn is_transaction_open(&self) -> bool {
        self.writable == SlotState::Uncommitted
    }

    /// Rejects a write of pages `first..=last` if the open transaction does not have enough space for it in
    /// addition to pending writes.
    pub(super) fn check_transaction(&self, first: u64, last: u64) -> Result<(), Refused> {
        if !self.is_transaction_open() {
            return Ok(());
        }
        let writes = self.visits.iter().map(|visit| &visit.request);
        let writes = writes.filter(|request| request.op == Op::Write && request.bytes > 0);
        let waiting = writes.flat_map(|request| {
            let last = request.address + u64::from(request.bytes) - 1;
            request.address >> self.page_shift..=last >> self.page_shift
        });
        let pages: BTreeSet<u64> = waiting.chain(first..=last).collect();
        let taken = self.buffer.count(SlotState::Uncommitted) + self.buffer.count(SlotState::Shadow);
        let limit = self.slots_for_transaction();
        let mut left = limit.saturating_sub(taken);
        for lpn in pages {
            let needed = match self.array.table.get(lpn as u32) {
                Location::Buffer(slot) => match self.buffer.slot(slot).state {
                    SlotState::Uncommitted => 0,
                    _ => 2,
                },
                Location::Flash(_) | Location::Nowhere => 1,
            };
            let enough = left.checked_sub(needed);
            left = enough.ok_or(Refused::TransactionTooLarge { pages: u64::from(limit / 2) })?;
        }
        Ok(())
    }

    /// Keeps the version of `lpn` at `old` as a shadow of the open transaction.
    pub(super) fn keep_shadow(&mut self, lpn: u32, old: Location) {
        if let Location::Buffer(slot) = old {
            let state = match self.buffer.slot(slot).state {
                SlotState::Dirty => SlotState::Shadow,
                SlotState::Draining => SlotState::Superseded,
                state => unreachable!("the current version of page {lpn} is {state:?}"),
            };
            self.buffer.set_state(slot, state);
        }
        let before = self.array.shadows.insert(lpn, old);
        assert!(before.is_none(), "page {lpn} has one shadow");
    }

    /// Commits the new versions. Returns the number of changed pages.
    pub(super) fn commit_transaction(&mut self) -> Result<u64, Refused> {
        let shadows = self.close_transaction()?;
        let pages = shadows.len() as u64;
        for (lpn, old) in shadows {
            self.buffer.set_state(self.version(lpn), SlotState::Dirty);
            match old {
                Location::Nowhere => {}
                Location::Flash(page) => self.array.invalidate(page),
                // A slot being programmed into flash is already superseded.
                Location::Buffer(slot) if self.buffer.slot(slot).state == SlotState::Superseded => {}
                Location::Buffer(slot) => self.buffer.release(slot),
            }
        }
        Ok(pages)
    }

    /// Restores the old versions. Returns the number of pages that the transaction had changed.
    pub(super) fn roll_back(&mut self) -> Result<u64, Refused> {
        let shadows = self.close_transaction()?;
        let pages = shadows.len() as u64;
        for (lpn, old) in shadows {
            let version = self.version(lpn);
            self.array.table.set(lpn, old);
            if let Location::Buffer(slot) = old {
                let state = match self.buffer.slot(slot).state {
                    SlotState::Superseded => SlotState::Draining,
                    _ => SlotState::Dirty,
                };
                self.buffer.set_state(slot, state);
            }
            self.buffer.release(version);
        }
        Ok(pages)
    }

    fn close_transaction(&mut self) -> Result<Vec<(u32, Location)>, Refused> {
        if !self.is_transaction_open() {
            return Err(Refused::NoTransaction);
        }
        self.writable = SlotState::Dirty;
        Ok(std::mem::take(&mut self.array.shadows).into_iter().collect())
    }

    /// Buffer slot with the version of `lpn` that the transaction wrote.
    fn version(&self, lpn: u32) -> u32 {
        match self.array.table.get(lpn) {
            Location::Buffer(slot) => slot,
            other => unreachable!("what a transaction wrote is in the buffer, not {other:?}"),
        }
    }
}

impl<S: Store> Envy<S> {
    fn check_rest(&self) {
        self.check_power();
        assert!(self.visits.is_empty(), "requests are outstanding while a transaction begins or ends");
    }

    /// Charges one SRAM access for each of `pages` pages. Returns the completion of these accesses.
    fn touch(&mut self, now: Time, pages: u64) -> Completion {
        let done = self.free_at.max(now) + Time::from_ps(self.config.access.as_ps() * pages);
        (self.free_at, self.worked_until) = (done, done);
        Completion { done, status: Status::Done }
    }
}

impl<S: Store> Transactions for Envy<S> {
    fn begin(&mut self, now: Time) -> Result<Completion, Refused> {
        self.check_rest();
        self.open_transaction()?;
        Ok(self.touch(now, 1))
    }

    fn commit(&mut self, now: Time) -> Result<Completion, Refused> {
        self.check_rest();
        self.work_until(now);
        let pages = self.commit_transaction()?;
        Ok(self.touch(now, pages + 1))
    }

    fn abort(&mut self, now: Time) -> Result<Completion, Refused> {
        self.check_rest();
        self.work_until(now);
        let pages = self.roll_back()?;
        Ok(self.touch(now, pages + 1))
    }

    fn is_open(&self) -> bool {
        self.is_transaction_open()
    }

    fn check(&self, address: u64, bytes: u64) -> Result<(), Refused> {
        match bytes {
            0 => Ok(()),
            _ => self.check_transaction(address >> self.page_shift, (address + bytes - 1) >> self.page_shift),
        }
    }
}
