use super::super::Replacement;
use super::super::oracle::{
    Oracle, Order, agree_everywhere, agree_exhaustively, agree_on_a_real_trace, agree_on_any,
};
use super::{Arc, Config};

/// ARC as in figure 4 of the paper, implemented with lists, least recently used block first.
struct NaiveArc {
    c: usize,
    p: f64,
    t1: Order,
    t2: Order,
    b1: Order,
    b2: Order,
}

impl NaiveArc {
    fn replace(&mut self, in_b2: bool) -> Option<u64> {
        if self.t1.len() + self.t2.len() < self.c {
            return None;
        }
        let t1 = self.t1.len() as f64;
        let (from, to) = if self.t1.len() >= 1 && ((in_b2 && t1 == self.p) || t1 > self.p) {
            (&mut self.t1, &mut self.b1)
        } else {
            (&mut self.t2, &mut self.b2)
        };
        let victim = from.take_first()?;
        to.push(victim);
        Some(victim)
    }
}

impl Oracle for NaiveArc {
    fn touch(&mut self, block: u64) -> bool {
        let resident = self.remove(block);
        if resident {
            self.t2.push(block);
        }
        resident
    }

    fn admit(&mut self, block: u64) -> Option<u64> {
        let (b1, b2) = (self.b1.len() as f64, self.b2.len() as f64);
        if self.b1.contains(block) {
            let delta = if b1 >= b2 { 1.0 } else { b2 / b1 };
            self.p = (self.p + delta).min(self.c as f64);
            let victim = self.replace(false);
            self.b1.take(block);
            self.t2.push(block);
            return victim;
        }
        if self.b2.contains(block) {
            let delta = if b2 >= b1 { 1.0 } else { b1 / b2 };
            self.p = (self.p - delta).max(0.0);
            let victim = self.replace(true);
            self.b2.take(block);
            self.t2.push(block);
            return victim;
        }
        let l1 = self.t1.len() + self.b1.len();
        let l2 = self.t2.len() + self.b2.len();
        let mut victim = None;
        if l1 == self.c {
            if self.t1.len() < self.c {
                self.b1.take_first();
                victim = self.replace(false);
            } else {
                victim = self.t1.take_first();
            }
        } else if l1 + l2 >= self.c {
            if l1 + l2 == 2 * self.c {
                self.b2.take_first();
            }
            victim = self.replace(false);
        }
        self.t1.push(block);
        victim
    }

    fn remove(&mut self, block: u64) -> bool {
        self.t1.take(block) || self.t2.take(block)
    }

    fn resident(&self) -> Vec<u64> {
        self.t1.blocks().chain(self.t2.blocks()).collect()
    }
}

fn arc(capacity: usize) -> Arc {
    Arc::new(capacity, &Config {})
}

fn naive(capacity: usize) -> NaiveArc {
    let [t1, t2, b1, b2] = [(); 4].map(|()| Order::default());
    NaiveArc { c: capacity, p: 0.0, t1, t2, b1, b2 }
}

#[test]
fn hits_and_victims_equal_figure_4() {
    agree_everywhere(arc, naive);
}

#[test]
fn every_short_sequence_equals_figure_4() {
    agree_exhaustively(arc, naive);
}

#[test]
fn any_sequence_equals_figure_4() {
    agree_on_any(arc, naive);
}

#[test]
#[ignore = "needs the published samples: NACRE_SAMPLES=FOLDER, as make test-samples says"]
fn every_hit_in_a_real_trace_equals_figure_4() {
    agree_on_a_real_trace(arc, naive);
}

#[test]
fn a_scan_does_not_evict_blocks_that_were_used_twice() {
    let mut cache = arc(4);
    cache.replay(&[1, 2, 1, 2]);
    cache.replay(&(100..200).collect::<Vec<u64>>());
    assert!(cache.contains(1) && cache.contains(2));
}
