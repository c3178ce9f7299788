use super::super::Replacement;
use super::super::oracle::{Oracle, agree_everywhere, agree_exhaustively, agree_on_any};
use super::{Config, Lirs};
use nacre_kernel::Ratio;

/// LIRS with the three cases of section 3.3 of the paper, implemented with lists. The stack starts with its
/// bottom, and the queue with its front.
struct NaiveLirs {
    capacity: usize,
    l_lirs: usize,
    most_remembered: usize,
    stack: Vec<u64>,
    lir: Vec<u64>,
    q: Vec<u64>,
    /// Blocks in the stack that are not resident. The first block is dropped first.
    remembered: Vec<u64>,
}

fn take(list: &mut Vec<u64>, block: u64) -> bool {
    let before = list.len();
    list.retain(|kept| *kept != block);
    list.len() < before
}

impl NaiveLirs {
    fn raise(&mut self, block: u64) {
        take(&mut self.stack, block);
        self.stack.push(block);
    }

    fn prune(&mut self) {
        let hir = self.stack.iter().position(|block| self.lir.contains(block)).unwrap_or(self.stack.len());
        let pruned: Vec<u64> = self.stack.drain(..hir).collect();
        self.remembered.retain(|block| !pruned.contains(block));
    }

    fn become_lir(&mut self, block: u64) {
        self.raise(block);
        self.lir.push(block);
        if self.lir.len() > self.l_lirs {
            let bottom = self.stack.remove(0);
            take(&mut self.lir, bottom);
            self.q.push(bottom);
        }
        self.prune();
    }
}

impl Oracle for NaiveLirs {
    fn touch(&mut self, block: u64) -> bool {
        if self.lir.contains(&block) {
            self.raise(block);
        } else if take(&mut self.q, block) {
            if self.stack.contains(&block) {
                self.become_lir(block);
            } else {
                self.raise(block);
                self.q.push(block);
            }
        } else {
            return false;
        }
        self.prune();
        true
    }

    fn admit(&mut self, block: u64) -> Option<u64> {
        let in_stack = take(&mut self.remembered, block);
        let mut victim = None;
        if self.lir.len() + self.q.len() == self.capacity {
            let front = self.q.remove(0);
            victim = Some(front);
            if self.stack.contains(&front) {
                self.remembered.push(front);
            }
            if self.remembered.len() > self.most_remembered {
                let oldest = self.remembered.remove(0);
                take(&mut self.stack, oldest);
            }
        }
        if in_stack || self.lir.len() < self.l_lirs {
            self.become_lir(block);
        } else {
            self.raise(block);
            self.q.push(block);
            self.prune();
        }
        victim
    }

    fn remove(&mut self, block: u64) -> bool {
        let resident = take(&mut self.lir, block) || take(&mut self.q, block);
        if resident {
            take(&mut self.stack, block);
            self.prune();
        }
        resident
    }

    fn resident(&self) -> Vec<u64> {
        [self.lir.clone(), self.q.clone()].concat()
    }
}

fn lirs(hir: f64, remembered: f64) -> impl Fn(usize) -> Lirs {
    move |capacity| Lirs::new(capacity, &Config { hir: Ratio(hir), remembered: Ratio(remembered) })
}

fn naive(hir: f64, remembered: f64) -> impl Fn(usize) -> NaiveLirs {
    move |capacity| NaiveLirs {
        capacity,
        l_lirs: capacity - ((hir * capacity as f64 + 0.5) as usize).max(1),
        most_remembered: (remembered * capacity as f64 + 0.5) as usize,
        stack: vec![],
        lir: vec![],
        q: vec![],
        remembered: vec![],
    }
}

#[test]
fn hits_and_victims_equal_the_cases_of_the_paper() {
    agree_everywhere(lirs(0.01, 2.0), naive(0.01, 2.0));
    agree_everywhere(lirs(0.3, 0.5), naive(0.3, 0.5));
}

#[test]
fn every_short_sequence_equals_the_cases_of_the_paper() {
    agree_exhaustively(lirs(0.01, 2.0), naive(0.01, 2.0));
    agree_exhaustively(lirs(0.5, 0.0), naive(0.5, 0.0));
}

#[test]
fn any_sequence_equals_the_cases_of_the_paper() {
    agree_on_any(lirs(0.1, 1.0), naive(0.1, 1.0));
}

#[test]
fn a_loop_longer_than_the_cache_keeps_its_lir_blocks() {
    let blocks = super::super::streams::cycle(110, 11_000);
    let hits = lirs(0.01, 2.0)(100).replay(&blocks);
    assert!(hits >= 99 * 99, "99 LIR blocks hit in each of the later rounds, {hits} hits in all");
}
