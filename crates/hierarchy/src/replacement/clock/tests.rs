use super::super::Replacement;
use super::super::oracle::{Oracle, agree_everywhere, agree_exhaustively, agree_on_any};
use super::Clock;

/// CLOCK implemented with a list of blocks and reference bits, in the order of the hand.
struct NaiveClock {
    capacity: usize,
    list: Vec<(u64, bool)>,
}

impl Oracle for NaiveClock {
    fn touch(&mut self, block: u64) -> bool {
        let found = self.list.iter_mut().find(|(kept, _)| *kept == block);
        found.map(|(_, referenced)| *referenced = true).is_some()
    }

    fn admit(&mut self, block: u64) -> Option<u64> {
        let mut victim = None;
        while self.list.len() == self.capacity {
            let (met, referenced) = self.list.remove(0);
            if referenced {
                self.list.push((met, false));
            } else {
                victim = Some(met);
            }
        }
        self.list.push((block, false));
        victim
    }

    fn remove(&mut self, block: u64) -> bool {
        let before = self.list.len();
        self.list.retain(|(kept, _)| *kept != block);
        self.list.len() < before
    }

    fn resident(&self) -> Vec<u64> {
        self.list.iter().map(|(block, _)| *block).collect()
    }
}

fn clock(capacity: usize) -> Clock {
    Clock::new(capacity)
}

fn naive(capacity: usize) -> NaiveClock {
    NaiveClock { capacity, list: Vec::new() }
}

#[test]
fn hits_and_victims_equal_a_naive_ring() {
    agree_everywhere(clock, naive);
}

#[test]
fn every_short_sequence_equals_a_naive_ring() {
    agree_exhaustively(clock, naive);
}

#[test]
fn any_sequence_equals_a_naive_ring() {
    agree_on_any(clock, naive);
}

#[test]
fn a_block_used_again_gets_a_second_chance() {
    let mut cache = clock(2);
    cache.replay(&[1, 2, 1]);
    assert_eq!(cache.admit(3), Some(2));
    assert_eq!(cache.admit(4), Some(1), "its bit was cleared on the way");
}
