//! Interface of an access method: it finds and inserts pairs in pages.

use super::pages::Pages;
use nacre_kernel::state::State;

/// Next step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchStep {
    /// Continue at another page.
    Go(u32),
    /// The pair is at this position.
    Found(usize),
    /// There is no such key.
    Missing,
}

/// An access method over pages.
pub(super) trait Method: State + Send {
    /// The page at which every search starts.
    fn first(&self) -> u32;

    /// Searches `page`, the current page, for `key`.
    fn step(&self, page: u32, key: u32) -> SearchStep;

    /// Index of the page on the path to a pair that a transaction locks.
    fn lock_step(&self, way: &[u32]) -> usize;

    /// Inserts a pair, or replaces the value of an existing key.
    fn insert(&mut self, key: u32, value: u32);

    fn pages(&self) -> &Pages;

    fn pages_mut(&mut self) -> &mut Pages;

    /// Its size, as text.
    fn describe(&self) -> String;

    /// The page and position of `key`.
    fn find(&self, key: u32) -> Option<(u32, usize)> {
        let mut page = self.first();
        loop {
            match self.step(page, key) {
                SearchStep::Go(next) => page = next,
                SearchStep::Found(at) => return Some((page, at)),
                SearchStep::Missing => return None,
            }
        }
    }
}
