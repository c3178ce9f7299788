//! A zoned-namespace (ZNS) SSD: the host writes each zone sequentially and resets whole zones.
//!
//! # Model
//! The flash, channels, dies, write buffer, and host interface are modeled as in the device `ssd`. The
//! drive has the zones of NVMe Zoned Namespaces (ZNS) instead of page mapping and garbage collection. It
//! never moves data, so every write programs each of its mapping units exactly once. The mapping table has
//! one entry for each superblock of each zone.
//!
//! - *Zone*: A zone consists of `zone_superblocks` superblocks. A superblock consists of one block from each
//!   plane of the dies of the zone. When a zone is opened, the drive assigns the erased superblocks with the
//!   fewest erases to this zone.
//! - *Dies of a zone*: A zone uses `zone_dies` dies or, by default, all dies of the drive. Dies with
//!   consecutive numbers are on different channels. Consecutive zones use consecutive groups of `zone_dies`
//!   dies: zone z uses group z modulo the number of groups. The number of dies limits the write bandwidth
//!   of a zone. Zones that use different groups can be written in parallel.
//! - *Write*: The drive accepts writes one after the other, in the order in which they arrive.
//! - *Append*: The drive stores the data of an append at the write pointer of the zone and returns the
//!   address in the completion. Appends take effect in the order in which they arrive at the drive. The host
//!   can therefore have several outstanding appends to one zone.
//! - *States*: A zone is empty, implicitly open (by a write), explicitly open (by command), closed, or full.
//!   A program that accesses the drive with the Python class `Memory` can send appends, and commands that
//!   open, close, finish, and reset zones. With `host.zone_writes = "append"`, a simulated host sends all
//!   writes of the workload as appends.
//! - *Rejected write or command*: The drive counts rejections by reason and returns the NVMe status code in
//!   the completion. A write is rejected if it does not start at the write pointer, crosses the end of its
//!   zone, or addresses a full zone. A write is also rejected if its size is not a multiple of the mapping
//!   unit. An append or a zone command is rejected if its address is not the start of a zone.
//! - *Active zones*: A zone is active if it is open or closed. While `active_zones` zones are active, an
//!   empty zone cannot be opened.
//! - *Open zones*: If `open_zones` zones are open and another zone must be opened, the drive closes the least
//!   recently written zone that is implicitly open. If all open zones are explicitly open, the write or
//!   command that would open another zone is rejected.
//! - *Reset*: A reset command or a trim of a whole zone resets the zone. The reset erases the superblocks of the
//!   zone immediately.
//! - *Finish*: A finish command, or a trim from the write pointer to the end of the zone, finishes the zone.
//!   If the last program operation is partly filled, the drive pads it. The zone becomes full. Other trims
//!   have no effect.
//! - *Preconditioning*: preconditioning does not send trims. Instead, a write to the first unit of a zone
//!   that contains data resets the zone.
//! - *Power loss*: With the energy of its capacitors, the drive programs all acknowledged writes and saves
//!   partly filled program operations. Open zones with data become closed. Open and closed zones without data
//!   become empty. During recovery, the drive reads the zone table. It finds the write pointer of each active
//!   zone by a binary search for the last programmed page.
//!
//! # Not modeled
//! - Padding of the remaining pages of a finished zone. These pages stay erased.
//! - Commands to open and close zones in workloads and traces. Workloads and traces reset and finish zones
//!   with trims.
//! - Appends to a served device, and commands to open and close its zones. A served device supports neither.
//! - Zones with a capacity below their size, read-only and offline zones, zone descriptor extensions, and
//!   separate queues for zones.
//! - Bit errors and parity.
//! - The flash space in which the drive saves partly filled program operations on a power loss.
//!
//! # Sources
//! - nvme-zns-1.1 and bjorling-2021: zones, their states, and their limits.
//! - tavakkol-2018 (MQSim): the flash model.
//!
//! # Checks
//! - The write bandwidth equals the program bandwidth of the dies that the zones use, up to the bandwidth of
//!   the channels. A workload with several outstanding appends reaches the same bandwidth.
//! - Every mapping unit is programmed exactly once, and all superblocks wear evenly.
//! - After every write, command, and power loss, all zones have the states and write pointers that an
//!   independent state machine computes.
//! - After power losses at random times, the data of every unit is compared with the versions that an
//!   independent auditor recorded.

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
        5,
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
