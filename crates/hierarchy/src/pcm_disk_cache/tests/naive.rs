//! A naive model of a cache whose rows switch to SLC mode. It serves one request at a time and does not
//! model time. All state is in lists.

use std::collections::BTreeMap;

/// A cached page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Page {
    key: u64,
    hits: u32,
    is_dirty: bool,
}

/// Cached pages by frame. The frames `2 n` and `2 n + 1` are row `n`.
pub(super) struct Naive {
    frames: Vec<Option<Page>>,
    /// Number of frames that have been used so far.
    begun: usize,
    /// Frames without a page, in the order in which their pages left.
    free: Vec<usize>,
    /// Frames that are unavailable because a page in SLC mode uses their cells.
    withdrawn: Vec<usize>,
    /// Frames, most recently used first.
    used: Vec<usize>,
    promotes_at: u32,
    pub(super) counts: BTreeMap<&'static str, u64>,
}

impl Naive {
    pub(super) fn new(frames: usize, promotes_at: u32) -> Naive {
        Naive {
            frames: vec![None; frames],
            begun: 0,
            free: Vec::new(),
            withdrawn: Vec::new(),
            used: Vec::new(),
            promotes_at,
            counts: BTreeMap::new(),
        }
    }

    fn count(&mut self, name: &'static str) {
        *self.counts.entry(name).or_default() += 1;
    }

    /// Whether page `key` is in SLC mode; `None` if the page is not cached.
    pub(super) fn mode_of(&self, key: u64) -> Option<bool> {
        self.find(key).map(|frame| self.withdrawn.contains(&(frame ^ 1)))
    }

    pub(super) fn withdrawn(&self) -> usize {
        self.withdrawn.len()
    }

    fn find(&self, key: u64) -> Option<usize> {
        self.frames.iter().position(|page| page.is_some_and(|page| page.key == key))
    }

    /// Reads or writes page `key` completely.
    pub(super) fn ask(&mut self, key: u64, is_write: bool) {
        let Some(frame) = self.find(key) else {
            let frame = self.take(None).expect("a frame can be evicted");
            self.frames[frame] = Some(Page { key, hits: 0, is_dirty: is_write });
            self.used.insert(0, frame);
            self.count(if is_write { "write_misses" } else { "read_misses" });
            // A write to a new page is a use of it.
            if is_write {
                self.hit(frame);
            }
            return;
        };
        self.count(if is_write { "write_hits" } else { "read_hits" });
        self.used.retain(|&used| used != frame);
        self.used.insert(0, frame);
        if is_write {
            self.frames[frame].as_mut().expect("it is cached").is_dirty = true;
        }
        self.hit(frame);
    }

    /// Returns an empty frame: a free or unused frame, or the frame of the least recently used page, which is
    /// evicted. The page in frame `not` is not evicted. Returns `None` if no other page is cached.
    fn take(&mut self, not: Option<usize>) -> Option<usize> {
        if let Some(frame) = self.free.pop() {
            return Some(frame);
        }
        if self.begun < self.frames.len() {
            self.begun += 1;
            return Some(self.begun - 1);
        }
        let oldest = *self.used.iter().rev().find(|&&frame| Some(frame) != not)?;
        self.used.retain(|&used| used != oldest);
        self.count("evictions");
        if self.frames[oldest].take().expect("it is used").is_dirty {
            self.count("written_back");
        }
        // The row of a page that was hit often returns to MLC mode.
        if let Some(at) = self.withdrawn.iter().position(|&frame| frame == oldest ^ 1) {
            self.free.push(self.withdrawn.remove(at));
        }
        Some(oldest)
    }

    fn hit(&mut self, frame: usize) {
        let page = self.frames[frame].as_mut().expect("it is cached");
        page.hits += 1;
        if page.hits < self.promotes_at || self.withdrawn.contains(&(frame ^ 1)) {
            return;
        }
        page.hits = 0;
        self.count("pages_promoted");
        let gone = frame ^ 1;
        if self.frames[gone].is_some() {
            let to = self.take(Some(frame)).expect("a frame can be evicted");
            if to != gone {
                self.count("pages_relocated");
                self.frames[to] = self.frames[gone].take();
                let at = self.used.iter().position(|&used| used == gone).expect("it is used");
                self.used[at] = to;
            }
        } else if gone == self.begun {
            self.begun += 1;
        } else {
            // The last free frame takes the position of the one that is withdrawn.
            let at = self.free.iter().position(|&free| free == gone).expect("an empty frame is free");
            self.free.swap_remove(at);
        }
        self.withdrawn.push(gone);
    }
}
