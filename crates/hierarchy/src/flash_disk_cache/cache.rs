//! The device behind `flash_disk_cache`.

use super::array::Array;
use super::config::Config;
use super::counts::{Counts, Life};
use super::regions::Region;
use super::tables::{NONE, Tables};
use super::{FLASH_PAGE, report};
use crate::recency::Recency;
use crate::unlanded::Unlanded;
use nacre_controller::ecc::Ecc;
use nacre_kernel::state::State;
use nacre_kernel::{
    Activity, Breakdown, Burst, Bytes, Capabilities, Completion, ComponentId, ComponentReport, Data, Device,
    Endured, HostCounts, Op, Persistence, Random, Recovery, Request, Time, Transactions,
};
use nacre_media::dual_mode_flash::DualModeFlash;
use nacre_media::store::Store;
use std::collections::{BTreeMap, BTreeSet};

/// Regions there may be.
pub(super) const REGIONS: usize = 2;
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
    pub(super) unlanded: Unlanded,
    /// Pages of the disk whose data is lost.
    #[state(varies)]
    pub(super) lost: BTreeSet<u64>,
    /// What a loss of power kept from going back.
    #[state(varies)]
    pub(super) rescued: BTreeMap<u64, Vec<u8>>,
    pub(super) counts: Counts,
    pub(super) host: HostCounts,
    pub(super) life: Life,
    /// Pages taken in, and pages that the flash held then at most, each time a fiftieth of them was gone.
    #[state(varies)]
    pub(super) wearing: Vec<(u64, u64)>,
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
        let flash = DualModeFlash::new(blocks, slots, cells.ageing(), random, store);
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
            array: Array::new(cells, codes, flash),
            tables,
            recency: Recency::new(blocks as usize, REGIONS),
            regions,
            least_wear: 0.0,
            carries_bytes: S::CARRIES_BYTES && backing.capabilities().carries_bytes,
            backing,
            config,
            unlanded: Unlanded::default(),
            lost: BTreeSet::new(),
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

    /// Takes `page` out of the cache.
    #[inline]
    pub(super) fn drop_page(&mut self, page: u32) {
        let block = self.array.flash.block_of(page);
        self.tables.invalidate(page, block);
    }

    fn trim(&mut self, request: &Request) {
        let (first, count) = request.blocks(FLASH_PAGE);
        for key in first..first + count {
            // Only the cache has what is dirty, and it stays as it was: the backing has what was before.
            if let Some(page) = self.tables.find(key)
                && !self.tables.pages[page as usize].is_dirty
            {
                self.drop_page(page);
            }
        }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let blocks = self.array.flash.blocks();
        let known = |block: u32| block < blocks || block == super::regions::NO_BLOCK;
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

impl<S: Store> Device for FlashCache<S> {
    #[inline]
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        assert_eq!(request.volume, 0, "volumes are placed apart before a request comes to a stack");
        breakdown.add(self.id, Activity::Software, self.config.lookup);
        let start = now + self.config.lookup;
        self.host.record(request);
        match request.op {
            Op::Read => self.read(start, request, data, breakdown),
            Op::Write => self.write(start, request, &data, breakdown),
            Op::Trim => {
                self.trim(request);
                self.backing.submit(start, request, Data::None, breakdown)
            }
            Op::Flush => self.backing.submit(start, request, Data::None, breakdown),
        }
    }

    fn advance(&mut self, to: Time) {
        self.array.forget_before(to);
        self.unlanded.settle(to);
        self.backing.advance(to);
    }

    fn capacity(&self) -> Option<Bytes> {
        self.backing.capacity().map(|capacity| Bytes(capacity.0 / FLASH_PAGE * FLASH_PAGE))
    }

    fn capabilities(&self) -> Capabilities {
        let own = Capabilities {
            carries_bytes: S::CARRIES_BYTES,
            persistence: Persistence::OnAcknowledgement,
            atomic_unit: FLASH_PAGE as u32,
            transactions: false,
            preconditions: false,
            uses_addresses: true,
            rated_endurance: false,
        };
        own.and(self.backing.capabilities())
    }

    fn busy_until(&self) -> Time {
        self.array.busy_until().max(self.backing.busy_until())
    }

    fn restart_ledger(&mut self) {
        self.counts = Counts::default();
        self.host = HostCounts::default();
        self.array.restart_ledger();
        self.backing.restart_ledger();
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        report::of(self, elapsed)
    }

    fn check_invariants(&self) {
        self.array.check_invariants();
        self.tables.check_invariants(self.array.flash.pages_per_block());
        self.check_regions();
        self.check_programs();
        self.backing.check_invariants();
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.lose_power(at, chance);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.find_tables(at)
    }

    fn precondition(&mut self, requests: &[Request]) {
        self.backing.precondition(requests);
    }

    fn wear_out(&mut self, bursts: &[Burst]) -> Endured {
        self.backing.wear_out(bursts)
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        None
    }

    fn prefetch(&self, requests: &[Request]) {
        let mut warmed = 0;
        for request in requests {
            let page = self.tables.glance(request.address >> SHIFT);
            let status = self.tables.pages.get(page as usize);
            warmed ^= status.map_or(NONE, |status| status.key);
        }
        std::hint::black_box(warmed);
    }
}
