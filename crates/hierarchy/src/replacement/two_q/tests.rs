use super::super::Replacement;
use super::super::oracle::{Oracle, agree_everywhere, agree_exhaustively, agree_on_any};
use super::{Config, TwoQ};
use nacre_kernel::Ratio;

/// 2Q as in the paper, implemented with lists, head first.
struct NaiveTwoQ {
    slots: usize,
    k_in: usize,
    k_out: usize,
    a1_in: Vec<u64>,
    a1_out: Vec<u64>,
    am: Vec<u64>,
}

impl NaiveTwoQ {
    fn reclaim_for(&mut self) -> Option<u64> {
        if self.a1_in.len() + self.am.len() < self.slots {
            return None;
        }
        if self.a1_in.len() <= self.k_in && !self.am.is_empty() {
            return self.am.pop();
        }
        let y = self.a1_in.pop()?;
        self.a1_out.insert(0, y);
        self.a1_out.truncate(self.k_out);
        Some(y)
    }
}

impl Oracle for NaiveTwoQ {
    fn touch(&mut self, block: u64) -> bool {
        if let Some(place) = self.am.iter().position(|kept| *kept == block) {
            let moved = self.am.remove(place);
            self.am.insert(0, moved);
            return true;
        }
        self.a1_in.contains(&block)
    }

    fn admit(&mut self, block: u64) -> Option<u64> {
        if self.a1_out.contains(&block) {
            let victim = self.reclaim_for();
            self.a1_out.retain(|kept| *kept != block);
            self.am.insert(0, block);
            return victim;
        }
        let victim = self.reclaim_for();
        self.a1_in.insert(0, block);
        victim
    }

    fn remove(&mut self, block: u64) -> bool {
        let before = self.resident().len();
        self.a1_in.retain(|kept| *kept != block);
        self.am.retain(|kept| *kept != block);
        self.resident().len() < before
    }

    fn resident(&self) -> Vec<u64> {
        [self.a1_in.clone(), self.am.clone()].concat()
    }
}

fn two_q(capacity: usize) -> TwoQ {
    TwoQ::new(capacity, &Config { newcomers: Ratio(0.25), remembered: Ratio(0.5) })
}

/// Creates an empty cache. Kin and Kout are 25 % and 50 % of the slots, rounded half up. Kin is at least one.
fn naive(capacity: usize) -> NaiveTwoQ {
    let (k_in, k_out) = (((capacity + 2) / 4).max(1), capacity.div_ceil(2));
    NaiveTwoQ { slots: capacity, k_in, k_out, a1_in: vec![], a1_out: vec![], am: vec![] }
}

#[test]
fn hits_and_victims_equal_the_procedure_of_the_paper() {
    agree_everywhere(two_q, naive);
}

#[test]
fn every_short_sequence_equals_the_procedure_of_the_paper() {
    agree_exhaustively(two_q, naive);
}

#[test]
fn any_sequence_equals_the_procedure_of_the_paper() {
    agree_on_any(two_q, naive);
}

#[test]
fn correlated_uses_of_a_newcomer_do_not_keep_it() {
    let mut cache = two_q(4);
    cache.replay(&[1, 1, 1, 1, 2, 3, 4, 5]);
    assert!(!cache.contains(1), "it left in the order of arrival");
    assert!(cache.admit(1).is_some());
    cache.replay(&[10, 11, 12, 13, 14]);
    assert!(cache.contains(1), "it came back while remembered");
}
