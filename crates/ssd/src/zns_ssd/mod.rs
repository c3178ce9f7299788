//! A zoned-namespace (ZNS) SSD: the host writes each zone sequentially and resets whole zones.
//!
//! # Model
//! Flash, channels, dies, buffer, and host side are modeled as in [`ssd`](ssd.md). Zones (zoned namespaces of
//! NVMe, ZNS) replace page mapping and garbage collection. The drive moves no data and programs every unit
//! once. The mapping has one entry per superblock of a zone.
//!
//! - *Zone*: A zone consists of `zone_superblocks` superblocks. Each superblock has one block of every plane
//!   of the zone's dies. When a zone is opened, the drive assigns the erased superblocks with the fewest
//!   erases to this zone.
//! - *Dies of a zone*: A zone uses all dies or `zone_dies` of them. Dies with consecutive numbers are on
//!   different channels. Consecutive zones use consecutive groups of `zone_dies` dies: zone z is on group z
//!   modulo the number of groups. The dies of a zone determine its write bandwidth. Zones on different groups
//!   are written independently.
//! - *Write*: The drive accepts the writes of one zone one after the other.
//! - *Append*: The drive stores the data of an append at the write pointer and returns the address with the
//!   completion. Appends take effect in the order in which they reach the drive. Several appends to one zone
//!   may therefore be outstanding.
//! - *States*: A zone is empty, implicitly open (by a write), explicitly open (by command), closed, or full.
//!   A program that uses the drive through a Nacre memory can append to zones. The program can also open,
//!   close, finish, and reset zones by command. With `host.zone_writes = "append"`, a simulated host sends
//!   the writes of a workload as appends.
//! - *Rejected write or command*: The drive counts rejections by reason, and the completion has the NVMe
//!   status. A write is rejected if it does not start at the write pointer, crosses the end of its zone, or
//!   goes to a full zone. Writes whose size is not a multiple of a unit are also rejected. An append or a zone
//!   command is rejected if its address is not the start of a zone.
//! - *Active zones*: A zone is active if it is open or closed. While `active_zones` zones are active, an
//!   empty zone cannot be opened.
//! - *Open zones*: If `open_zones` zones are open and another zone must be opened, the drive closes the least
//!   recently written zone that is implicitly open. If all open zones are explicitly open, the write or
//!   command is rejected.
//! - *Reset*: A reset command or a trim of a whole zone resets the zone. The reset erases the superblocks of the
//!   zone immediately.
//! - *Finish*: A command, or a trim from the write pointer to the end of the zone, finishes the zone. The
//!   zone is then full, and the rest of its last operation is padded. Other trims have no effect.
//! - *Preconditioning* has no trims. Instead, a write to the first unit of a zone with data resets the zone.
//! - *Power loss*: Capacitors finish the programs of all acknowledged writes and save partly filled
//!   operations. Open zones with data become closed. Open and closed zones without data become empty.
//!   Recovery reads the table of zones. A binary search among the operations of each active zone finds the
//!   write pointer of the zone.
//!
//! # Not modeled
//! - Padding of the pages after the last operation of a finished zone. These pages stay erased.
//! - Commands to open and close zones in workloads and traces. Workloads and traces reset and finish zones
//!   with trims.
//! - Appends to a served device, and commands to open and close its zones. A served device supports neither.
//! - Zones with a capacity below their size, read-only and offline zones, zone descriptor extensions, and
//!   zones with a separate queue.
//! - Bit errors and parity.
//! - The flash space in which the drive saves partly filled operations with the energy of the capacitors.
//!
//! # Sources
//! - nvme-zns-1.1 and bjorling-2021: zones, their states and limits.
//! - tavakkol-2018 (MQSim): the flash.
//!
//! # Checks
//! - Zones are written at the speed of their dies, up to the speed of the channels. A workload with several
//!   outstanding appends reaches the same speed.
//! - Every unit is programmed once, and all superblocks wear evenly.
//! - After every write, command, and power loss, an independent state machine has the same states and write
//!   pointers for all zones.
//! - After power losses at random times, every unit is compared with the versions that an independent auditor
//!   recorded.

mod layer;
mod report;
mod restoring;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use table::Zones;

use crate::build_drive;
use crate::config::{Config, ZnsSsdConfig};
use nacre_config::{Descriptor, Model, Problems, Slot};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::event;

/// The component's descriptor and constructor.
pub const MODEL: Model<DeviceFamily> = Model {
    descriptor: Descriptor::of::<ZnsSsdConfig>(
        "zns_ssd",
        "a zoned (ZNS) flash SSD: no page mapping, no garbage collection",
        &["nvme-zns-1.1", "bjorling-2021", "tavakkol-2018"],
        4,
        include_str!("mod.rs"),
    ),
    build: build_in_slot,
};

fn build_in_slot(
    slot: &Slot<DeviceFamily>,
    builder: &mut (dyn Builder + '_),
) -> Result<Box<dyn event::Device>, Problems> {
    let config = Config::from(&slot.config::<ZnsSsdConfig>(builder.families()));
    build_drive(slot, builder, config, None)
}
