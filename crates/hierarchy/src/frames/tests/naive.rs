//! A naive event simulation of a cache in DRAM, written from its rules. Times are integers in nanoseconds,
//! and all state is in lists.

use nacre_kernel::{Op, Request};
use std::collections::{BTreeMap, VecDeque};

pub(super) const PAGE: u64 = 4096;
pub(super) const FRAMES: usize = 16;
/// Times in nanoseconds: `TRANSFER` of a page on the channel, `LATENCY` after this transfer, and `READ` and
/// `WRITE` of the backing.
const TRANSFER: u64 = 2_048;
pub(super) const LATENCY: u64 = 57;
pub(super) const READ: u64 = 101_003;
pub(super) const WRITE: u64 = 203_017;
/// Maximum number of write-backs in progress.
const PLACES: usize = 32;

#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) dirty: usize,
    pub(super) servers: usize,
}

/// A waiting part of a request.
#[derive(Clone, Debug)]
struct Part {
    request: usize,
    page: u64,
    is_write: bool,
    /// Whether the part was counted as a hit or miss.
    is_counted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Busy {
    Fetching,
    Filling,
    Placing,
    Writing,
}

#[derive(Clone, Debug, Default)]
struct Held {
    busy: Option<Busy>,
    waiters: VecDeque<Part>,
    writer: Option<Part>,
    /// Write-back that must get a slot before the frame can be used, if any.
    behind: Option<usize>,
    /// The fetch that has read the page, or `None` if the page is not yet read or is already being written
    /// to the frame.
    has_come: Option<usize>,
}

/// A page being written back.
#[derive(Clone, Debug, Default)]
struct Leaving {
    page: u64,
    is_read: bool,
    has_place: bool,
    /// Number of earlier write-backs of the page that are in progress.
    after: usize,
    is_over: bool,
    /// Write-backs and fetches that wait for the end of this write-back.
    then: Vec<Ask>,
    /// The request that waits until this write-back gets a slot, if any.
    holds: Option<usize>,
}

#[derive(Clone, Debug)]
struct Fetch {
    request: Option<usize>,
    pages: Vec<u64>,
    after: usize,
    left: usize,
}

/// A request to the backing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ask {
    Leaving(usize),
    Fetch(usize),
}

/// A flush. It waits for the host writes in `writes`, and then for the write-backs in `leaving`. The flush
/// of the backing waits for the write-backs in `backing`.
#[derive(Clone, Debug)]
struct Flush {
    request: usize,
    writes: Vec<usize>,
    leaving: Option<Vec<usize>>,
    backing: Option<Vec<usize>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Arrives(usize),
    Frame(u64),
    Out(usize),
    Backing(Ask),
}

pub(super) struct Naive {
    shape: Shape,
    events: Vec<(u64, u64, u64, Event)>,
    order: u64,
    pub(super) requests: Vec<Request>,
    /// For each request, the number of its parts in progress, and the end of its last part in nanoseconds.
    pub(super) ends: Vec<(usize, u64)>,
    /// Pages with frames, most recently used first.
    used: Vec<u64>,
    held: BTreeMap<u64, Held>,
    dirty: Vec<u64>,
    without_frame: VecDeque<Part>,
    leaving: Vec<Leaving>,
    places: VecDeque<usize>,
    fetches: Vec<Fetch>,
    flushes: Vec<Flush>,
    /// Host writes in progress, as numbers that combine the request and the page.
    writing: Vec<usize>,
    free_at: u64,
    queue: VecDeque<Ask>,
    serving: usize,
    pub(super) counts: BTreeMap<&'static str, u64>,
}

impl Naive {
    pub(super) fn new(shape: Shape) -> Naive {
        Naive {
            shape,
            events: Vec::new(),
            order: 0,
            requests: Vec::new(),
            ends: Vec::new(),
            used: Vec::new(),
            held: BTreeMap::new(),
            dirty: Vec::new(),
            without_frame: VecDeque::new(),
            leaving: Vec::new(),
            places: VecDeque::new(),
            fetches: Vec::new(),
            flushes: Vec::new(),
            writing: Vec::new(),
            free_at: 0,
            queue: VecDeque::new(),
            serving: 0,
            counts: BTreeMap::new(),
        }
    }

    fn count(&mut self, name: &'static str) {
        *self.counts.entry(name).or_default() += 1;
    }

    /// Schedules an event. Events at the same time are ordered: arrivals, then the memory, then the backing.
    pub(super) fn schedule(&mut self, at: u64, event: Event) {
        let class = match event {
            Event::Arrives(_) => 0,
            Event::Frame(_) | Event::Out(_) => 1,
            Event::Backing(_) => 2,
        };
        self.order += 1;
        self.events.push((at, class, self.order, event));
    }

    pub(super) fn run(&mut self) {
        while let Some(next) =
            (0..self.events.len()).min_by_key(|&at| (self.events[at].0, self.events[at].1, self.events[at].2))
        {
            let (now, _, _, event) = self.events.remove(next);
            match event {
                Event::Arrives(request) => self.arrives(now, request),
                Event::Frame(page) => self.frame_is_done(now, page),
                Event::Out(leaving) => {
                    self.leaving[leaving].is_read = true;
                    self.try_to_send(now, leaving);
                }
                Event::Backing(ask) => self.answered(now, ask),
            }
            self.look_again(now);
            self.look_at_flushes(now);
        }
    }

    fn access(&mut self, now: u64) -> u64 {
        self.free_at = self.free_at.max(now) + TRANSFER;
        self.free_at + LATENCY
    }

    fn ends(&mut self, request: usize, at: u64) {
        let of = &mut self.ends[request];
        *of = (of.0 - 1, of.1.max(at));
    }

    fn arrives(&mut self, now: u64, request: usize) {
        let of = self.requests[request];
        let pages = of.address / PAGE..(of.address + u64::from(of.bytes)).div_ceil(PAGE);
        let part = |page| Part { request, page, is_write: of.op == Op::Write, is_counted: false };
        match of.op {
            Op::Flush => {
                let writes = self.writing.clone();
                self.ends[request].0 = 1;
                self.flushes.push(Flush { request, writes, leaving: None, backing: None });
            }
            Op::Write => {
                for page in pages {
                    self.ends[request].0 += 1;
                    self.writing.push(request << 8 | (page as usize & 0xff));
                    self.write(now, part(page), false);
                }
            }
            _ => {
                let mut run = Vec::new();
                for page in pages {
                    if !self.used.contains(&page) {
                        run.push(page);
                        continue;
                    }
                    self.ends[request].0 += 1;
                    self.read_held(now, part(page), false);
                    self.fetch(now, Some(request), std::mem::take(&mut run), false);
                }
                self.fetch(now, Some(request), run, false);
            }
        }
    }

    fn touch(&mut self, page: u64) {
        self.used.retain(|&held| held != page);
        self.used.insert(0, page);
    }

    fn read_held(&mut self, now: u64, part: Part, has_waited: bool) {
        self.touch(part.page);
        let held = self.held.get_mut(&part.page).expect("it is held");
        if matches!(held.busy, None | Some(Busy::Filling)) {
            self.count(if has_waited { "read_merged" } else { "read_hits" });
            let at = self.access(now);
            self.ends(part.request, at);
        } else {
            held.waiters.push_back(part);
        }
    }

    fn may_take_frame(&self, is_their_turn: bool) -> bool {
        let busy = self.held.values().filter(|held| held.busy.is_some()).count();
        busy < FRAMES && (is_their_turn || self.without_frame.is_empty())
    }

    fn take_frame(&mut self, now: u64, page: u64, busy: Busy) {
        let mut behind = None;
        if self.used.len() == FRAMES {
            let is_idle = |page: &&u64| self.held[page].busy.is_none();
            let victim = *self.used.iter().rev().find(is_idle).expect("one is not busy");
            if self.dirty.contains(&victim) {
                let leaving = self.leave(now, victim);
                behind = (!self.leaving[leaving].has_place).then_some(leaving);
            }
            self.count("evictions");
            self.used.retain(|&held| held != victim);
            self.held.remove(&victim);
        }
        self.used.insert(0, page);
        self.held.insert(page, Held { busy: Some(busy), behind, ..Held::default() });
    }

    fn fetch(&mut self, now: u64, request: Option<usize>, pages: Vec<u64>, is_their_turn: bool) {
        let (mut first, mut rest) = (Vec::new(), Vec::new());
        for page in pages {
            if rest.is_empty() && self.may_take_frame(is_their_turn) {
                self.take_frame(now, page, Busy::Fetching);
                first.push(page);
            } else {
                rest.push(page);
            }
        }
        if !first.is_empty() {
            if let Some(request) = request {
                self.ends[request].0 += 1;
                first.iter().for_each(|_| self.count("read_misses"));
            }
            let (number, left) = (self.fetches.len(), first.len());
            let mut after = 0;
            for &page in &first {
                if let Some(last) = self.last_leaving(page) {
                    self.leaving[last].then.push(Ask::Fetch(number));
                    after += 1;
                }
            }
            self.fetches.push(Fetch { request, pages: first, after, left });
            if after == 0 {
                self.ask(now, Ask::Fetch(number));
            }
        }
        for page in rest {
            let request = request.expect("a write has a frame already");
            self.ends[request].0 += 1;
            self.without_frame.push_back(Part { request, page, is_write: false, is_counted: false });
        }
    }

    fn is_whole(&self, part: &Part) -> bool {
        let of = &self.requests[part.request];
        of.address <= part.page * PAGE && of.address + u64::from(of.bytes) >= (part.page + 1) * PAGE
    }

    fn write(&mut self, now: u64, mut part: Part, is_their_turn: bool) {
        let page = part.page;
        let is_held = self.used.contains(&page);
        if !is_held && !self.may_take_frame(is_their_turn) {
            return self.without_frame.push_back(part);
        }
        if !std::mem::replace(&mut part.is_counted, true) {
            self.count(if is_held { "write_hits" } else { "write_misses" });
        }
        if is_held {
            self.touch(page);
            let held = self.held.get_mut(&page).expect("it is held");
            if held.busy.is_some() {
                held.waiters.push_back(part);
            } else {
                self.begin_write(now, part);
            }
        } else if self.is_whole(&part) {
            self.count("write_allocations");
            self.take_frame(now, page, Busy::Placing);
            let held = self.held.get_mut(&page).expect("it is held");
            held.writer = Some(part.clone());
            if held.behind.is_none() {
                self.begin_write(now, part);
            }
        } else {
            // The backing has the page, and this write waits for its fetch.
            self.fetch(now, None, vec![page], is_their_turn);
            self.held.get_mut(&page).expect("it is held").waiters.push_front(part);
        }
    }

    fn begin_write(&mut self, now: u64, part: Part) {
        let at = self.access(now);
        let page = part.page;
        let held = self.held.get_mut(&page).expect("it is held");
        (held.busy, held.writer) = (Some(Busy::Writing), Some(part));
        self.schedule(at, Event::Frame(page));
    }

    /// Serves the reads at the head of the queue of `page`, then one write.
    fn serve_waiters(&mut self, now: u64, page: u64) {
        loop {
            let held = self.held.get_mut(&page).expect("it is held");
            let is_filling = held.busy == Some(Busy::Filling);
            match held.waiters.front() {
                Some(part) if part.is_write && is_filling => return,
                Some(_) => {
                    let part = held.waiters.pop_front().expect("one waits");
                    if part.is_write {
                        return self.begin_write(now, part);
                    }
                    self.count("read_merged");
                    let at = self.access(now);
                    self.ends(part.request, at);
                }
                None => {
                    if !is_filling {
                        held.busy = None;
                    }
                    return;
                }
            }
        }
    }

    fn frame_is_done(&mut self, now: u64, page: u64) {
        let held = self.held.get_mut(&page).expect("it is held");
        if held.busy == Some(Busy::Filling) {
            held.busy = Some(Busy::Placing);
            return self.serve_waiters(now, page);
        }
        held.busy = Some(Busy::Placing);
        let part = held.writer.take().expect("it was written");
        if !self.dirty.contains(&page) {
            self.dirty.push(page);
        }
        let mut last = None;
        while self.dirty.len() > self.shape.dirty {
            let oldest = self.dirty[0];
            let leaving = self.leave(now, oldest);
            if !self.leaving[leaving].has_place {
                last = Some(leaving);
            }
        }
        match last {
            Some(leaving) => self.leaving[leaving].holds = Some(part.request),
            None => self.ends(part.request, now),
        }
        self.serve_waiters(now, page);
        let id = part.request << 8 | (page as usize & 0xff);
        self.writing.retain(|&open| open != id);
        self.look_at_flushes(now);
    }

    fn last_leaving(&self, page: u64) -> Option<usize> {
        self.leaving.iter().rposition(|of| of.page == page && !of.is_over)
    }

    fn leave(&mut self, now: u64, page: u64) -> usize {
        let at = self.access(now);
        self.count("written_back");
        self.dirty.retain(|&dirty| dirty != page);
        let number = self.leaving.len();
        let mut of = Leaving { page, ..Leaving::default() };
        if let Some(last) = self.last_leaving(page) {
            self.leaving[last].then.push(Ask::Leaving(number));
            of.after = 1;
        }
        let with_place = self.leaving.iter().filter(|of| of.has_place && !of.is_over).count();
        of.has_place = with_place < PLACES;
        if !of.has_place {
            self.places.push_back(number);
        }
        self.leaving.push(of);
        self.schedule(at, Event::Out(number));
        number
    }

    fn try_to_send(&mut self, now: u64, number: usize) {
        let of = &self.leaving[number];
        if of.is_read && of.has_place && of.after == 0 {
            self.ask(now, Ask::Leaving(number));
        }
    }

    fn ask(&mut self, now: u64, ask: Ask) {
        self.queue.push_back(ask);
        self.serve_queue(now);
    }

    fn serve_queue(&mut self, now: u64) {
        while self.serving < self.shape.servers
            && let Some(ask) = self.queue.pop_front()
        {
            self.serving += 1;
            let takes = if matches!(ask, Ask::Fetch(_)) { READ } else { WRITE };
            self.schedule(now + takes, Event::Backing(ask));
        }
    }

    fn answered(&mut self, now: u64, ask: Ask) {
        self.serving -= 1;
        self.serve_queue(now);
        match ask {
            Ask::Fetch(number) => {
                for page in self.fetches[number].pages.clone() {
                    let held = self.held.get_mut(&page).expect("it is expected");
                    held.has_come = Some(number);
                    if held.behind.is_none() {
                        self.fill(now, page);
                    }
                }
            }
            Ask::Leaving(number) => {
                self.leaving[number].is_over = true;
                for then in std::mem::take(&mut self.leaving[number].then) {
                    match then {
                        Ask::Leaving(next) => {
                            self.leaving[next].after -= 1;
                            self.try_to_send(now, next);
                        }
                        Ask::Fetch(next) => {
                            self.fetches[next].after -= 1;
                            if self.fetches[next].after == 0 {
                                self.ask(now, then);
                            }
                        }
                    }
                }
                if let Some(next) = self.places.pop_front() {
                    self.leaving[next].has_place = true;
                    self.try_to_send(now, next);
                    if let Some(request) = self.leaving[next].holds.take() {
                        self.ends(request, now);
                    }
                    let behind = |held: &Held| held.behind == Some(next);
                    let page = self.held.iter().find(|(_, held)| behind(held)).map(|(&page, _)| page);
                    if let Some(page) = page {
                        let held = self.held.get_mut(&page).expect("it is held");
                        held.behind = None;
                        if held.has_come.is_some() {
                            self.fill(now, page);
                        } else if let Some(part) =
                            held.writer.clone().filter(|_| held.busy == Some(Busy::Placing))
                        {
                            self.begin_write(now, part);
                        }
                    }
                }
            }
        }
    }

    fn fill(&mut self, now: u64, page: u64) {
        self.count("fills");
        let at = self.access(now);
        let held = self.held.get_mut(&page).expect("it is expected");
        held.busy = Some(Busy::Filling);
        let fetch = held.has_come.take().expect("it has come");
        self.schedule(at, Event::Frame(page));
        self.serve_waiters(now, page);
        self.fetches[fetch].left -= 1;
        if self.fetches[fetch].left == 0
            && let Some(request) = self.fetches[fetch].request
        {
            self.ends(request, now);
        }
    }

    fn look_again(&mut self, now: u64) {
        while let Some(part) = self.without_frame.front() {
            let is_held = self.used.contains(&part.page);
            if !is_held && !self.may_take_frame(true) {
                return;
            }
            let part = self.without_frame.pop_front().expect("one waits");
            if part.is_write {
                self.write(now, part, true);
            } else if is_held {
                self.read_held(now, part, false);
            } else {
                self.ends[part.request].0 -= 1;
                self.fetch(now, Some(part.request), vec![part.page], true);
            }
        }
    }

    fn look_at_flushes(&mut self, now: u64) {
        for number in 0..self.flushes.len() {
            let of = &self.flushes[number];
            let writes_are_over = of.writes.iter().all(|write| !self.writing.contains(write));
            if of.leaving.is_none() && writes_are_over {
                let mut dirty = self.dirty.clone();
                dirty.sort_unstable();
                for page in dirty {
                    self.leave(now, page);
                }
                let open = (0..self.leaving.len()).filter(|&at| !self.leaving[at].is_over).collect();
                self.flushes[number].leaving = Some(open);
            }
            let of = &self.flushes[number];
            let is_over = |of: &Vec<usize>| of.iter().all(|&at| self.leaving[at].is_over);
            if of.backing.is_none() && of.leaving.as_ref().is_some_and(is_over) {
                // These writes are in progress in the backing.
                let is_there = |at: &usize| {
                    let of = &self.leaving[*at];
                    !of.is_over && of.is_read && of.has_place && of.after == 0
                };
                let there = (0..self.leaving.len()).filter(is_there).collect();
                self.flushes[number].backing = Some(there);
            }
            let of = &self.flushes[number];
            if of.backing.as_ref().is_some_and(is_over) {
                let request = of.request;
                self.flushes[number].backing = Some(vec![]);
                if self.ends[request].0 > 0 {
                    self.ends(request, now);
                }
            }
        }
    }
}
