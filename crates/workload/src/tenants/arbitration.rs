//! Arbitration: whose request takes the next place among those under way.

use super::Priority;
use nacre_kernel::state::State;

/// Places for requests under way, and whose turn it is.
#[derive(State)]
#[state(after = "Self::check_restored")]
pub(super) struct Arbitration {
    #[state(same)]
    places: u32,
    #[state(skip = "from the configuration")]
    priorities: Vec<Priority>,
    /// Requests under way; no more than `places`.
    under_way: u32,
    /// By tenant, the number of its last turn.
    turns: Vec<u64>,
    turn: u64,
}

impl Arbitration {
    /// So many free places for tenants of these `priorities`.
    pub(super) fn new(places: u32, priorities: Vec<Priority>) -> Arbitration {
        let turns = vec![0; priorities.len()];
        Arbitration { places, priorities, under_way: 0, turns, turn: 0 }
    }

    /// Whether a request may be issued.
    pub(super) fn has_place(&self) -> bool {
        self.under_way < self.places
    }

    /// Which of the tenants that have a request `waiting` takes a free place; none if nobody waits.
    pub(super) fn choose(&mut self, waiting: impl Iterator<Item = usize>) -> Option<usize> {
        let chosen = waiting.min_by_key(|&tenant| (self.priorities[tenant], self.turns[tenant], tenant))?;
        self.turn += 1;
        self.turns[chosen] = self.turn;
        self.under_way += 1;
        Some(chosen)
    }

    /// A request completed: its place is free.
    pub(super) fn free(&mut self) {
        self.under_way -= 1;
    }

    fn check_restored(&mut self) -> Result<(), String> {
        match self.under_way <= self.places && self.turns.len() == self.priorities.len() {
            true => Ok(()),
            false => Err(format!("{} requests under way in {} places", self.under_way, self.places)),
        }
    }
}
