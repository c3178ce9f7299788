//! An NVRAM card: memory whose content survives a power loss, behind a host interface.
//!
//! # Model
//! ## Request path
//! A request arrives in pieces over the host interface (`host`). With NVMe, a piece is a page of 4 KiB. With
//! loads and stores, a piece is a line of 8 B or 64 B. With NVMe, one of the `processors` of the card handles
//! the request in the time `processing`. Loads and stores need no processor. The card forwards a piece
//! between the link and the memory only after it has received the whole piece.
//!
//! *Interleaving*: Each piece is stored in rows of memory banks. Adjacent spans of `interleave` bytes are in
//! adjacent channels. After the last channel, spans continue in the next bank. After the last bank, spans
//! continue in the next rank. With `interleave_groups`, adjacent bursts are in adjacent bank groups. If the
//! memory has bank groups but `interleave_groups` is off, spans continue in the next bank group after the
//! last channel. After the last bank group, they continue in the next bank.
//!
//! *Scheduling*: The setting `scheduler` determines the number of waiting accesses among which a channel
//! selects. In each clock cycle, the channel selects one of the commands that the timing constraints of the
//! memory part allow. The commands are activate, read, write, precharge, and refresh. Until the selected
//! command is issued, a new access can change the selection. `rows` determines whether rows stay open, are
//! closed after each access, or are closed only after a write. The bursts of an access are consecutive. When
//! a refresh of a rank is due, the card closes all rows of the rank and refreshes the rank. Until the refresh
//! ends, the rank accepts no activate, read, or write.
//!
//! ## Volatile memory
//! When power fails, a capacitor supplies the energy to save the memory to flash (the dump). The card uses
//! `dump_power` during `dump_setup` and while it saves flash pages. The time to save a flash page is the time
//! to program it or the time to encode it (`flash_ecc`), whichever is longer. The card saves pages in address
//! order. With `dump = "changed"`, the card saves only pages that differ from their copies in flash. With
//! `dump = "all"`, the card saves all pages. If the energy runs out, the remaining flash pages keep their
//! previous content.
//!
//! After power returns, the card first completes a dump in progress. The card then boots, reads the flash,
//! and charges its capacitor. `flash_error_rate` is the bit error rate of the flash. If decoding a page takes
//! longer than reading it, decoding limits the read rate. A page that the host has written is lost if it has
//! more bit errors than the code corrects. The model determines this at random for each page, with the
//! probability that follows from the code and the bit error rate. The recovery report counts the bytes of
//! such a page as lost, and reads of the page fail until it is rewritten. Requests wait until the card is
//! ready. With `wait_for_charge`, requests also wait until the capacitor is charged. The capacitor loses the
//! share `capacitor_fade` of its energy per 1,000 hours of service.
//!
//! ## Non-volatile memory
//! Non-volatile memory needs no dump and no capacitor. A write is durable when its row is closed and tRP has
//! passed. `written` determines whether the write completes at that time or as soon as its data is in the
//! memory. If the write completes earlier, a flush waits until the row is closed.
//!
//! # Not modeled
//! - Postponed refreshes, and use of the command bus by refreshes of an idle rank.
//! - Batching of writes.
//! - Error correction of the memory.
//! - Reads before partial writes of a burst.
//! - Transfers over the link that start before a piece has been read completely.
//! - Power-down.
//! - Failing capacitors.
//! - Partly saved flash pages. If the capacitor cannot save a flash page completely, all changes in this page
//!   are lost.
//!
//! # Sources
//! - zuolo-2017: the cards `nvram_ddr3_flash` and `nvram_mram` of the catalog.
//! - jesd79-3 and the data sheets of the memory parts.
//! - everspin-emd3d256m: the time at which a written row becomes durable.
//!
//! # Checks
//! - A clock-by-clock simulation of the memory controller gives the same completion times for random 64 B
//!   accesses. The tests cover queue depths of 1 to 64, open and closed loops, and row policies `open` and
//!   `closed`.
//! - If memory accesses take no time, latencies equal the closed form for the link, and bandwidths are within
//!   1 % of the link bandwidth. If one timing constraint of the memory limits the bandwidth, the bandwidth is
//!   within 1 % of this limit.
//! - The closed-loop throughput formula and Little's law hold. The share of time spent on refreshes equals
//!   its closed form.
//! - The energy, time, and bytes of a dump equal their closed forms exactly. The number of unreadable pages
//!   has the expected mean and variance. The tests check every byte after power losses at random times.

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
use nacre_config::{Descriptor, Model, Problems, Slot};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::{Bytes, event};
use nacre_media::persistence::Landed;
use nacre_media::store::{Nothing, Store};
use scheduler::Scheduler;

/// The component's descriptor and constructor.
pub const MODEL: Model<DeviceFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "nvram_card",
        "an NVRAM card: DRAM that is saved to flash, or MRAM, behind NVMe or a memory window",
        &["zuolo-2017", "jesd79-3", "everspin-emd3d256m"],
        7,
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

/// Builds the card that `slot` describes, with its data in `store`.
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
