//! Compares the cache with a naive event simulation written from its definition: every counter, every byte
//! moved, and every completion time.

use super::{Host, counter};
use nacre_kernel::{Op, Request, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;

const BLOCK: u64 = 4096;
const SECTOR: u64 = 512;
/// Read and write latencies of level 0, level 1, and the backing, in microseconds.
const LATENCIES: [(u64, u64); 3] = [(7, 128), (108, 37), (919, 133)];

#[derive(Clone, Debug)]
struct Shape {
    capacities: Vec<usize>,
    inclusive: bool,
    write_allocate: bool,
}

impl Shape {
    fn device(&self) -> Host {
        let inclusion = if self.inclusive { "inclusive" } else { "exclusive" };
        let measured = |(read, write): (u64, u64)| {
            format!("kind = \"measured\"\nread = \"{read} us\"\nwrite = \"{write} us\"\nparallelism = 512\n")
        };
        let mut toml = format!(
            "[stack]\nkind = \"server_cache\"\ninclusion = \"{inclusion}\"\nwrite_allocate = {}\n",
            self.write_allocate
        );
        for (capacity, latencies) in self.capacities.iter().zip(LATENCIES) {
            let device = measured(latencies);
            toml += &format!(
                "[[stack.level]]\n[stack.level.device]\n{device}capacity = \"{} KiB\"\n",
                capacity * 4
            );
        }
        // A request takes one latency, regardless of its size.
        toml +=
            &format!("[stack.backing]\n{}unit = \"1 MiB\"\ncapacity = \"1 MiB\"\n", measured(LATENCIES[2]));
        crate::workbench::host(&toml)
    }
}

/// A piece of work of a device, e.g. the read of a block. A device performs all of its work in parallel.
struct Work {
    /// Work that must end before this work starts.
    behind: Vec<usize>,
    decided: u64,
    latency: u64,
    /// Level and block of the copy that the work accesses, if any.
    copy: Option<(usize, u64)>,
    writes: bool,
    is_whole: bool,
    /// Whether the work reads a copy of a block in order to write it to another level.
    carries: bool,
    /// The work that supplies the data to write to a level, if any.
    source: Option<usize>,
    /// Time at which the work was canceled because it became unnecessary; `None` if it was not canceled.
    canceled: Option<u64>,
    bytes: u64,
    end: u64,
}

/// The naive simulation. Levels are lists, most recently used first. All work, past and future, is in one
/// list. Work that depends on other work follows it in the list.
struct Naive {
    shape: Shape,
    levels: Vec<Vec<u64>>,
    work: Vec<Work>,
    /// Latest fetch of each block, as an index into the work. Obsolete fetches are removed.
    fetches: BTreeMap<u64, usize>,
    /// Latest write or trim of each block in the backing, as an index into the work.
    changes: BTreeMap<u64, usize>,
    /// For each level, the work on copies that have left the level. This work must end before a block is
    /// inserted at a free location.
    lingering: Vec<Vec<usize>>,
    counts: BTreeMap<&'static str, u64>,
    /// Arrival time of each request, and the work that it waits for.
    requests: Vec<(u64, Vec<usize>)>,
}

/// Insertion of a block into a level, at the location of another block or at a free location.
#[derive(Clone, Copy)]
struct Entry {
    block: u64,
    level: usize,
    instead_of: Option<u64>,
    from: Option<usize>,
}

impl Naive {
    fn new(shape: &Shape) -> Naive {
        let depth = shape.capacities.len();
        Naive {
            shape: shape.clone(),
            levels: vec![Vec::new(); depth],
            work: Vec::new(),
            fetches: BTreeMap::new(),
            changes: BTreeMap::new(),
            lingering: vec![Vec::new(); depth],
            counts: BTreeMap::new(),
            requests: Vec::new(),
        }
    }

    fn count(&mut self, name: &'static str) {
        *self.counts.entry(name).or_default() += 1;
    }

    fn holder(&self, block: u64) -> Option<usize> {
        self.levels.iter().position(|level| level.contains(&block))
    }

    /// Computes the end times of all work added so far.
    fn plan(&mut self) {
        for index in 0..self.work.len() {
            let of = &self.work[index];
            let behind = of.behind.iter().map(|&on| self.work[on].end);
            let source = of.source.filter(|_| of.canceled.is_none()).map(|on| self.work[on].end);
            let begin = behind.chain(source).fold(of.decided.max(of.canceled.unwrap_or(0)), u64::max);
            self.work[index].end = begin + if of.canceled.is_some() { 0 } else { of.latency };
        }
    }

    fn add(&mut self, now: u64, latency: u64, behind: Vec<usize>) -> usize {
        self.work.push(Work {
            behind,
            decided: now,
            latency,
            copy: None,
            writes: false,
            is_whole: true,
            carries: false,
            source: None,
            canceled: None,
            bytes: 0,
            end: u64::MAX,
        });
        self.work.len() - 1
    }

    /// Work that accesses a copy and has not ended at `now`.
    fn at_copy(&self, now: u64, level: usize, block: u64, only_writes: bool) -> Vec<usize> {
        let is_it =
            |of: &Work| of.copy == Some((level, block)) && of.end >= now && (of.writes || !only_writes);
        (0..self.work.len()).filter(|&index| is_it(&self.work[index])).collect()
    }

    /// Adds work on a copy in a level. `behind` is the work that must end first.
    fn touch_copy(
        &mut self,
        now: u64,
        (level, block): (usize, u64),
        writes: bool,
        bytes: u64,
        behind: Vec<usize>,
    ) -> usize {
        let latency = if writes { LATENCIES[level].1 } else { LATENCIES[level].0 };
        let index = self.add(now, latency, behind);
        let of = &mut self.work[index];
        (of.copy, of.writes, of.bytes, of.is_whole) = (Some((level, block)), writes, bytes, bytes == BLOCK);
        index
    }

    fn linger(&mut self, now: u64, level: usize, block: u64) {
        let left = self.at_copy(now, level, block, false);
        self.lingering[level].extend(left);
    }

    /// Moves `block` into the first level. Returns the insertions, with the last victim first, and the
    /// locations that become free.
    fn promote(&mut self, block: u64) -> (Vec<Entry>, Vec<(usize, u64)>) {
        let holder = self.holder(block);
        let (mut entries, mut vacated) = (Vec::new(), Vec::new());
        if holder == Some(0) {
            self.levels[0].retain(|&held| held != block);
            self.levels[0].insert(0, block);
            return (entries, vacated);
        }
        if holder.is_some() {
            self.count("promotions");
        }
        if self.shape.inclusive {
            let depth = self.levels.len();
            for level in 0..=holder.unwrap_or(depth - 1) {
                let was_there = Some(level) == holder;
                self.levels[level].retain(|&held| held != block);
                self.levels[level].insert(0, block);
                let victim = (self.levels[level].len() > self.shape.capacities[level])
                    .then(|| self.levels[level].pop().expect("it is full"));
                if let Some(victim) = victim {
                    for upper in 0..level {
                        if self.levels[upper].contains(&victim) {
                            self.levels[upper].retain(|&held| held != victim);
                            vacated.push((upper, victim));
                        }
                    }
                    if level + 1 == depth {
                        self.count("evictions");
                    }
                }
                if !was_there {
                    entries.push(Entry { block, level, instead_of: victim, from: None });
                }
            }
            return (entries, vacated);
        }
        if let Some(holder) = holder {
            self.levels[holder].retain(|&held| held != block);
            vacated.push((holder, block));
        }
        let mut carried = (block, None);
        for level in 0..self.levels.len() {
            let (block, from) = carried;
            if level > 0 {
                self.count("demotions");
            }
            self.levels[level].insert(0, block);
            let is_over = self.levels[level].len() > self.shape.capacities[level];
            let instead_of = is_over.then(|| self.levels[level].pop().expect("it is full"));
            entries.push(Entry { block, level, instead_of, from });
            match instead_of {
                Some(victim) => carried = (victim, Some(level)),
                None => {
                    entries.reverse();
                    return (entries, vacated);
                }
            }
        }
        self.count("evictions");
        entries.reverse();
        (entries, vacated)
    }

    /// Adds the work that moves blocks between levels. `own` is the work that supplies the data of the
    /// requested block.
    fn carry_out(&mut self, now: u64, entries: &[Entry], vacated: &[(usize, u64)], own: Option<usize>) {
        let mut sources = Vec::new();
        for entry in entries {
            let sink = entry.from.map(|level| {
                let behind = self.at_copy(now, level, entry.block, true);
                let sink = self.touch_copy(now, (level, entry.block), false, BLOCK, behind);
                self.work[sink].carries = true;
                sink
            });
            sources.push(sink.or(own));
        }
        self.plan();
        vacated.iter().for_each(|&(level, block)| self.linger(now, level, block));
        for (entry, source) in entries.iter().zip(sources) {
            let mut behind = self.at_copy(now, entry.level, entry.block, true);
            behind.extend(self.place(now, entry));
            let write = self.touch_copy(now, (entry.level, entry.block), true, BLOCK, behind);
            self.work[write].source = source;
            self.plan();
        }
    }

    /// Work that must end before the location of the insertion is free.
    fn place(&self, now: u64, entry: &Entry) -> Vec<usize> {
        match entry.instead_of {
            Some(victim) => self.at_copy(now, entry.level, victim, false),
            None => {
                self.lingering[entry.level].iter().copied().filter(|&on| self.work[on].end >= now).collect()
            }
        }
    }

    fn is_on_its_way(&self, now: u64, block: u64) -> Option<usize> {
        self.fetches.get(&block).copied().filter(|&fetch| self.work[fetch].end >= now)
    }

    fn behind_changes(&self, block: u64) -> Option<usize> {
        self.changes.get(&block).copied()
    }

    fn read(&mut self, now: u64, from: u64, to: u64) -> Vec<usize> {
        let (mut parts, mut run) = (Vec::new(), None);
        for block in from / BLOCK..to.div_ceil(BLOCK) {
            let (holder, fetch) = (self.holder(block), self.is_on_its_way(now, block));
            let (entries, vacated) = self.promote(block);
            if let Some(fetch) = fetch {
                self.count("read_merged");
                run = None;
                parts.push(fetch);
                self.carry_out(now, &entries, &vacated, Some(fetch));
            } else if let Some(level) = holder {
                self.count("read_hits");
                self.count(["level0_read_hits", "level1_read_hits"][level]);
                run = None;
                let bytes = if level == 0 { overlap(block, from, to) } else { BLOCK };
                let writes = self.at_copy(now, level, block, true);
                let newest = writes.iter().max();
                let moves = entries.iter().any(|entry| entry.block == block);
                let behind = if moves && newest.is_some_and(|&on| !self.work[on].is_whole) {
                    // Writes to portions of the block move with it.
                    writes
                } else {
                    let whole = writes
                        .into_iter()
                        .filter(|&on| self.work[on].is_whole && self.work[on].canceled.is_none());
                    // The data of the last write is in memory, unless it is still being read.
                    let last = whole
                        .max()
                        .filter(|&on| self.work[on].source.is_some_and(|of| self.work[of].end >= now));
                    last.into_iter().collect()
                };
                let hit = self.touch_copy(now, (level, block), false, bytes, behind);
                self.work[hit].carries = moves;
                self.plan();
                parts.push(hit);
                self.carry_out(now, &entries, &vacated, Some(hit));
            } else {
                self.count("read_misses");
                self.count("fills");
                let change = self.behind_changes(block);
                let fetch = match run {
                    Some(fetch) => fetch,
                    None => {
                        self.count("backing_reads");
                        self.add(now, LATENCIES[2].0, Vec::new())
                    }
                };
                self.work[fetch].behind.extend(change);
                self.plan();
                run = Some(fetch);
                self.fetches.insert(block, fetch);
                parts.push(fetch);
                self.carry_out(now, &entries, &vacated, Some(fetch));
            }
        }
        parts
    }

    fn change(&mut self, now: u64, latency: u64, blocks: std::ops::Range<u64>) -> usize {
        let behind = blocks.clone().filter_map(|block| self.behind_changes(block)).collect();
        let index = self.add(now, latency, behind);
        self.plan();
        self.changes.extend(blocks.map(|block| (block, index)));
        index
    }

    fn write(&mut self, now: u64, from: u64, to: u64) -> Vec<usize> {
        self.count("backing_writes");
        let mut parts = vec![self.change(now, LATENCIES[2].1, from / BLOCK..to.div_ceil(BLOCK))];
        for block in from / BLOCK..to.div_ceil(BLOCK) {
            let is_whole = from <= block * BLOCK && to >= (block + 1) * BLOCK;
            let (holder, fetch) = (self.holder(block), self.is_on_its_way(now, block));
            let enters = is_whole && self.shape.write_allocate;
            if holder.is_some() && fetch.is_some() && !is_whole {
                self.count("write_merged");
            } else {
                self.fetches.remove(&block);
                if is_whole {
                    self.cancel(now, block);
                }
                self.count(if holder.is_some() { "write_hits" } else { "write_misses" });
                if holder.is_none() && !is_whole && self.shape.write_allocate {
                    self.count("write_parts");
                }
            }
            let (mut entries, mut vacated) = (Vec::new(), Vec::new());
            match holder {
                _ if enters => (entries, vacated) = self.promote(block),
                Some(level) => {
                    self.levels[level].retain(|&held| held != block);
                    self.levels[level].insert(0, block);
                }
                None => continue,
            }
            if !is_whole && fetch.is_some() {
                continue;
            }
            let others: Vec<Entry> = entries.iter().copied().filter(|entry| entry.block != block).collect();
            self.carry_out(now, &others, &vacated, None);
            for level in 0..self.levels.len() {
                if !self.levels[level].contains(&block) {
                    continue;
                }
                let mut behind = self.at_copy(now, level, block, false);
                behind.retain(|&on| self.work[on].writes || self.work[on].carries);
                let own = entries.iter().find(|entry| entry.block == block && entry.level == level);
                behind.extend(own.into_iter().flat_map(|entry| self.place(now, entry)));
                let copy = self.touch_copy(now, (level, block), true, overlap(block, from, to), behind);
                self.plan();
                parts.push(copy);
            }
        }
        parts
    }

    /// Cancels pending writes of the whole `block` that have no data yet, because they are obsolete.
    fn cancel(&mut self, now: u64, block: u64) {
        for index in 0..self.work.len() {
            let of = &self.work[index];
            let waits = of.source.is_some_and(|source| self.work[source].end >= now);
            if waits && of.canceled.is_none() && of.copy.is_some_and(|(_, of)| of == block) {
                self.work[index].canceled = Some(now);
            }
        }
        self.plan();
    }

    fn trim(&mut self, now: u64, blocks: std::ops::Range<u64>) -> Vec<usize> {
        for block in blocks.clone() {
            if self.holder(block).is_some() {
                self.count("trimmed");
            }
            self.fetches.remove(&block);
            for level in 0..self.levels.len() {
                self.linger(now, level, block);
                self.levels[level].retain(|&held| held != block);
            }
            self.plan();
        }
        vec![self.change(now, 0, blocks)]
    }

    fn submit(&mut self, now: u64, request: &Request) {
        let (from, to) = (request.address, request.address + u64::from(request.bytes));
        self.plan();
        let parts = match request.op {
            Op::Read => self.read(now, from, to),
            Op::Write => self.write(now, from, to),
            _ => self.trim(now, from / BLOCK..to.div_ceil(BLOCK)),
        };
        self.requests.push((now, parts));
    }

    /// Latencies of all requests, in microseconds.
    fn latencies(&mut self) -> Vec<u64> {
        self.plan();
        let end =
            |now: u64, parts: &[usize]| parts.iter().fold(now, |end, &part| end.max(self.work[part].end));
        self.requests.iter().map(|(now, parts)| end(*now, parts) - now).collect()
    }

    /// Bytes read from and written to each level.
    fn bytes(&self) -> Vec<[u64; 2]> {
        let mut bytes = vec![[0; 2]; self.levels.len()];
        for of in self.work.iter().filter(|of| of.canceled.is_none()) {
            if let Some((level, _)) = of.copy {
                bytes[level][usize::from(of.writes)] += of.bytes;
            }
        }
        bytes
    }
}

/// Number of bytes of `block` between the addresses `from` and `to`.
fn overlap(block: u64, from: u64, to: u64) -> u64 {
    to.min((block + 1) * BLOCK) - from.max(block * BLOCK)
}

/// Generates a pause in microseconds and a request. Half of the requests are for whole blocks.
fn step() -> impl Strategy<Value = (u64, Request)> {
    let gap = prop_oneof![Just(0), 1..50u64, 100..1200u64];
    let op = prop_oneof![6 => Just(Op::Read), 4 => Just(Op::Write), 1 => Just(Op::Trim)];
    let whole = (0..24u64, 1..6u64).prop_map(|(first, count)| (first * BLOCK, count * BLOCK));
    let part = (0..24 * 8u64, 1..24u64).prop_map(|(first, count)| (first * SECTOR, count * SECTOR));
    let extent = prop_oneof![whole, part];
    (gap, op, extent).prop_map(|(gap, op, (address, bytes))| {
        (gap, Request { arrival: Time::ZERO, address, bytes: bytes as u32, volume: 0, op })
    })
}

fn shape() -> impl Strategy<Value = Shape> {
    let capacities = prop_oneof![
        (1..16usize).prop_map(|only| vec![only]),
        (1..8usize, 0..8usize).prop_map(|(upper, more)| vec![upper, upper + more]),
    ];
    (capacities, any::<bool>(), any::<bool>()).prop_map(|(capacities, inclusive, write_allocate)| Shape {
        capacities,
        inclusive,
        write_allocate,
    })
}

const COMPARED: [&str; 16] = [
    "read_hits",
    "read_misses",
    "read_merged",
    "write_hits",
    "write_misses",
    "write_merged",
    "write_parts",
    "trimmed",
    "fills",
    "promotions",
    "demotions",
    "evictions",
    "backing_reads",
    "backing_writes",
    "level0_read_hits",
    "refusals",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn counts_bytes_and_completion_times_equal_those_of_a_naive_model(
        shape in shape(),
        steps in prop::collection::vec(step(), 1..150),
    ) {
        let (mut cache, mut naive) = (shape.device(), Naive::new(&shape));
        let (mut now, mut read_blocks) = (0, 0);
        for (number, (gap, request)) in steps.iter().enumerate() {
            now += gap;
            naive.submit(now, request);
            cache.submit(Time::from_us(now), *request);
            if number % 16 == 0 {
                cache.check();
            }
            if request.op == Op::Read {
                read_blocks += request.blocks(BLOCK).1;
            }
        }
        cache.rest();
        cache.check();
        for (number, (latency, done)) in naive.latencies().iter().zip(&cache.done).enumerate() {
            let found = done.as_ref().map(|done| done.latency);
            prop_assert_eq!(found, Some(Time::from_us(*latency)), "step {}: {:?}", number, steps[number]);
        }
        for name in COMPARED {
            let expected = naive.counts.get(name).copied().unwrap_or_default();
            prop_assert_eq!(cache.count(name), expected, "{}", name);
        }
        let report = cache.report();
        for (level, bytes) in naive.bytes().iter().enumerate() {
            let found = ["bytes_read", "bytes_written"].map(|name| counter(&report.children[level], name));
            prop_assert_eq!(found, *bytes, "level {}", level);
        }
        let kinds = ["read_hits", "read_misses", "read_merged"];
        prop_assert_eq!(kinds.map(|name| cache.count(name)).iter().sum::<u64>(), read_blocks);
    }
}
