use super::super::Replacement;
use super::super::oracle::{Oracle, agree_everywhere, agree_exhaustively, agree_on_any};
use super::Fifo;

/// FIFO implemented with a list, oldest block first.
struct NaiveFifo {
    capacity: usize,
    list: Vec<u64>,
}

impl Oracle for NaiveFifo {
    fn touch(&mut self, block: u64) -> bool {
        self.list.contains(&block)
    }

    fn admit(&mut self, block: u64) -> Option<u64> {
        let victim = (self.list.len() == self.capacity).then(|| self.list.remove(0));
        self.list.push(block);
        victim
    }

    fn remove(&mut self, block: u64) -> bool {
        let before = self.list.len();
        self.list.retain(|kept| *kept != block);
        self.list.len() < before
    }

    fn resident(&self) -> Vec<u64> {
        self.list.clone()
    }
}

fn fifo(capacity: usize) -> Fifo {
    Fifo::new(capacity)
}

fn naive(capacity: usize) -> NaiveFifo {
    NaiveFifo { capacity, list: Vec::new() }
}

#[test]
fn hits_and_victims_equal_a_naive_queue() {
    agree_everywhere(fifo, naive);
}

#[test]
fn every_short_sequence_equals_a_naive_queue() {
    agree_exhaustively(fifo, naive);
}

#[test]
fn any_sequence_equals_a_naive_queue() {
    agree_on_any(fifo, naive);
}

#[test]
fn belady_finds_more_misses_in_a_larger_cache() {
    let blocks = [1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5];
    assert_eq!(fifo(3).replay(&blocks), 3, "9 misses with 3 places");
    assert_eq!(fifo(4).replay(&blocks), 2, "10 misses with 4 places");
}
