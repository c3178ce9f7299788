//! eNVy: flash as main memory.
//!
//! # Model
//! The host accesses a linear memory of words, whose content is in flash. The page table maps logical pages
//! to flash pages or to the write buffer. The table and the buffer are in battery-backed SRAM. One controller
//! serves the host.
//!
//! - *Read*: A read of a word requires one memory access. A memory management unit caches the most recently
//!   used mappings. If a mapping is not cached, the read requires one additional access to the page table.
//! - *Write*: On the first write to a page, the controller copies the page into the buffer (copy-on-write)
//!   and invalidates the flash page. Later writes change the page in the buffer.
//! - *Order*: The controller serves requests in the order of arrival. A request takes effect page by page,
//!   each page at the time of its access.
//!
//! ## Drain and cleaning
//! While more than the share `threshold` of the buffer is in use, the controller drains the oldest pages.
//! Each page is programmed into the active segment of the partition that the page came from. If no segment of
//! the partition has space, the `cleaning` policy selects a segment to clean (garbage collection). The
//! controller copies the valid pages of this segment to an erased segment, in the same order. The controller
//! then erases the cleaned segment.
//!
//! Programs and erases run only while the host is idle. A host access suspends programs and erases. They
//! resume when the host has been idle for the time `resume_after`. If the buffer is full, a write waits until
//! a page is drained. The wait includes `resume_after` and any necessary cleaning. Up to `concurrency`
//! operations may be in progress, each in a different bank of chips.
//!
//! *Few chips* (`transfer`): If the chips of a bank cannot transfer a page in one memory cycle, the transfer
//! of a page takes several cycles. Section 8 of the paper describes plans for such a prototype. A copy into
//! the buffer then takes one cycle per transfer, and a program takes one program time per transfer. The
//! energy of both operations does not change.
//!
//! If the erase counts of two segments differ by more than `wear_swap_gap`, the controller exchanges their
//! data. The lifetime is `pages * endurance / (programs per day)`, where `pages` is the number of pages in
//! all segments (section 5.5 of the paper).
//!
//! ## Power loss
//! If the simulation stores data, the data in eNVy survives power losses. The battery preserves the page
//! table, the buffer, and the state of cleaning.
//!
//! - After an interrupted write, the words that were already written keep their new values.
//! - An interrupted program is repeated on another page, and an interrupted erase is repeated.
//! - An open transaction is rolled back. During a transaction, eNVy keeps the old version of each written
//!   page, in flash or in the buffer. Cleaning moves old versions in the same way as valid pages.
//! - Interrupted programs may use up the erased pages that the relocation of a segment needs. If no other
//!   segment has erased pages, the controller restores the old mappings in the page table, erases the new
//!   segment, and restarts the relocation. The paper does not describe this case.
//!
//! # Not modeled
//! - Flash reads for copies. Such a read would take one memory cycle per page, and the program of the page
//!   takes 25 cycles.
//! - Chip faults. A segment stays in use after `endurance` erases.
//! - The effect of wear on program and erase times. wu-1994, section 2, reports a program time of 4 us and an
//!   erase time of 40 ms for a chip after two million cycles. The model uses the program and erase times of
//!   worn cells. A new array is at least as fast.
//!
//! # Sources
//! wu-1994: Wu and Zwaenepoel, "eNVy: a non-volatile, main memory storage system", ASPLOS 1994.
//!
//! # Checks
//! - At fixed utilization, the cleaning cost equals the closed forms for FIFO, greedy, and locality
//!   gathering. For FIFO, this also holds with mixed hot and cold data.
//! - On small arrays, the result of every operation equals the result of a naive memory model. The tests
//!   include power losses at any time. For relocations of segments without invalid pages, the tests cut power
//!   at every program and erase.
//! - An independent simulation of the buffer, the address translation, and the drain gives the same
//!   completion times, in open and closed loops.
//! - In every run, the counters of programs and pages are consistent.
//! - `nacre reproduce envy` compares the results of the model with the figures of the paper.

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
use nacre_config::{Descriptor, ErrorCode, Families, Model, Problem, Problems, Slot};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::ComponentId;
use nacre_media::store::{Layout, Nothing, Store};

/// The component's descriptor and constructor.
pub const MODEL: Model<DeviceFamily> = Model {
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

/// Store layout of the device in `slot`.
fn layout(slot: &Slot<DeviceFamily>, families: &dyn Families) -> Layout {
    let geometry = Geometry::of(&slot.config(families));
    Layout {
        page_bytes: geometry.page_bytes,
        pages_per_extent: u64::from(geometry.pages_per_segment),
        pages: geometry.flash_pages(),
    }
}

/// Builds the device that `slot` describes, with its data in `store`.
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

/// Checks that each partition has a position. The policies check that the partition size divides the number
/// of segments.
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
