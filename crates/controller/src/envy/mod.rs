//! eNVy: flash as main memory.
//!
//! # Models
//! A linear memory of words over flash. The page table maps logical pages to flash pages or to the write
//! buffer, which like the table is battery-backed SRAM. A read takes one memory access. The first write to a
//! page copies it into the buffer (copy-on-write) and invalidates the flash page; more writes change it
//! there. A memory management unit holds the mappings used last; a mapping it does not hold costs an access
//! to the page table.
//!
//! While the buffer holds more than `threshold`, its oldest pages are drained: programmed into the active
//! segment of the partition they came from. Where no segment of the partition has room, the `cleaning`
//! policy names one to be cleaned; its live pages move to an erased segment and keep their order, then it is
//! erased. One controller serves the host. Programs and erases go on only while the host is quiet: an access
//! suspends them, and they are resumed when nothing came for `resume_after`. A write that finds the buffer
//! full waits until a page was drained, with whatever cleaning that takes; the controller has to wait for
//! `resume_after` there too. `concurrency` operations may be under way, each in another bank of chips.
//!
//! If the chips of a bank are too few to take a page in one memory cycle (`transfer`; section 8 plans such a prototype), a
//! page takes several: its copy into the buffer and its program take as many times as long, and its energy stays that
//! of a page.
//!
//! When erases of two segments differ by more than `wear_swap_gap`, their data is exchanged.
//! Lifetime is `pages * endurance / (programs per day)`, over all segments (section 5.5).
//!
//! Requests are served in the order in which they came, and each takes effect page by page when its time has come.
//!
//! With bytes, it is a memory that survives power failures: table, buffer and the state of cleaning are kept
//! by the battery, a write that is cut leaves the words it had come to, an interrupted program is done again on another
//! page, an interrupted erase is repeated, and an open transaction is rolled back. Where lost programs wasted the erased pages that the live pages of a segment
//! were to move to, and no other segment has any, the table points to the old pages again, the new segment is erased,
//! and the move begins anew; the paper does not say what eNVy does there. A transaction keeps the old version of each
//! page it writes, in flash or in the buffer, and the cleaner moves old versions like live data.
//!
//! # Leaves out
//! The reads of a copy (one memory cycle of 25 in a program); faults of chips; a segment continues after `endurance`
//! erases. Slower programs of worn cells: wu-1994 section 2 measured 4 us and 40 ms of a chip after two million cycles,
//! so the times here are those of worn cells, and a new array is at least as fast.
//!
//! # Sources
//! wu-1994: M. Wu, W. Zwaenepoel, eNVy: a non-volatile, main memory storage system, ASPLOS 1994.
//!
//! # Checks
//! Cleaning cost against closed forms at fixed utilisation, for FIFO, greedy, hot and cold data and locality
//! gathering; every operation on small arrays against a naive memory, with power failures anywhere, and at every
//! program and erase of moves that have no page to spare; completion times against an independent simulation of buffer,
//! translation and draining, in open and closed loops; programs and pages conserved in every run; the paper's
//! figures with `nacre reproduce envy`.

mod array;
mod background;
mod bytes;
mod checks;
mod completion;
mod config;
mod device;
mod geometry;
mod history;
mod model;
mod page_table;
mod power;
mod relocation;
mod report;
mod service;
mod state;
mod transactions;
mod translation;
mod undo;
mod visit;
mod wear_swap;
mod write_buffer;

#[cfg(test)]
mod tests;

pub use config::Config;

use crate::cleaning::{self, Cleaner};
use geometry::Geometry;
use model::Envy;
use nacre_config::{Descriptor, ErrorCode, Families, Problem, Problems, Room, Slot};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::ComponentId;
use nacre_media::store::{Layout, Nothing, Store};

/// This room.
pub const ROOM: Room<DeviceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "envy",
        "flash as main memory: copy-on-write, an SRAM write buffer, cleaning",
        &["wu-1994"],
        5,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let layout = layout(slot, builder.families());
        Ok(match builder.store(slot.path(), layout) {
            Some(store) => Box::new(build(slot, builder, store)?),
            None => Box::new(build(slot, builder, Nothing)?),
        })
    },
};

/// What a store for the device in `slot` has to hold.
fn layout(slot: &Slot<DeviceFamily>, families: &dyn Families) -> Layout {
    let geometry = Geometry::of(&slot.config(families));
    Layout {
        page_bytes: geometry.page_bytes,
        pages_per_extent: u64::from(geometry.pages_per_segment),
        pages: geometry.flash_pages(),
    }
}

/// The device in `slot`, over `store`.
fn build<S: Store>(
    slot: &Slot<DeviceFamily>,
    builder: &mut dyn Builder,
    store: S,
) -> Result<Envy<S>, Problems> {
    let id: ComponentId = builder.component();
    let config: Config = slot.config(builder.families());
    let cleaner = cleaning::build(&config.cleaning, config.segments, builder)?;
    let geometry = Geometry::of(&config);
    check_partitions(slot.path(), &geometry, &*cleaner)?;
    Ok(Envy::new(id, slot.path().to_string(), config, geometry, store, cleaner))
}

/// The policies check that their partitions divide the segments; what is left is that each has a place.
fn check_partitions(path: &str, geometry: &Geometry, cleaner: &dyn Cleaner) -> Result<(), Problems> {
    let Some(size) = cleaner.partition_segments() else { return Ok(()) };
    if !geometry.segments.is_multiple_of(size) {
        let problem = format!("{} segments do not divide into partitions of {size}", geometry.segments);
        let problem =
            Problem::new(ErrorCode::ConflictingSettings, &format!("{path}.cleaning"), None, problem);
        return Err(problem.remedy("use a divisor of the number of segments").into());
    }
    Ok(())
}
