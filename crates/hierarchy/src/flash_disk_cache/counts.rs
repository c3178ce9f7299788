//! Counters of the cache.

use nacre_kernel::ledger::LOST_PAGES;
use nacre_kernel::state::Value;

/// Counters since measurement started, in pages unless stated otherwise.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct Counts {
    pub(super) read_hits: u64,
    pub(super) read_misses: u64,
    pub(super) read_merged: u64,
    pub(super) read_lost: u64,
    pub(super) write_hits: u64,
    pub(super) write_misses: u64,
    pub(super) write_allocations: u64,
    pub(super) fills: u64,
    pub(super) bypassed: u64,
    /// Number of blocks whose valid pages garbage collection moved.
    pub(super) collections: u64,
    /// Number of blocks that were evicted.
    pub(super) evictions: u64,
    /// Number of valid pages at the start of measurement.
    pub(super) valid_before: u64,
    /// Number of pages that left the cache, by cause.
    pub(super) left: Left,
    pub(super) pages_sent_back: u64,
    pub(super) pages_promoted: u64,
    /// Number of times that a slot changed to a stronger code.
    pub(super) strength_raised: u64,
    /// Number of slots that changed to SLC mode.
    pub(super) density_lowered: u64,
    pub(super) corrected_pages: u64,
    pub(super) corrected_bits: u64,
    pub(super) uncorrectable: u64,
    pub(super) refetched: u64,
    pub(super) lost_pages: u64,
    pub(super) retired_slots: u64,
    pub(super) retired_blocks: u64,
    /// Number of programs, by cause.
    pub(super) programs: Programs,
    /// Number of blocks that were erased.
    pub(super) erases: u64,
}

/// Lifetime of the flash. Times are measured in pages written by the host or filled from the backing since
/// the flash was new.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct Life {
    /// Number of pages written or filled so far.
    pub(super) taken: u64,
    /// Number of pages programmed so far.
    pub(super) programmed: u64,
    /// Number of programmed pages that have been erased.
    pub(super) erased: u64,
    /// Maximum number of pages in flash. It decreases when bit errors cause a slot to change to SLC mode or
    /// to be retired.
    pub(super) usable: u64,
    /// Number of pages written or filled when `usable` decreased for the first time. `None` before this
    /// event.
    pub(super) first_gone: Option<u64>,
    /// Number of pages written or filled when data was lost for the first time. `None` before this event.
    pub(super) first_lost: Option<u64>,
    /// Number of pages written or filled when `usable` first fell to half of the initial pages or less.
    /// `None` before this event.
    pub(super) half: Option<u64>,
    /// Number of pages written or filled when the last block was retired. `None` before this event.
    pub(super) end: Option<u64>,
}

/// Number of pages that left the cache, by cause.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct Left {
    evicted: u64,
    given_up: u64,
    trimmed: u64,
    superseded: u64,
    power_failed: u64,
}

/// Reason why a page leaves the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaves {
    /// The page was evicted to make space for other pages.
    Evicted,
    /// The page had more bit errors than its code corrects.
    GivenUp,
    Trimmed,
    /// The page was overwritten in the backing without entering the flash.
    Superseded,
    /// A power loss occurred before the page was programmed.
    PowerFailed,
}

/// State of wear of the flash at one time.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Worn {
    /// Number of pages written or filled so far.
    pub(super) taken: u64,
    /// Number of pages requested so far.
    pub(super) asked: u64,
    /// Maximum number of pages in flash at this time.
    pub(super) usable: u64,
}

/// Number of pages programmed, by cause.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct Programs {
    pub(super) host: u64,
    pub(super) fill: u64,
    pub(super) collected: u64,
    pub(super) promoted: u64,
    pub(super) leveled: u64,
    pub(super) journal: u64,
}

/// Reason why a page is programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Host,
    Fill,
    Collected,
    Promoted,
    Leveled,
}

impl Programs {
    #[inline]
    pub(super) fn count(&mut self, cause: Cause) {
        *match cause {
            Cause::Host => &mut self.host,
            Cause::Fill => &mut self.fill,
            Cause::Collected => &mut self.collected,
            Cause::Promoted => &mut self.promoted,
            Cause::Leveled => &mut self.leveled,
        } += 1;
    }
}

impl Left {
    #[inline]
    pub(super) fn count(&mut self, leaves: Leaves) {
        *match leaves {
            Leaves::Evicted => &mut self.evicted,
            Leaves::GivenUp => &mut self.given_up,
            Leaves::Trimmed => &mut self.trimmed,
            Leaves::Superseded => &mut self.superseded,
            Leaves::PowerFailed => &mut self.power_failed,
        } += 1;
    }
}

impl Counts {
    /// Panics unless the number of `valid` pages is consistent. It must equal the number at the start of
    /// measurement, plus the pages that entered the cache, minus the pages that left it.
    pub(super) fn check_pages(&self, valid: u64) {
        let Left { evicted, given_up, trimmed, superseded, power_failed } = self.left;
        let came = self.fills + self.write_allocations;
        let left = evicted + given_up + trimmed + superseded + power_failed;
        let before = self.valid_before;
        assert_eq!(before + came, valid + left, "{before} pages, {came} came, {valid} are valid: {self:?}");
    }

    /// All counters with their names in records.
    pub(super) fn counters(&self) -> Vec<(&'static str, u64)> {
        let Left { evicted, given_up, trimmed, superseded, power_failed } = self.left;
        let Programs { host, fill, collected, promoted, leveled, journal } = self.programs;
        vec![
            ("read_hits", self.read_hits),
            ("read_misses", self.read_misses),
            ("read_merged", self.read_merged),
            ("read_lost", self.read_lost),
            ("write_hits", self.write_hits),
            ("write_misses", self.write_misses),
            ("write_allocations", self.write_allocations),
            ("fills", self.fills),
            ("bypassed", self.bypassed),
            ("collections", self.collections),
            ("evictions", self.evictions),
            ("pages_evicted", evicted),
            ("pages_given_up", given_up),
            ("pages_trimmed", trimmed),
            ("pages_superseded", superseded),
            ("pages_power_failed", power_failed),
            ("pages_sent_back", self.pages_sent_back),
            ("pages_promoted", self.pages_promoted),
            ("strength_raised", self.strength_raised),
            ("density_lowered", self.density_lowered),
            ("corrected_pages", self.corrected_pages),
            ("corrected_bits", self.corrected_bits),
            ("uncorrectable", self.uncorrectable),
            ("refetched", self.refetched),
            (LOST_PAGES, self.lost_pages),
            ("retired_slots", self.retired_slots),
            ("retired_blocks", self.retired_blocks),
            ("host_programs", host),
            ("fill_programs", fill),
            ("collected_programs", collected),
            ("promoted_programs", promoted),
            ("leveled_programs", leveled),
            ("journal_programs", journal),
            ("erases", self.erases),
        ]
    }
}
