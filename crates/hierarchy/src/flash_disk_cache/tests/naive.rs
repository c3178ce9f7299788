//! A naive event simulation of a flash disk cache without bit errors, written from its rules. Times are
//! integers in nanoseconds, and all state is in lists.

use super::shape::{DECODE, ERASE, PAGE, PROGRAM, READ, RUN, SENSE, Shape, WRITE};
use nacre_kernel::{Op, Request};
use std::collections::{BTreeMap, VecDeque};

/// A part of a request.
#[derive(Clone, Debug)]
struct Part {
    request: usize,
    page: u64,
    is_write: bool,
    is_counted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Sense,
    /// Takes data from the controller's memory. Another operation supplies the data.
    Look,
    Program,
    Journal,
    Erase,
    Fetch,
    Back,
}

#[derive(Clone, Debug)]
struct Work {
    kind: Kind,
    waits: usize,
    then: Vec<usize>,
    is_over: bool,
    block: Option<usize>,
    /// Block of the page that this operation replaces or writes back, if any.
    leaves: Option<usize>,
    /// Operation that supplies the data of a program, if the data is not available yet.
    source: Option<usize>,
    pages: Vec<u64>,
    part: Option<Part>,
}

/// A page in flash.
#[derive(Clone, Copy, Debug)]
struct Held {
    block: usize,
    is_dirty: bool,
    program: usize,
}

#[derive(Clone, Debug, Default)]
struct Block {
    region: usize,
    /// Programmed pages of the block. An invalid page is `None`.
    pages: Vec<Option<u64>>,
    erase: Option<usize>,
    erases: u64,
    is_full: bool,
}

impl Block {
    fn valid(&self) -> usize {
        self.pages.iter().flatten().count()
    }
}

#[derive(Clone, Debug, Default)]
struct Region {
    open: Vec<Option<usize>>,
    free: VecDeque<usize>,
    /// Full blocks, least recently used first.
    full: Vec<usize>,
    is_collecting: bool,
}

#[derive(Clone, Debug, Default)]
struct Die {
    serving: Option<usize>,
    waiting: VecDeque<usize>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Arrives(usize),
    Encoded(usize),
    Die(usize),
    Over(usize),
    Backing(usize),
}

pub(super) struct Naive {
    shape: Shape,
    events: Vec<(u64, u64, u64, Event)>,
    order: u64,
    pub(super) requests: Vec<Request>,
    /// Number of parts in progress for each request, and the end of its last part.
    pub(super) ends: Vec<(usize, u64)>,
    held: BTreeMap<u64, Held>,
    blocks: Vec<Block>,
    regions: [Region; 2],
    works: Vec<Work>,
    dies: Vec<Die>,
    decoders: Vec<u64>,
    /// Parts that wait for pages being fetched from the backing.
    coming: BTreeMap<u64, Vec<Part>>,
    queue: VecDeque<usize>,
    serving: usize,
    pub(super) counts: BTreeMap<&'static str, u64>,
}

impl Naive {
    pub(super) fn new(shape: Shape) -> Naive {
        let mut blocks = vec![Block::default(); shape.blocks];
        let mut regions = [Region::default(), Region::default()];
        for (region, count) in [shape.blocks - shape.writes, shape.writes].into_iter().enumerate() {
            regions[region].open = vec![None; (count / 8).clamp(1, shape.dies)];
        }
        for (number, block) in blocks.iter_mut().enumerate() {
            block.region = usize::from(number < shape.writes);
            regions[block.region].free.push_back(number);
        }
        Naive {
            shape,
            events: Vec::new(),
            order: 0,
            requests: Vec::new(),
            ends: Vec::new(),
            held: BTreeMap::new(),
            blocks,
            regions,
            works: Vec::new(),
            dies: vec![Die::default(); shape.dies],
            decoders: vec![0; shape.decoders],
            coming: BTreeMap::new(),
            queue: VecDeque::new(),
            serving: 0,
            counts: BTreeMap::new(),
        }
    }

    fn count(&mut self, name: &'static str, more: u64) {
        *self.counts.entry(name).or_default() += more;
    }

    /// Schedules an event. Events at the same time are ordered: arrivals, then the cache, then the backing.
    pub(super) fn schedule(&mut self, at: u64, event: Event) {
        let class = match event {
            Event::Arrives(_) => 0,
            Event::Backing(_) => 2,
            _ => 1,
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
                Event::Encoded(work) => self.wants_die(now, work),
                Event::Die(die) => self.die_ends(now, die),
                Event::Over(work) => self.over(now, work),
                Event::Backing(work) => self.answered(now, work),
            }
        }
    }

    fn arrives(&mut self, now: u64, request: usize) {
        let of = self.requests[request];
        let is_write = of.op == Op::Write;
        let mut run = Vec::new();
        for page in of.address / PAGE..(of.address + u64::from(of.bytes)).div_ceil(PAGE) {
            let part = Part { request, page, is_write, is_counted: false };
            self.ends[request].0 += 1;
            if is_write {
                self.write(now, part);
            } else if self.coming.contains_key(&page) || self.held.contains_key(&page) {
                self.read(now, part);
                self.fetch_all(now, request, std::mem::take(&mut run));
            } else {
                run.push(page);
            }
        }
        self.fetch_all(now, request, run);
    }

    /// Fetches adjacent pages as one part of a request.
    fn fetch_all(&mut self, now: u64, request: usize, pages: Vec<u64>) {
        if let Some(&page) = pages.first() {
            self.ends[request].0 -= pages.len() - 1;
            self.fetch(now, Part { request, page, is_write: false, is_counted: true }, pages);
        }
    }

    fn ends(&mut self, now: u64, part: &Part) {
        let of = &mut self.ends[part.request];
        *of = (of.0 - 1, of.1.max(now));
    }

    fn read(&mut self, now: u64, part: Part) {
        let page = part.page;
        if let Some(waiting) = self.coming.get_mut(&page) {
            return waiting.push(part);
        }
        if !self.held.contains_key(&page) {
            return self.fetch(now, part, vec![page]);
        }
        let (is_here, source) = self.look(now, page);
        self.count(if is_here { "read_hits" } else { "read_merged" }, 1);
        match source {
            None => self.ends(now, &part),
            Some(source) if is_here => self.works[source].part = Some(part),
            Some(source) => {
                let look = self.work(Kind::Look, None, &[Some(source)]);
                self.works[look].part = Some(part);
                self.may_begin(now, look);
            }
        }
    }

    /// Looks up a cached page for the host. Returns whether the page is in flash, and the operation that
    /// supplies its data, if the data is not available yet.
    fn look(&mut self, now: u64, page: u64) -> (bool, Option<usize>) {
        let Held { block, program, .. } = self.held[&page];
        if self.blocks[block].is_full {
            let full = &mut self.regions[self.blocks[block].region].full;
            full.retain(|&known| known != block);
            full.push(block);
        }
        if !self.works[program].is_over {
            return (false, self.works[program].source.filter(|&source| !self.works[source].is_over));
        }
        (true, Some(self.sense(now, page)))
    }

    /// Creates the operation that reads a page after its program.
    fn sense(&mut self, now: u64, page: u64) -> usize {
        let Held { block, program, .. } = self.held[&page];
        let sense = self.work(Kind::Sense, Some(block), &[Some(program)]);
        self.may_begin(now, sense);
        sense
    }

    fn fetch(&mut self, now: u64, part: Part, pages: Vec<u64>) {
        let after: Vec<Option<usize>> = pages.iter().map(|&page| self.last_back(page)).collect();
        let fetch = self.work(Kind::Fetch, None, &after);
        pages.iter().for_each(|&page| assert!(self.coming.insert(page, Vec::new()).is_none()));
        (self.works[fetch].part, self.works[fetch].pages) = (Some(part), pages);
        self.may_begin(now, fetch);
    }

    fn last_back(&self, page: u64) -> Option<usize> {
        let is_it = |work: &Work| work.kind == Kind::Back && !work.is_over && work.pages.contains(&page);
        self.works.iter().rposition(is_it)
    }

    fn is_whole(&self, part: &Part) -> bool {
        let of = &self.requests[part.request];
        of.address <= part.page * PAGE && of.address + u64::from(of.bytes) >= (part.page + 1) * PAGE
    }

    fn write(&mut self, now: u64, mut part: Part) {
        let page = part.page;
        if let Some(waiting) = self.coming.get_mut(&page) {
            return waiting.push(part);
        }
        let is_held = self.held.contains_key(&page);
        if !std::mem::replace(&mut part.is_counted, true) {
            self.count(if is_held { "write_hits" } else { "write_misses" }, 1);
        }
        if self.is_whole(&part) {
            self.put(now, part, None);
        } else if is_held {
            let source = self.look(now, page).1;
            self.put(now, part, source);
        } else {
            self.fetch(now, part, vec![page]);
        }
    }

    fn put(&mut self, now: u64, part: Part, source: Option<usize>) {
        let page = part.page;
        let block = self.make_room(now, usize::from(self.shape.writes > 0), page).expect("no block retires");
        let older = self.held.get(&page).map(|held| held.block);
        match older {
            Some(_) => self.forget(page),
            None => self.count("write_allocations", 1),
        }
        self.count("host_programs", 1);
        let program = self.program(block, page, true, source);
        (self.works[program].part, self.works[program].leaves) = (Some(part), older);
        self.may_begin(now, program);
    }

    /// Invalidates the page at its current location.
    fn forget(&mut self, page: u64) {
        let held = self.held.remove(&page).expect("it is held");
        let slot = self.blocks[held.block].pages.iter_mut().find(|slot| **slot == Some(page));
        *slot.expect("it is in its block") = None;
    }

    fn program(&mut self, block: usize, page: u64, is_dirty: bool, source: Option<usize>) -> usize {
        self.blocks[block].pages.push(Some(page));
        if self.blocks[block].pages.len() == self.pages_per_block() {
            let region = self.blocks[block].region;
            self.blocks[block].is_full = true;
            self.regions[region]
                .open
                .iter_mut()
                .filter(|open| **open == Some(block))
                .for_each(|open| *open = None);
            self.regions[region].full.push(block);
        }
        let program = self.work(Kind::Program, Some(block), &[source, self.blocks[block].erase]);
        self.works[program].source = source;
        self.held.insert(page, Held { block, is_dirty, program });
        program
    }

    fn pages_per_block(&self) -> usize {
        self.shape.slots * if self.shape.is_mlc { 2 } else { 1 }
    }

    fn width(&self, region: usize) -> usize {
        let blocks = if region == 1 { self.shape.writes } else { self.shape.blocks - self.shape.writes };
        (blocks / 8).clamp(1, self.regions[region].open.len())
    }

    /// Selects the open block for a page, and collects garbage if necessary.
    fn make_room(&mut self, now: u64, region: usize, page: u64) -> Option<usize> {
        let width = self.width(region);
        let own = (page / RUN) as usize % width;
        let of = &self.regions[region];
        let other = (0..width).find(|&number| of.open[number].is_some());
        let stream = if of.is_collecting && of.open[own].is_none() { other.unwrap_or(own) } else { own };
        loop {
            if let Some(open) = self.regions[region].open[stream] {
                return Some(open);
            }
            if !self.regions[region].is_collecting {
                while self.regions[region].free.len() <= width {
                    self.regions[region].is_collecting = true;
                    let has_room = self.reclaim(now, region);
                    self.regions[region].is_collecting = false;
                    if !has_room || self.regions[region].open[stream].is_some() {
                        break;
                    }
                }
                if self.regions[region].open[stream].is_some() {
                    continue;
                }
            }
            let of = &mut self.regions[region];
            let is_alone = |block: usize| {
                !of.open.iter().flatten().any(|open| open % self.shape.dies == block % self.shape.dies)
            };
            let at = of.free.iter().position(|&block| is_alone(block)).unwrap_or(0);
            let block = of.free.remove(at)?;
            of.open[stream] = Some(block);
            self.blocks[block].region = region;
        }
    }

    /// Frees a full block. Returns false if no block is full.
    fn reclaim(&mut self, now: u64, region: usize) -> bool {
        let (mut programmed, mut invalid, mut best): (usize, usize, Option<usize>) = (0, 0, None);
        for (number, block) in self.blocks.iter().enumerate() {
            if !block.is_full || block.region != region {
                continue;
            }
            let gone = block.pages.len() - block.valid();
            (programmed, invalid) = (programmed + block.pages.len(), invalid + gone);
            let is_better = best.is_none_or(|best| {
                let known = &self.blocks[best];
                let most = known.pages.len() - known.valid();
                gone > most || gone == most && block.valid() == 0 && block.erases < known.erases
            });
            best = if is_better { Some(number) } else { best };
        }
        let Some(best) = best else { return false };
        let collects = invalid as f64 > self.shape.collects_above * programmed as f64;
        self.count(if collects { "collections" } else { "evictions" }, 1);
        let block = if collects { best } else { self.regions[region].full[0] };
        self.regions[region].full.retain(|&known| known != block);
        let pages: Vec<u64> = self.blocks[block].pages.iter().flatten().copied().collect();
        if collects {
            for page in pages {
                match self.make_room(now, region, page) {
                    Some(place) => self.move_to(now, page, place),
                    None => self.evict(now, block, vec![page]),
                }
            }
        } else {
            self.evict(now, block, pages);
        }
        self.erase(now, block);
        self.regions[region].free.push_back(block);
        true
    }

    fn move_to(&mut self, now: u64, page: u64, place: usize) {
        let Held { block, is_dirty, .. } = self.held[&page];
        let sense = self.sense(now, page);
        self.forget(page);
        self.count("collected_programs", 1);
        let program = self.program(place, page, is_dirty, Some(sense));
        self.works[program].leaves = Some(block);
        self.may_begin(now, program);
    }

    /// Evicts `pages` of `block`, and writes the dirty pages back in disk order.
    fn evict(&mut self, now: u64, block: usize, mut pages: Vec<u64>) {
        self.count("pages_evicted", pages.len() as u64);
        pages.sort_unstable();
        let clean: Vec<u64> = pages.extract_if(.., |page| !self.held[page].is_dirty).collect();
        clean.into_iter().for_each(|page| self.forget(page));
        let (mut run, mut senses): (Vec<u64>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
        for page in pages.into_iter().map(Some).chain([None]) {
            let ends = run.last().is_some_and(|&last| page != Some(last + 1) || run.len() as u64 == RUN);
            if ends {
                let mut after = std::mem::take(&mut senses);
                after.extend(run.iter().map(|&page| self.last_back(page)));
                self.count("pages_sent_back", run.len() as u64);
                let back = self.work(Kind::Back, None, &after);
                (self.works[back].pages, self.works[back].leaves) = (std::mem::take(&mut run), Some(block));
                self.may_begin(now, back);
            }
            if let Some(page) = page {
                senses.push(Some(self.sense(now, page)));
                run.push(page);
                self.forget(page);
            }
        }
    }

    fn erase(&mut self, now: u64, block: usize) {
        let is_before = |work: &Work| work.block == Some(block) || work.leaves == Some(block);
        let before: Vec<Option<usize>> =
            (0..self.works.len()).filter(|&number| is_before(&self.works[number])).map(Some).collect();
        let journal = self.work(Kind::Journal, Some(block), &before);
        let erase = self.work(Kind::Erase, Some(block), &[Some(journal)]);
        self.may_begin(now, erase);
        self.may_begin(now, journal);
        let of = &mut self.blocks[block];
        *of = Block { region: of.region, erase: Some(erase), erases: of.erases + 1, ..Block::default() };
        self.count("erases", 1);
    }

    /// Creates an operation that starts when all operations in `after` have ended and its die is free.
    fn work(&mut self, kind: Kind, block: Option<usize>, after: &[Option<usize>]) -> usize {
        let number = self.works.len();
        let mut waits = 1;
        for &on in after.iter().flatten() {
            if !self.works[on].is_over {
                self.works[on].then.push(number);
                waits += 1;
            }
        }
        let (then, pages) = (Vec::new(), Vec::new());
        let (leaves, source, part, is_over) = (None, None, None, false);
        self.works.push(Work { kind, waits, then, is_over, block, leaves, source, pages, part });
        number
    }

    fn may_begin(&mut self, now: u64, number: usize) {
        self.works[number].waits -= 1;
        if self.works[number].waits > 0 {
            return;
        }
        match self.works[number].kind {
            Kind::Look => self.schedule(now, Event::Over(number)),
            Kind::Program if self.shape.encode > 0 => {
                self.schedule(now + self.shape.encode, Event::Encoded(number));
            }
            Kind::Fetch | Kind::Back => {
                if self.works[number].kind == Kind::Fetch
                    && self.works[number].part.as_ref().is_some_and(|part| !part.is_write)
                {
                    self.count("read_misses", self.works[number].pages.len() as u64);
                }
                self.queue.push_back(number);
                self.serve_backing(now);
            }
            _ => self.wants_die(now, number),
        }
    }

    fn serve_backing(&mut self, now: u64) {
        while self.serving < self.shape.servers
            && let Some(work) = self.queue.pop_front()
        {
            self.serving += 1;
            let time = if self.works[work].kind == Kind::Back { WRITE } else { READ };
            self.schedule(now + time, Event::Backing(work));
        }
    }

    fn wants_die(&mut self, now: u64, number: usize) {
        let die = self.works[number].block.expect("it is in flash") % self.shape.dies;
        if self.dies[die].serving.is_some() {
            self.dies[die].waiting.push_back(number);
        } else {
            self.serve_die(now, die, number);
        }
    }

    fn serve_die(&mut self, now: u64, die: usize, number: usize) {
        self.dies[die].serving = Some(number);
        let mode = usize::from(self.shape.is_mlc);
        let time = match self.works[number].kind {
            Kind::Sense => SENSE[mode],
            Kind::Program => PROGRAM[mode],
            Kind::Journal => PROGRAM[0],
            _ => ERASE[mode],
        };
        self.schedule(now + time, Event::Die(die));
    }

    fn die_ends(&mut self, now: u64, die: usize) {
        let number = self.dies[die].serving.take().expect("it is busy");
        if let Some(next) = self.dies[die].waiting.pop_front() {
            self.serve_die(now, die, next);
        }
        if self.works[number].kind != Kind::Sense {
            return self.over(now, number);
        }
        let decoder = self.decoders.iter_mut().min().expect("there is a decoder");
        *decoder = now.max(*decoder) + DECODE;
        let at = *decoder;
        self.schedule(at, Event::Over(number));
    }

    fn over(&mut self, now: u64, number: usize) {
        if let Some(part) = self.works[number].part.take() {
            self.ends(now, &part);
        }
        self.end(now, number);
    }

    fn end(&mut self, now: u64, number: usize) {
        self.works[number].is_over = true;
        for next in std::mem::take(&mut self.works[number].then) {
            self.may_begin(now, next);
        }
    }

    fn answered(&mut self, now: u64, number: usize) {
        self.serving -= 1;
        self.serve_backing(now);
        let Work { kind, pages, part, .. } = self.works[number].clone();
        self.end(now, number);
        if kind == Kind::Back {
            return;
        }
        let part = part.expect("a request asked for it");
        let waiting: Vec<Vec<Part>> =
            pages.iter().map(|page| self.coming.remove(page).expect("it is coming")).collect();
        let is_read = !part.is_write;
        if part.is_write {
            self.put(now, part, None);
        } else {
            self.ends(now, &part);
            for &page in &pages {
                let block = self.make_room(now, 0, page).expect("no block retires");
                self.count("fills", 1);
                let program = self.program(block, page, false, None);
                self.may_begin(now, program);
            }
        }
        for waiting in waiting {
            let mut is_at_hand = is_read;
            for part in waiting {
                is_at_hand &= !part.is_write;
                if part.is_write {
                    self.write(now, part);
                } else if is_at_hand && !self.held.contains_key(&part.page) {
                    self.count("read_merged", 1);
                    self.ends(now, &part);
                } else {
                    self.read(now, part);
                }
            }
        }
    }
}
