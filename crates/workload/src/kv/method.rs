//! Interface of an access method, which finds and inserts pairs in pages.

use super::pages::Pages;
use nacre_kernel::state::State;

/// Next step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchStep {
    /// Continue at this page.
    Go(u32),
    /// The pair is at this position.
    Found(usize),
    /// The key does not exist.
    Missing,
}

/// An access method that stores pairs in pages.
pub(super) trait Method: State + Send {
    /// Page at which every search starts.
    fn first(&self) -> u32;

    /// Searches `page` for `key`, as one step of a search.
    fn step(&self, page: u32, key: u32) -> SearchStep;

    /// Index, in the path `way` to a pair, of the page that a transaction locks.
    fn lock_step(&self, way: &[u32]) -> usize;

    /// Inserts a pair, or replaces the value of an existing key.
    fn insert(&mut self, key: u32, value: u32);

    fn pages(&self) -> &Pages;

    fn pages_mut(&mut self) -> &mut Pages;

    /// Size of the structure, as text.
    fn describe(&self) -> String;

    /// Page number and position of `key`. `None` if the key does not exist.
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
