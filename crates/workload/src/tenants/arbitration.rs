//! Arbitration: whose request takes the next place among those under way.

use super::Priority;
use nacre_kernel::Time;
use nacre_kernel::state::State;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Places for requests under way, and whose turn it is.
#[derive(State)]
#[state(after = "Self::check_restored")]
pub(super) struct Arbitration {
    #[state(same)]
    places: u32,
    #[state(skip = "from the configuration")]
    priorities: Vec<Priority>,
    /// When the requests under way are done; no more than `places`.
    under_way: BinaryHeap<Reverse<Time>>,
    /// By tenant, the number of its last turn.
    turns: Vec<u64>,
    turn: u64,
    /// When the last request took its place.
    last: Time,
}

impl Arbitration {
    /// So many free places for tenants of these `priorities`.
    pub(super) fn new(places: u32, priorities: Vec<Priority>) -> Arbitration {
        let turns = vec![0; priorities.len()];
        Arbitration { places, priorities, under_way: BinaryHeap::new(), turns, turn: 0, last: Time::ZERO }
    }

    /// Which tenant's request takes the next place, when, and how long it waited for that. `dues` is when the next request of
    /// each tenant comes, if there is one. [`Arbitration::hold`] is to be called before the next one is chosen.
    pub(super) fn choose(&mut self, dues: &[Option<Time>]) -> Option<(usize, Time, Time)> {
        let first = dues.iter().flatten().min()?;
        let mut at = self.last.max(*first);
        if self.under_way.len() == self.places as usize
            && let Some(Reverse(free)) = self.under_way.pop()
        {
            at = at.max(free);
        }
        let waiting = dues.iter().enumerate().filter_map(|(tenant, due)| Some((tenant, (*due)?)));
        let chosen = waiting
            .filter(|&(_, due)| due <= at)
            .min_by_key(|&(tenant, _)| (self.priorities[tenant], self.turns[tenant], tenant));
        let (tenant, due) = chosen.expect("the first to come waits");
        self.turn += 1;
        self.turns[tenant] = self.turn;
        self.last = at;
        Some((tenant, at, at - due))
    }

    /// The request that was chosen last is done at `done`: until then it has its place.
    pub(super) fn hold(&mut self, done: Time) {
        self.under_way.push(Reverse(done));
    }

    fn check_restored(&mut self) -> Result<(), String> {
        match self.under_way.len() <= self.places as usize && self.turns.len() == self.priorities.len() {
            true => Ok(()),
            false => Err(format!("{} requests under way in {} places", self.under_way.len(), self.places)),
        }
    }
}
