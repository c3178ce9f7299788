//! Computes every mix of the tiers of a scenario, scored as in Kim et al. (FAST'14). Accesses are serial, and
//! each takes the idle latency for its size. A request that touches several extents counts as several
//! accesses.

use super::{Config, Context, EXTENT_MEMORY, extents_by_share, sized};
use crate::placement::PlacementContext;
use crate::placement::assignment::Speed;
use crate::placement::by_size::{Speeds, alike};
use crate::placement::surface::{Mix, surface};
use nacre_config::{ErrorCode, Problem, Problems, Slot};
use nacre_device::{Accesses, Builder, DeviceFamily, SizedAccesses};
use nacre_kernel::{Bytes, Time};
use std::collections::BTreeMap;

/// Maximum number of equal steps into which the total capacity is divided.
pub const STEPS_MAX: u32 = 1000;
/// Request size used if the workload has no requests.
const DEFAULT_BYTES: u32 = 4096;

/// Properties of the tiers, and every mix of them with its optimal placement.
#[derive(Clone, Debug)]
pub struct Mixes {
    /// Mean latency of the reads and writes of the workload in each tier. If the workload has no reads or no
    /// writes, the latency for 4 KiB.
    pub speeds: Vec<Speed>,
    /// Price per GiB of each tier, if known.
    pub prices: Vec<Option<f64>>,
    /// Number of reads and writes of the whole workload, each counted once per touched extent.
    pub accesses: Accesses,
    /// Total bytes of reads, and total bytes of writes.
    pub bytes: [u64; 2],
    /// Number of extents in the workload's address space.
    pub extents: u64,
    /// All mixes with their optimal placements.
    pub mixes: Vec<Mix>,
}

/// Capacity of the devices that are used to measure latencies. Every device is valid with this capacity,
/// whereas a disk with the capacity of one small extent would be invalid.
const LEAST: Bytes = Bytes(1 << 20);

/// Computes all mixes of the tiers in `slot`, in `steps` equal portions.
///
/// Returns an error if the slot has no `tiers`, the workload never ends or cannot be read, or there are
/// more steps than extents or than [`STEPS_MAX`].
pub fn mixes(slot: &Slot<DeviceFamily>, builder: &mut dyn Builder, steps: u32) -> Result<Mixes, Problems> {
    if slot.kind() != "tiers" {
        let problem = Problem::new(
            ErrorCode::NotSupported,
            slot.path(),
            None,
            "`nacre mixes` needs a \
            stack of kind tiers",
        )
        .given(slot.kind());
        return Err(problem.remedy("use a scenario whose stack is of kind tiers").into());
    }
    let config: Config = slot.config(builder.families());
    let (mut slots, mut prices) = (Vec::new(), Vec::new());
    let shares = extents_by_share(&config);
    let mut extents = shares.as_ref().map_or(0, |shares| shares.iter().sum());
    for tier in &config.tier {
        let few = shares.as_ref().map(|_| LEAST.0.div_ceil(config.extent.0));
        let mut device_slot = sized(&tier.device, few, config.extent, builder.families());
        let device = builder.device(&device_slot).or_else(|_| {
            // This device would be invalid with such a small capacity, so the whole device is used. Its
            // latencies are the same.
            device_slot = tier.device.clone();
            builder.device(&device_slot)
        })?;
        let capacity = device.capacity().unwrap_or(config.extent);
        let gib = capacity.0 as f64 / (1u64 << 30) as f64;
        prices.push(device.report(Time::ZERO).cost.map(|cost| cost / gib));
        if shares.is_none() {
            extents += capacity.0 / config.extent.0;
        }
        slots.push(device_slot);
    }
    let most = u64::from(STEPS_MAX).min(extents);
    if steps == 0 || u64::from(steps) > most {
        let problem = Problem::new(
            ErrorCode::OutOfRange,
            slot.path(),
            None,
            "the capacity cannot be divided into \
                this number of steps",
        )
        .given(steps)
        .data("min", 1u64)
        .data("max", most);
        return Err(problem.remedy(format!("give 1 to {most}; there are {extents} extents")).into());
    }
    builder.take_memory(slot.path(), extents * EXTENT_MEMORY)?;
    let total = u32::try_from(extents).unwrap_or(u32::MAX);
    let mut context =
        Context { slots, extents: vec![total], extent: config.extent, path: slot.path(), builder };
    let counts = context.accesses()?;
    let members = alike(&counts);
    let mut speeds = Speeds::new(&mut context, config.tier.len());
    let classes = speeds.classes(&members)?;
    let sizes = by_size(&counts);
    let sum = |of: fn(&Accesses) -> u64| sizes.values().map(of).sum::<u64>();
    let accesses = Accesses { reads: sum(|of| of.reads), writes: sum(|of| of.writes) };
    let bytes = |of: fn(&Accesses) -> u64| {
        sizes.iter().map(|(&bytes, accesses)| u64::from(bytes) * of(accesses)).sum()
    };
    let bytes = [bytes(|of| of.reads), bytes(|of| of.writes)];
    let speeds = mean_speeds(&mut speeds, &sizes, accesses)?;
    let mixes = surface(&classes, config.tier.len(), steps);
    Ok(Mixes { speeds, prices, accesses, bytes, extents, mixes })
}

/// Sums the accesses of all extents, separately for each size of an access.
fn by_size(counts: &[Vec<SizedAccesses>]) -> BTreeMap<u32, Accesses> {
    let mut sizes: BTreeMap<u32, Accesses> = BTreeMap::new();
    for size in counts.iter().flatten() {
        let sum = sizes.entry(size.bytes).or_default();
        sum.reads += size.of.reads;
        sum.writes += size.of.writes;
    }
    sizes
}

/// Mean latency of the reads and writes of the workload in each tier.
fn mean_speeds(
    speeds: &mut Speeds<'_, '_>,
    sizes: &BTreeMap<u32, Accesses>,
    all: Accesses,
) -> Result<Vec<Speed>, Problems> {
    let mut mean = speeds.of(DEFAULT_BYTES)?.to_vec();
    for tier in &mut mean {
        tier.read_s *= f64::from(u8::from(all.reads == 0));
        tier.write_s *= f64::from(u8::from(all.writes == 0));
    }
    for (&bytes, of) in sizes {
        for (mean, tier) in mean.iter_mut().zip(speeds.of(bytes)?) {
            mean.read_s += tier.read_s * of.reads as f64 / all.reads.max(1) as f64;
            mean.write_s += tier.write_s * of.writes as f64 / all.writes.max(1) as f64;
        }
    }
    Ok(mean)
}

impl Mixes {
    /// Mean access time in `mix`, in seconds.
    pub fn mean_s(&self, mix: &Mix) -> f64 {
        mix.seconds / (self.accesses.reads + self.accesses.writes) as f64
    }

    /// Mean price per GiB of `mix`, or `None` if the price of a used tier is unknown.
    pub fn price(&self, mix: &Mix) -> Option<f64> {
        let part = |(&extents, price): (&u64, &Option<f64>)| match extents {
            0 => Some(0.0),
            _ => price.map(|price| price * extents as f64 / self.extents as f64),
        };
        mix.extents.iter().zip(&self.prices).map(part).sum()
    }
}
