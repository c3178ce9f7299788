//! Every mix of the tiers of a scenario, scored as Kim et al. (FAST'14) do: one access after the other.

use super::{Config, Context, extents_by_share, sized};
use crate::placement::PlacementContext;
use crate::placement::assignment::{Class, Speed};
use crate::placement::surface::{Mix, surface};
use nacre_config::{Problem, Problems, Slot};
use nacre_device::{Accesses, Builder, DeviceFamily};
use nacre_kernel::Time;
use std::collections::BTreeMap;

/// Most equal steps the whole may be divided into.
pub const STEPS_MAX: u32 = 1000;

/// What is known of the tiers, and every mix of them with extents placed best.
#[derive(Clone, Debug)]
pub struct Mixes {
    /// What one access takes in each tier.
    pub speeds: Vec<Speed>,
    /// What a GiB of each tier costs, where its price is known.
    pub prices: Vec<Option<f64>>,
    /// Reads and writes of the whole workload, one for each extent touched.
    pub accesses: Accesses,
    /// Extents of the workload's address space.
    pub extents: u64,
    /// The mixes.
    pub mixes: Vec<Mix>,
}

/// Every mix, in `steps` equal parts, of the tiers in `slot`.
///
/// Errors: the slot holds no `tiers`; the workload never ends or cannot be read; there are more steps than
/// extents or than [`STEPS_MAX`].
pub fn mixes(slot: &Slot<DeviceFamily>, builder: &mut dyn Builder, steps: u32) -> Result<Mixes, Problems> {
    if slot.kind() != "tiers" {
        let problem = Problem::new(slot.path(), None, "only tiers can be mixed").given(slot.kind());
        return Err(problem.remedy("use a scenario whose stack is of kind tiers").into());
    }
    let config: Config = slot.config(builder.families());
    let (mut slots, mut prices) = (Vec::new(), Vec::new());
    let shares = extents_by_share(&config);
    let mut extents = shares.as_ref().map_or(0, |shares| shares.iter().sum());
    for tier in &config.tier {
        let one = shares.as_ref().map(|_| 1);
        let device_slot = sized(&tier.device, one, config.extent, builder.families());
        let device = builder.device(&device_slot)?;
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
        let problem = Problem::new(slot.path(), None, "it cannot be divided into so many steps").given(steps);
        return Err(problem.remedy(format!("give 1 to {most}; there are {extents} extents")).into());
    }
    let total = u32::try_from(extents).unwrap_or(u32::MAX);
    let mut context =
        Context { slots, extents: vec![total], extent: config.extent, path: slot.path(), builder };
    let speeds = context.speeds()?;
    let counts = context.accesses()?;
    let accesses = counts.iter().fold(Accesses::default(), |sum, of| Accesses {
        reads: sum.reads + of.reads,
        writes: sum.writes + of.writes,
    });
    let mixes = surface(&classes(&counts), &speeds, steps);
    Ok(Mixes { speeds, prices, accesses, extents, mixes })
}

/// Extents by how they are accessed.
fn classes(accesses: &[Accesses]) -> Vec<Class> {
    let mut extents: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for of in accesses {
        *extents.entry((of.reads, of.writes)).or_default() += 1;
    }
    let class = |((reads, writes), extents)| Class { reads: reads as f64, writes: writes as f64, extents };
    extents.into_iter().map(class).collect()
}

impl Mixes {
    /// Mean seconds of an access in `mix`.
    pub fn mean_s(&self, mix: &Mix) -> f64 {
        mix.seconds / (self.accesses.reads + self.accesses.writes) as f64
    }

    /// What a GiB of `mix` costs in the mean; `None` where the price of a tier it uses is not known.
    pub fn price(&self, mix: &Mix) -> Option<f64> {
        let part = |(&extents, price): (&u64, &Option<f64>)| match extents {
            0 => Some(0.0),
            _ => price.map(|price| price * extents as f64 / self.extents as f64),
        };
        mix.extents.iter().zip(&self.prices).map(part).sum()
    }
}
