//! Onyx: a PCM solid-state drive on PCIe.
//!
//! # Models
//! The driver takes CPU time for every request and waits for one of `tags` places. The request pipeline of
//! the drive works on one request at a time and cuts it into rows, which go round over the controllers.
//! Data crosses the link (each way has its own) and a ring between pipeline and controllers. With a `host`, such as NVMe,
//! that is its driver and its link, before the pipeline's tags.
//!
//! A controller has one set of data lines to its ranks. A row lies in chunks over one group of `row_ranks`
//! ranks; the groups take turns. A read holds lines and ranks beat by beat for the whole of what is wanted
//! of the row. A write holds the lines while the chips' write buffer is filled, and the rank until its
//! program is over; a rank that has several chunks of the row takes them one after the other. `row_setup`
//! goes before either. Of what waits, that goes next whose lines and ranks are free first, of several the oldest, as the
//! scoreboard has it; with `scheduling = "in_order"` all wait for their turn at the lines. None passes an older one that needs
//! one of its ranks. What wear leveling copies goes before what waits. The
//! pipeline is at the first of `ring_stations`; each station on the shorter way to a controller costs `ring_hop`, there
//! and back.
//!
//! A write holds one of the places of its controller until it is programmed: `buffered_writes` with early
//! completion; with late `late_writes`, which take another only after `late_refill`. With late completion it is
//! done when all its rows are programmed, with early completion when its data has arrived in the controllers'
//! buffers. The `wear_levelling` moves rows: a row more is read and written, with the time and wear of that, and
//! the place of the write that caused it is free when it is done. Every row counts its programs; the first that
//! has more than `endurance` is reported.
//!
//! When power fails, capacitors have the energy for so many programs, and it goes to those that would end first.
//! Without it a program stops where it is. What was acknowledged and is not programmed is lost; how much is
//! reported. A copy of wear leveling is done again when the power is back, its old row being whole. With early
//! completion and `capacitors` given, the configuration is checked for full buffers, unless it `may_lose_writes`.
//!
//! Bytes are written in place and move with their rows. There are no transactions.
//!
//! Reads have no precedence over programs that wait. Where every part is as
//! fast as DRAM and programs are short, this is Moneta.
//!
//! # Leaves out
//! Precedence of reads over programs that wait, and suspension of programs for them: the paper says nothing of either. Reads answered from buffered writes; sectors: a memory's
//! writes may begin at any byte. The extra row of wear leveling lies in the spare area. Trims and
//! flushes take the driver's time only: what was acknowledged is safe.
//!
//! # Sources
//! akel-2011 for the system; caulfield-2010 for what it took over from Moneta. Fitted values say to what.
//!
//! # Checks
//! Completion times of reads, writes and copies under load, in open and closed loops, equal to those of an independent
//! simulation of a controller; bandwidths as products of the parts; the closed-loop law; the way round the ring; both schedulings; wear
//! leveling's G / (G + 1); latencies, rates and bandwidths of the paper with `nacre reproduce onyx` and in the tests;
//! reads and writes conserved in all runs; bytes against a naive memory over long random sequences with power failures and restarts; the energy of
//! capacitors program by program; the write that wears a row out, told in bursts and simulated one by one.

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
use crate::wear_levelling;
use drive::Drive;
use nacre_config::{Descriptor, Families, Problems, Room, Slot};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::event;
use nacre_media::pcm::Rows;
use nacre_media::store::{Layout, Nothing, Store};
use scoreboard::Scoreboard;

/// This room.
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
        let leveller = wear_levelling::build(&config.wear_levelling, config.region(number), builder)?;
        controllers.push(Scoreboard::new(&config, leveller, S::CARRIES_BYTES));
    }
    let port: Box<dyn HostPort> = match &config.host {
        Some(host) => host_interface::build(host, builder.families())?,
        None => Box::new(Plain::new(config.driver, config.cpus, config.link, ["from_host", "to_host"])),
    };
    Ok(Box::new(Drive::new(id, slot.path().to_string(), config, port, controllers, store)))
}

/// Bytes of neighboring rows that a store keeps together.
const EXTENT_BYTES: u64 = 256 << 10;

/// What a store for the device in `slot` has to hold. Errors: its rows cannot be levelled so.
fn layout(slot: &Slot<DeviceFamily>, families: &dyn Families) -> Result<Layout, Problems> {
    let config: Config = slot.config(families);
    let rows = wear_levelling::physical_rows(&config.wear_levelling, config.region(0), families)?;
    Ok(Layout {
        page_bytes: config.row.0 as u32,
        pages_per_extent: (EXTENT_BYTES / config.row.0).max(1),
        pages: rows.saturating_mul(u64::from(config.controllers)),
    })
}
