//! Stores of the media of a stack. They outlive their device, can return to an earlier state, and inject
//! faults.

use crate::fault::InjectedFault;
use crate::medium_faults::{MediumFaults, torn};
use nacre_media::store::{Layout, Memory, Store};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The stores of a stack in the order in which its devices request them. Clones share their data.
#[derive(Clone, Debug, Default)]
pub struct Media(Arc<Mutex<Stores>>);

#[derive(Debug, Default)]
struct Stores {
    stores: Vec<SharedStore>,
    /// Number of stores that were returned.
    given: usize,
    fault: Option<InjectedFault>,
}

impl Media {
    /// Creates media without stores.
    pub fn new() -> Media {
        Media::default()
    }

    /// Returns the next store, with this `layout`.
    pub fn store(&self, layout: Layout) -> SharedStore {
        let mut stores = self.stores();
        if stores.given == stores.stores.len() {
            let store = SharedStore::new(layout.page_bytes as usize);
            store.inner().faulty = stores.fault.map(MediumFaults::new);
            stores.stores.push(store);
        }
        stores.given += 1;
        stores.stores[stores.given - 1].clone()
    }

    /// Makes the next build of the stack reuse the stores of the previous build, as if another process opened
    /// the same image.
    pub fn again(&self) {
        self.stores().given = 0;
    }

    /// Injects this fault into the operations of all stores. With `None`, later operations are not
    /// affected.
    pub fn inject(&self, fault: Option<InjectedFault>) {
        let mut stores = self.stores();
        stores.fault = fault;
        stores.stores.iter().for_each(|store| store.inner().faulty = fault.map(MediumFaults::new));
    }

    /// Number of injected faults, including faults in operations that were rolled back.
    pub fn injected(&self) -> u64 {
        self.stores().stores.iter().map(|store| store.inner().injected).sum()
    }

    /// Sets a mark. The stores log every later change so that it can be undone.
    pub fn mark(&self) {
        for store in &self.stores().stores {
            let mut inner = store.inner();
            let before = inner.faulty.clone();
            inner.undo = Some(Undo { before, ..Undo::default() });
        }
    }

    /// Restores all data to the state at the mark. The mark remains set.
    pub fn roll_back(&self) {
        self.stores().stores.iter().for_each(|store| store.inner().roll_back());
    }

    /// Discards the mark and keeps the changes since then.
    pub fn forget_mark(&self) {
        self.stores().stores.iter().for_each(|store| store.inner().undo = None);
    }

    fn stores(&self) -> MutexGuard<'_, Stores> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A store that outlives its device, like an image file. Clones share their data.
#[derive(Clone, Debug)]
pub struct SharedStore(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    memory: Memory,
    undo: Option<Undo>,
    faulty: Option<MediumFaults>,
    injected: u64,
}

/// Earlier state of the pages that were changed since the mark, in the order of the changes.
#[derive(Debug, Default)]
struct Undo {
    /// For each change, the number of the page, and whether the page was programmed before.
    pages: Vec<(u64, bool)>,
    /// Concatenated earlier data of the pages that were programmed before their change.
    bytes: Vec<u8>,
    before: Option<MediumFaults>,
}

impl Inner {
    fn remember(&mut self, page: u64) {
        let Some(undo) = &mut self.undo else { return };
        let old = self.memory.programmed(page);
        undo.pages.push((page, old.is_some()));
        undo.bytes.extend_from_slice(old.unwrap_or_default());
    }

    fn roll_back(&mut self) {
        let Some(undo) = &mut self.undo else { return };
        let page_bytes = Store::page_bytes(&self.memory);
        while let Some((page, was_programmed)) = undo.pages.pop() {
            if was_programmed {
                let start = undo.bytes.len() - page_bytes;
                Store::program(&mut self.memory, page, &undo.bytes[start..]);
                undo.bytes.truncate(start);
            } else {
                Store::erase(&mut self.memory, page, 1);
            }
        }
        self.faulty.clone_from(&undo.before);
    }

    /// Calls `work` with the faults of the store, if any, and counts the operations that they affect.
    fn struck<T>(&mut self, work: impl FnOnce(&mut MediumFaults) -> T) -> Option<T> {
        let faulty = self.faulty.as_mut()?;
        let before = faulty.struck();
        let result = work(faulty);
        self.injected += faulty.struck() - before;
        Some(result)
    }

    /// Page that a program of `page` actually changes; `None` if it changes none.
    fn target(&mut self, page: u64) -> Option<u64> {
        self.struck(|faulty| faulty.target(page)).unwrap_or(Some(page))
    }

    fn program(&mut self, page: u64, bytes: &[u8]) {
        let Some(target) = self.target(page) else { return };
        self.remember(target);
        if self.struck(|faulty| faulty.tears(page)) == Some(true) {
            let torn = torn(&self.memory, target, bytes);
            Store::program(&mut self.memory, target, &torn);
        } else {
            Store::program(&mut self.memory, target, bytes);
        }
    }
}

impl SharedStore {
    /// Creates a store of erased pages of `page_bytes`.
    pub fn new(page_bytes: usize) -> SharedStore {
        SharedStore(Arc::new(Mutex::new(Inner {
            memory: Memory::new(page_bytes),
            undo: None,
            faulty: None,
            injected: 0,
        })))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for SharedStore {
    const CARRIES_BYTES: bool = true;

    fn page_bytes(&self) -> usize {
        Store::page_bytes(&self.inner().memory)
    }

    fn read(&self, page: u64, offset: usize, into: &mut [u8]) -> bool {
        let mut inner = self.inner();
        let is_programmed = Store::read(&inner.memory, page, offset, into);
        if !into.is_empty() && inner.struck(|faulty| faulty.rots(page)) == Some(true) {
            into[0] ^= 1;
        }
        is_programmed
    }

    fn program(&mut self, page: u64, bytes: &[u8]) {
        self.inner().program(page, bytes);
    }

    fn copy(&mut self, from: u64, to: u64) {
        let mut inner = self.inner();
        if let Some(target) = inner.target(to) {
            inner.remember(target);
            Store::copy(&mut inner.memory, from, target);
        }
    }

    fn erase(&mut self, first: u64, count: u64) {
        let mut inner = self.inner();
        if inner.undo.is_some() {
            (first..first + count).for_each(|page| inner.remember(page));
        }
        Store::erase(&mut inner.memory, first, count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_since_a_mark_goes_back() {
        let media = Media::new();
        let layout = Layout { page_bytes: 16, pages_per_extent: 4, pages: 64 };
        let mut store = media.store(layout);
        Store::program(&mut store, 3, &[3; 16]);
        media.mark();
        for _ in 0..2 {
            Store::program(&mut store, 3, &[4; 16]);
            Store::copy(&mut store, 3, 9);
            Store::erase(&mut store, 0, 8);
            Store::program(&mut store, 3, &[5; 16]);
            media.roll_back();
            let mut found = [0; 16];
            Store::read(&store, 3, 0, &mut found);
            assert_eq!(found, [3; 16]);
            Store::read(&store, 9, 0, &mut found);
            assert_eq!(found, [0xFF; 16]);
        }
    }
}
