//! The cache against a naive model written from its definition: every count, every byte moved, every
//! completion time.

use super::{count, counter, submit};
use crate::workbench;
use nacre_kernel::{Device, Op, Request, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;

const BLOCK: u64 = 4096;
const SECTOR: u64 = 512;
/// Read and write latencies in us: level 0, level 1, backing.
const LATENCIES: [(u64, u64); 3] = [(7, 128), (108, 37), (919, 133)];

#[derive(Clone, Debug)]
struct Shape {
    capacities: Vec<usize>,
    inclusive: bool,
    write_allocate: bool,
}

impl Shape {
    fn device(&self) -> Box<dyn Device> {
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
        // Of large units: one request takes one latency whatever its size.
        toml +=
            &format!("[stack.backing]\n{}unit = \"1 MiB\"\ncapacity = \"1 MiB\"\n", measured(LATENCIES[2]));
        workbench::build(&toml).expect("the test's cache is legal")
    }
}

/// Levels are lists, the latest use first.
struct Naive {
    shape: Shape,
    levels: Vec<Vec<u64>>,
    arrivals: BTreeMap<u64, u64>,
    counts: BTreeMap<&'static str, u64>,
    /// Of each level: bytes read, bytes written.
    bytes: Vec<[u64; 2]>,
}

impl Naive {
    fn new(shape: &Shape) -> Naive {
        let depth = shape.capacities.len();
        Naive {
            shape: shape.clone(),
            levels: vec![Vec::new(); depth],
            arrivals: BTreeMap::new(),
            counts: BTreeMap::new(),
            bytes: vec![[0; 2]; depth],
        }
    }

    fn count(&mut self, name: &'static str) {
        *self.counts.entry(name).or_default() += 1;
    }

    fn holder(&self, block: u64) -> Option<usize> {
        self.levels.iter().position(|level| level.contains(&block))
    }

    fn drop_from(&mut self, level: usize, block: u64) {
        self.levels[level].retain(|&held| held != block);
    }

    /// Puts `block` on top of `level`; what must leave for it.
    fn put(&mut self, level: usize, block: u64) -> Option<u64> {
        self.drop_from(level, block);
        self.levels[level].insert(0, block);
        (self.levels[level].len() > self.shape.capacities[level]).then(|| self.levels[level].pop().unwrap())
    }

    /// A use that brings `block` into the first level.
    fn promote(&mut self, block: u64) {
        let holder = self.holder(block);
        if holder.is_some_and(|holder| holder > 0) {
            self.count("promotions");
        }
        if self.shape.inclusive {
            for level in 0..=holder.unwrap_or(self.levels.len() - 1) {
                if let Some(victim) = self.put(level, block) {
                    (0..level).for_each(|upper| self.drop_from(upper, victim));
                    if level + 1 == self.levels.len() {
                        self.count("evictions");
                    }
                }
            }
            return;
        }
        (0..self.levels.len()).for_each(|level| self.drop_from(level, block));
        let mut carried = Some(block);
        for level in 0..self.levels.len() {
            let Some(block) = carried else { return };
            if level > 0 {
                self.count("demotions");
                self.bytes[level - 1][0] += BLOCK;
                self.bytes[level][1] += BLOCK;
            }
            carried = self.put(level, block);
        }
        if carried.is_some() {
            self.count("evictions");
        }
    }

    /// A read found a block in `holder`; it is written into every level that it came into.
    fn fill_from(&mut self, holder: Option<usize>) {
        let lowest = if self.shape.inclusive { self.levels.len() } else { 1 };
        for level in 0..holder.unwrap_or(lowest).min(lowest) {
            self.bytes[level][1] += BLOCK;
        }
    }

    fn read(&mut self, now: u64, from: u64, to: u64) -> u64 {
        let mut done = now;
        let mut missed_before = false;
        let mut missed = Vec::new();
        for block in from / BLOCK..to.div_ceil(BLOCK) {
            let holder = self.holder(block);
            self.promote(block);
            self.fill_from(holder);
            let arrival = self.arrivals.get(&block).copied().filter(|&arrival| arrival > now);
            let is_miss = arrival.is_none() && holder.is_none();
            done = done.max(match (arrival, holder) {
                (Some(arrival), _) => {
                    self.count("read_merged");
                    arrival
                }
                (None, Some(level)) => {
                    self.count("read_hits");
                    self.count(["level0_read_hits", "level1_read_hits"][level]);
                    self.bytes[level][0] += if level == 0 { overlap(block, from, to) } else { BLOCK };
                    now + LATENCIES[level].0
                }
                (None, None) => {
                    self.count("read_misses");
                    self.count("fills");
                    missed.push(block);
                    if !missed_before {
                        self.count("backing_reads");
                    }
                    now + LATENCIES[2].0
                }
            });
            missed_before = is_miss;
        }
        self.arrivals.extend(missed.into_iter().map(|block| (block, now + LATENCIES[2].0)));
        done
    }

    fn write(&mut self, now: u64, from: u64, to: u64) -> u64 {
        self.count("backing_writes");
        let mut done = now + LATENCIES[2].1;
        for block in from / BLOCK..to.div_ceil(BLOCK) {
            let is_whole = from <= block * BLOCK && to >= (block + 1) * BLOCK;
            let holder = self.holder(block);
            let is_on_its_way = self.arrivals.get(&block).is_some_and(|&arrival| arrival > now);
            if holder.is_some() && is_on_its_way && !is_whole {
                self.count("write_merged");
            } else {
                self.arrivals.remove(&block);
                self.count(if holder.is_some() { "write_hits" } else { "write_misses" });
                if holder.is_none() && !is_whole && self.shape.write_allocate {
                    self.count("write_parts");
                }
            }
            let enters = is_whole && self.shape.write_allocate;
            match holder {
                _ if enters => self.promote(block),
                Some(level) => assert_eq!(self.put(level, block), None),
                None => continue,
            }
            if is_whole || !is_on_its_way {
                let holders = (0..self.levels.len()).filter(|&level| self.levels[level].contains(&block));
                for level in holders.collect::<Vec<_>>() {
                    self.bytes[level][1] += overlap(block, from, to);
                    done = done.max(now + LATENCIES[level].1);
                }
            }
        }
        done
    }

    fn trim(&mut self, now: u64, blocks: std::ops::Range<u64>) -> u64 {
        for block in blocks {
            if self.holder(block).is_some() {
                self.count("trimmed");
            }
            self.arrivals.remove(&block);
            (0..self.levels.len()).for_each(|level| self.drop_from(level, block));
        }
        now
    }

    fn submit(&mut self, now: u64, request: &Request) -> u64 {
        let (from, to) = (request.address, request.address + u64::from(request.bytes));
        match request.op {
            Op::Read => self.read(now, from, to),
            Op::Write => self.write(now, from, to),
            _ => self.trim(now, from / BLOCK..to.div_ceil(BLOCK)),
        }
    }
}

/// Bytes of `block` from byte `from` up to byte `to`.
fn overlap(block: u64, from: u64, to: u64) -> u64 {
    to.min((block + 1) * BLOCK) - from.max(block * BLOCK)
}

/// A gap in us and a request: half of them in whole blocks.
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
            if number % 3 == 0 {
                cache.advance(Time::from_us(now));
            }
            let expected = naive.submit(now, request) - now;
            let latency = submit(&mut *cache, Time::from_us(now), *request);
            prop_assert_eq!(latency, Time::from_us(expected), "step {} at {} us: {:?}", number, now, request);
            if number % 16 == 0 {
                cache.check_invariants();
            }
            if request.op == Op::Read {
                read_blocks += request.blocks(BLOCK).1;
            }
        }
        cache.check_invariants();
        for name in COMPARED {
            let expected = naive.counts.get(name).copied().unwrap_or_default();
            prop_assert_eq!(count(&*cache, name), expected, "{}", name);
        }
        let report = cache.report(Time::from_us(now));
        for (level, bytes) in naive.bytes.iter().enumerate() {
            let found = ["bytes_read", "bytes_written"].map(|name| counter(&report.children[level], name));
            prop_assert_eq!(found, *bytes, "level {}", level);
        }
        let kinds = ["read_hits", "read_misses", "read_merged"];
        prop_assert_eq!(kinds.map(|name| count(&*cache, name)).iter().sum::<u64>(), read_blocks);
    }
}
