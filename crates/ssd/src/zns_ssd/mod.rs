//! A zoned-namespace (ZNS) SSD: the host writes each zone sequentially and resets it as a whole.
//!
//! # Model
//! Flash, channels, dies, buffer, and host side are those of [`ssd`](ssd.md). Zones (zoned namespaces of NVMe,
//! ZNS) replace its page mapping and garbage collection. The drive moves no data and programs every unit once.
//! Its table has one entry per superblock of a zone.
//!
//! - *Zone*: a zone consists of `zone_superblocks` superblocks, each one block of every plane of every die. At
//!   the first write, the zone takes the erased superblocks with the fewest erases.
//! - *Write*: writes of one zone are accepted one after the other.
//! - *Rejected write*: the drive rejects a write and counts it by reason if it does not start at the write
//!   pointer, crosses the end of its zone, targets a full zone, or is not a multiple of a unit. It also rejects a
//!   write to an empty zone if `active_zones` other zones are partly written.
//! - *Reset*: a trim of a whole zone resets the zone and erases its superblocks at once.
//! - *Finish*: a trim from the write pointer to the end of the zone finishes it. The rest of its last operation
//!   is padded. Other trims have no effect.
//! - *Open zones*: if more than `open_zones` zones would be open, the zone that was written longest ago is
//!   closed. The next write to it opens it again.
//! - *Preconditioning* has no trims, so a write to the first unit of a zone that holds data resets it.
//! - *Power loss*: capacitors finish the programs of all acknowledged writes and save partly filled operations.
//!   Recovery reads the table of zones and finds the write pointer of each active zone by a binary search among
//!   its operations.
//!
//! # Not modeled
//! - Zone append, since a request cannot return an address.
//! - Commands that open and close zones.
//! - Zones on some of the dies, zones with a capacity below their size, and zones with their own queue.
//! - Bit errors and parity.
//! - The flash to which capacitors save partly filled operations.
//!
//! # Sources
//! nvme-zns-1.1 and bjorling-2021 (zones, their states and limits); tavakkol-2018 (MQSim) for the flash below.
//!
//! # Checks
//! Zones are written at the speed of their dies, every unit is programmed once, and all superblocks wear evenly.
//! Writes succeed only at the write pointer. The limits of active and open zones hold. After power losses at
//! random times, every unit is compared with an auditor that knows its versions.

mod layer;
mod refusal;
mod report;
mod restoring;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use layer::Zones;
use table::ZoneTable;

use crate::config::{Config, Layer, ZnsSsdConfig};
use crate::drive::Ssd;
use crate::host::Host;
use crate::layout::geometry::Geometry;
use crate::{blocks, blocks_differ, layout, too_many_bad};
use nacre_config::{Descriptor, Problems, Room, Slot};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::event;
use nacre_media::store::{Nothing, Store};

/// The component's descriptor and constructor.
pub const ROOM: Room<DeviceFamily> = Room {
    descriptor: Descriptor::of::<ZnsSsdConfig>(
        "zns_ssd",
        "a zoned (ZNS) flash SSD: no page mapping, no garbage collection",
        &["nvme-zns-1.1", "bjorling-2021", "tavakkol-2018"],
        2,
        include_str!("mod.rs"),
    ),
    build: build_in_slot,
};

fn build_in_slot(
    slot: &Slot<DeviceFamily>,
    builder: &mut (dyn Builder + '_),
) -> Result<Box<dyn event::Device>, Problems> {
    let config = Config::from(&slot.config::<ZnsSsdConfig>(builder.families()));
    Ok(match builder.store(slot.path(), layout(&Geometry::of(&config))) {
        Some(store) => build(slot, builder, store, config)?,
        None => build(slot, builder, Nothing, config)?,
    })
}

/// The drive in `slot`, over `store`.
fn build<S: Store + 'static>(
    slot: &Slot<DeviceFamily>,
    builder: &mut (dyn Builder + '_),
    store: S,
    config: Config,
) -> Result<Box<dyn event::Device>, Problems> {
    let id = builder.component();
    let Layer::Zones(zones) = &config.layer else { unreachable!("it was read as a drive with zones") };
    let geometry = Geometry::of(&config);
    let at_once = geometry.memory_bytes_at_once(config.blocks, blocks_differ(&config));
    builder.take_memory_as_touched(slot.path(), at_once, at_once)?;
    let blocks = blocks(&config, &geometry, slot, builder);
    let table = ZoneTable::new(&config, zones, geometry, store, blocks);
    if !table.has_space() {
        return Err(too_many_bad(slot));
    }
    let layer = Zones::new(config.clone(), table);
    let host = Host::new(&config, builder.families());
    Ok(Box::new(Ssd::new(id, slot.path().to_string(), config, layer, host)))
}
