//! The cache with its tables, its flash, and the operations in progress.

use super::FLASH_PAGE;
use super::array::Array;
use super::config::Config;
use super::counts::{Counts, Leaves, Life, Worn};
use super::operation::{Arrival, Busy, Event, NONE, Operation, Purpose};
use super::region::{NO_BLOCK, REGIONS, Region};
use super::tables::Tables;
use crate::map::Map;
use crate::recency::Recency;
use crate::visits::Visits;
use nacre_controller::ecc::Ecc;
use nacre_kernel::event::{Agenda, Completions, Device, Slab};
use nacre_kernel::state::State;
use nacre_kernel::{ComponentId, HostCounts, LossReport, Random, Time};
use nacre_media::dual_mode_flash::DualModeFlash;
use nacre_media::store::Store;
use std::collections::{BTreeMap, VecDeque};

/// Number of address bits within a page.
pub(super) const SHIFT: u32 = FLASH_PAGE.trailing_zeros();

/// A page cache in flash, in front of a backing device.
#[derive(State)]
#[state(bound = "S: Store")]
#[state(after = "Self::complete_restored")]
pub(super) struct FlashCache<S> {
    #[state(skip = "from the configuration")]
    pub(super) id: ComponentId,
    #[state(skip = "from the configuration")]
    pub(super) path: String,
    #[state(skip = "from the configuration")]
    pub(super) config: Config,
    pub(super) array: Array<S>,
    pub(super) tables: Tables,
    /// Full blocks of each region, in LRU order.
    pub(super) recency: Recency,
    pub(super) regions: [Region; REGIONS],
    /// Lower bound of the wear over all blocks.
    pub(super) least_wear: f64,
    pub(super) backing: Box<dyn Device>,
    /// Time of the next event of the backing.
    #[state(skip = "asked of the backing")]
    pub(super) next: Time,
    #[state(skip = "from the configuration")]
    pub(super) carries_bytes: bool,
    /// Whether every write-back is followed by a flush.
    #[state(skip = "from the configuration")]
    pub(super) flushes: bool,
    #[state(varies)]
    pub(super) arrivals: VecDeque<Arrival>,
    pub(super) agenda: Agenda<Event>,
    pub(super) visits: Visits,
    pub(super) operations: Slab<Operation>,
    /// Number of operations created so far.
    pub(super) serial: u64,
    /// Pages that are being fetched from the backing, or written to the backing without entering the flash.
    #[state(varies)]
    pub(super) busy: BTreeMap<u64, Busy>,
    /// For each page of the backing, the latest operation in progress that changes the page.
    pub(super) changing: Map,
    /// For each page with host writes in progress, the numbers of the write operations, in order.
    #[state(varies)]
    pub(super) versions: BTreeMap<u64, Vec<u32>>,
    /// Lost pages: neither the backing nor the flash has their current version. The value is the number of
    /// operations that were created before the loss.
    #[state(varies)]
    pub(super) lost: BTreeMap<u64, u64>,
    pub(super) report: LossReport,
    /// Time from which the cache is ready after a recovery.
    pub(super) ready: Time,
    pub(super) bytes_lost: u64,
    pub(super) counts: Counts,
    pub(super) host: HostCounts,
    pub(super) life: Life,
    /// Records of the state of wear, one for each 2 % of the initial page capacity that was lost.
    #[state(varies)]
    pub(super) wearing: Vec<Worn>,
    /// Buffer for the pages of a block that are written back.
    #[state(skip = "nothing is read from it")]
    pub(super) leaving: Vec<(u64, u32)>,
    /// Buffer for the completions of the backing.
    #[state(skip = "empty between events")]
    pub(super) completed: Completions,
}

impl<S: Store> FlashCache<S> {
    /// Creates an empty cache with new flash.
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
        let flash = DualModeFlash::new(blocks, slots, cells.nand.aging(), random, store);
        let mut tables = Tables::new(blocks, slots, config.density.mode());
        let new = config.flash_bytes() / FLASH_PAGE;
        let writes = config.write_blocks();
        let mut regions = [blocks - writes, writes].map(|blocks| Region::new(blocks, cells.dies));
        for block in 0..blocks {
            let region = usize::from(block < writes);
            tables.blocks[block as usize].region = region as u8;
            regions[region].free.push_back(block);
        }
        let persistence = backing.capabilities().persistence;
        FlashCache {
            id,
            path,
            array: Array::new(cells, config.decoders, codes, flash),
            tables,
            recency: Recency::new(blocks as usize, REGIONS),
            regions,
            least_wear: 0.0,
            next: backing.next_event(),
            carries_bytes: S::CARRIES_BYTES && backing.capabilities().carries_bytes,
            flushes: persistence.needs_flush() || persistence.is_up_to_energy(),
            backing,
            config,
            arrivals: VecDeque::new(),
            agenda: Agenda::new(),
            visits: Visits::new(id),
            operations: Slab::new(),
            serial: 0,
            busy: BTreeMap::new(),
            changing: Map::new(),
            versions: BTreeMap::new(),
            lost: BTreeMap::new(),
            report: LossReport::default(),
            ready: Time::ZERO,
            bytes_lost: 0,
            counts: Counts::default(),
            host: HostCounts::default(),
            life: Life { usable: new, ..Life::default() },
            wearing: Vec::new(),
            leaving: Vec::new(),
            completed: Completions::new(),
        }
    }

    /// Number of the region for written pages.
    #[inline]
    pub(super) fn write_region(&self) -> usize {
        usize::from(self.config.write_blocks() > 0)
    }

    /// Records that the current data of page `key` is lost, because only the cache had it.
    #[cold]
    pub(super) fn lose(&mut self, key: u64) {
        self.counts.lost_pages += 1;
        self.lost.insert(key, self.serial);
        self.report.lose();
        self.life.first_lost.get_or_insert(self.life.taken);
    }

    /// Whether page `key`, which is not in flash, is lost. It is not lost if a newer version is being written
    /// back.
    #[cold]
    pub(super) fn is_lost(&self, key: u64) -> bool {
        let Some(&since) = self.lost.get(&key) else { return false };
        let on = self.changing.get(key).map(|on| &self.operations[on as u32]);
        !on.is_some_and(|of| matches!(of.purpose, Purpose::Back | Purpose::Safe) && of.serial >= since)
    }

    /// Drops the content of `page` and counts the cause.
    #[inline]
    pub(super) fn drop_page(&mut self, page: u32, leaves: Leaves) {
        self.counts.left.count(leaves);
        self.invalidate(page);
    }

    /// Invalidates the content of `page`.
    #[inline]
    pub(super) fn invalidate(&mut self, page: u32) {
        let block = self.array.flash.block_of(page);
        self.tables.invalidate(page, block);
    }

    fn complete_restored(&mut self) -> Result<(), String> {
        self.next = self.backing.next_event();
        let blocks = self.array.flash.blocks();
        let known = |block: u32| block < blocks || block == NO_BLOCK;
        let is_wrong = |region: &Region| {
            !region.open.iter().chain([&region.hot]).all(|&block| known(block))
                || !region.free.iter().all(|&block| block < blocks)
        };
        if self.regions.iter().any(is_wrong) {
            return Err("a region with a block that is none".into());
        }
        let pages = self.tables.pages.len();
        let is_wrong = |of: &Operation| of.page != NONE && of.page as usize >= pages;
        match self.operations.iter().any(|(_, of)| is_wrong(of)) {
            false => Ok(()),
            true => Err("an operation on a page that is none".into()),
        }
    }
}
