//! Locks: a transaction holds the pages of its two pairs until it has ended.

use super::pages::NONE;
use nacre_kernel::state::State;
use std::collections::VecDeque;

/// Exclusive locks of pages, granted in the order in which they were asked for.
#[derive(Clone, Debug, State)]
pub(super) struct Locks {
    /// Who holds each page, or `NONE`.
    holders: Vec<u32>,
    /// Pages and who waits for them.
    waiting: VecDeque<(u32, u32)>,
}

impl Locks {
    /// All of `pages` are free.
    pub(super) fn new(pages: u32) -> Locks {
        Locks { holders: vec![NONE; pages as usize], waiting: VecDeque::new() }
    }

    /// Whether `client` holds `page` from now on or did so before; if not, it waits for it.
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

    /// `client` needs `page` no more; returns who has it now and may continue.
    #[inline]
    pub(super) fn release(&mut self, page: u32, client: u32) -> Option<u32> {
        let holder = &mut self.holders[page as usize];
        if *holder != client {
            // Both pairs are on one page, which was released before.
            return None;
        }
        *holder = NONE;
        let place = self.waiting.iter().position(|&(wanted, _)| wanted == page)?;
        let (_, next) = self.waiting.remove(place).expect("it was found");
        self.holders[page as usize] = next;
        Some(next)
    }
}
