//! Optimal placement of extents in tiers when all accesses are known.
//!
//! Extents with equal accesses form a class. Placing `n_t` extents in tier t with the minimum sum of (reads x
//! read latency + writes x write latency) is a transportation problem. All extents start in the last tier. To
//! add an extent to tier t, one extent moves along each edge of the cheapest path from the last tier to t:
//! the extent for which the move costs least. The placement stays optimal after every path (successive
//! shortest paths; Ahuja, Magnanti, Orlin, *Network Flows*, 1993, section 9.7). One pass therefore gives the
//! optimal placement for every size of a tier.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A class of extents with equal accesses.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Total access time of one extent of the class in each tier, in seconds.
    pub seconds: Vec<f64>,
    /// Number of extents.
    pub extents: u64,
}

/// Latency of one access to a tier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Duration of a read, in seconds.
    pub read_s: f64,
    /// Duration of a write, in seconds.
    pub write_s: f64,
}

impl Speed {
    /// Total time in seconds of the given numbers of reads and writes.
    pub fn of(self, reads: f64, writes: f64) -> f64 {
        reads * self.read_s + writes * self.write_s
    }
}

/// An optimal placement of extents in tiers of given sizes.
#[derive(Clone, Debug)]
pub struct Assignment {
    tiers: usize,
    /// Access time in seconds of one extent of each class in each tier, ordered by class.
    seconds: Vec<f64>,
    /// Number of extents of each class in each tier, ordered by class.
    held: Vec<u64>,
    /// A heap for each pair of tiers, with the classes in the first tier ordered by the cost of moving one
    /// extent to the second tier. A class without extents in the first tier is removed when it reaches the
    /// top of the heap.
    steps: Vec<BinaryHeap<CheapestMove>>,
    /// Whether each class is in the heaps of each tier, ordered by class.
    listed: Vec<bool>,
}

impl Assignment {
    /// Creates a placement in which all extents are in the last of `count` tiers. Panics if `count` is
    /// zero, or if a class does not have one access time per tier.
    pub fn new(classes: &[Class], count: usize) -> Assignment {
        assert!(count > 0, "extents lie in some tier");
        assert!(classes.iter().all(|class| class.seconds.len() == count), "each class knows every tier");
        let seconds = classes.iter().flat_map(|class| class.seconds.iter().copied()).collect();
        let mut assignment = Assignment {
            tiers: count,
            seconds,
            held: vec![0; classes.len() * count],
            steps: vec![BinaryHeap::new(); count * count],
            listed: vec![false; classes.len() * count],
        };
        for (class, of) in classes.iter().enumerate().filter(|(_, of)| of.extents > 0) {
            assignment.put(class, count - 1, of.extents);
        }
        assignment
    }

    /// Adds `extents` extents to `tier` and removes as many from the last tier, directly or through
    /// exchanges.
    ///
    /// # Panics
    ///
    /// Panics if the last tier has fewer extents.
    pub fn grow(&mut self, tier: usize, extents: u64) {
        let mut left = extents;
        while left > 0 {
            let path = self.cheapest(tier);
            let amount = path.iter().map(|hop| self.held[hop.class * self.tiers + hop.from]).min();
            let amount = amount.expect("the last tier has extents left").min(left);
            for hop in path {
                self.held[hop.class * self.tiers + hop.from] -= amount;
                self.put(hop.class, hop.to, amount);
            }
            left -= amount;
        }
    }

    /// Total time of all accesses, performed one after the other, in seconds.
    pub fn seconds(&self) -> f64 {
        self.held.iter().zip(&self.seconds).map(|(&held, seconds)| held as f64 * seconds).sum()
    }

    /// Number of extents of `class` in `tier`.
    pub fn held(&self, class: usize, tier: usize) -> u64 {
        self.held[class * self.tiers + tier]
    }

    fn put(&mut self, class: usize, tier: usize, extents: u64) {
        let at = class * self.tiers + tier;
        self.held[at] += extents;
        if !std::mem::replace(&mut self.listed[at], true) {
            for to in (0..self.tiers).filter(|&to| to != tier) {
                let cost = self.seconds[class * self.tiers + to] - self.seconds[at];
                self.steps[tier * self.tiers + to].push(CheapestMove { cost, class });
            }
        }
    }

    /// Finds the cheapest move of an extent from tier `from` to tier `to`; `None` if tier `from` has no
    /// extents.
    fn step(&mut self, from: usize, to: usize) -> Option<CheapestMove> {
        let heap = &mut self.steps[from * self.tiers + to];
        while let Some(&step) = heap.peek() {
            if self.held[step.class * self.tiers + from] > 0 {
                return Some(step);
            }
            heap.pop();
            // The class is removed from this heap only. When it returns, it is inserted into all heaps again.
            self.listed[step.class * self.tiers + from] = false;
        }
        None
    }

    /// Finds the cheapest path from the last tier to `tier`. The path is empty if the last tier has no
    /// extents.
    fn cheapest(&mut self, tier: usize) -> Vec<Hop> {
        let mut table = vec![None; self.tiers * self.tiers];
        for (pair, entry) in table.iter_mut().enumerate() {
            let (from, to) = (pair / self.tiers, pair % self.tiers);
            *entry = (from != to).then(|| self.step(from, to)).flatten();
        }
        let mut search = Search { tiers: self.tiers, table, goal: tier, best: None, path: Vec::new() };
        search.from(self.tiers - 1, 0.0);
        search.best.map(|(_, path)| path).unwrap_or_default()
    }
}

/// The move of one extent of a class. The cheapest move compares as the greatest, so that a heap returns it
/// first.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CheapestMove {
    cost: f64,
    class: usize,
}

impl Eq for CheapestMove {}

impl PartialOrd for CheapestMove {
    fn partial_cmp(&self, other: &CheapestMove) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for CheapestMove {
    fn cmp(&self, other: &CheapestMove) -> Ordering {
        other.cost.total_cmp(&self.cost).then(other.class.cmp(&self.class))
    }
}

/// One edge of a path between tiers.
#[derive(Clone, Copy, Debug)]
struct Hop {
    from: usize,
    to: usize,
    class: usize,
}

/// A search over all simple paths between two tiers. With four tiers, which is the maximum, there are at
/// most five paths.
struct Search {
    tiers: usize,
    table: Vec<Option<CheapestMove>>,
    goal: usize,
    best: Option<(f64, Vec<Hop>)>,
    path: Vec<Hop>,
}

impl Search {
    fn from(&mut self, here: usize, cost: f64) {
        if here == self.goal {
            if self.best.as_ref().is_none_or(|(best, _)| cost < *best) {
                self.best = Some((cost, self.path.clone()));
            }
            return;
        }
        for to in 0..self.tiers {
            let met = to == self.tiers - 1 || self.path.iter().any(|hop| hop.to == to);
            if let Some(step) = self.table[here * self.tiers + to].filter(|_| !met) {
                self.path.push(Hop { from: here, to, class: step.class });
                self.from(to, cost + step.cost);
                self.path.pop();
            }
        }
    }
}
