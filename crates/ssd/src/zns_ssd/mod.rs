//! A ZNS SSD: flash that the host writes in zones, each in order, and resets as a whole.
//!
//! # Models
//! Flash, channels, dies, buffer, and the way of a request to the drive and back are those of [`ssd`](ssd.md); zones
//! (NVMe's zoned namespaces, ZNS) replace its page mapping and its cleaning. A zone is `zone_superblocks` superblocks (a
//! block of every plane of every die each), which it takes from the erased ones when it is first written, the youngest
//! first. A write is refused, and counted by its reason, if it is elsewhere than at the write pointer, goes beyond the end
//! of its zone, is to a full zone, is to an empty zone while `active_zones` others are written in part, or is not of whole
//! units. A trim of a whole zone resets it: its superblocks are erased at once. A trim from the write pointer to the end
//! finishes it: the rest of its last operation is padded. Other trims do nothing. If more than `open_zones` would be open,
//! the one written longest ago is closed; it is opened again when it is written. The drive cleans nothing and programs
//! every unit once. Its table has a mapping for each superblock of a zone. Writes of one zone are taken in one after the
//! other. In preconditioning, which has no trims, a write to the first unit of a zone that holds something resets it.
//!
//! *Power loss*: capacitors finish every program of what was acknowledged, and save operations that are not full. Recovery
//! reads the table of zones, and finds the write pointer of each active zone by halves among its operations.
//!
//! # Leaves out
//! Zone append, since a request cannot return an address; zones that are opened and closed by command; zones of some of
//! the dies, with a capacity below their size, or with a queue of their own. Bit errors, and parity. The flash to which
//! capacitors save operations that are not full.
//!
//! # Sources
//! nvme-zns-1.1 and bjorling-2021 (zones, their states and limits); tavakkol-2018 (MQSim) for the flash below.
//!
//! # Checks
//! Zones are written at the speed of their dies, every unit once, and wear all superblocks alike; a write goes to the write
//! pointer and nowhere else; limits of active and open zones; every unit after power losses at random moments, against an
//! auditor that knows its versions.

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

/// This room.
pub const ROOM: Room<DeviceFamily> = Room {
    descriptor: Descriptor::of::<ZnsSsdConfig>(
        "zns_ssd",
        "a flash SSD that is written in zones (ZNS): no page mapping, no cleaning",
        &["nvme-zns-1.1", "bjorling-2021", "tavakkol-2018"],
        1,
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
