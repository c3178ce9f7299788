//! What an access method does: it finds and places pairs on pages.

use super::pages::Pages;
use nacre_kernel::state::State;

/// How a search continues from a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// On another page.
    Go(u32),
    /// It is over: the pair is in this place.
    Found(usize),
    /// It is over: there is no such key.
    Missing,
}

/// An access method over pages.
pub(super) trait Method: State + Send {
    /// The page where every search begins.
    fn first(&self) -> u32;

    /// Looks for `key` on `page`, to which the search has come.
    fn step(&self, page: u32, key: u32) -> Step;

    /// Which of the pages on the way to a pair a transaction locks.
    fn lock_step(&self, way: &[u32]) -> usize;

    /// Puts a pair in, or replaces the value of a key that is there.
    fn insert(&mut self, key: u32, value: u32);

    fn pages(&self) -> &Pages;

    fn pages_mut(&mut self) -> &mut Pages;

    /// Its size, in words.
    fn describe(&self) -> String;

    /// The page and place of `key`.
    fn find(&self, key: u32) -> Option<(u32, usize)> {
        let mut page = self.first();
        loop {
            match self.step(page, key) {
                Step::Go(next) => page = next,
                Step::Found(at) => return Some((page, at)),
                Step::Missing => return None,
            }
        }
    }
}
