//! Onyx: a PCM solid-state drive on PCI Express.
//!
//! # Model
//! ## Request path
//! The driver takes the CPU time `driver` for each request. The request also needs one of the `tags` tags,
//! and waits if no tag is free. The request pipeline of the drive processes one request at a time and divides
//! it into rows. The pipeline distributes the rows round robin over the controllers. Data crosses the link
//! between host and drive. The link provides its full bandwidth in each direction. Between the pipeline and
//! the controllers, data crosses a ring. If `host` is set, e.g. to NVMe, the host interface replaces the
//! driver and the link. A request from the host interface waits for a tag in the drive.
//!
//! The pipeline is at the first of the `ring_stations` stations of the ring. A packet takes the shorter path
//! to its controller. Each hop to the next station adds the time `ring_hop`, in each direction.
//!
//! ## Controllers
//! A controller has one set of data lines to its ranks. A row is stored in chunks over a group of `row_ranks`
//! ranks. Consecutive rows use the groups in turn.
//!
//! - A read occupies the data lines and the ranks, beat by beat, for the requested part of the row.
//! - A write occupies the data lines while the write buffer of the chips is filled. The write occupies the
//!   rank until its program ends. If a rank has several chunks of the row, it programs them one after the
//!   other.
//! - Each read or write of a row starts after the setup time `row_setup`.
//! - With `program_zeros`, the time and the energy of a program depend on the data. In writes without data,
//!   the share `zero_words` of the words of every chunk is zero. By default, no words are zero, which gives
//!   the longest program times.
//! - With `poll_interval`, a rank has no ready line. After a program starts, the controller polls the status
//!   register of the rank over the data lines. The controller detects the end of the program at the next
//!   poll. A poll interrupts a transfer between two bus cycles and delays the end of the transfer by `poll`.
//! - The scoreboard of a controller starts the waiting operation whose data lines and ranks become free
//!   first. Among several such operations, the scoreboard starts the oldest. With `scheduling = "in_order"`,
//!   operations use the data lines in issue order. An operation never overtakes an older operation that needs
//!   one of its ranks.
//! - Wear-leveling copies have priority over all waiting operations. Reads have no priority over waiting
//!   programs.
//!
//! ## Error correction
//! `ecc` is a code over the bytes that the data chips of a rank return at once. The spare chips hold the
//! spare bytes of the code. The spare chips have separate data lines and take no additional time. Read data
//! passes through the decoder of the controller, one beat after the other. Only the decoding time of the last
//! beat adds to the latency of the read. If the decoder is slower than the chips, it delays all beats. A
//! write waits for the encoding of a single beat.
//!
//! With `bit_error_rate`, host reads have independent bit errors. If a codeword has more bit errors than the
//! code corrects, the request fails. If the code does not even detect the errors, the read returns corrupted
//! data.
//!
//! ## Writes
//! The write of a row occupies one buffer slot of the controller until the row is programmed. `completion`
//! determines the number of slots and the time at which the write completes:
//!
//! - With early completion, each controller has `buffered_writes` slots. A write completes when its data is
//!   in the buffers of the controllers.
//! - With late completion, each controller has `late_writes` slots, and a slot accepts the next write only
//!   after the time `late_refill` has passed since its last program. A write completes when all its rows are
//!   programmed.
//!
//! `wear_leveling` moves rows. Each move reads and writes one additional row, which takes time and causes
//! wear. The move also occupies the slot of the write that caused the move. The model counts the programs of
//! every row. The record reports the first row with more than `endurance` programs.
//!
//! Data is written in place and moves with its row. Onyx does not support transactions. With chips as fast as
//! DRAM and short programs, the model represents Moneta (caulfield-2010).
//!
//! ## Power loss
//! The energy of the capacitors is sufficient for a fixed number of programs, regardless of the data. The
//! programs that would finish first get this energy. A program without energy stops immediately. Writes that
//! were acknowledged but not programmed are lost, and the recovery reports the amount of lost data. An
//! interrupted wear-leveling copy is repeated after power returns, because its old row is intact. With early
//! completion, the energy `capacitors` must be sufficient to program full buffers. Otherwise, Nacre rejects
//! the scenario, and the error message gives the number of row writes that the capacitors cover. To allow
//! capacitors with less energy, set `may_lose_writes`.
//!
//! # Not modeled
//! - Priority of reads over waiting programs, and suspension of programs for reads. The paper does not
//!   mention either of them.
//! - Reads of data that is still in a write buffer.
//! - Polls that wait for the data lines or for each other.
//! - Controllers that delay the first poll until the expected end of the program.
//! - Bit errors in wear-leveling copies, bit errors that depend on wear, bit errors that persist, and read
//!   retries.
//! - The dependence of wear-leveling copies on their data. Each copy takes the time and energy of a program
//!   in which the share `zero_words` of the words is zero.
//! - Sectors. A write may start at any byte.
//! - Space for the additional row that wear leveling needs. This row is in the spare area.
//! - Work of the drive for trims and flushes. A trim or flush takes only driver time, because acknowledged
//!   data is safe.
//!
//! # Sources
//! - akel-2011: the system.
//! - caulfield-2010: the parts that Onyx shares with Moneta.
//! - numonyx-p8p: the time of a poll.
//!
//! The source of each fitted value names the data to which the value was fitted.
//!
//! # Checks
//! - Under load, an independent simulation of a controller gives the same completion times for reads, writes,
//!   and copies, in open and closed loops.
//! - Sequential read bandwidth equals the bandwidth of a controller times the number of controllers.
//!   Sequential write bandwidth equals the program bandwidth of a rank times the number of ranks. With
//!   start-gap, the write bandwidth is `interval` / (`interval` + 1) of the bandwidth without wear leveling.
//!   Other tests cover the closed-loop throughput formula, the paths on the ring, and both values of
//!   `scheduling`.
//! - The independent simulation also covers data-dependent program times, polls that interrupt transfers, and
//!   decoders that are faster or slower than the chips.
//! - The numbers of corrected and uncorrectable codewords follow the binomial distribution for several code
//!   strengths.
//! - The tests and `nacre reproduce onyx` compare latencies, rates, and bandwidths with the paper.
//! - In every run, the counters of reads, programs, and wear-leveling moves are consistent.
//! - Reads return the same data as a naive memory model, over long random sequences of requests, power
//!   losses, and restarts.
//! - The tests check, program by program, how many programs the capacitors can complete.
//! - A row wears out after the same number of writes, whether the model applies repeated writes as a burst or
//!   one by one.

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
use nacre_config::{Descriptor, ErrorCode, Families, Model, Problem, Problems, Slot};
use nacre_device::{Builder, DeviceFamily, TableMemory};
use nacre_kernel::{Bytes, event};
use nacre_media::pcm::Rows;
use nacre_media::store::{Layout, Nothing, Store};
use scoreboard::Scoreboard;

/// The component's descriptor and constructor.
pub const MODEL: Model<DeviceFamily> = Model {
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
        builder.take_memory_as_touched(slot.path(), TableMemory { at_once, in_all, in_run: in_all })?;
        match builder.store(slot.path(), layout) {
            Some(store) => build(slot, builder, store),
            None => build(slot, builder, Nothing),
        }
    },
};

/// Builds the device that `slot` describes, with its data in `store`.
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

/// The page that the code protects: a read unit of every data chip.
fn page<'a>(config: &Config, families: &'a dyn Families) -> Page<'a> {
    Page { families, bytes: Bytes(config.rank().beat) }
}

/// Checks that the spare chips have enough spare bytes for the code.
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

/// Number of bytes of adjacent rows that a store allocates together.
const EXTENT_BYTES: u64 = 256 << 10;

/// Store layout for the device in `slot`. Returns an error if the wear-leveling scheme does not support these
/// settings.
fn layout(slot: &Slot<DeviceFamily>, families: &dyn Families) -> Result<Layout, Problems> {
    let config: Config = slot.config(families);
    let rows = wear_leveling::physical_rows(&config.wear_leveling, config.region(0), families)?;
    Ok(Layout {
        page_bytes: config.row.0 as u32,
        pages_per_extent: (EXTENT_BYTES / config.row.0).max(1),
        pages: rows.saturating_mul(u64::from(config.controllers)),
    })
}
