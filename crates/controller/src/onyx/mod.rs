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
//! - With `program_zeros`, the time and the energy of a program depend on its data, as the medium has it. Writes
//!   without data have a share of `zero_words` in every chunk; by default none, the longest programs.
//! - With `poll_interval`, a rank has no ready line: the controller polls its status register over the data lines,
//!   from the start of a program on, and sees its end at the next poll. A poll interrupts a transfer between two
//!   bus cycles, and delays its end by `poll`.
//! - The scoreboard starts the waiting operation whose lines and ranks are free first; among several, the oldest.
//!   With `scheduling = "in_order"`, all operations wait for their turn at the lines. An operation never
//!   overtakes an older one that needs one of its ranks.
//! - Copies of wear leveling go before all waiting operations. Reads have no priority over waiting programs.
//!
//! ## Error correction
//! `ecc` is a code over what the data chips of a rank return at once; its spare bytes are those of the spare chips,
//! which have their own data lines and take no additional time. Reads pass through the decoder of the controller,
//! beat after beat: the last one adds its time, and a decoder that is slower than the chips delays all. A write waits
//! for the encoder once. With `bit_error_rate`, bits of the host's reads are wrong independently of each other. A
//! codeword with more bit errors than the code corrects fails its request; undetected ones return wrong data.
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
//! Capacitors have energy for a number of programs of arbitrary data, and the programs that would end first get it.
//! Without it, a program stops where it is. Writes that were acknowledged but not programmed are lost; the amount is reported.
//! A copy of wear leveling is repeated after power returns, since its old row is intact. If early completion and
//! `capacitors` are given, the configuration must have energy for full buffers, unless it `may_lose_writes`. The
//! error names the number of row writes that they cover.
//!
//! # Not modeled
//! - Priority of reads over waiting programs, and suspension of programs for reads: the paper mentions neither.
//! - Reads from buffered writes.
//! - Polls that wait for the lines or for each other; a first poll after the usual time of a program.
//! - Bit errors of the copies of wear leveling, which depend on wear or stay; read retries.
//! - The energy of copies by their data: they count as programs with a share of `zero_words`.
//! - Sectors: writes of a memory may start at any byte.
//! - The additional row of wear leveling is in the spare area.
//! - Trims and flushes take only the time of the driver, since acknowledged data is safe.
//!
//! # Sources
//! akel-2011 for the system; caulfield-2010 for the parts that it shares with Moneta; numonyx-p8p for the time of a
//! poll. Fitted values name the data
//! that they are fitted to.
//!
//! # Checks
//! - Completion times of reads, writes, and copies under load, in open and closed loops, equal those of an
//!   independent simulation of a controller.
//! - Bandwidths as products of the parts; the closed-loop law; the path around the ring; both schedulers; the G /
//!   (G + 1) of wear leveling.
//! - The independent simulation also has programs that depend on the data, polls that interrupt transfers, and a
//!   decoder that is faster or slower than the chips.
//! - Corrected and uncorrectable codewords against the binomial law, by strength of the code.
//! - Latencies, rates, and bandwidths of the paper, with `nacre reproduce onyx` and in the tests.
//! - Reads and writes are conserved in all runs.
//! - Data against a naive memory over long random sequences with power losses and restarts.
//! - The energy of capacitors, program by program.
//! - The write that wears out a row, computed in bursts and simulated one by one.

mod bytes;
mod config;
mod decoder;
mod device;
mod drive;
mod endurance;
mod outage;
mod part;
mod polling;
mod report;
mod requests;
mod rows;
mod scoreboard;
mod timing;

#[cfg(test)]
mod tests;

pub use config::{CompletionPoint, Config};

use crate::ecc::{self, Page};
use crate::host_interface::{self, HostPort, Plain};
use crate::wear_leveling;
use decoder::Decoder;
use drive::Drive;
use nacre_config::{Descriptor, ErrorCode, Families, Problem, Problems, Room, Slot};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::{Bytes, event};
use nacre_media::pcm::Rows;
use nacre_media::store::{Layout, Nothing, Store};
use scoreboard::Scoreboard;

/// The component's descriptor and constructor.
pub const ROOM: Room<DeviceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "onyx",
        "a PCM solid-state drive on PCIe: striped controllers, wear leveling, early completion",
        &["akel-2011", "caulfield-2010", "numonyx-p8p"],
        5,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        check_code(slot, builder.families())?;
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
        let code = ecc::build(&config.ecc, page(&config, builder.families()))?;
        let random = builder.random(&format!("{}.bit_errors.{number}", slot.path()));
        let decoder = Decoder::new(&config, code, random);
        controllers.push(Scoreboard::new(&config, leveller, decoder, S::CARRIES_BYTES));
    }
    let port: Box<dyn HostPort> = match &config.host {
        Some(host) => host_interface::build(host, builder.families())?,
        None => Box::new(Plain::new(config.driver, config.cpus, config.link, ["from_host", "to_host"])),
    };
    Ok(Box::new(Drive::new(id, slot.path().to_string(), config, port, controllers, store)))
}

/// The data that codewords divide among them: a read unit of every data chip.
fn page<'a>(config: &Config, families: &'a dyn Families) -> Page<'a> {
    Page { families, bytes: Bytes(config.rank().beat) }
}

/// Errors: the code needs more spare bytes than the spare chips have.
fn check_code(slot: &Slot<DeviceFamily>, families: &dyn Families) -> Result<(), Problems> {
    let config: Config = slot.config(families);
    let page = page(&config, families);
    let (needs, has) = (
        ecc::build(&config.ecc, page)?.layout().spare_bytes,
        config.chips.read_unit.0 * u64::from(config.chips.spare_chips),
    );
    if needs <= has {
        return Ok(());
    }
    let text = format!(
        "the code needs {} for {} of data, and the spare chips of a rank have {}",
        Bytes(needs),
        page.bytes,
        Bytes(has)
    );
    let problem = Problem::new(ErrorCode::ConflictingSettings, config.ecc.path(), None, text);
    Err(problem.remedy("use a weaker code, larger codewords, or more spare_chips").into())
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
