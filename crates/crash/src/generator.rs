//! Random requests to a few locations of a device, and random times of power losses.

use crate::device_run::DeviceRun;
use crate::sequence::{Action, PowerLoss, Step};
use nacre_kernel::{Random, Time, ZoneCommand};

/// Number of blocks per location.
const BLOCKS: u64 = 8;

/// Generator of the steps of a run. Every run has a different workload: locations, sizes, operations, and
/// pace.
#[derive(Debug)]
pub(crate) struct Generator {
    random: Random,
    /// First block of each location.
    locations: Vec<u64>,
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

impl Generator {
    /// Creates a generator for a device with `blocks` blocks.
    pub(crate) fn new(mut random: Random, blocks: u64, has_transactions: bool) -> Generator {
        let last = blocks.saturating_sub(BLOCKS);
        let count = 1 + random.below(12);
        let mut location = |number: u64| match random.below(4) {
            0 => last,
            1 => random.below(last + 1),
            _ => (number * BLOCKS).min(last),
        };
        let locations = (0..count).map(&mut location).collect();
        // Weights of writes and reads, trims, flushes, begin, commit, abort, and restart. Some are zero.
        let mut weight = |most: u64| random.below(most + 1);
        let flushes = weight(4);
        let transactions = if has_transactions { weight(3) } else { 0 };
        let ends = if transactions > 0 { 1 + weight(2) } else { 0 };
        let weights =
            [6 + weight(14), weight(6), weight(3), flushes, transactions, ends, ends.min(weight(1)), 1];
        Generator {
            locations,
            blocks_max: 1 + random.below(BLOCKS),
            weights,
            pace: 1 << random.below(6),
            random,
        }
    }

    pub(crate) fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// Returns the next step of `run`.
    pub(crate) fn step(&mut self, run: &DeviceRun<'_>) -> Step {
        let random = &mut self.random;
        // Many requests arrive before the previous request completes.
        let pause = Time::from_ps(random.below(run.latency.as_ps() / 4 * self.pace + 1));
        let mut ticket = random.below(self.weights.iter().sum());
        let selected = self.weights.iter().position(|&weight| {
            let is_it = ticket < weight;
            ticket = ticket.wrapping_sub(weight);
            is_it
        });
        let location = self.locations[random.below(self.locations.len() as u64) as usize];
        let first = random.below(BLOCKS);
        let count = 1 + random.below(self.blocks_max.min(BLOCKS - first));
        let first = location + first;
        let action = match selected {
            Some(0) => Action::Write(first, count),
            Some(1) => Action::Read(first, count),
            Some(2) => Action::Trim(first, count),
            Some(3) => Action::Flush,
            Some(4) => Action::Begin,
            Some(5) => Action::Commit,
            Some(6) => Action::Abort,
            _ => Action::Restart,
        };
        Step { pause, action: self.in_zone(action, run) }
    }

    /// If the device has zones, usually converts a write or trim to a request that fits a zone: an append, a
    /// write at the write pointer, a trim, or a zone command.
    fn in_zone(&mut self, action: Action, run: &DeviceRun<'_>) -> Action {
        let size = run.auditor.block_bytes() as u64;
        let (Action::Write(first, _) | Action::Trim(first, _)) = action else { return action };
        let zone = run.device.zones().map(|zones| zones.zone(first * size));
        let Some(zone) = zone.filter(|_| self.random.chance(0.9)) else { return action };
        let [start, end, pointer] = [zone.start, zone.end, zone.write_pointer].map(|address| address / size);
        let has_commands = self.random.chance(0.4);
        match action {
            Action::Write(..) if pointer == end => Action::Trim(start, end - start),
            Action::Write(_, count) => {
                let blocks = count.next_multiple_of((u64::from(run.capabilities.atomic_unit) / size).max(1));
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

    /// Returns a random power loss that follows the last request of `run`.
    pub(crate) fn loss(&mut self, run: &DeviceRun<'_>) -> PowerLoss {
        let (now, latency) = (run.now, run.latency.as_ps());
        let busy = run.event_times.iter().max().map_or(0, |&last| last.saturating_sub(now).as_ps());
        let random = &mut self.random;
        let after = match random.below(8) {
            0 => 0,
            // The power loss is at the start or end of an operation, or just before or after it.
            1..=3 if !run.event_times.is_empty() => {
                let time = run.event_times[random.below(run.event_times.len() as u64) as usize];
                // Operations that have already started do not start again.
                (time.saturating_sub(now).as_ps() + random.below(3)).saturating_sub(1)
            }
            4..=5 => random.below(busy + 2),
            _ => random.below(latency + 2),
        };
        let mut off = || Time::from_ps(if random.chance(0.3) { 0 } else { random.below(100_000_000) });
        let (first, second) = (off(), off());
        let again = random.chance(0.3).then(|| (random.bits() as u16, second));
        PowerLoss {
            after: Time::from_ps(after),
            seed: random.below(1 << 32),
            off: first,
            again,
            is_early: random.chance(0.25),
        }
    }
}
