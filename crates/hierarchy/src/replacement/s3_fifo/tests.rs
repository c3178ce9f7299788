use super::super::Replacement;
use super::super::oracle::{Oracle, agree_everywhere, agree_exhaustively, agree_on_any};
use super::{Config, S3Fifo};
use nacre_kernel::Ratio;

/// S3-FIFO implemented with three lists, head first, with hit counts.
struct NaiveS3Fifo {
    capacity: usize,
    small_share: usize,
    small: Vec<(u64, u32)>,
    main: Vec<(u64, u32)>,
    ghost: Vec<u64>,
}

impl NaiveS3Fifo {
    fn evict(&mut self) -> Option<u64> {
        if self.small.len() >= self.small_share { self.evict_small() } else { self.evict_main() }
    }

    fn evict_small(&mut self) -> Option<u64> {
        let (block, uses) = self.small.pop().expect("small has its share");
        if uses > 1 {
            self.main.insert(0, (block, 0));
            return None;
        }
        self.ghost.insert(0, block);
        self.ghost.truncate(self.capacity - self.small_share);
        Some(block)
    }

    fn evict_main(&mut self) -> Option<u64> {
        loop {
            let (block, uses) = self.main.pop().expect("small is below its share");
            if uses == 0 {
                return Some(block);
            }
            self.main.insert(0, (block, uses - 1));
        }
    }
}

impl Oracle for NaiveS3Fifo {
    fn touch(&mut self, block: u64) -> bool {
        let found = self.small.iter_mut().chain(&mut self.main).find(|(kept, _)| *kept == block);
        found.map(|(_, uses)| *uses = (*uses + 1).min(3)).is_some()
    }

    fn admit(&mut self, block: u64) -> Option<u64> {
        let mut victim = None;
        while self.small.len() + self.main.len() == self.capacity {
            victim = self.evict();
        }
        if self.ghost.contains(&block) {
            self.ghost.retain(|ghost| *ghost != block);
            self.main.insert(0, (block, 0));
        } else {
            self.small.insert(0, (block, 0));
        }
        victim
    }

    fn remove(&mut self, block: u64) -> bool {
        let before = self.small.len() + self.main.len();
        self.small.retain(|(kept, _)| *kept != block);
        self.main.retain(|(kept, _)| *kept != block);
        self.small.len() + self.main.len() < before
    }

    fn resident(&self) -> Vec<u64> {
        self.small.iter().chain(&self.main).map(|(block, _)| *block).collect()
    }
}

fn s3_fifo(capacity: usize) -> S3Fifo {
    S3Fifo::new(capacity, &Config { small: Ratio(0.1), ghosts: Ratio(1.0) })
}

/// Creates an empty cache. The small queue has 10 % of the capacity, rounded, but at least one block.
fn naive(capacity: usize) -> NaiveS3Fifo {
    let small_share = ((capacity + 5) / 10).max(1);
    NaiveS3Fifo { capacity, small_share, small: Vec::new(), main: Vec::new(), ghost: Vec::new() }
}

#[test]
fn hits_and_victims_equal_naive_queues() {
    agree_everywhere(s3_fifo, naive);
}

#[test]
fn every_short_sequence_equals_naive_queues() {
    agree_exhaustively(s3_fifo, naive);
}

#[test]
fn any_sequence_equals_naive_queues() {
    agree_on_any(s3_fifo, naive);
}

#[test]
fn a_block_that_comes_back_as_a_ghost_survives_a_scan() {
    let mut cache = s3_fifo(10);
    cache.replay(&(0..20).collect::<Vec<u64>>());
    assert!(!cache.touch(9) && cache.admit(9).is_some(), "9 left a ghost");
    cache.replay(&(100..200).collect::<Vec<u64>>());
    assert!(cache.contains(9));
}
