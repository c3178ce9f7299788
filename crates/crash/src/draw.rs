//! Random requests to a few locations of a device, and random times of power losses.

use crate::life::Life;
use crate::sequence::{Action, Loss, Step};
use nacre_kernel::{Random, Time, ZoneCommand};

/// Number of blocks per location.
const BLOCKS: u64 = 8;

/// Generator of the steps of a run. Every run has a different workload: locations, sizes, operations, and
/// pace.
#[derive(Debug)]
pub(crate) struct Drawer {
    random: Random,
    /// First block of each location.
    places: Vec<u64>,
    blocks_max: u64,
    /// Relative frequency of each action.
    weights: [u64; 8],
    /// Maximum pause between requests, in quarters of the latency of the last completed request.
    pace: u64,
}

/// Selects a block size for a device with this capacity and atomic unit.
pub(crate) fn block_bytes(random: &mut Random, capacity: u64, atomic_unit: u32) -> usize {
    let usual = [512, 512, 512, 4096][random.below(4) as usize];
    let small = if atomic_unit < 512 { [8, 64, 512, 512][random.below(4) as usize] } else { usual };
    [small, 512, 64, 8].into_iter().find(|&bytes| capacity >= 64 * BLOCKS * bytes).unwrap_or(8) as usize
}

impl Drawer {
    /// Creates a generator for a device with this number of blocks.
    pub(crate) fn new(mut random: Random, blocks: u64, has_transactions: bool) -> Drawer {
        let last = blocks.saturating_sub(BLOCKS);
        let count = 1 + random.below(12);
        let mut place = |number: u64| match random.below(4) {
            0 => last,
            1 => random.below(last + 1),
            _ => (number * BLOCKS).min(last),
        };
        let places = (0..count).map(&mut place).collect();
        // Weights of writes and reads, trims, flushes, begin, commit, abort, and restart. Some are zero.
        let mut weight = |most: u64| random.below(most + 1);
        let flushes = weight(4);
        let transactions = if has_transactions { weight(3) } else { 0 };
        let ends = if transactions > 0 { 1 + weight(2) } else { 0 };
        let weights =
            [6 + weight(14), weight(6), weight(3), flushes, transactions, ends, ends.min(weight(1)), 1];
        Drawer { places, blocks_max: 1 + random.below(BLOCKS), weights, pace: 1 << random.below(6), random }
    }

    pub(crate) fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// Generates the next step of `life`.
    pub(crate) fn step(&mut self, life: &Life<'_>) -> Step {
        let random = &mut self.random;
        // The pause is often too short for the previous request to complete.
        let pause = Time::from_ps(random.below(life.latency.as_ps() / 4 * self.pace + 1));
        let mut ticket = random.below(self.weights.iter().sum());
        let drawn = self.weights.iter().position(|&weight| {
            let is_it = ticket < weight;
            ticket = ticket.wrapping_sub(weight);
            is_it
        });
        let place = self.places[random.below(self.places.len() as u64) as usize];
        let first = random.below(BLOCKS);
        let count = 1 + random.below(self.blocks_max.min(BLOCKS - first));
        let first = place + first;
        let action = match drawn {
            Some(0) => Action::Write(first, count),
            Some(1) => Action::Read(first, count),
            Some(2) => Action::Trim(first, count),
            Some(3) => Action::Flush,
            Some(4) => Action::Begin,
            Some(5) => Action::Commit,
            Some(6) => Action::Abort,
            _ => Action::Restart,
        };
        Step { pause, action: self.in_zone(action, life) }
    }

    /// Adapts `action` to a zoned device with a probability of 90 %, e.g. to an append, a write at a write
    /// pointer, or a zone command.
    fn in_zone(&mut self, action: Action, life: &Life<'_>) -> Action {
        let size = life.auditor.block_bytes() as u64;
        let (Action::Write(first, _) | Action::Trim(first, _)) = action else { return action };
        let zone = life.device.zones().map(|zones| zones.zone(first * size));
        let Some(zone) = zone.filter(|_| self.random.chance(0.9)) else { return action };
        let [start, end, pointer] = [zone.start, zone.end, zone.write_pointer].map(|address| address / size);
        let has_commands = self.random.chance(0.4);
        match action {
            Action::Write(..) if pointer == end => Action::Trim(start, end - start),
            Action::Write(_, count) => {
                let blocks = count.next_multiple_of((u64::from(life.capabilities.atomic_unit) / size).max(1));
                match has_commands {
                    true => Action::Append(start, blocks),
                    false => Action::Write(pointer, blocks.min(end - pointer)),
                }
            }
            _ if has_commands => {
                let commands =
                    [ZoneCommand::Open, ZoneCommand::Close, ZoneCommand::Finish, ZoneCommand::Reset];
                Action::Zone(commands[self.random.below(4) as usize], start)
            }
            _ if self.random.chance(0.5) => Action::Trim(start, end - start),
            _ if pointer < end => Action::Trim(pointer, end - pointer),
            _ => action,
        }
    }

    /// Generates a random power loss of `life` after its last request.
    pub(crate) fn loss(&mut self, life: &Life<'_>) -> Loss {
        let (now, latency) = (life.now, life.latency.as_ps());
        let busy = life.moments.iter().max().map_or(0, |&last| last.saturating_sub(now).as_ps());
        let random = &mut self.random;
        let after = match random.below(8) {
            0 => 0,
            // The power loss is at the start or end of an operation, or 1 ps before or after it.
            1..=3 if !life.moments.is_empty() => {
                let moment = life.moments[random.below(life.moments.len() as u64) as usize];
                // The power loss is not before the current time.
                (moment.saturating_sub(now).as_ps() + random.below(3)).saturating_sub(1)
            }
            4..=5 => random.below(busy + 2),
            _ => random.below(latency + 2),
        };
        let mut off = || Time::from_ps(if random.chance(0.3) { 0 } else { random.below(100_000_000) });
        let (first, second) = (off(), off());
        let again = random.chance(0.3).then(|| (random.bits() as u16, second));
        Loss {
            after: Time::from_ps(after),
            chance: random.below(1 << 32),
            off: first,
            again,
            is_early: random.chance(0.25),
        }
    }
}
