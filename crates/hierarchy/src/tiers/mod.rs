//! Tiered storage: extents are placed on two to four devices and moved between them.
//!
//! # Model
//! The address space is divided into extents. There are two to four tiers. Every tier consists of slots,
//! and every slot holds exactly one extent. A request goes to the tier that holds its extent. If a request
//! touches several extents, the request completes when its last part completes. The device of each tier
//! models queueing and saturation.
//!
//! *Size*: A tier has the capacity of its device. If a tier has a `share`, its device gets this share of the
//! total `capacity` instead of its configured capacity. The device then represents a part of a pool of
//! identical drives. Its cost, idle energy, and lifetime are in proportion to the share, even if the device
//! model does not have the setting `capacity`.
//!
//! ## Placement and exchange
//! `placement` determines the initial location of every extent. A placement that moves extents also selects
//! the pairs of extents to exchange. An exchange proceeds in steps of `chunk` bytes, through a buffer in
//! memory. In each step, a chunk of each extent is read into the buffer and then written to the slot of the
//! other extent. The reads and writes of an exchange go to the same devices as host requests, and wait
//! while these devices are busy. The next step starts when both chunks have been written. If necessary, the
//! start of a step is delayed so that the moves in both directions together do not exceed
//! `migration_bandwidth`.
//!
//! | stage of a chunk | until | the host |
//! |---|---|---|
//! | held | all host writes in progress to the chunk have completed | reads the old location, and its writes wait |
//! | read | a chunk of each extent is in memory | reads the old location, and its writes wait |
//! | in memory | host reads of both locations have completed | reads from memory, and its writes wait |
//! | written | each chunk is durable in the slot of the other extent. If the tier requires it, the chunk is flushed | reads from memory, and its writes wait |
//!
//! After all requests are served, a run does not wait for the end of an epoch or for the next step of an
//! exchange. At the end of an epoch, exchanges that have not started are dropped. An exchange in progress
//! continues.
//!
//! ## Power loss and errors
//! Extent locations survive a power loss. The buffer is battery-backed, so a chunk in the buffer also
//! survives. When the tiers have recovered, the chunk is written again. If only flushed writes are durable in
//! a tier, each chunk that moves to this tier is also flushed.
//!
//! - If a tier cannot read a chunk, the exchange stops, and the rest of each extent stays in its tier. Chunks
//!   that have already been exchanged are not moved back, so both extents remain split between two tiers.
//! - If a worn-out tier rejects the write of a chunk, the chunk stays in the buffer. The buffer then serves
//!   all requests for this chunk, and no further extents are moved.
//! - A tier reports the loss of data only once, by failing a flush. If this flush belongs to an exchange,
//!   the next host flush also fails, so that the host is notified.
//!
//! # Counters
//!
//! | counter | counts |
//! |---|---|
//! | `reads`, `writes` | parts of requests, one per extent |
//! | `tierN_reads`, `tierN_writes` | parts served by tier N. The first tier is tier 0 |
//! | `epochs` | completed epochs, including epochs without accesses |
//! | `exchanges` | pairs of extents that were exchanged |
//! | `dropped` | exchanges that were selected but had not started when the epoch ended |
//! | `migrated_bytes` | bytes written by exchanges, including those that a tier rejected |
//! | `failed_exchanges` | exchanges that ended because a tier rejected a chunk or could not return it |
//! | `rejected_bytes` | bytes that stay in the buffer because their tier rejected them |
//!
//! The column `tiers.extents` contains the number of extents in each tier. The columns `epochs.*` have one
//! row for each epoch with accesses.
//!
//! # Not modeled
//! - Volumes. All requests use one address space, volume 0.
//! - The size and the access time of the memory that holds the extent tables and the buffer.
//! - Statistics after the first 65,536 epochs. Later epochs are simulated, but the columns and figures omit
//!   them.
//!
//! # Sources
//! kim-2014 describes extents on PCM, flash, and disk, with static-optimal and dynamic placement, and
//! computes the total cost as the sum of the costs of the tiers.
//!
//! # Checks
//! - A simple independent simulation computes the same completion times, even while extents move.
//! - In a closed loop with one outstanding request, the mean latency is the mean of the tier latencies,
//!   weighted by the number of accesses to each tier.
//! - The tiers serve every byte of every request exactly once. After any number of exchanges, every extent is
//!   in exactly one slot, and every slot holds exactly one extent.
//! - On drives that wear out, all flushed data can be read or is reported as lost. If a tier rejects a chunk,
//!   reads of the chunk are served from the buffer.

mod chunk;
mod device;
mod epochs;
mod exchange;
pub mod mixes;
mod model;
mod operation;
mod power;
mod rejected_chunks;
mod report;
mod serving;
#[cfg(test)]
mod tests;
mod tier;

use crate::placement::assignment::Speed;
use crate::placement::surface::boundary;
use crate::placement::{self, Decider, PlacementContext, PlacementFamily, TIERS_MAX};
use model::Tiers;
use nacre_config::{
    Configuration, Descriptor, ErrorCode, Families, Family, Model, Problem, Problems, Reader, Slot, model_of,
};
use nacre_device::{Builder, DeviceFamily, SizedAccesses};
use nacre_kernel::event::Device;
use nacre_kernel::{Bandwidth, Bytes, Ratio};
use tier::Tier;

/// Extents placed on tiers of devices.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Size of an extent, the unit of placement. The size must be a power of two.
    #[config(
        default = "1 GiB",
        min = "4 KiB",
        max = "1 TiB",
        source = "assumed: kim-2014 does not state it"
    )]
    pub extent: Bytes,
    /// Total capacity, required if the tiers have shares, and not allowed otherwise.
    #[config(min = "1 B")]
    pub capacity: Option<Bytes>,
    /// Tiers of the device, fastest first.
    pub tier: Vec<TierConfig>,
    /// Placement of extents, and the policy that moves them.
    #[config(
        default = "dynamic",
        source = "paper: kim-2014, placement without knowledge of future requests"
    )]
    pub placement: Slot<PlacementFamily>,
    /// Maximum bandwidth of extent moves.
    #[config(
        default = "100 MB/s",
        min = "1 B/s",
        source = "assumed: far below the write bandwidth of flash and disks"
    )]
    pub migration_bandwidth: Bandwidth,
    /// Size of a chunk, the unit of an exchange. An extent that is smaller than a chunk is exchanged in one
    /// step.
    #[config(
        default = "256 KiB",
        min = "512 B",
        max = "1 GiB",
        source = "assumed: large enough for a disk to stream"
    )]
    pub chunk: Bytes,
}

/// One tier.
#[derive(Clone, Debug, Configuration)]
pub struct TierConfig {
    /// Device that holds the extents of the tier.
    pub device: Slot<DeviceFamily>,
    /// Share of the total capacity. Set it for all tiers or for none.
    #[config(max = "100 %")]
    pub share: Option<Ratio>,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    let extent = config.extent.0;
    if !extent.is_power_of_two() {
        let remedy = format!("the next one is {}", Bytes(extent.next_power_of_two()));
        reader.conflict("extent", &config.extent.to_string(), "it is not a power of two", &remedy);
    }
    let count = config.tier.len();
    if !(1..=TIERS_MAX).contains(&count) {
        let remedy = format!("give 1 to {TIERS_MAX}");
        reader.conflict("tier", &format!("{count} tiers"), "there are too few or too many", &remedy);
    }
    let shares: Vec<f64> = config.tier.iter().filter_map(|tier| tier.share).map(|share| share.0).collect();
    let sum: f64 = shares.iter().sum();
    match (shares.len(), config.capacity) {
        (0, None) => {}
        (0, Some(capacity)) => {
            let problem = "tiers without shares are as large as their devices";
            reader.conflict(
                "capacity",
                &capacity.to_string(),
                problem,
                "give every tier a share, or no capacity",
            );
        }
        (given, _) if given < count => {
            let problem = "some tiers have a share and some have none";
            reader.conflict("tier", &format!("{given} shares"), problem, "give all tiers a share, or none");
        }
        (_, None) => reader.conflict(
            "capacity",
            "none",
            "shares are shares of it",
            "give what all tiers hold together",
        ),
        (_, Some(capacity)) => {
            if (sum - 1.0).abs() > 1e-9 {
                let given = format!("{} %", sum * 100.0);
                reader.conflict("tier", &given, "the shares do not add up to 100 %", "change one of them");
            }
            if capacity.0 < extent {
                let remedy = format!("the least is one extent, {}", config.extent);
                reader.conflict("capacity", &capacity.to_string(), "it holds no extent", &remedy);
            }
        }
    }
}

/// The component's descriptor and constructor.
pub const MODEL: Model<DeviceFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "tiers",
        "tiered storage: extents are placed once, or move according to their accesses",
        &["kim-2014"],
        5,
        include_str!("mod.rs"),
    ),
    build,
};

fn build(slot: &Slot<DeviceFamily>, builder: &mut (dyn Builder + '_)) -> Result<Box<dyn Device>, Problems> {
    let id = builder.component();
    let config: Config = slot.config(builder.families());
    let shares = extents_by_share(&config);
    let mut problems = Vec::new();
    let mut tiers = Vec::new();
    let mut slots = Vec::new();
    for (number, tier) in config.tier.iter().enumerate() {
        let extents = shares.as_ref().map(|shares| shares[number]);
        let mut device = sized(&tier.device, extents, config.extent, builder.families());
        let mut built = build_tier(&device, extents, config.extent, builder);
        if built.is_err() && extents == Some(0) {
            // The device cannot be as small as one extent, and an empty tier needs no device.
            device = tier.device.clone();
            built = build_tier(&device, extents, config.extent, builder);
        }
        match built {
            Ok(tier) => tiers.push(tier),
            Err(errors) => problems.extend(errors.0),
        }
        slots.push(device);
    }
    let total: u64 = tiers.iter().map(|tier| u64::from(tier.extents)).sum();
    if total >= 1 << 30 {
        let text = format!("{total} extents are too many");
        let problem = Problem::new(ErrorCode::OverLimit, slot.path(), None, text);
        problems.push(problem.remedy("the most are 1,073,741,823; give a larger extent"));
    }
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    builder.take_memory(slot.path(), total * EXTENT_MEMORY)?;
    let extents: Vec<u32> = tiers.iter().map(|tier| tier.extents).collect();
    let mut context = Context { slots, extents, extent: config.extent, path: slot.path(), builder };
    let placement = (model_of(placement::MODELS, &config.placement).build)(&config.placement, &mut context)?;
    Ok(Box::new(Tiers::new(id, slot.path().to_string(), &config, tiers, placement)))
}

/// Approximate memory of the tables per extent, in bytes. The tables contain the location, the accesses in
/// the epoch and in the whole workload, and the placement's history.
const EXTENT_MEMORY: u64 = 96;

/// Number of extents of each tier; `None` if the tiers have no shares.
fn extents_by_share(config: &Config) -> Option<Vec<u64>> {
    let total = config.capacity?.0 / config.extent.0;
    // Each tier ends at a rounded sum of shares, so that shares that add up to 100 % include every extent.
    let mut upto = 0.0;
    let mut before = 0;
    let shares = config.tier.iter().map(|tier| {
        upto += tier.share.map_or(0.0, |share| share.0);
        let end = boundary(total, (upto * 1e6).round() as u32, 1_000_000);
        end - std::mem::replace(&mut before, end)
    });
    Some(shares.collect())
}

/// Sets the capacity of the device in `slot` to `extents` extents of `extent` bytes, if the device has this
/// setting. A tier without extents still has capacity for one extent.
fn sized(
    slot: &Slot<DeviceFamily>,
    extents: Option<u64>,
    extent: Bytes,
    families: &dyn Families,
) -> Slot<DeviceFamily> {
    let Some(extents) = extents.filter(|_| slot.has_field(families, "capacity")) else { return slot.clone() };
    // The `drive` settings describe the whole drive, so its capacity becomes the default.
    let whole = match slot.has_field(families, "drive") {
        true => slot.with_default_of("drive", "capacity"),
        false => slot.clone(),
    };
    whole.with_bytes("capacity", Bytes(extents.max(1) * extent.0))
}

fn build_tier(
    slot: &Slot<DeviceFamily>,
    extents: Option<u64>,
    extent: Bytes,
    builder: &mut dyn Builder,
) -> Result<Tier, Problems> {
    let device = builder.device(slot)?;
    let wrong = |problem: String, remedy: &str| {
        Problem::new(ErrorCode::ConflictingSettings, slot.path(), None, problem).remedy(remedy)
    };
    let Some(capacity) = device.capacity() else {
        let remedy = "give `capacity`, for example \"64 GiB\", or give every tier a share";
        return Err(wrong("a tier needs a device with a capacity".into(), remedy).into());
    };
    let holds = capacity.0 / extent.0;
    let is_share = extents.is_some();
    let extents = extents.unwrap_or(holds);
    if holds < extents {
        let problem =
            format!("its size is its own, {capacity}, and its share needs {extents} extents of {extent}");
        return Err(wrong(problem, "give it a device whose capacity can be set, or a smaller share").into());
    }
    if holds == 0 {
        return Err(
            wrong(format!("it holds {capacity}, less than one extent"), "give a smaller extent").into()
        );
    }
    let share = match is_share {
        true => (extents * extent.0) as f64 / capacity.0 as f64,
        false => 1.0,
    };
    Ok(Tier::new(device, u32::try_from(extents).unwrap_or(u32::MAX), share))
}

/// Construction context of placements.
struct Context<'a, 'b> {
    slots: Vec<Slot<DeviceFamily>>,
    extents: Vec<u32>,
    extent: Bytes,
    path: &'a str,
    builder: &'a mut (dyn Builder + 'b),
}

impl PlacementContext for Context<'_, '_> {
    fn families(&self) -> &dyn Families {
        self.builder.families()
    }

    fn extents(&self) -> &[u32] {
        &self.extents
    }

    fn speeds(&mut self, bytes: u32) -> Result<Vec<Speed>, Problems> {
        let mut speeds = Vec::new();
        for slot in &self.slots {
            let idle = self.builder.idle(slot, bytes)?;
            speeds.push(Speed { read_s: idle.read.as_secs_f64(), write_s: idle.write.as_secs_f64() });
        }
        Ok(speeds)
    }

    fn accesses(&mut self) -> Result<Vec<Vec<SizedAccesses>>, Problems> {
        let extents: u32 = self.extents.iter().sum();
        self.builder.accesses(self.path, self.extent, extents)
    }

    fn external(&mut self, path: &str, name: &str) -> Result<Box<dyn Decider>, Problems> {
        let decider = self.builder.external_policy(PlacementFamily::NAME, path, name)?;
        Ok(*decider.downcast().expect("what is brought for a placement is a decider"))
    }
}
