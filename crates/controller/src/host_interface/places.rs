//! A bound on how much is under way.

use nacre_kernel::Time;
use nacre_kernel::state::State;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Places, each taken by what is under way until its end. Unlike a pool's server, a place may be
/// taken before it is known for how long.
#[derive(Clone, Debug, State)]
#[state(after = "Places::check")]
pub(crate) struct Places {
    #[state(same)]
    places: usize,
    ends: BinaryHeap<Reverse<Time>>,
    /// Whether the first to end has given its place to what was just admitted.
    given: bool,
}

impl Places {
    pub(crate) fn new(places: u32) -> Places {
        Places { places: places as usize, ends: BinaryHeap::with_capacity(places as usize), given: false }
    }

    /// When what comes at `at`, after all that came before, gets a place.
    #[inline]
    pub(crate) fn admit(&mut self, at: Time) -> Time {
        if self.ends.len() < self.places {
            return at;
        }
        self.given = true;
        let Reverse(first) = self.ends.peek().expect("there is a place");
        at.max(*first)
    }

    /// Nothing is under way any more.
    pub(crate) fn clear(&mut self) {
        self.ends.clear();
        self.given = false;
    }

    fn check(&mut self) -> Result<(), String> {
        let count = self.ends.len();
        if count <= self.places { Ok(()) } else { Err(format!("{count} in {} places", self.places)) }
    }

    /// What was just admitted ends at `end`.
    #[inline]
    pub(crate) fn hold(&mut self, end: Time) {
        if self.given {
            // In the place of the one that was waited for: one way down the heap instead of two.
            *self.ends.peek_mut().expect("there is a place") = Reverse(end);
            self.given = false;
        } else if self.ends.len() < self.places {
            self.ends.push(Reverse(end));
        }
    }
}
