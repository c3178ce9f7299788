//! Onyx: a PCM solid-state drive on PCI Express.
//!
//! # Model
//! ## Request path
//! The driver takes CPU time for every request and waits for one of `tags` tags. The request pipeline of the
//! drive processes one request at a time and cuts it into rows. Rows are distributed round robin over the
//! controllers. Data crosses the link, which has the full rate in each direction, and a ring between the pipeline
//! and the controllers. If `host` is set, e.g. to NVMe, the host interface replaces the driver and the link,
//! before the tags of the pipeline.
//!
//! The pipeline is at the first of `ring_stations`. Each station on the shorter path to a controller costs
//! `ring_hop` in each direction.
//!
//! ## Controllers
//! A controller has one set of data lines to its ranks. A row is stored in chunks over a group of `row_ranks`
//! ranks, and groups are used in turn.
//!
//! - A read occupies the lines and the ranks beat by beat for the requested part of the row.
//! - A write occupies the lines while the write buffer of the chips is filled, and the rank until its program
//!   ends. If a rank has several chunks of the row, it programs them one after the other.
//! - `row_setup` precedes both.
//! - The scoreboard starts the waiting operation whose lines and ranks are free first; among several, the oldest.
//!   With `scheduling = "in_order"`, all operations wait for their turn at the lines. An operation never
//!   overtakes an older one that needs one of its ranks.
//! - Copies of wear leveling go before all waiting operations. Reads have no priority over waiting programs.
//!
//! ## Writes
//! A write occupies one buffer slot of its controller until it is programmed. With early completion, there are
//! `buffered_writes` slots. With late completion, there are `late_writes` slots, and a slot accepts another write
//! only after `late_refill`. With late completion, a write completes when all its rows are programmed. With early
//! completion, it completes when its data has arrived in the buffers of the controllers.
//!
//! `wear_leveling` moves rows. Each move reads and writes one additional row, with its time and wear. The slot
//! of the write that caused the move is freed after the move. Every row counts its programs. The first row with
//! more than `endurance` programs is reported.
//!
//! Data is written in place and moves with its row. There are no transactions. If every part is as fast as DRAM
//! and programs are short, the model is Moneta.
//!
//! ## Power loss
//! Capacitors have energy for a number of programs, and the programs that would end first get it. Without it, a
//! program stops where it is. Writes that were acknowledged but not programmed are lost; the amount is reported.
//! A copy of wear leveling is repeated after power returns, since its old row is intact. If early completion and
//! `capacitors` are given, the configuration must have energy for full buffers, unless it `may_lose_writes`.
//!
//! # Not modeled
//! - Priority of reads over waiting programs, and suspension of programs for reads: the paper mentions neither.
//! - Reads from buffered writes.
//! - Sectors: writes of a memory may start at any byte.
//! - The additional row of wear leveling is in the spare area.
//! - Trims and flushes take only the time of the driver, since acknowledged data is safe.
//!
//! # Sources
//! akel-2011 for the system; caulfield-2010 for the parts that it shares with Moneta. Fitted values name the data
//! that they are fitted to.
//!
//! # Checks
//! - Completion times of reads, writes, and copies under load, in open and closed loops, equal those of an
//!   independent simulation of a controller.
//! - Bandwidths as products of the parts; the closed-loop law; the path around the ring; both schedulers; the G /
//!   (G + 1) of wear leveling.
//! - Latencies, rates, and bandwidths of the paper, with `nacre reproduce onyx` and in the tests.
//! - Reads and writes are conserved in all runs.
//! - Data against a naive memory over long random sequences with power losses and restarts.
//! - The energy of capacitors, program by program.
//! - The write that wears out a row, computed in bursts and simulated one by one.

mod bytes;
mod config;
mod device;
mod drive;
mod endurance;
mod outage;
mod part;
mod report;
mod requests;
mod rows;
mod scoreboard;
mod timing;

#[cfg(test)]
mod tests;

pub use config::{CompletionPoint, Config};

use crate::host_interface::{self, HostPort, Plain};
use crate::wear_leveling;
use drive::Drive;
use nacre_config::{Descriptor, Families, Problems, Room, Slot};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::event;
use nacre_media::pcm::Rows;
use nacre_media::store::{Layout, Nothing, Store};
use scoreboard::Scoreboard;

/// The component's descriptor and constructor.
pub const ROOM: Room<DeviceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "onyx",
        "a PCM solid-state drive on PCIe: striped controllers, wear leveling, early completion",
        &["akel-2011", "caulfield-2010"],
        4,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let layout = layout(slot, builder.families())?;
        let (at_once, in_all) = Rows::memory_bytes(layout.pages);
        builder.take_memory_as_touched(slot.path(), at_once, in_all)?;
        match builder.store(slot.path(), layout) {
            Some(store) => build(slot, builder, store),
            None => build(slot, builder, Nothing),
        }
    },
};

/// The device in `slot`, over `store`.
fn build<S: Store + 'static>(
    slot: &Slot<DeviceFamily>,
    builder: &mut dyn Builder,
    store: S,
) -> Result<Box<dyn event::Device>, Problems> {
    let id = builder.component();
    let config: Config = slot.config(builder.families());
    let mut controllers = Vec::new();
    for number in 0..config.controllers {
        let leveller = wear_leveling::build(&config.wear_leveling, config.region(number), builder)?;
        controllers.push(Scoreboard::new(&config, leveller, S::CARRIES_BYTES));
    }
    let port: Box<dyn HostPort> = match &config.host {
        Some(host) => host_interface::build(host, builder.families())?,
        None => Box::new(Plain::new(config.driver, config.cpus, config.link, ["from_host", "to_host"])),
    };
    Ok(Box::new(Drive::new(id, slot.path().to_string(), config, port, controllers, store)))
}

/// Bytes of adjacent rows that a store allocates together.
const EXTENT_BYTES: u64 = 256 << 10;

/// Store layout for the device in `slot`. Errors: its rows cannot be leveled with these settings.
fn layout(slot: &Slot<DeviceFamily>, families: &dyn Families) -> Result<Layout, Problems> {
    let config: Config = slot.config(families);
    let rows = wear_leveling::physical_rows(&config.wear_leveling, config.region(0), families)?;
    Ok(Layout {
        page_bytes: config.row.0 as u32,
        pages_per_extent: (EXTENT_BYTES / config.row.0).max(1),
        pages: rows.saturating_mul(u64::from(config.controllers)),
    })
}
