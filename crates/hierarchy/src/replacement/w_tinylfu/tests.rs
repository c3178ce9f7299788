use super::super::Replacement;
use super::super::oracle::{Oracle, agree_everywhere, agree_exhaustively, agree_on_any};
use super::super::streams;
use super::sketch::{Sketch, spread};
use super::{Config, WTinyLfu};
use nacre_kernel::Ratio;

/// Sketch implemented with separate counters and flags. Its geometry is that of the sketch under test: four
/// rows of 16 counters, and 256 flags per line.
struct NaiveSketch {
    lines: Vec<([[u8; 16]; 4], Vec<bool>)>,
    capacity: usize,
    noted: usize,
}

impl NaiveSketch {
    fn new(capacity: usize) -> NaiveSketch {
        NaiveSketch { lines: vec![([[0; 16]; 4], vec![false; 256])], capacity, noted: 0 }
    }

    fn line(&self, block: u64) -> usize {
        ((u128::from(spread(block)) * self.lines.len() as u128) >> 64) as usize
    }

    fn note(&mut self, block: u64) {
        let (hash, line) = (spread(block) as usize, self.line(block));
        let known = self.known(block);
        let least = self.least(block);
        let (counters, flags) = &mut self.lines[line];
        if known {
            for (row, counters) in counters.iter_mut().enumerate() {
                let counter = &mut counters[(hash >> (4 * row)) & 15];
                *counter = (*counter).max((least + 1).min(15));
            }
        }
        flags[(hash >> 16) & 255] = true;
        flags[(hash >> 24) & 255] = true;
        self.noted += 1;
        if self.noted >= 10 * self.capacity.min(8 * self.lines.len()) {
            self.lines
                .iter_mut()
                .flat_map(|line| line.0.iter_mut().flatten())
                .for_each(|counter| *counter /= 2);
            self.lines.iter_mut().for_each(|line| line.1.fill(false));
            self.noted /= 2;
        }
    }

    fn known(&self, block: u64) -> bool {
        let (hash, flags) = (spread(block) as usize, &self.lines[self.line(block)].1);
        flags[(hash >> 16) & 255] && flags[(hash >> 24) & 255]
    }

    fn least(&self, block: u64) -> u8 {
        let (hash, counters) = (spread(block) as usize, &self.lines[self.line(block)].0);
        (0..4).map(|row| counters[row][(hash >> (4 * row)) & 15]).min().expect("four rows")
    }

    fn estimate(&self, block: u64) -> u8 {
        self.least(block) + u8::from(self.known(block))
    }

    fn fit(&mut self, resident: usize) {
        while resident > 8 * self.lines.len() {
            self.lines = self.lines.iter().flat_map(|line| [line.clone(), line.clone()]).collect();
        }
    }
}

/// W-TinyLFU implemented with three lists, least recently used first.
struct NaiveWTinyLfu {
    window_most: usize,
    main_most: usize,
    protected_most: usize,
    sketch: NaiveSketch,
    window: Vec<u64>,
    probation: Vec<u64>,
    protected: Vec<u64>,
}

fn take(list: &mut Vec<u64>, block: u64) -> bool {
    let before = list.len();
    list.retain(|kept| *kept != block);
    list.len() < before
}

impl Oracle for NaiveWTinyLfu {
    fn touch(&mut self, block: u64) -> bool {
        self.sketch.note(block);
        if take(&mut self.window, block) {
            self.window.push(block);
        } else if take(&mut self.protected, block) || take(&mut self.probation, block) {
            self.protected.push(block);
            if self.protected.len() > self.protected_most {
                self.probation.push(self.protected.remove(0));
            }
        } else {
            return false;
        }
        true
    }

    fn admit(&mut self, block: u64) -> Option<u64> {
        self.window.push(block);
        let mut victim = None;
        if self.window.len() > self.window_most {
            let candidate = self.window.remove(0);
            if self.probation.len() + self.protected.len() < self.main_most {
                self.probation.push(candidate);
            } else if let Some(&rival) = self.probation.iter().chain(&self.protected).next()
                && self.sketch.estimate(candidate) > self.sketch.estimate(rival)
            {
                assert!(take(&mut self.probation, rival) || take(&mut self.protected, rival));
                self.probation.push(candidate);
                victim = Some(rival);
            } else {
                victim = Some(candidate);
            }
        }
        self.sketch.fit(self.resident().len());
        victim
    }

    fn remove(&mut self, block: u64) -> bool {
        take(&mut self.window, block) || take(&mut self.probation, block) || take(&mut self.protected, block)
    }

    fn resident(&self) -> Vec<u64> {
        [self.window.clone(), self.probation.clone(), self.protected.clone()].concat()
    }
}

fn w_tinylfu(window: f64) -> impl Fn(usize) -> WTinyLfu {
    move |capacity| {
        WTinyLfu::new(capacity, &Config { window: Ratio(window), protected: Ratio(0.8), sample: 10 })
    }
}

fn naive(window: f64) -> impl Fn(usize) -> NaiveWTinyLfu {
    move |capacity| {
        let window_most = ((window * capacity as f64 + 0.5) as usize).max(1);
        let main_most = capacity - window_most;
        NaiveWTinyLfu {
            window_most,
            main_most,
            protected_most: (0.8 * main_most as f64 + 0.5) as usize,
            sketch: NaiveSketch::new(capacity),
            window: vec![],
            probation: vec![],
            protected: vec![],
        }
    }
}

#[test]
fn hits_and_victims_equal_lists_and_plain_counters() {
    agree_everywhere(w_tinylfu(0.01), naive(0.01));
    agree_everywhere(w_tinylfu(0.4), naive(0.4));
}

#[test]
fn every_short_sequence_equals_lists_and_plain_counters() {
    agree_exhaustively(w_tinylfu(0.01), naive(0.01));
}

#[test]
fn any_sequence_equals_lists_and_plain_counters() {
    agree_on_any(w_tinylfu(0.1), naive(0.1));
}

#[test]
fn an_estimate_is_never_below_the_count() {
    let mut sketch = Sketch::new(1000, 10);
    sketch.fit(9);
    let blocks = streams::zipf(50, 0.8, 150, &mut streams::random("sketch"));
    blocks.iter().for_each(|block| sketch.note(*block));
    sketch.fit(17);
    for block in 0..50 {
        let count = blocks.iter().filter(|noted| **noted == block).count() as u64;
        assert!(sketch.estimate(block) >= count.min(16), "block {block}");
    }
    let sum: u64 = (0..50).map(|block| sketch.estimate(block)).sum();
    assert!(sum <= 200, "few collisions: {sum} estimated in all, 150 noted");
}

#[test]
fn aging_halves_the_counts() {
    let mut sketch = Sketch::new(1, 10);
    (0..9).for_each(|_| sketch.note(7));
    assert_eq!(sketch.estimate(7), 9);
    sketch.note(7);
    assert_eq!(sketch.estimate(7), 4, "nine in the counters are halved, the doorkeeper is empty");
}

#[test]
fn a_scan_does_not_enter_the_main_part() {
    let mut cache = w_tinylfu(0.01)(100);
    for _ in 0..3 {
        cache.replay(&(0..100).collect::<Vec<u64>>());
    }
    cache.replay(&(1000..1500).collect::<Vec<u64>>());
    assert!((0..99).filter(|block| cache.contains(*block)).count() >= 95);
}
