//! Arbitration: selection of the queue that gets a free slot.

use crate::state::State;

/// Number of priority classes of queues. In NVMe, they are urgent, high, medium, and low.
const CLASSES: usize = 4;
/// Number of the class with strict priority, even if the other classes have weights.
const URGENT: usize = 0;

/// Assigns slots for outstanding requests to queues.
///
/// A free slot is assigned to the highest class with a waiting request and, within this class, to the least
/// recently served queue. With weights, only class 0 has strict priority. The other classes are served in
/// rotation, and each class gets as many slots per round as its weight.
#[derive(Clone, Debug, State)]
#[state(after = "Self::check_restored")]
pub struct Arbiter {
    #[state(same)]
    slots: u32,
    /// Number of outstanding requests, at most `slots`.
    in_progress: u32,
    /// Sequence number of the last slot that each queue got.
    #[state(varies)]
    turns: Vec<u64>,
    turn: u64,
    rounds: Option<Rounds>,
}

impl Arbiter {
    /// Creates an arbiter with `slots` free slots. `weights` apply to classes 1 to 3. Without weights, the
    /// class with the lowest number is always served first.
    pub fn new(slots: u32, weights: Option<[u32; CLASSES - 1]>) -> Arbiter {
        Arbiter { slots, in_progress: 0, turns: Vec::new(), turn: 0, rounds: weights.map(Rounds::new) }
    }

    /// Whether a slot is free.
    #[inline]
    pub fn has_slot(&self) -> bool {
        self.in_progress < self.slots
    }

    /// Selects the queue that gets a free slot. `waiting` lists the queues with a waiting request, each with
    /// its class (0 to 3). Returns `None` if `waiting` is empty.
    pub fn choose(&mut self, waiting: impl Iterator<Item = (usize, usize)>) -> Option<usize> {
        debug_assert!(self.has_slot(), "no slot is free");
        // The least recently served queue of each class.
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

    /// Discards all outstanding requests, and restarts the rotation.
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
    /// Class that is being served.
    class: u32,
    /// Remaining slots of this class in the round.
    left: u32,
}

impl Rounds {
    fn new(weights: [u32; CLASSES - 1]) -> Rounds {
        Rounds { weights, class: 1, left: weights[0] }
    }

    /// Selects the class that gets the next slot. `waits` states which classes have waiting requests.
    /// Panics if no class below urgent has one. A class without waiting requests loses the rest of its
    /// slots in this round.
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
