use super::super::Replacement;
use super::super::oracle::{Oracle, agree_everywhere, agree_exhaustively, agree_on_any};
use super::Sieve;

/// SIEVE implemented with a list, head first. The hand is stored as the key of the block to which it points.
struct NaiveSieve {
    capacity: usize,
    list: Vec<(u64, bool)>,
    hand: Option<u64>,
}

impl NaiveSieve {
    fn place(&self, block: u64) -> Option<usize> {
        self.list.iter().position(|(kept, _)| *kept == block)
    }

    /// Block before position `place` in the list, if any.
    fn in_front(&self, place: usize) -> Option<u64> {
        place.checked_sub(1).map(|place| self.list[place].0)
    }
}

impl Oracle for NaiveSieve {
    fn touch(&mut self, block: u64) -> bool {
        let place = self.place(block);
        place.map(|place| self.list[place].1 = true).is_some()
    }

    fn admit(&mut self, block: u64) -> Option<u64> {
        let mut victim = None;
        if self.list.len() == self.capacity {
            let tail = self.list.len() - 1;
            let mut place = self.hand.map_or(tail, |hand| self.place(hand).expect("the hand is at a block"));
            while self.list[place].1 {
                self.list[place].1 = false;
                place = place.checked_sub(1).unwrap_or(tail);
            }
            self.hand = self.in_front(place);
            victim = Some(self.list.remove(place).0);
        }
        self.list.insert(0, (block, false));
        victim
    }

    fn remove(&mut self, block: u64) -> bool {
        let Some(place) = self.place(block) else { return false };
        if self.hand == Some(block) {
            self.hand = self.in_front(place);
        }
        self.list.remove(place);
        true
    }

    fn resident(&self) -> Vec<u64> {
        self.list.iter().map(|(block, _)| *block).collect()
    }
}

fn sieve(capacity: usize) -> Sieve {
    Sieve::new(capacity)
}

fn naive(capacity: usize) -> NaiveSieve {
    NaiveSieve { capacity, list: Vec::new(), hand: None }
}

#[test]
fn hits_and_victims_equal_a_naive_list_with_a_hand() {
    agree_everywhere(sieve, naive);
}

#[test]
fn every_short_sequence_equals_a_naive_list_with_a_hand() {
    agree_exhaustively(sieve, naive);
}

#[test]
fn any_sequence_equals_a_naive_list_with_a_hand() {
    agree_on_any(sieve, naive);
}

#[test]
fn the_hand_continues_from_its_last_position() {
    let mut cache = sieve(3);
    cache.replay(&[1, 2, 3, 1, 2]);
    assert_eq!(cache.admit(4), Some(3), "1 and 2 were visited");
    assert_eq!(cache.admit(5), Some(1), "the hand passed the head, and 1 at the tail lost its bit");
}
