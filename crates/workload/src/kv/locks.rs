//! Locks. A transaction locks the pages of its two pairs until the transaction ends.

use super::pages::NONE;
use nacre_kernel::state::State;
use std::collections::VecDeque;

/// Exclusive page locks, granted in FIFO order.
#[derive(Clone, Debug, State)]
pub(super) struct Locks {
    /// Client that holds the lock of each page, or `NONE`.
    holders: Vec<u32>,
    /// Lock requests that wait, in FIFO order: the page, and the client that waits for its lock.
    waiting: VecDeque<(u32, u32)>,
}

impl Locks {
    /// Creates locks for `pages` pages. No client holds a lock.
    pub(super) fn new(pages: u32) -> Locks {
        Locks { holders: vec![NONE; pages as usize], waiting: VecDeque::new() }
    }

    /// Requests the lock of `page` for `client`. Returns whether the lock was granted. If not, the client
    /// waits.
    #[inline]
    pub(super) fn take(&mut self, page: u32, client: u32) -> bool {
        let holder = &mut self.holders[page as usize];
        if *holder == NONE {
            *holder = client;
        } else if *holder != client {
            self.waiting.push_back((page, client));
            return false;
        }
        true
    }

    /// Releases the lock of `page` if `client` holds it. Returns the client that receives the lock and may
    /// continue, if any.
    #[inline]
    pub(super) fn release(&mut self, page: u32, client: u32) -> Option<u32> {
        let holder = &mut self.holders[page as usize];
        if *holder != client {
            // Both pairs are on the same page, which was already released.
            return None;
        }
        *holder = NONE;
        let place = self.waiting.iter().position(|&(wanted, _)| wanted == page)?;
        let (_, next) = self.waiting.remove(place).expect("it was found");
        self.holders[page as usize] = next;
        Some(next)
    }
}
