//! Searches that are performed in advance, to find the paths to the next keys.
//!
//! The structure does not change during a run, so the paths can be computed in advance. Many searches proceed
//! in parallel, one level at a time, so that their CPU cache misses overlap.

use super::method::{Method, SearchStep};
use nacre_kernel::Random;
use nacre_kernel::state::{State, Value};

/// Number of searches that proceed in parallel.
const AHEAD: usize = 64;

/// Random keys and the paths to them.
#[derive(Clone, Debug, State)]
pub(super) struct Searches {
    random: Random,
    #[state(same)]
    pairs: u64,
    keys: [u32; AHEAD],
    /// Pages of all paths. The first index is the depth, and the second is the number of the search.
    #[state(varies)]
    pages: Vec<[u32; AHEAD]>,
    /// Number of pages in each path.
    lengths: [usize; AHEAD],
    /// Position of the pair in the last page of each path.
    places: [usize; AHEAD],
    /// Index of the search for the next key.
    next: usize,
}

/// The path to one key.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct SearchPath {
    pub(super) pages: Vec<u32>,
    /// Position of the pair in the last page.
    pub(super) at: usize,
}

impl Searches {
    /// Creates searches for uniformly random keys below `pairs`.
    pub(super) fn new(pairs: u64, random: Random) -> Searches {
        let (keys, lengths, places) = ([0; AHEAD], [0; AHEAD], [0; AHEAD]);
        Searches { random, pairs, keys, pages: Vec::new(), lengths, places, next: AHEAD }
    }

    /// Writes to `way` the path to the next random key for which `is_free` returns `true`. Returns the key.
    #[inline]
    pub(super) fn next(
        &mut self,
        method: &impl Method,
        way: &mut SearchPath,
        is_free: impl Fn(u32) -> bool,
    ) -> u32 {
        loop {
            if self.next == AHEAD {
                self.search(method);
            }
            let search = self.next;
            self.next += 1;
            if is_free(self.keys[search]) {
                way.at = self.places[search];
                way.pages.clear();
                way.pages.extend(self.pages[..self.lengths[search]].iter().map(|level| level[search]));
                return self.keys[search];
            }
        }
    }

    fn search(&mut self, method: &impl Method) {
        for key in &mut self.keys {
            *key = self.random.below(self.pairs) as u32;
        }
        (self.next, self.lengths) = (0, [0; AHEAD]);
        let mut pages = [method.first(); AHEAD];
        let (mut under_way, mut level) = (AHEAD, 0);
        while under_way > 0 {
            if self.pages.len() == level {
                self.pages.push(pages);
            }
            self.pages[level] = pages;
            level += 1;
            for (search, page) in pages.iter_mut().enumerate() {
                if self.lengths[search] > 0 {
                    continue;
                }
                match method.step(*page, self.keys[search]) {
                    SearchStep::Go(next) => *page = next,
                    SearchStep::Found(at) => {
                        (self.lengths[search], self.places[search]) = (level, at);
                        under_way -= 1;
                    }
                    SearchStep::Missing => panic!("key {} was loaded", self.keys[search]),
                }
            }
        }
    }
}
