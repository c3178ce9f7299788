//! A flash cache of disk pages, with a controller that adapts ECC strength and density to the wear of each
//! page.
//!
//! # Model
//! The cache holds pages of 2 KiB of a slower device. A flash slot holds one page in SLC mode or two in MLC
//! mode (`media::dual_mode_flash`).
//!
//! - *Read miss*: the page is fetched from the backing and programmed in the background.
//! - *Write*: a write is acknowledged when it is programmed, out of place. The page is *dirty* until it is
//!   written back. A partial write is merged with the rest of the page.
//!
//! ## Tables
//! - The *hash table* (FCHT) maps disk pages to flash pages.
//! - The *page status table* (FPST) has the content, code, hits, and dirty bit of each flash page.
//! - The *block status table* (FBST) has the erases, the code strengths, and the slots in SLC mode of each
//!   block. These values determine the wear of the block. The table also records whether wear leveling filled
//!   the block.
//! - The *global status table* (FGST) has the latencies of hits and misses.
//!
//! The record includes their sizes.
//!
//! ## Regions, garbage collection, and eviction
//! Each block belongs to the region for read pages or to the region for written pages. With `write_region =
//! "0 %"`, there is one region. A region with enough blocks keeps one block open on each die, up to an eighth
//! of its blocks. It keeps the same number of blocks free. A program therefore waits for an erase only if
//! erases are the bottleneck. Adjacent disk pages are written to one block, because they are evicted
//! together.
//!
//! If a region does not have more free blocks than this number, it frees one block:
//!
//! - *Garbage collection*: if more than `collects_above` of its programmed pages are invalid, the valid pages
//!   of the block with the most invalid pages are moved. Among blocks without valid pages, the least worn one
//!   is first.
//! - *Eviction*: otherwise, the least recently used block is evicted. Its dirty pages are written back in
//!   disk order, and then it is erased.
//!
//! Before each erase, the cache programs a journal page that lists the removed pages. The location of the
//! journal is not modeled.
//!
//! *Wear leveling*: if the wear of an erased block exceeds that of the least worn block by more than
//! `wear_gap`, the two are exchanged. The least worn block may be in any region, and may be full, open, or
//! free. Its content moves, and it is erased and written next. If the content that wear leveling last moved
//! into a block has left the block by the time of this erase, no content moves into it again, and the block
//! waits. A block is written only if no free block of its region is less worn by more than the gap. Among the
//! candidates, the cache uses the block that was erased first on a die without an open block.
//!
//! ## Bit errors and the adaptive controller
//! Bit errors are generated at program time and increase with retention. A read decodes the page. With data,
//! the decoder of the code is executed. Without data, the result follows from the number of bit errors.
//!
//! When a page has as many bit errors as its code corrects, its slot changes to a code that is one bit
//! stronger, or to SLC mode, at the next program. The controller selects the option with the lower cost:
//!
//! - A stronger code costs the page's share of accesses times the additional decoding time.
//! - SLC mode costs the additional misses with one page less, times the miss penalty, minus the gain from
//!   faster reads.
//!
//! If neither is possible, the page stays in use until it has more bit errors than the code corrects. The
//! slot is then retired. A block is retired with its last slot. After `promotes_at` hits, a page moves to a
//! slot in SLC mode.
//!
//! A page that was read waits for the first free decoder of `decoders`, regardless of its die. A decoder
//! decodes one page at a time. If `area` is given, `decoder_area` counts once for each additional decoder.
//! The decoding energy is that of the code for each page.
//!
//! *Uncorrectable pages*: a page with more bit errors than its code corrects is never returned. This also
//! applies to pages that a code without a checksum decodes to another codeword, and to pages in which the
//! code `none` detects no error. A clean page is fetched from the backing again. The data of a dirty page is
//! lost, and reads fail until the whole page is written. A dirty page is also lost if it must be evicted
//! while the backing rejects it or cannot store it. If such a page is written as a whole and power fails
//! before it is programmed, its data is also lost.
//!
//! ## Order of operations
//! Content, evictions, and placement are decided when the lookup of a request ends or the backing has
//! replied. The operations are performed afterwards. Each operation starts when the operations for which it
//! waits have ended. A die performs its operations one at a time, in the order in which they became ready.
//!
//! | operation | waits for |
//! |---|---|
//! | read of a flash page | the program of the page, then the die and the first free decoder |
//! | program | the read of its data, if in progress, the erase of the block, and the encoder, then the die |
//! | erase, after a journal page | operations that read, program, replace, or write back pages of the block |
//! | read of the backing | write-backs and trims of the same pages |
//! | write-back | the reads of its pages from flash, and earlier write-backs and trims of these pages |
//! | trim of the backing | earlier write-backs and trims, and fetches of pages in its range, which are then dropped if they are clean |
//!
//! A page that is being programmed can be read as soon as its data is available. A request for a page that is
//! being fetched waits for it.
//!
//! ## Power loss
//! A power loss destroys the tables. They are rebuilt from the spare areas and the journal, which takes the
//! time to read every programmed page. Clean and dirty pages survive. A write that was not programmed has no
//! effect. If a write-back was interrupted, the page is still in flash, because its block was not erased. It
//! is written back when the cache is ready, and a request for it waits until then. If the backing reports
//! that it lost data, clean pages count as dirty from then on.
//!
//! If the backing guarantees writes only after a flush, or only within its stored energy, the cache flushes
//! it after every write-back.
//!
//! # Counters
//!
//! | counter | counts |
//! |---|---|
//! | `read_hits`, `read_merged` | pages read from flash; pages read while they were being fetched |
//! | `read_misses`, `read_lost` | pages read from the backing, including those with too many bit errors in flash; pages whose data is lost |
//! | `write_hits`, `write_misses` | written pages that were in flash at the lookup; written pages that were not |
//! | `fills` | pages from the backing that were programmed |
//! | `write_allocations` | written pages that were programmed without an older copy to replace; a copy that was present at the lookup may have been evicted to make space |
//! | `bypassed` | pages read or written that were not programmed because no block is left |
//! | `collections`, `evictions` | blocks that were garbage-collected; blocks that were evicted |
//! | `pages_evicted` | pages evicted to make space |
//! | `pages_given_up` | pages dropped because a read found too many bit errors |
//! | `pages_trimmed`, `pages_superseded`, `pages_power_failed` | pages removed by a trim; by a write that bypassed the cache; by a power loss |
//! | `pages_sent_back` | dirty pages written to the backing |
//! | `pages_promoted` | pages moved to SLC mode because of their hits |
//! | `strength_raised`, `density_lowered` | slots that got a stronger code; slots that changed to SLC mode |
//! | `corrected_pages`, `corrected_bits` | reads of pages with corrected bit errors; the number of these bits |
//! | `uncorrectable`, `refetched`, `lost_pages` | reads of pages with too many bit errors; reads of such clean pages; reads of such dirty pages |
//! | `retired_slots`, `retired_blocks` | retired slots and blocks |
//! | `host_programs`, `fill_programs`, etc. | pages programmed, by cause |
//!
//! Pages are conserved: `flash.pages_valid` equals `flash.pages_valid_before` (at the start of measurement)
//! plus `fills` and `write_allocations`, minus `pages_evicted`, `pages_given_up`, `pages_trimmed`,
//! `pages_superseded`, and `pages_power_failed`. Each page that is read counts once, in `read_hits`,
//! `read_merged`, `read_misses`, or `read_lost`. Reads that are merged with a partial write are not counted.
//!
//! # Not modeled
//! - The bus between controller and dies, the order of programs within a block, and suspension of programs
//!   and erases for reads.
//! - Wear of the journal.
//! - Reading the tables from disk after an orderly shutdown.
//! - Energy of the tables in DRAM, power of an idle decoder, and area of the controller except for its
//!   decoders.
//! - Flush time in the cache: acknowledged data is in flash, so a flush is only passed to the backing.
//!
//! # Sources
//! roberts-2009, sections II and III (cells, regions, and controller, with one BCH decoder); lee-2012 and
//! dill-2015 (controllers of fast drives have several decoders, one per channel or shared by all); kgil-2008
//! and kgil-2009 (tables, wear, and cost functions, cited from memory: values that are not in roberts-2009
//! are assumed).
//!
//! # Checks
//! - Hits and misses of reads equal those of a plain LRU cache of blocks.
//! - Valid and invalid pages, regions, and tables are consistent at all times. In every run, the number of
//!   valid pages equals the pages that entered the cache minus those that left it.
//! - Every program is caused by the host, a fill, garbage collection, wear leveling, or the journal.
//! - While the most-written pages stay the same, the wear of two blocks differs by at most twice `wear_gap`
//!   and one erase.
//! - Waits for k decoders equal those of their exact schedule and of M/D/k.
//! - Completion times and counts equal those of a naive event simulation of the rules.
//! - If the bit errors never exceed the code, reads return the last write, even after power losses at any
//!   time. Pages with more bit errors than their code corrects are never returned as good.

mod array;
mod bytes;
mod cache;
mod config;
mod controller;
mod counts;
mod device;
mod eviction;
mod fetching;
mod leveling;
mod operation;
mod passing;
mod power;
mod reads;
mod region;
mod regions;
mod report;
mod tables;
#[cfg(test)]
mod tests;
mod work;
mod writes;

pub use config::{Cells, Config, Density};

use cache::FlashCache;
use nacre_config::{Descriptor, ErrorCode, Problem, Problems, Room};
use nacre_controller::ecc::{self, Ecc, Page};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::Bytes;
use nacre_media::store::{Layout, Nothing};

/// Data bytes of a flash page.
pub(crate) const FLASH_PAGE: u64 = 2048;

/// The component's descriptor and constructor.
pub const ROOM: Room<DeviceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "flash_disk_cache",
        "a flash cache of disk pages; ECC strength and density adapt to the wear of each page",
        &["roberts-2009", "kgil-2008", "kgil-2009", "lee-2012", "dill-2015", "mielke-2008", "hetzler-2012"],
        8,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let id = builder.component();
        let config: Config = slot.config(builder.families());
        let path = slot.path().to_string();
        let codes = codes(&config, builder);
        let backing = builder.device(&config.backing);
        let (codes, backing) = match (codes, backing) {
            (Ok(codes), Ok(backing)) => (codes, backing),
            (codes, backing) => {
                let mut problems = codes.err().unwrap_or_default().0;
                problems.extend(backing.err().unwrap_or_default().0);
                return Err(Problems(problems));
            }
        };
        let pages_per_block = 2 * u64::from(config.cells.slots);
        let pages = u64::from(config.cells.blocks) * pages_per_block;
        // Each flash page takes memory for its state in the medium, in the tables, and in the hash table.
        builder.take_memory(&path, pages * 80)?;
        let random = builder.random(&path);
        let layout = Layout {
            page_bytes: stored_bytes(&config.cells) as u32,
            pages_per_extent: pages_per_block,
            pages,
        };
        Ok(match builder.store(&path, layout) {
            Some(store) => Box::new(FlashCache::new(id, path, config, codes, random, store, backing)),
            None => Box::new(FlashCache::new(id, path, config, codes, random, Nothing, backing)),
        })
    },
};

/// Bytes of a page with its spare bytes in a store. Images require powers of two.
pub(crate) fn stored_bytes(cells: &Cells) -> u64 {
    (FLASH_PAGE + cells.spare.0).next_power_of_two()
}

/// The codes of a page, from its initial strength up to the strongest.
fn codes(config: &Config, builder: &dyn Builder) -> Result<Vec<Box<dyn Ecc>>, Problems> {
    let path = config.ecc.path();
    let families = builder.families();
    let first = ecc::build(&config.ecc, Page { families, bytes: Bytes(FLASH_PAGE) })?;
    let wrong = |text: String, remedy: &str| {
        Problems::from(Problem::new(ErrorCode::NotSupported, path, None, text).remedy(remedy))
    };
    let mut codes = vec![first];
    if config.raises_strength {
        let from = codes[0].corrects();
        for strength in from + 1..=config.strongest.max(from) {
            let stronger = codes[0].of_strength(strength);
            let stronger = stronger.ok_or_else(|| {
                let text = format!("there is no such code for {strength} bit errors of 2 KiB");
                wrong(text, "use kind = \"bch\", a smaller strongest, or raises_strength = false")
            })?;
            codes.push(stronger);
        }
    }
    let spare = codes.last().map_or(0, |code| code.layout().spare_bytes);
    if spare > config.cells.spare.0 {
        let text = format!(
            "the strongest code needs {spare} B next to a page, and there are {}",
            config.cells.spare
        );
        return Err(wrong(text, "give a larger spare, or a smaller strongest"));
    }
    Ok(codes)
}
