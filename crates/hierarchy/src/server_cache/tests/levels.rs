//! Checks the content of each level for every policy.

use crate::replacement::{self, Access, Replacement};
use crate::server_cache::Inclusion;
use crate::server_cache::levels::{Level, Levels, Moves, Spot};
use crate::workbench;
use nacre_kernel::state::State;
use nacre_kernel::{Random, Streams};

const UNIVERSE: u64 = 40;

/// An LRU policy that refuses every second insertion.
#[derive(State)]
struct Picky {
    #[state(varies)]
    held: Vec<u64>,
    #[state(same)]
    capacity: usize,
    refuses: bool,
}

impl Replacement for Picky {
    fn touch(&mut self, block: u64) -> bool {
        self.contains(block)
    }

    fn admit(&mut self, block: u64) -> Option<u64> {
        self.refuses = !self.refuses;
        if self.refuses {
            return Some(block);
        }
        self.held.push(block);
        (self.held.len() > self.capacity).then(|| self.held.remove(0))
    }

    fn remove(&mut self, block: u64) -> bool {
        let was_here = self.contains(block);
        self.held.retain(|&held| held != block);
        was_here
    }

    fn contains(&self, block: u64) -> bool {
        self.held.contains(&block)
    }

    fn len(&self) -> usize {
        self.held.len()
    }

    fn capacity(&self) -> usize {
        self.capacity
    }

    fn access(&mut self, block: u64) -> Access {
        if self.contains(block) { Access::Hit } else { Access::Miss { evicted: self.admit(block) } }
    }

    fn prefetch(&self, _blocks: &[u64]) {}

    fn check_invariants(&self) {}
}

fn level(policy: Box<dyn Replacement>) -> Level {
    let device = super::build("[stack]\nkind = \"measured\"\nread = \"1 us\"\nwrite = \"1 us\"");
    Level::new(policy, device.capabilities(), true)
}

/// Stacks of one to four levels with each policy, including a policy that refuses blocks. Each stack has a
/// name.
fn stacks(inclusion: Inclusion) -> Vec<(String, Levels)> {
    let models = replacement::MODELS.iter().map(|model| model.descriptor.kind);
    let policies = models.filter(|&kind| kind != "external").chain(["picky"]);
    let make = |kind: &str, capacity| match kind {
        "picky" => Box::new(Picky { held: Vec::new(), capacity, refuses: true }) as Box<dyn Replacement>,
        kind => workbench::policy(kind, capacity),
    };
    let levels = |kind: &str, depth: usize| (1..=depth).map(|at| level(make(kind, 3 * at + 1))).collect();
    let stack = |(kind, depth)| (format!("{kind} x {depth}"), Levels::new(levels(kind, depth), inclusion));
    policies.flat_map(|kind| (1..=4).map(move |depth| (kind, depth))).map(stack).collect()
}

fn holders(levels: &Levels, block: u64) -> Vec<usize> {
    (0..levels.all.len()).filter(|&level| levels.all[level].policy.contains(block)).collect()
}

/// Performs a random call on `levels` and checks its result.
fn step(levels: &mut Levels, random: &mut Random) {
    let block = random.below(UNIVERSE);
    let before = holders(levels, block);
    let first = before.first().copied();
    let level = |spot: Spot| spot.level;
    match random.below(10) {
        0 => {
            assert_eq!(levels.remove(block), !before.is_empty());
            assert!(holders(levels, block).is_empty());
        }
        1 => {
            assert_eq!(levels.touch(block).map(level), first);
            assert_eq!(holders(levels, block), before);
        }
        _ => {
            let held: Vec<u64> = (0..UNIVERSE).filter(|&block| levels.hold(block)).collect();
            let mut moves = Moves::new(true);
            assert_eq!(levels.access(block, &mut moves).map(level), first);
            check_moves(levels, &moves, block, &before);
            let mut left: Vec<u64> = moves.left.iter().map(|&(block, _)| block).collect();
            left.sort_unstable();
            let gone: Vec<u64> = held.into_iter().filter(|&block| !levels.hold(block)).collect();
            assert_eq!(left, gone, "the evicted blocks are listed");
        }
    }
}

/// Checks that `block` is written to exactly those levels that contain it now but did not contain it before.
fn check_moves(levels: &Levels, moves: &Moves, block: u64, before: &[usize]) {
    let mut written: Vec<usize> =
        moves.list.iter().filter(|wanted| wanted.block == block).map(|wanted| wanted.to.level).collect();
    written.sort_unstable();
    let mut entered = holders(levels, block);
    entered.retain(|level| !before.contains(level));
    assert_eq!(written, entered, "block {block} was in {before:?}");
    for wanted in &moves.list {
        if wanted.block != block {
            let from = wanted.from.expect("a victim is read where it was");
            assert!(from.level < wanted.to.level, "a victim goes down");
            assert_eq!(holders(levels, wanted.block), [wanted.to.level]);
        }
    }
}

#[test]
fn an_exclusive_block_is_in_at_most_one_level_under_all_policies() {
    for (name, mut levels) in stacks(Inclusion::Exclusive) {
        let mut random = Streams::new(1).stream(&name);
        for _ in 0..3000 {
            step(&mut levels, &mut random);
            for block in 0..UNIVERSE {
                assert!(holders(&levels, block).len() <= 1, "{name}: block {block}");
            }
        }
        levels.check_invariants();
        assert!(levels.counts.evictions > 0, "{name}: the test is too small");
    }
}

#[test]
fn an_inclusive_block_is_in_every_level_below_its_first_under_all_policies() {
    for (name, mut levels) in stacks(Inclusion::Inclusive) {
        let mut random = Streams::new(2).stream(&name);
        let depth = levels.all.len();
        for _ in 0..3000 {
            step(&mut levels, &mut random);
            for block in 0..UNIVERSE {
                let holders = holders(&levels, block);
                let first = holders.first().copied().unwrap_or(depth);
                assert_eq!(holders, (first..depth).collect::<Vec<_>>(), "{name}: block {block}");
            }
        }
        levels.check_invariants();
        assert!(levels.counts.evictions > 0, "{name}: the test is too small");
    }
}
