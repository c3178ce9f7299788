//! Dynamic placement: extents move between tiers according to their recent accesses, epoch by epoch.
//!
//! # Model
//! 1. During an epoch, the model counts the reads and writes of every extent.
//! 2. At the end of the epoch, a running mean of these counts is updated. The previous mean has the weight
//!    `memory`, and the counts of the epoch have the weight 1 - `memory`.
//! 3. The model computes the best placement for the running means, with the method that `static_optimal`
//!    applies to the whole workload.
//! 4. Misplaced extents are exchanged in the order of their savings, largest first. An exchange moves one
//!    extent to its best tier, and another extent in the opposite direction. An exchange must meet two
//!    conditions. The time that the exchange saves for the first extent must exceed the time that it costs
//!    for the second extent by more than `hysteresis`. In total, it must save at least `least_saving` per
//!    epoch.
//!
//! The device `tiers` limits the bandwidth of the moves. If a move has not started by the end of its epoch,
//! the policy decides again whether to make this move. With `weigh = "accesses"`, a write counts as much as a
//! read. Use this setting only if writes are not slower than reads in any tier.
//!
//! # Not modeled
//! - Queueing: the policy uses the latencies of idle devices.
//! - Request sizes: the policy uses the latencies of 4 KiB requests.
//! - The time of a move: the policy does not include it in decisions, except through `least_saving`.
//! - Moves of parts of an extent.
//!
//! # Sources
//! The placement "Dynamic" of kim-2014 moves extents reactively. The paper does not give the length of an
//! epoch or thresholds, so the defaults of this model are assumed.
//!
//! # Checks
//! - If access frequencies do not change, the placement converges to the best static placement. The mean
//!   latency is never lower than with this static placement.
//! - If the hot data changes, the placement adapts. An extent does not move if the move saves no time.
//! - With `weigh = "accesses"`, an extent that is mostly written moves to PCM. With `weigh = "latency"`, the
//!   same extent moves to flash.

#[cfg(test)]
mod tests;

use super::assignment::{Assignment, Class, Speed};
use super::{Exchange, Layout, Placement, PlacementFamily, View};
use nacre_config::{Choice, Configuration, Descriptor, Model};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Ratio, Time};
use std::collections::BTreeMap;

/// Extents move according to their recent accesses, epoch by epoch.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Initial placement of extents.
    #[config(default = "spread", source = "assumed: addresses are unrelated to access frequency")]
    pub layout: Layout,
    /// Length of an epoch. Accesses are counted during an epoch, and extents may move after it.
    #[config(
        default = "1 h",
        min = "1 us",
        source = "assumed: kim-2014 does not state it; load varies by the hour"
    )]
    pub epoch: Time,
    /// Weight of the earlier epochs in the running mean at the end of an epoch.
    #[config(default = "50 %", max = "99 %", source = "assumed: the last epoch has half of the weight")]
    pub memory: Ratio,
    /// Margin by which the saving of one extent must exceed the loss of the other extent, as a share of the
    /// loss.
    #[config(default = "20 %", max = "1000 %", source = "assumed: equally hot extents should not move")]
    pub hysteresis: Ratio,
    /// Minimum saving of an exchange per epoch, summed over all requests.
    #[config(default = "1 s", source = "assumed: a smaller saving does not justify the traffic")]
    pub least_saving: Time,
    /// Measure by which extents are compared.
    #[config(default = "latency", source = "paper: kim-2014, PCM reads faster and writes slower than flash")]
    pub weigh: Weigh,
}

/// Measure by which extents are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Weigh {
    /// Time of the extent's reads and writes in each tier.
    Latency,
    /// Number of the extent's accesses, with equal weight for reads and writes.
    Accesses,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<PlacementFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "dynamic",
        "extents move after every epoch according to their recent accesses",
        &["kim-2014"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| {
        let config: Config = slot.config(context.families());
        let mut speeds = context.speeds(SPEED_BYTES)?;
        if config.weigh == Weigh::Accesses {
            speeds.iter_mut().for_each(|speed| speed.write_s = speed.read_s);
        }
        let homes = config.layout.homes(context.extents());
        let remembered = vec![Remembered::default(); homes.len()];
        Ok(Box::new(Dynamic { extents: context.extents().to_vec(), config, speeds, homes, remembered }))
    },
};

#[derive(State)]
struct Dynamic {
    #[state(skip = "from the configuration")]
    config: Config,
    /// Number of extents per tier.
    #[state(skip = "from the configuration")]
    extents: Vec<u32>,
    #[state(skip = "from the configuration")]
    speeds: Vec<Speed>,
    /// Initial tier of each extent.
    #[state(skip = "from the configuration")]
    homes: Vec<u8>,
    remembered: Vec<Remembered>,
}

/// Running mean of the accesses to an extent per epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Value)]
struct Remembered {
    reads: f64,
    writes: f64,
}

/// Request size in bytes at which the latencies of the tiers are measured.
const SPEED_BYTES: u32 = 4096;
/// Number of accesses per epoch below which a running mean counts as zero, so that all unused extents are
/// equal.
const FORGOTTEN: f64 = 1.0 / 1024.0;

impl Placement for Dynamic {
    fn start(&self) -> Vec<u8> {
        self.homes.clone()
    }

    fn epoch(&self) -> Option<Time> {
        Some(self.config.epoch)
    }

    fn decide(&mut self, view: &View<'_>, moves: &mut Vec<Exchange>) {
        self.remember(view);
        let wanted = self.wanted(view.homes);
        let mut plan = Plan::new(self, view.homes, &wanted);
        let saving = |e: &u32| self.saving(*e, view.homes[*e as usize], wanted[*e as usize]);
        let mut gaining: Vec<u32> = (0..wanted.len() as u32).filter(|e| saving(e) > 0.0).collect();
        gaining.sort_by(|a, b| saving(b).total_cmp(&saving(a)).then(a.cmp(b)));
        // An exchange may move the partner of another exchange to a tier where it is eligible, so this
        // repeats until no exchange is left.
        let mut before = usize::MAX;
        while moves.len() != before {
            before = moves.len();
            for &extent in &gaining {
                if let Some(partner) = plan.partner(extent) {
                    moves.push(Exchange { extent, partner });
                }
            }
        }
    }
}

impl Dynamic {
    fn remember(&mut self, view: &View<'_>) {
        let keep = self.config.memory.0;
        // In epochs without accesses, each history is multiplied by `keep`.
        let kept = libm::pow(keep, view.skipped as f64 + 1.0);
        for (mean, of) in self.remembered.iter_mut().zip(view.accesses) {
            let next = |mean: f64, count: u64| {
                let next = kept * mean + (1.0 - keep) * count as f64;
                if next < FORGOTTEN { 0.0 } else { next }
            };
            *mean = Remembered { reads: next(mean.reads, of.reads), writes: next(mean.writes, of.writes) };
        }
    }

    /// Computes the best tier of each extent from its running mean. Among extents with equal means, those
    /// that are already in a tier stay in this tier if possible.
    fn wanted(&self, homes: &[u8]) -> Vec<u8> {
        // Nonnegative floating-point numbers have the same order as their bits.
        let mut members: BTreeMap<(u64, u64), Vec<u32>> = BTreeMap::new();
        for (extent, mean) in self.remembered.iter().enumerate() {
            members.entry((mean.reads.to_bits(), mean.writes.to_bits())).or_default().push(extent as u32);
        }
        let classes: Vec<Class> = members
            .values()
            .map(|of| {
                let Remembered { reads, writes } = self.remembered[of[0] as usize];
                let seconds = self.speeds.iter().map(|tier| tier.of(reads, writes)).collect();
                Class { seconds, extents: of.len() as u64 }
            })
            .collect();
        let mut best = Assignment::new(&classes, self.speeds.len());
        for (tier, &extents) in self.extents.iter().enumerate().take(self.extents.len() - 1) {
            best.grow(tier, u64::from(extents));
        }
        let mut wanted = homes.to_vec();
        for (class, members) in members.values().enumerate() {
            let mut room: Vec<u64> = (0..self.extents.len()).map(|tier| best.held(class, tier)).collect();
            let stays = |room: &mut Vec<u64>, home: u8| {
                let stays = room[usize::from(home)] > 0;
                room[usize::from(home)] -= u64::from(stays);
                stays
            };
            let leave: Vec<u32> =
                members.iter().copied().filter(|&e| !stays(&mut room, homes[e as usize])).collect();
            let places =
                room.iter().enumerate().flat_map(|(tier, &n)| std::iter::repeat_n(tier as u8, n as usize));
            leave.into_iter().zip(places).for_each(|(extent, tier)| wanted[extent as usize] = tier);
        }
        wanted
    }

    /// Seconds per epoch that `extent` saves when it moves from one tier to another.
    fn saving(&self, extent: u32, from: u8, to: u8) -> f64 {
        let Remembered { reads, writes } = self.remembered[extent as usize];
        let (from, to) = (self.speeds[usize::from(from)], self.speeds[usize::from(to)]);
        reads * (from.read_s - to.read_s) + writes * (from.write_s - to.write_s)
    }
}

/// The exchanges that are being planned.
struct Plan<'a> {
    policy: &'a Dynamic,
    wanted: &'a [u8],
    homes: Vec<u8>,
    /// Extents that should move, for each pair of current and target tier. Extents are taken from the end of
    /// a list. Extents that have already moved stay in the list until they are reached.
    leaving: Vec<Vec<u32>>,
}

impl Plan<'_> {
    fn new<'a>(policy: &'a Dynamic, homes: &[u8], wanted: &'a [u8]) -> Plan<'a> {
        let tiers = policy.extents.len();
        let mut plan =
            Plan { policy, wanted, homes: homes.to_vec(), leaving: vec![Vec::new(); tiers * tiers] };
        for extent in 0..wanted.len() as u32 {
            plan.list(extent);
        }
        plan
    }

    fn list(&mut self, extent: u32) {
        let (home, wanted) = (self.homes[extent as usize], self.wanted[extent as usize]);
        if home != wanted {
            self.leaving[usize::from(home) * self.policy.extents.len() + usize::from(wanted)].push(extent);
        }
    }

    /// Finds a partner for `extent`, if the exchange is worthwhile, and assigns both extents to their new
    /// tiers.
    fn partner(&mut self, extent: u32) -> Option<u32> {
        let (home, wanted) = (self.homes[extent as usize], self.wanted[extent as usize]);
        if home == wanted {
            return None;
        }
        let tiers = self.policy.extents.len();
        // A candidate that wants the current tier precedes a candidate that needs another move.
        let nexts = std::iter::once(usize::from(home)).chain((0..tiers).filter(|&t| t != usize::from(home)));
        for next in nexts.collect::<Vec<_>>() {
            let list = usize::from(wanted) * tiers + next;
            while let Some(&partner) = self.leaving[list].last() {
                if self.homes[partner as usize] != wanted {
                    self.leaving[list].pop();
                    continue;
                }
                if !self.is_worth_it(extent, partner) {
                    return None;
                }
                self.leaving[list].pop();
                self.homes.swap(extent as usize, partner as usize);
                self.list(partner);
                return Some(partner);
            }
        }
        None
    }

    fn is_worth_it(&self, extent: u32, partner: u32) -> bool {
        let (from, to) = (self.homes[extent as usize], self.homes[partner as usize]);
        let config = &self.policy.config;
        let saving = self.policy.saving(extent, from, to);
        let loss = -self.policy.saving(partner, to, from);
        let exceeds = saving > (1.0 + config.hysteresis.0) * loss;
        exceeds && saving - loss >= config.least_saving.as_secs_f64() && saving > loss
    }
}
