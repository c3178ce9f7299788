//! A flash cache of disk pages, with a controller that adapts ECC strength and density to the wear of each page.
//!
//! # Model
//! The cache holds pages of 2 KiB of a slower device. A flash slot holds one page in SLC mode or two in MLC mode
//! (`media::dual_mode_flash`).
//!
//! - *Read miss*: the page comes from the backing and is programmed in the background.
//! - *Write*: a write is acknowledged when it is programmed, out of place. The page is *dirty* until it is
//!   written back. A partial write is merged with the rest of the page.
//!
//! ## Tables
//! - The *hash table* (FCHT) finds a disk page.
//! - The *page status table* (FPST) has, for each flash page, its content, its code, its hits, and whether it is
//!   dirty.
//! - The *block status table* (FBST) has the erases, the code strengths, and the slots in SLC mode of each block,
//!   which determine its degree of wear. It also records whether wear leveling filled the block.
//! - The *global status table* (FGST) has the latencies of hits and misses.
//!
//! The record has their sizes.
//!
//! ## Regions, garbage collection, and eviction
//! Each block belongs to the region for read pages or to the region for written pages. With `write_region = "0
//! %"`, there is one region. A region with enough blocks keeps one block open on each die, up to an eighth of its
//! blocks, and as many free blocks. Adjacent disk pages go to one block, since they are evicted together. A
//! program then waits for an erase only if erases are the bottleneck.
//!
//! If a region has no more free blocks than these, it frees one:
//!
//! - *Garbage collection*: if more than `collects_above` of its programmed pages are invalid, the valid pages of
//!   the block with the most invalid pages are moved. Among blocks without valid pages, the least worn goes
//!   first.
//! - *Eviction*: otherwise, the least recently used block is evicted. Its dirty pages are written back in disk
//!   order, and it is erased after that.
//!
//! Before each erase, a page of the journal is programmed, which lists the pages that left. The location of the
//! journal is not modeled.
//!
//! *Wear leveling*: if an erased block is worn more than the least worn block by more than `wear_gap`, the two
//! are exchanged. The least worn block may be in any region, and may be full, open, or free. Its content moves,
//! and it is erased and written next. If the content that moved in last has left by this erase, content does not
//! move again: the block waits. A block is written only if no free block of its region is worn less by more than
//! the gap. Among the candidates, the block that was erased first is used, on a die without an open block.
//!
//! ## Bit errors and the adaptive controller
//! Bit errors are counted at program time and grow with retention. A read decodes them: with data, by the encoder
//! and decoder of the code; without data, by number.
//!
//! When a page has as many bit errors as its code corrects, its slot gets a code that is one bit stronger, or
//! changes to SLC mode, from the next program on. The controller takes the option with the lower cost:
//!
//! - A stronger code costs the page's share of accesses times the longer decoding.
//! - SLC mode costs the misses caused by one page less, times their penalty, minus the gain of faster reads.
//!
//! If neither is possible, the page stays in use until it has more bit errors than the code corrects. Then the
//! slot is retired, and with its last slot the block. After `promotes_at` hits, a page moves to a slot in SLC
//! mode.
//!
//! A page that was read waits for the first free one of `decoders`, which works for it alone, whatever its die.
//! If `area` is given, `decoder_area` counts once for each additional decoder. The decoding energy is that of the
//! code for each page.
//!
//! *Uncorrectable pages*: a page with more bit errors than its code corrects is never returned, even if a code
//! without a checksum decodes it to another codeword, or the code `none` detects nothing. A clean page is fetched
//! from the backing again. The data of a dirty page is lost, and reads fail until the whole page is written.
//! A dirty page is also lost if it must be evicted while the backing rejects it or cannot save it. If such a
//! page is written as a whole and power fails before the program, it is lost, too.
//!
//! ## Order of operations
//! Content, evictions, and placement are decided when the lookup of a request ends or the backing has replied.
//! The operations follow. Each starts when it waits for nothing. A die performs its operations one by one, in the
//! order in which they became ready.
//!
//! | operation | waits for |
//! |---|---|
//! | read of a flash page | its program; then its die and the first free decoder |
//! | program | its data, if that is being read; the erase of its block; its encoder; then its die |
//! | erase, after a page of the journal | operations that read or program pages of the block, replace them, or write them back |
//! | read of the backing | write-backs and trims of its pages |
//! | write-back | its pages, read from flash; earlier write-backs and trims of them |
//! | trim of the backing | earlier write-backs and trims; fetches of its pages, which are then dropped if they are clean |
//!
//! A page that is being programmed can be read as soon as its data is available. A request for a page that is
//! being fetched waits for it.
//!
//! ## Power loss
//! A power loss destroys the tables. They are rebuilt from the spare areas and the journal, in the time of
//! reading every programmed page. Clean and dirty pages survive. A write that was not programmed did not happen.
//! If a write-back was interrupted, the page is still in flash, since its block was not erased. It is written
//! back when the cache is ready, and a request for it waits for that. If the backing reports that it lost data,
//! clean pages count as dirty from then on.
//!
//! If the backing guarantees writes only after a flush, or only within its stored energy, it is flushed after
//! every write-back.
//!
//! # Counters
//!
//! | counter | counts |
//! |---|---|
//! | `read_hits`, `read_merged` | pages read from flash, and pages read while they were being fetched |
//! | `read_misses`, `read_lost` | pages read from the backing, including those with too many bit errors in flash; pages whose data is lost |
//! | `write_hits`, `write_misses` | written pages that were, or were not, in flash at the lookup |
//! | `fills` | pages from the backing that were programmed |
//! | `write_allocations` | written pages that were programmed without an older copy to replace; a copy that was present at the lookup may have been evicted to make space |
//! | `bypassed` | pages read or written that were not programmed because no block is left |
//! | `collections`, `evictions` | blocks garbage-collected, blocks evicted |
//! | `pages_evicted` | pages evicted to make space |
//! | `pages_given_up` | pages dropped because a read found too many bit errors |
//! | `pages_trimmed`, `pages_superseded`, `pages_power_failed` | pages removed by a trim, by a write that bypassed the cache, by a power loss |
//! | `pages_sent_back` | dirty pages written to the backing |
//! | `pages_promoted` | pages moved to SLC mode because of their hits |
//! | `strength_raised`, `density_lowered` | slots that got a stronger code; slots that changed to SLC mode |
//! | `corrected_pages`, `corrected_bits` | reads of pages with corrected bit errors, and these bits |
//! | `uncorrectable`, `refetched`, `lost_pages` | reads of pages with too many bit errors; the clean ones; the dirty ones |
//! | `retired_slots`, `retired_blocks` | retired slots and blocks |
//! | `host_programs`, `fill_programs` and so on | pages programmed, by cause |
//!
//! Pages are conserved: `flash.pages_valid` equals `flash.pages_valid_before` (when measuring began) plus `fills`
//! and `write_allocations`, minus `pages_evicted`, `pages_given_up`, `pages_trimmed`, `pages_superseded`, and
//! `pages_power_failed`. Each page that is read counts once, in `read_hits`, `read_merged`, `read_misses`, or
//! `read_lost`. Reads that are merged with a partial write are not counted.
//!
//! # Not modeled
//! - The bus between controller and dies, the order of programs within a block, and suspension of programs and
//!   erases for reads.
//! - Wear of the journal.
//! - Tables that are read from disk after an orderly start.
//! - Energy of the tables in DRAM, power of a waiting decoder, and area of the controller other than its
//!   decoders.
//! - A flush waits for nothing in the cache, since acknowledged data is in flash. It is passed to the backing.
//!
//! # Sources
//! roberts-2009 sections II and III (cells, regions, and controller, with one BCH decoder); lee-2012 and
//! dill-2015 (controllers of fast drives have several decoders, one per channel or shared by all); kgil-2008 and
//! kgil-2009 (tables, degree of wear, and cost functions, from memory: values that are not in roberts-2009 are
//! assumed).
//!
//! # Checks
//! - Hits and misses of reads against a plain LRU of blocks.
//! - Valid and invalid pages, regions, and tables agree at all times. In every run, valid pages equal the pages
//!   that came in minus those that left.
//! - Programs are those of host, fills, garbage collection, wear leveling, and journal.
//! - While the most-written pages stay the same, no block is worn more than another by more than twice `wear_gap`
//!   and one erase.
//! - Waits for k decoders equal those of their exact schedule, and of M/D/k.
//! - Completion times and counts equal those of a naive event simulation of the rules.
//! - If the bit errors never exceed the code, reads return the last write, also after power losses at any time.
//!   Pages with more bit errors than their code corrects are never returned as good.

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

/// Bytes of data of a page of flash.
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
        // Per flash page: its state in the medium, in the tables, and in the hash table.
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

/// Bytes of a page and its spare bytes in stores: images need powers of two.
pub(crate) fn stored_bytes(cells: &Cells) -> u64 {
    (FLASH_PAGE + cells.spare.0).next_power_of_two()
}

/// The codes of a page: from its initial strength up to the strongest.
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
