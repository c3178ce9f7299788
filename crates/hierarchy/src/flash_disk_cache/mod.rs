//! A disk cache in flash: two regions, four tables, and a controller that follows the wear of every page.
//!
//! # Models
//! Pages of 2 KiB of a slower device, in flash whose slots hold one page in SLC or two in MLC
//! (`media::dual_mode_flash`). What is read and is not there comes from the backing and is programmed in the
//! background. What is written is acknowledged when it is programmed, out of place; it is *dirty* until it
//! goes back. A part of a page that is written is merged with the rest.
//!
//! Four tables: the *hash table* (FCHT) finds a page of the disk, the *page status* (FPST) has for each page of flash
//! what it holds, its code, hits and whether it is dirty, the *block status* (FBST) has erases, strengths and slots in SLC,
//! which make its degree of wear, and whether wear leveling filled it; the *global status* (FGST) has the latencies of hits and misses. Their
//! sizes are in the record.
//!
//! Blocks belong to the region for pages that were read or the one for pages that were written; with `write_region =
//! "0 %"` there is one. A region of enough blocks fills one of them on each die, at most an eighth of its
//! blocks, and keeps as many free ones; neighbors on the disk go to one block, since they leave together.
//! What is programmed waits for no erase then unless erases are what limits.
//! A region with no more free blocks than these is *collected* where more than `collects_above` of its
//! programmed pages are not valid: what is valid in the block with the most invalid pages moves; of several with
//! nothing valid the one worn least goes first. Otherwise the block used longest ago is *evicted*: its dirty pages go back in the order of the disk, and it is erased when
//! they are there. Each erase follows a program of a
//! page of the journal, which says what left; where the journal lies is not modeled.
//!
//! An erased block that is worn more than the one worn least by more than `wear_gap` changes places with it, whichever
//! region that is of and whether it is full, open or free: its content moves, and it is erased and filled next.
//! Where what moved in last has left by this erase, content does not move again: the block waits. A block is filled
//! when no free one of its region is worn less by more than the gap; of those that may be, the one erased first goes on a
//! die where none is open.
//!
//! Bit errors are counted when a page is programmed and while it lies. A read decodes them: with bytes, by the encoder and
//! decoder of the code; without, by number. When a page has as many as its code corrects, its slot gets a
//! code one bit stronger or continues in SLC from the next program on: what costs less. Stronger costs the page's
//! share of accesses times the longer decoding; SLC costs the misses for one page less, times their penalty,
//! less what faster reads gain. A page whose slot can do neither continues until it has more bit errors; then the
//! slot is retired, and with its last slot the block. A page that is hit `promotes_at` times moves to a slot
//! in SLC.
//!
//! A page that was read waits for the first of `decoders` that is free, which then works for it alone; whatever die it
//! came from. Where `area` is given, `decoder_area` counts once for each next to it. Energy to decode is that of the code
//! for each page, by whichever decoder.
//!
//! A page with more bit errors than its code corrects is never returned, also where a code without a checksum takes it
//! for another codeword, or the code `none` notices nothing. If it is clean it comes from the backing again; if it is dirty its data is lost, and reads end with an error until all of it is written. So they do of a
//! dirty page that has to leave and that the backing refuses or cannot save.
//! If all of such a dirty page is written and the power fails before that is programmed, it is lost, too.
//!
//! What is in the cache, what leaves and where a page goes is decided when a request has been looked up or the backing has
//! answered. Then operations do it. Each begins when it waits for nothing, and a die does those that want it one by one,
//! in the order in which they began to want it.
//!
//! | operation | waits for |
//! |---|---|
//! | read of a page of flash | its program; then its die and the first free decoder |
//! | program | its data, if that is being read; the erase of its block; its encoder; then its die |
//! | erase, behind a page of the journal | what reads or programs pages of the block, replaces them or sends them back |
//! | read of the backing | write-backs and trims of its pages |
//! | write-back | its pages, read from flash; earlier write-backs and trims of them |
//! | trim of the backing | earlier write-backs and trims; pages of it that are on their way, which leave then if they are clean |
//!
//! A page that is being programmed is at hand for reads as soon as its data is. A request for a page that is on its
//! way from the backing waits for it.
//!
//! A power loss takes the tables; they are found again in the spare areas and the journal, which takes the time
//! of reading every programmed page. Clean pages stay, dirty pages stay. A write that was not programmed did not
//! happen; a page that was on its way back, and was not there, is still in flash, since its block was not
//! erased, and goes back again when the cache is ready; a request for it waits for that. If the backing reports that it
//! lost bytes, clean pages count as dirty from then on.
//! If the backing guarantees writes only once they are flushed, or only within its stored energy, it is flushed behind every
//! write-back.
//!
//! # Counters
//!
//! | counter | counts |
//! |---|---|
//! | `read_hits`, `read_merged` | pages read from flash, and while they were on their way there |
//! | `read_misses`, `read_lost` | pages read from the backing, also since flash had them with too many bit errors; pages whose data is lost |
//! | `write_hits`, `write_misses` | pages written that were in flash when they were asked for, that were not |
//! | `fills` | pages from the backing that were programmed |
//! | `write_allocations` | written pages that were programmed and of which there was no older copy to replace: one that was there when it was asked for may have left as room was made |
//! | `bypassed` | pages read or written that were not programmed, since no block is left |
//! | `collections`, `evictions` | blocks collected, blocks evicted |
//! | `pages_evicted` | pages that left since others needed the room |
//! | `pages_given_up` | pages that left since they had too many bit errors where they were read |
//! | `pages_trimmed`, `pages_superseded`, `pages_power_failed` | pages that left by a trim, by a write past the cache, by a power loss |
//! | `pages_sent_back` | dirty pages that went to the backing |
//! | `pages_promoted` | pages moved to SLC since they were hit often |
//! | `strength_raised`, `density_lowered` | slots that got a stronger code, that went on in SLC |
//! | `corrected_pages`, `corrected_bits` | reads of pages with bit errors that were corrected |
//! | `uncorrectable`, `refetched`, `lost_pages` | reads of pages with too many; clean ones; dirty ones |
//! | `retired_slots`, `retired_blocks` | slots and blocks given up |
//! | `host_programs`, `fill_programs` and so on | pages programmed, by cause |
//!
//! Every page comes in and leaves in one of these ways: `flash.pages_valid` is `flash.pages_valid_before`, those when
//! measuring began, with `fills` and `write_allocations`, and without `pages_evicted`, `pages_given_up`, `pages_trimmed`,
//! `pages_superseded` and `pages_power_failed`. Of the pages that are read each is one of `read_hits`, `read_merged`, `read_misses` and `read_lost`;
//! what is read to be merged with a part that is written is none of them.
//!
//! # Leaves out
//! The bus between controller and dies; the order of programs within a block; suspending programs and erases for
//! reads; wear of the journal. Tables that are read from disk
//! when a machine starts in order. Energy of the tables in DRAM; what a decoder draws while it waits for pages; area of the
//! controller beyond its decoders. A flush waits for nothing, since what is
//! acknowledged is in flash; it is passed on.
//!
//! # Sources
//! roberts-2009 sections II and III, for cells, regions and what the controller does, with one BCH decoder; controllers
//! of fast drives have several (lee-2012), one for each channel or shared by all (dill-2015); kgil-2008 and kgil-2009 for
//! tables, degree of wear and cost functions, as they are recalled: what is not in the first is assumed.
//!
//! # Checks
//! Hits and misses of reads against a plain LRU of blocks; valid and invalid pages, regions and tables agree at all times;
//! valid pages are those that came in less those that left, in every run;
//! programs are those of host, fills, collection, wear leveling and journal; while what is written most stays the same, no
//! block is worn more than another by more than twice `wear_gap` and one erase; waits for k decoders are those of their
//! exact schedule, and of M/D/k; completion times and counts equal those of a naive event simulation of the rules; a code that is never used up gives
//! back what was written, also after power losses at any moment; pages beyond their code are never returned as good.

mod array;
mod bytes;
mod cache;
mod config;
mod controller;
mod counts;
mod device;
mod eviction;
mod fetching;
mod levelling;
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

/// This room.
pub const ROOM: Room<DeviceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "flash_disk_cache",
        "a cache of a disk's pages in flash, with a controller that follows the wear of every page",
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
        // Of a page of flash: its state in the medium, in the tables, and its place in the hash table.
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

/// Bytes of a page and what is next to it, as stores have them: images want powers of two.
pub(crate) fn stored_bytes(cells: &Cells) -> u64 {
    (FLASH_PAGE + cells.spare.0).next_power_of_two()
}

/// The codes of a page: of the strength it begins with, and of every one up to the strongest.
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
