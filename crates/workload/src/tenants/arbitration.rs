//! Arbitration: whose request takes the next place among those under way.

use super::{Priority, Weights};
use nacre_kernel::state::State;

/// Classes of priority.
const CLASSES: usize = Priority::Low as usize + 1;

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
    rounds: Option<Rounds>,
}

impl Arbitration {
    /// So many free places for tenants of these `priorities`.
    pub(super) fn new(places: u32, priorities: Vec<Priority>, weights: Option<Weights>) -> Arbitration {
        let turns = vec![0; priorities.len()];
        Arbitration { places, priorities, under_way: 0, turns, turn: 0, rounds: weights.map(Rounds::new) }
    }

    /// Whether a request may be issued.
    pub(super) fn has_place(&self) -> bool {
        self.under_way < self.places
    }

    /// Which of the tenants that have a request `waiting` takes a free place; none if nobody waits.
    pub(super) fn choose(&mut self, waiting: impl Iterator<Item = usize>) -> Option<usize> {
        // Of each class, the tenant whose turn is longest ago.
        let mut next: [Option<(u64, usize)>; CLASSES] = [None; CLASSES];
        for tenant in waiting {
            let of = &mut next[self.priorities[tenant] as usize];
            let candidate = (self.turns[tenant], tenant);
            *of = Some(of.map_or(candidate, |other| other.min(candidate)));
        }
        let first = next.iter().position(Option::is_some)?;
        let class = match &mut self.rounds {
            Some(rounds) if first != Priority::Urgent as usize => rounds.choose(next.map(|of| of.is_some())),
            _ => first,
        };
        let (_, chosen) = next[class].expect("one of this class waits");
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

/// Weighted round robin among the classes below urgent.
#[derive(State)]
struct Rounds {
    #[state(skip = "from the configuration")]
    weights: [u32; CLASSES],
    /// The class whose turn it is, and how many of its requests are left of it.
    class: u32,
    left: u32,
}

impl Rounds {
    fn new(Weights { high, medium, low }: Weights) -> Rounds {
        Rounds { weights: [0, high, medium, low], class: Priority::High as u32, left: high }
    }

    /// The class whose request takes the next place, if some class below urgent `waits`. A class of which none waits
    /// loses the rest of its turn.
    fn choose(&mut self, waits: [bool; CLASSES]) -> usize {
        if self.left == 0 || !waits[self.class as usize] {
            let behind = (self.class as usize + 1..CLASSES).chain(Priority::High as usize..CLASSES);
            let class = behind.into_iter().find(|&class| waits[class]).expect("a class waits");
            (self.class, self.left) = (class as u32, self.weights[class]);
        }
        self.left -= 1;
        self.class as usize
    }
}
