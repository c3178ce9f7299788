//! An NVRAM card: memory behind a host interface, kept over a power loss.
//!
//! # Models
//! A request comes over the `host` interface in pieces (NVMe: pages of 4 KiB; loads and stores: lines). One of the
//! `processors` works on it for `processing`, unless it is a load or a store. Each piece lies in rows of the
//! channels' banks: neighboring spans of `interleave` bytes lie in neighboring channels, then banks and ranks, and
//! neighboring bursts in neighboring groups (`interleave_groups`; otherwise spans do, after channels). The
//! `scheduler` says how many accesses a channel sees; clock by clock that one gets a command (activate, read, write,
//! precharge, refresh) that comes first by its rules and that the constraints of the memory part allow. Nothing is decided
//! before its clock. `rows` stay open, are closed after each access, or only after a write. When a refresh of a rank is
//! due, no row of it is opened, read or written until its rows are closed and it is refreshed. The card holds each piece as
//! a whole between link and memory, and the bursts of an access follow each other.
//!
//! *Volatile memory* is saved to flash when power fails, on the energy of a capacitor: `dump_power` for `dump_setup`
//! and for every page of flash, with the bytes and the time of its error correction (`flash_ecc`). What has changed since the flash was last as
//! the memory is saved in the order of addresses, `dump = "all"` the rest too; where the energy ends the rest is what
//! the flash had before. When the power is back the dump ends, then the card boots, reads the flash back and charges
//! its capacitor; of its bits `flash_error_rate` are wrong, which takes the decoder's time. A page that the host ever wrote is lost
//! where more of them are wrong than are corrected, each page by itself as chance has it: recovery tells its bytes as
//! lost, and it is not read until it is written again. Requests wait until it is ready, with `wait_for_charge` until it is charged too. The capacitor has
//! lost `capacitor_fade` for every 1,000 hours of its service.
//!
//! *Non-volatile memory* needs neither. A write is durable when its row is closed and tRP is over: `written` says
//! whether it is done then or when its data is written, when a flush waits for the rest.
//!
//! # Leaves out
//! Refreshes that are put off; those of a rank that has nothing to do take no clock of the command bus. Writes that wait
//! until there are many of them. Error correction of the memory itself, and reads of bursts that are written in part. Data that leaves for the link while the rest of its piece is read. Power-down. Failing capacitors.
//! Changes within a page of flash that the capacitor could not save are lost as a whole.
//!
//! # Sources
//! zuolo-2017 for the two cards; jesd79-3 and the data sheets of the memory parts; everspin-emd3d256m for what makes
//! a row durable.
//!
//! # Checks
//! Completion times of 64 B at random equal those of a simulation of the memory controller clock by clock, for queues of 1
//! to 64, open and closed loops, rows that stay open and rows that are closed. With memory that takes no time, the closed form of the link; bandwidths of the constraint that binds; the cap of
//! the link within 1 %; the closed-loop and Little's laws; refreshing's share of the time; the energy, time and bytes
//! of a dump; mean and spread of the pages that cannot be read back; every byte after power losses at random moments.

mod backup;
mod card;
mod clocks;
mod config;
mod events;
mod map;
mod piece;
mod report;
mod scheduler;

#[cfg(test)]
mod tests;

pub use config::{Config, Dump, RowPolicy, Written};

use crate::{ecc, host_interface, memory_scheduling};
use backup::Backup;
use card::Card;
use nacre_config::{Descriptor, Problems, Room, Slot};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::{Bytes, event};
use nacre_media::persistence::Landed;
use nacre_media::store::{Nothing, Store};
use scheduler::Scheduler;

/// This room.
pub const ROOM: Room<DeviceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "nvram_card",
        "an NVRAM card: DRAM that is saved to flash, or MRAM, behind NVMe or a memory window",
        &["zuolo-2017", "jesd79-3", "everspin-emd3d256m"],
        6,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let copies = if Backup::may_lose(&config, builder.families())? { 2 } else { 1 };
        let layout = Landed::<Nothing>::layout(Some(Bytes(config.capacity() * copies)));
        Ok(match builder.store(slot.path(), layout) {
            Some(store) => build(slot, builder, config, store)?,
            None => build(slot, builder, config, Nothing)?,
        })
    },
};

/// The card in `slot`, over `store`.
fn build<S: Store + 'static>(
    slot: &Slot<DeviceFamily>,
    builder: &mut dyn Builder,
    config: Config,
    store: S,
) -> Result<Box<dyn event::Device>, Problems> {
    let id = builder.component();
    let port = host_interface::build(&config.host, builder.families())?;
    let mut channels = Vec::new();
    for _ in 0..config.channels {
        let scheduler = memory_scheduling::build(&config.scheduler, builder.families())?;
        channels.push(Scheduler::new(&config, &*scheduler));
    }
    let page = ecc::Page { families: builder.families(), bytes: config.flash_page };
    let backup = Backup::new(&config, &*ecc::build(&config.flash_ecc, page)?);
    Ok(Box::new(Card::new(id, slot.path().to_string(), config, port, channels, backup, store)))
}
