//! A store that outlives its device, as an image file does.

use nacre_media::store::{Memory, Store};
use std::sync::{Arc, Mutex, MutexGuard};

/// Bytes that several devices have, one after the other. Clones are the same bytes.
#[derive(Clone, Debug)]
pub struct Kept(Arc<Mutex<Memory>>);

impl Kept {
    /// Erased pages of so many bytes.
    pub fn new(page_bytes: usize) -> Kept {
        Kept(Arc::new(Mutex::new(Memory::new(page_bytes))))
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().expect("nobody panics with the lock")
    }
}

impl Store for Kept {
    const CARRIES_BYTES: bool = true;

    fn page_bytes(&self) -> usize {
        Store::page_bytes(&*self.memory())
    }

    fn read(&self, page: u64, offset: usize, into: &mut [u8]) {
        Store::read(&*self.memory(), page, offset, into);
    }

    fn program(&mut self, page: u64, bytes: &[u8]) {
        Store::program(&mut *self.memory(), page, bytes);
    }

    fn copy(&mut self, from: u64, to: u64) {
        Store::copy(&mut *self.memory(), from, to);
    }

    fn erase(&mut self, first: u64, count: u64) {
        Store::erase(&mut *self.memory(), first, count);
    }
}
