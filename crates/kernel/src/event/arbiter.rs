//! Arbitration: which of several queues gets a free slot.

use crate::state::State;

/// Number of priority classes of queues, in order: urgent, high, medium, and low in NVMe.
const CLASSES: usize = 4;
/// The class that goes first even with weights.
const URGENT: usize = 0;

/// Assigns slots for requests in progress to queues.
///
/// A free slot goes to the first class with a waiting request, and there to the queue whose last turn is
/// longest ago. With weights, only class 0 goes before the others, which take turns: in its turn, a class
/// gets as many slots as its weight.
#[derive(Clone, Debug, State)]
#[state(after = "Self::check_restored")]
pub struct Arbiter {
    #[state(same)]
    slots: u32,
    /// Requests in progress; no more than `slots`.
    in_progress: u32,
    /// By queue, the number of its last turn.
    #[state(varies)]
    turns: Vec<u64>,
    turn: u64,
    rounds: Option<Rounds>,
}

impl Arbiter {
    /// An arbiter with `slots` free slots. `weights` are for classes 1 to 3; without them, a lower class
    /// always goes first.
    pub fn new(slots: u32, weights: Option<[u32; CLASSES - 1]>) -> Arbiter {
        Arbiter { slots, in_progress: 0, turns: Vec::new(), turn: 0, rounds: weights.map(Rounds::new) }
    }

    /// Whether a request may be taken.
    #[inline]
    pub fn has_slot(&self) -> bool {
        self.in_progress < self.slots
    }

    /// The queue that takes a free slot. `waiting` has the queues with a waiting request, each with its class
    /// (0 to 3). `None` if there are none.
    pub fn choose(&mut self, waiting: impl Iterator<Item = (usize, usize)>) -> Option<usize> {
        debug_assert!(self.has_slot(), "no slot is free");
        // For each class, the queue whose last turn is longest ago.
        let mut next: [Option<(u64, usize)>; CLASSES] = [None; CLASSES];
        for (queue, class) in waiting {
            let candidate = (self.turns.get(queue).copied().unwrap_or(0), queue);
            let of = &mut next[class];
            *of = Some(of.map_or(candidate, |other| other.min(candidate)));
        }
        let first = next.iter().position(Option::is_some)?;
        let class = match &mut self.rounds {
            Some(rounds) if first != URGENT => rounds.choose(next.map(|of| of.is_some())),
            _ => first,
        };
        let (_, chosen) = next[class].expect("a queue of this class waits");
        self.turn += 1;
        if self.turns.len() <= chosen {
            self.turns.resize(chosen + 1, 0);
        }
        self.turns[chosen] = self.turn;
        self.in_progress += 1;
        Some(chosen)
    }

    /// Frees the slot of a completed request.
    #[inline]
    pub fn free(&mut self) {
        self.in_progress -= 1;
    }

    /// Drops all requests in progress, and starts all turns over.
    pub fn clear(&mut self) {
        let weights = self.rounds.as_ref().map(|rounds| rounds.weights);
        *self = Arbiter::new(self.slots, weights);
    }

    fn check_restored(&mut self) -> Result<(), String> {
        match self.in_progress <= self.slots {
            true => Ok(()),
            false => Err(format!("{} requests in progress in {} slots", self.in_progress, self.slots)),
        }
    }
}

/// Weighted round robin among the classes below urgent.
#[derive(Clone, Debug, State)]
struct Rounds {
    #[state(skip = "from the configuration")]
    weights: [u32; CLASSES - 1],
    /// The class that has its turn, and the remaining requests of the turn.
    class: u32,
    left: u32,
}

impl Rounds {
    fn new(weights: [u32; CLASSES - 1]) -> Rounds {
        Rounds { weights, class: 1, left: weights[0] }
    }

    /// The class whose request takes the next slot, if a class below urgent `waits`. A class without waiting
    /// requests loses the rest of its turn.
    fn choose(&mut self, waits: [bool; CLASSES]) -> usize {
        if self.left == 0 || !waits[self.class as usize] {
            let mut behind = (self.class as usize + 1..CLASSES).chain(1..CLASSES);
            let class = behind.find(|&class| waits[class]).expect("a class waits");
            (self.class, self.left) = (class as u32, self.weights[class - 1]);
        }
        self.left -= 1;
        self.class as usize
    }
}
