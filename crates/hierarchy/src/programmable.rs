//! Decisions of a programmable controller about the density and the code of cached pages. The disk caches in
//! flash and in phase-change memory share this code.
//!
//! A page with at least as many bit errors as its code corrects gets a stronger code or SLC mode, whichever
//! costs less. The costs follow from the latencies and the hits of the cache so far.

use nacre_config::{ErrorCode, Problem, Problems, Slot};
use nacre_controller::ecc::{self, Ecc, EccFamily, Page};
use nacre_kernel::state::Value;
use nacre_kernel::{Bytes, Time};

/// The global status table (FGST): number and total latency of the hits and misses so far, and hits of the
/// evicted pages.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(crate) struct GlobalStatus {
    /// Number of requested pages.
    pub(crate) accesses: u64,
    pub(crate) hits: u64,
    pub(crate) hit_s: f64,
    pub(crate) misses: u64,
    pub(crate) miss_s: f64,
    /// Number of hits of the pages that have been evicted.
    pub(crate) left_hits: u64,
    /// Number of cache accesses while the evicted pages were in the cache, summed over these pages.
    pub(crate) left_accesses: u64,
}

/// Hits of a cached page, and the number of cache accesses when the counting of these hits started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) struct PageUse {
    /// Number of cache accesses when the counting of hits started, i.e. usually when the page entered the
    /// cache.
    pub(crate) since: u64,
    /// Number of hits since the counting started, at most 65535.
    pub(crate) hits: u16,
}

impl GlobalStatus {
    /// Mean latency of a hit, in seconds.
    pub(crate) fn hit(&self) -> f64 {
        self.hit_s / self.hits.max(1) as f64
    }

    /// Mean latency of a miss, in seconds.
    pub(crate) fn miss(&self) -> f64 {
        self.miss_s / self.misses.max(1) as f64
    }

    /// Records the latency of a hit.
    #[inline]
    pub(crate) fn add_hit(&mut self, latency: Time) {
        self.hits += 1;
        self.hit_s += latency.as_secs_f64();
    }

    /// Records the latency of a miss of `pages` pages.
    #[inline]
    pub(crate) fn add_misses(&mut self, pages: u64, latency: Time) {
        self.misses += pages;
        self.miss_s += pages as f64 * latency.as_secs_f64();
    }

    /// Records that a page leaves the cache.
    #[inline]
    pub(crate) fn leaves(&mut self, page: PageUse) {
        self.left_hits += u64::from(page.hits);
        self.left_accesses += self.accesses - page.since;
    }

    /// Additional misses per access if the cache held one page less, i.e. the access rate of evicted pages.
    fn misses_for_a_page(&self) -> f64 {
        self.left_hits as f64 / self.left_accesses.max(1) as f64
    }

    /// Share of all accesses that a page receives.
    fn frequency(&self, page: PageUse) -> f64 {
        f64::from(page.hits) / (self.accesses - page.since).max(1) as f64
    }

    /// Cost in seconds per access of correcting one more bit in a page: its share of accesses times the
    /// additional decoding time, from `decode[0]` to `decode[1]`.
    pub(crate) fn cost_of_strength(&self, page: PageUse, decode: [Time; 2]) -> f64 {
        self.frequency(page) * (decode[1].as_secs_f64() - decode[0].as_secs_f64())
    }

    /// Cost in seconds per access of SLC mode: the cost of one page less in the cache, minus the gain from
    /// faster reads, which take `slc` instead of `mlc`.
    pub(crate) fn cost_of_density(&self, page: PageUse, [slc, mlc]: [Time; 2]) -> f64 {
        let faster = mlc.as_secs_f64() - slc.as_secs_f64();
        let penalty = (self.miss() - self.hit()).max(0.0);
        self.misses_for_a_page() * penalty - self.frequency(page) * faster
    }
}

/// Change to a page that has at least as many bit errors as its code corrects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// A code that corrects one more bit.
    Strength,
    /// SLC mode.
    Density,
}

impl Remedy {
    /// Returns the cheaper of the possible remedies; `None` if neither is possible.
    pub(crate) fn cheaper(
        can_raise: bool,
        can_lower: bool,
        costs: impl FnOnce() -> [f64; 2],
    ) -> Option<Remedy> {
        match (can_raise, can_lower) {
            (false, false) => None,
            (true, false) => Some(Remedy::Strength),
            (false, true) => Some(Remedy::Density),
            (true, true) => {
                let [strength, density] = costs();
                Some(if strength <= density { Remedy::Strength } else { Remedy::Density })
            }
        }
    }
}

/// Creates the codes of a page: the code in `slot` and, if `strongest` is given, all stronger codes up to
/// the one that corrects `strongest` bits. The parity of each code must fit into `spare` bytes.
pub(crate) fn codes(
    slot: &Slot<EccFamily>,
    page: Page<'_>,
    strongest: Option<u32>,
    spare: Bytes,
) -> Result<Vec<Box<dyn Ecc>>, Problems> {
    let bytes = page.bytes;
    let wrong = |text: String, remedy: &str| {
        Problems::from(Problem::new(ErrorCode::NotSupported, slot.path(), None, text).remedy(remedy))
    };
    let mut codes = vec![ecc::build(slot, page)?];
    if let Some(strongest) = strongest {
        let from = codes[0].corrects();
        for strength in from + 1..=strongest.max(from) {
            let stronger = codes[0].of_strength(strength);
            let stronger = stronger.ok_or_else(|| {
                let text = format!("there is no such code for {strength} bit errors of {bytes}");
                wrong(text, "use kind = \"bch\", a smaller strongest, or raises_strength = false")
            })?;
            codes.push(stronger);
        }
    }
    let needs = codes.last().map_or(0, |code| code.layout().spare_bytes);
    if needs > spare.0 {
        let text = format!("the strongest code needs {needs} B next to a page, and there are {spare}");
        return Err(wrong(text, "give a larger spare, or a smaller strongest"));
    }
    Ok(codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheaper_remedy_is_selected() {
        let costs = |of: [f64; 2]| move || of;
        let unused = || -> [f64; 2] { unreachable!("there is no choice") };
        assert_eq!(Remedy::cheaper(false, false, unused), None);
        assert_eq!(Remedy::cheaper(true, false, unused), Some(Remedy::Strength));
        assert_eq!(Remedy::cheaper(false, true, unused), Some(Remedy::Density));
        assert_eq!(Remedy::cheaper(true, true, costs([1.0, 2.0])), Some(Remedy::Strength));
        assert_eq!(Remedy::cheaper(true, true, costs([2.0, 1.0])), Some(Remedy::Density));
    }

    /// Tests the costs of both remedies for a page that receives 10 % of the accesses. With a stronger code,
    /// the page takes 10 us longer to decode, which costs 1 us per access. Evicted pages had one hit per 100
    /// accesses, and a miss takes 1 ms longer than a hit, so SLC mode costs 10 us per access. Reads in SLC
    /// mode are 40 us faster, which reduces this cost by 4 us.
    #[test]
    fn costs_are_those_of_their_formulas() {
        let mut global = GlobalStatus { accesses: 1_000, ..GlobalStatus::default() };
        let page = PageUse { since: 900, hits: 10 };
        global.leaves(PageUse { since: 0, hits: 10 });
        global.add_hit(Time::from_us(100));
        global.add_misses(2, Time::from_us(1_100));
        let us = Time::from_us;
        assert!((global.cost_of_strength(page, [us(20), us(30)]) - 1e-6).abs() < 1e-18);
        assert!((global.cost_of_density(page, [us(10), us(50)]) - 6e-6).abs() < 1e-18);
    }
}
