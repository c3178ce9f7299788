//! A flash cache of disk pages, with a controller that adapts ECC strength and density to the wear of each
//! page.
//!
//! # Model
//! The cache holds copies of 2 KiB pages of a slower device, the backing. A flash slot holds one page in SLC
//! mode or two pages in MLC mode (`media::dual_mode_flash`).
//!
//! - *Read miss*: The cache fetches the page from the backing and programs it in the background.
//! - *Write*: The cache programs written data out of place and then acknowledges the write. The page is
//!   *dirty* until it is written back. A partial write is merged with the rest of its page.
//!
//! ## Tables
//! - The *hash table* (FCHT) maps disk pages to flash pages.
//! - The *page status table* (FPST) contains the disk page, code, hit count, and dirty bit of each flash
//!   page.
//! - The *block status table* (FBST) contains, for each block, the number of erases, the code strengths, and
//!   the number of slots in SLC mode. These values determine the wear of the block. The table also records
//!   whether wear leveling filled the block.
//! - The *global status table* (FGST) contains the latencies of hits and misses.
//!
//! The record includes the sizes of these tables.
//!
//! ## Regions, garbage collection, and eviction
//! Each block belongs to the region for read pages or to the region for written pages. With `write_region =
//! "0 %"`, there is only one region. A region keeps one block open on each die, but never more than one
//! eighth of its blocks. The region also keeps at least this number of blocks free. A program operation
//! therefore waits for an erase only if erases are the bottleneck. Adjacent disk pages are written to the
//! same block, because the pages of a block are evicted together.
//!
//! A region frees one block if its number of free blocks does not exceed its maximum number of open blocks:
//!
//! - *Garbage collection*: If more than `collects_above` of the region's programmed pages are invalid, the
//!   region frees the block with the most invalid pages. The valid pages of this block move to other blocks
//!   first. Among blocks without valid pages, the region frees the least worn block first.
//! - *Eviction*: If the share of invalid pages is at most `collects_above`, the region evicts the least
//!   recently used block. The cache writes the block's dirty pages back in disk order and then erases the
//!   block.
//!
//! Before each erase, the cache programs a journal page that lists the removed pages. The location of the
//! journal is not modeled.
//!
//! *Wear leveling*: If the wear of an erased block exceeds the wear of the least worn block by more than
//! `wear_gap`, the cache exchanges the two blocks. The least worn block may be in any region, and may be
//! full, open, or free. The content of the least worn block moves to the erased block. The least worn block
//! is then erased and written next.
//!
//! If wear leveling moved content into a block and the cache later removes this content, the block is erased
//! again. The exchange then did not prevent further wear of the block. The cache therefore does not move
//! content into this block again until other blocks are equally worn. A free block is written only if its
//! wear exceeds the wear of every other free block of its region by at most `wear_gap`. Among these blocks,
//! the cache prefers blocks on dies without an open block, and then the block that was erased first.
//!
//! ## Bit errors and the adaptive controller
//! Bit errors are generated when a page is programmed. Their number increases with the retention time. When a
//! page is read, the controller decodes it. If the simulation stores data, the model runs the decoder of the
//! code. Otherwise, the number of bit errors determines whether the code corrects the page.
//!
//! If the number of bit errors in a page reaches the limit of the page's code, the slot of the page changes
//! at the next program. The slot gets a code that corrects one more bit, or changes to SLC mode. The
//! controller selects the option with the lower cost:
//!
//! - The cost of a stronger code is the page's share of accesses times the additional decoding time.
//! - The cost of SLC mode is the number of additional misses times the miss penalty, minus the gain from
//!   faster reads. The number of misses increases because the cache holds one page fewer.
//!
//! If neither option is possible, the page stays in use until it has more bit errors than the code corrects.
//! The slot is then retired. When the last slot of a block is retired, the block is retired, too. After
//! `promotes_at` hits, a page moves to a slot in SLC mode.
//!
//! The cache has `decoders` decoders. After a read from any die, the page goes to the first free decoder. A
//! decoder decodes one page at a time. If `area` is given, the area of the cache includes `decoder_area` for
//! each decoder. The decoding energy depends on the code of the page.
//!
//! *Uncorrectable pages*: The cache never returns a page with more bit errors than its code corrects. The
//! model detects such a page even if a code without a checksum decodes the page to a wrong codeword, or if
//! the code is `none`. A clean page is fetched from the backing again. The data of a dirty page is lost, and
//! reads fail until the whole page is written.
//!
//! A dirty page is also lost if the cache must evict the page while the backing rejects or cannot store the
//! data. If a power loss interrupts a later write of the whole page, the page remains lost.
//!
//! ## Order of operations
//! When the lookup of a request ends or the backing replies, the cache selects the pages to insert, to evict,
//! and to move, and their locations. The cache performs the operations afterwards. Each operation starts when
//! all operations for which it waits have ended. A die performs one operation at a time, in the order in
//! which the operations became ready.
//!
//! | operation | waits for |
//! |---|---|
//! | read of a flash page | the program of the page, then the die and the first free decoder |
//! | program | the read of its data, if in progress, the erase of the block, and the encoder, then the die |
//! | erase, after a journal page | operations that read, program, replace, or write back pages of the block |
//! | read of the backing | write-backs and trims of the same pages |
//! | write-back | the reads of its pages from flash, and earlier write-backs and trims of these pages |
//! | trim of the backing | earlier write-backs and trims, and fetches of pages in its range. Fetched pages that are clean are then dropped |
//!
//! While a page is being programmed, the cache serves reads of the page from the controller's memory, as soon
//! as the data is there. A request for a page that is being fetched waits for the fetch.
//!
//! ## Power loss
//! A power loss destroys the tables. Recovery rebuilds the tables from the spare areas and the journal.
//! Recovery takes as long as reading all programmed pages. Clean and dirty pages in flash survive. If the data
//! of a write was not programmed before the power loss, the write has no effect. If a write-back was
//! interrupted, the page is still in flash, because its block was not erased. After recovery, the cache
//! writes the page back, and requests for the page wait until then. If the backing reports that it lost data,
//! the cache treats clean pages as dirty from then on.
//!
//! Some backing devices guarantee the durability of writes only after a flush, or only within their stored
//! energy. The cache flushes such a device after every write-back.
//!
//! # Counters
//!
//! | counter | counts |
//! |---|---|
//! | `read_hits`, `read_merged` | pages read from flash; pages read while they were being fetched |
//! | `read_misses`, `read_lost` | pages read from the backing, including pages with too many bit errors in flash; pages whose data is lost |
//! | `write_hits`, `write_misses` | written pages that were in flash at the lookup; written pages that were not in flash at the lookup |
//! | `fills` | pages from the backing that were programmed |
//! | `write_allocations` | written pages that were programmed without an older copy to replace. A copy that was present at the lookup may have been evicted to make space |
//! | `bypassed` | pages read or written that were not programmed because no block is left |
//! | `collections`, `evictions` | blocks that were garbage-collected; blocks that were evicted |
//! | `pages_evicted` | pages evicted to make space |
//! | `pages_given_up` | pages dropped because a read found too many bit errors |
//! | `pages_trimmed`, `pages_superseded`, `pages_power_failed` | pages removed by a trim; by a write that bypassed the cache; by a power loss |
//! | `pages_sent_back` | dirty pages written to the backing |
//! | `pages_promoted` | pages moved to SLC mode because of their hits |
//! | `strength_raised`, `density_lowered` | slots that got a stronger code; slots that changed to SLC mode |
//! | `corrected_pages`, `corrected_bits` | reads of pages with corrected bit errors; the number of these bits |
//! | `uncorrectable`, `refetched`, `lost_pages` | reads of pages with too many bit errors; such reads of clean pages; such reads of dirty pages |
//! | `retired_slots`, `retired_blocks` | retired slots and blocks |
//! | `host_programs`, `fill_programs`, etc. | pages programmed, by cause |
//!
//! The page counters balance: `flash.pages_valid` equals `flash.pages_valid_before` (at the start of
//! measurement) plus `fills` and `write_allocations`, minus `pages_evicted`, `pages_given_up`,
//! `pages_trimmed`, `pages_superseded`, and `pages_power_failed`. Each page that is read counts once, in
//! `read_hits`, `read_merged`, `read_misses`, or `read_lost`. Reads that fetch the rest of a partly written
//! page are not counted.
//!
//! # Not modeled
//! - The bus between controller and dies, the order of programs within a block, and suspension of programs
//!   and erases for reads.
//! - Wear of the journal.
//! - Reading the tables from disk after an orderly shutdown.
//! - Energy of the tables in DRAM, power of an idle decoder, and area of the controller except for its
//!   decoders.
//! - Flush time in the cache. Acknowledged data is already in flash, so the cache forwards a flush to the
//!   backing and does nothing else.
//!
//! # Sources
//! - roberts-2009, sections II and III: cells, regions, and controller, with one BCH decoder.
//! - lee-2012 and dill-2015: controllers of fast drives have several decoders, one per channel or shared by
//!   all channels.
//! - kgil-2008 and kgil-2009: tables, wear, and cost functions, cited from memory. Values that roberts-2009
//!   does not give are assumed.
//!
//! # Checks
//! - A plain LRU cache of blocks has the same read hits and read misses.
//! - The numbers of valid and invalid pages, the regions, and the tables are consistent at all times. In
//!   every run, the number of valid pages equals the number of pages that entered the cache minus the number
//!   of pages that left it.
//! - Every program has one of these causes: the host, a fill, garbage collection, wear leveling, or the
//!   journal.
//! - While the set of most-written pages stays constant, the wear of any two blocks differs by at most twice
//!   `wear_gap` plus one erase.
//! - Waiting times for k decoders equal the waiting times in an independently calculated schedule and in an
//!   M/D/k queue.
//! - A naive event simulation of the rules gives the same completion times and counts.
//! - If no page has more bit errors than its code corrects, reads return the data of the last write, even
//!   after power losses at any time. Pages with more bit errors than their code corrects are never returned
//!   as valid.

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

use crate::programmable;
use cache::FlashCache;
use nacre_config::{Descriptor, Model, Problems};
use nacre_controller::ecc::{Ecc, Page};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::Bytes;
use nacre_media::store::{Layout, Nothing};

/// Number of data bytes of a flash page.
pub(crate) const FLASH_PAGE: u64 = 2048;

/// The component's descriptor and constructor.
pub const MODEL: Model<DeviceFamily> = Model {
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

/// Size in bytes of a page with its spare bytes in a store, rounded up to a power of two as images require.
pub(crate) fn stored_bytes(cells: &Cells) -> u64 {
    (FLASH_PAGE + cells.spare.0).next_power_of_two()
}

/// Builds the codes of a page, from the initial strength up to the strongest code.
fn codes(config: &Config, builder: &dyn Builder) -> Result<Vec<Box<dyn Ecc>>, Problems> {
    let page = Page { families: builder.families(), bytes: Bytes(FLASH_PAGE) };
    let strongest = config.raises_strength.then_some(config.strongest);
    programmable::codes(&config.ecc, page, strongest, config.cells.spare)
}
