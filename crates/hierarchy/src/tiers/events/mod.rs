//! The tiers in discrete events. Configuration, counters, and sources are those of `tiers`, above.
//!
//! A request goes to the devices when it arrives, part by part. The exchange of a chunk is a sequence of stages:
//!
//! | stage | until | the host |
//! |---|---|---|
//! | held | writes of the host to the chunk in progress have ended | reads where it was; its writes wait |
//! | read | a chunk of each extent is in memory | reads where it was; its writes wait |
//! | in memory | reads of the host at both places have ended | reads it from memory; its writes wait |
//! | written | each is safe in the place of the other, flushed if its tier needs that | reads it from memory; its writes wait |
//!
//! The next chunk follows when this one is written, and not before `migration_bandwidth` allows. Ends of epochs and
//! chunks that are due are not events that a device comes to rest for: they happen as time passes.
//!
//! # Differences from the older model
//! - A chunk is read when the host has ended its writes to it, and its writes to the chunk wait until it is exchanged. Reads
//!   of a chunk in memory take no time.
//! - Chunks are read and written when that is due, in the order in which requests reach the devices, and not into gaps.
//! - After a power loss the tiers are ready when their devices are. Chunks that were being written are written again after
//!   that, and read from memory until then.
//! - What an epoch counts ends with it: a request at the very instant of its end is one of that epoch.
//! - A tier that guarantees writes only within its stored energy is flushed behind a chunk, and nothing more is waited for.

mod chunk;
mod device;
mod epochs;
mod exchange;
mod kept;
mod model;
mod operation;
mod power;
mod report;
mod serving;
#[cfg(test)]
mod tests;

use super::{Assembled, assemble};
use model::{Tier, Tiers};
use nacre_config::{Problems, Slot};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::event::Device;

pub(super) fn build(
    slot: &Slot<DeviceFamily>,
    builder: &mut dyn Builder,
) -> Result<Box<dyn Device>, Problems> {
    let Assembled { id, config, tiers, placement } = assemble(slot, builder, |slot, builder| {
        let device = builder.event_device(slot)?;
        let capacity = device.capacity();
        Ok((device, capacity))
    })?;
    let tiers = tiers.into_iter().map(|of| Tier::new(of.device, of.extents, of.share)).collect();
    Ok(Box::new(Tiers::new(id, slot.path().to_string(), &config, tiers, placement)))
}
