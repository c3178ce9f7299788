//! The device behind `flash_disk_cache`.

use super::FLASH_PAGE;
use super::array::Array;
use super::config::Config;
use super::counts::{Counts, Leaves, Life, Worn};
use super::region::{NO_BLOCK, REGIONS, Region};
use super::tables::Tables;
use crate::recency::Recency;
use crate::unfinished::Unfinished;
use nacre_controller::ecc::Ecc;
use nacre_kernel::state::State;
use nacre_kernel::{Breakdown, ComponentId, Device, HostCounts, Random, Request};
use nacre_media::dual_mode_flash::DualModeFlash;
use nacre_media::store::Store;
use std::collections::{BTreeMap, BTreeSet};

/// Bits of an address within a page.
pub(super) const SHIFT: u32 = FLASH_PAGE.trailing_zeros();

/// A cache of pages in flash before a backing device.
#[derive(State)]
#[state(bound = "S: Store")]
#[state(after = "Self::check_restored")]
pub(super) struct FlashCache<S> {
    #[state(skip = "from the configuration")]
    pub(super) id: ComponentId,
    #[state(skip = "from the configuration")]
    pub(super) path: String,
    #[state(skip = "from the configuration")]
    pub(super) config: Config,
    pub(super) array: Array<S>,
    pub(super) tables: Tables,
    /// Blocks that are full, by region.
    pub(super) recency: Recency,
    pub(super) regions: [Region; REGIONS],
    /// No block is worn less than this.
    pub(super) least_wear: f64,
    pub(super) backing: Box<dyn Device>,
    #[state(skip = "from the configuration")]
    pub(super) carries_bytes: bool,
    pub(super) unfinished: Unfinished,
    /// Pages that the backing does not have as they were written last, and that are lost where the flash has none.
    #[state(varies)]
    pub(super) lost: BTreeSet<u64>,
    /// Whether one was lost that no flush has told yet.
    pub(super) has_lost: bool,
    /// What a loss of power kept from going back; empty where it cannot be read.
    #[state(varies)]
    pub(super) rescued: BTreeMap<u64, Vec<u8>>,
    pub(super) counts: Counts,
    pub(super) host: HostCounts,
    pub(super) life: Life,
    /// Each time a fiftieth of the pages that the flash held as new was gone.
    #[state(varies)]
    pub(super) wearing: Vec<Worn>,
    /// Where bytes of whole pages are while a request is served.
    #[state(skip = "nothing is read from it")]
    pub(super) fetched: Vec<u8>,
    /// Pages of a block that go back.
    #[state(skip = "nothing is read from it")]
    pub(super) leaving: Vec<(u64, u32)>,
    /// Where background work leaves its breakdown.
    #[state(skip = "nothing is read from it")]
    pub(super) scratch: Breakdown,
}

impl<S: Store> FlashCache<S> {
    /// An empty cache of new flash.
    pub(super) fn new(
        id: ComponentId,
        path: String,
        config: Config,
        codes: Vec<Box<dyn Ecc>>,
        random: Random,
        store: S,
        backing: Box<dyn Device>,
    ) -> FlashCache<S> {
        let cells = config.cells.clone();
        let (blocks, slots) = (cells.blocks, cells.slots);
        let flash = DualModeFlash::new(blocks, slots, cells.nand.ageing(), random, store);
        let mut tables = Tables::new(blocks, slots, config.density.mode());
        let new = config.flash_bytes() / FLASH_PAGE;
        let writes = config.write_blocks();
        let mut regions = [blocks - writes, writes].map(|blocks| Region::new(blocks, cells.dies));
        for block in 0..blocks {
            let region = usize::from(block < writes);
            tables.blocks[block as usize].region = region as u8;
            regions[region].free.push_back(block);
        }
        FlashCache {
            id,
            path,
            array: Array::new(cells, config.decoders, codes, flash),
            tables,
            recency: Recency::new(blocks as usize, REGIONS),
            regions,
            least_wear: 0.0,
            carries_bytes: S::CARRIES_BYTES && backing.capabilities().carries_bytes,
            backing,
            config,
            unfinished: Unfinished::default(),
            lost: BTreeSet::new(),
            has_lost: false,
            rescued: BTreeMap::new(),
            counts: Counts::default(),
            host: HostCounts::default(),
            life: Life { usable: new, ..Life::default() },
            wearing: Vec::new(),
            fetched: Vec::new(),
            leaving: Vec::new(),
            scratch: Breakdown::new(),
        }
    }

    /// The region for pages that are written.
    #[inline]
    pub(super) fn write_region(&self) -> usize {
        usize::from(self.config.write_blocks() > 0)
    }

    /// What the cache alone had of page `key` is lost.
    #[cold]
    pub(super) fn lose(&mut self, key: u64) {
        self.counts.lost_pages += 1;
        self.lost.insert(key);
        self.has_lost = true;
        self.life.first_lost.get_or_insert(self.life.taken);
    }

    /// What `page` holds leaves the cache.
    #[inline]
    pub(super) fn drop_page(&mut self, page: u32, leaves: Leaves) {
        self.counts.left.count(leaves);
        self.invalidate(page);
    }

    /// What `page` holds does not count any more.
    #[inline]
    pub(super) fn invalidate(&mut self, page: u32) {
        let block = self.array.flash.block_of(page);
        self.tables.invalidate(page, block);
    }

    pub(super) fn trim(&mut self, request: &Request) {
        let (first, count) = request.blocks(FLASH_PAGE);
        for key in first..first + count {
            // Only the cache has what is dirty, and it stays as it was: the backing has what was before.
            if let Some(page) = self.tables.find(key)
                && !self.tables.pages[page as usize].is_dirty
            {
                self.drop_page(page, Leaves::Trimmed);
            }
        }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let blocks = self.array.flash.blocks();
        let known = |block: u32| block < blocks || block == NO_BLOCK;
        let is_wrong = |region: &Region| {
            !region.open.iter().chain([&region.hot]).all(|&block| known(block))
                || !region.free.iter().all(|&block| block < blocks)
        };
        match self.regions.iter().any(is_wrong) {
            false => Ok(()),
            true => Err("a region with a block that is none".into()),
        }
    }
}
