//! Modes of rows, and hit counts of their pages. A row of two frames holds two pages in MLC mode, or one page
//! in SLC mode.

use super::operation::NONE;
use crate::programmable::{GlobalStatus, PageUse};
use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};

/// Rules for switching a memory's rows between MLC and SLC mode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModeRules {
    /// Whether a row changes to SLC mode if a page has at least as many bit errors as its code corrects.
    pub(crate) lowers_density: bool,
    /// Number of hits after which the row of a page changes to SLC mode. `None` if hits do not change the
    /// mode.
    pub(crate) promotes_at: Option<u16>,
    /// Times to read a page in SLC and in MLC mode.
    pub(crate) reads: [Time; 2],
}

/// A row of two frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) struct Row {
    /// The frame that is unavailable in SLC mode, or [`NONE`] in MLC mode.
    pub(super) withdrawn: u32,
    /// Whether the row stays in SLC mode when its page leaves, because its cells are worn.
    pub(super) is_worn: bool,
}

/// Counters of the controller.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct ModeCounts {
    pub(super) pages_promoted: u64,
    pub(super) density_lowered: u64,
    pub(super) strength_raised: u64,
    pub(super) pages_relocated: u64,
}

/// Modes of all rows, and hit counts of their pages. Empty if the rows have only one mode.
#[derive(Debug, State)]
pub(super) struct Modes {
    #[state(skip = "from the configuration")]
    pub(super) rules: Option<ModeRules>,
    pub(super) global: GlobalStatus,
    pub(super) uses: Vec<PageUse>,
    pub(super) rows: Vec<Row>,
    /// Number of withdrawn frames, which are unavailable.
    pub(super) withdrawn: u32,
    pub(super) counts: ModeCounts,
}

impl Modes {
    pub(super) fn new(rules: Option<ModeRules>, frames: u32) -> Modes {
        let frames = if rules.is_some() { frames as usize } else { 0 };
        Modes {
            rules,
            global: GlobalStatus::default(),
            uses: vec![PageUse::default(); frames],
            rows: vec![Row { withdrawn: NONE, is_worn: false }; frames / 2],
            withdrawn: 0,
            counts: ModeCounts::default(),
        }
    }

    /// Whether rows can change their mode or code.
    pub(super) fn is_programmable(&self) -> bool {
        self.rules.is_some()
    }

    pub(super) fn is_slc(&self, frame: u32) -> bool {
        self.rows[(frame >> 1) as usize].withdrawn != NONE
    }

    /// Records that a page enters `frame`.
    #[inline]
    pub(super) fn enters(&mut self, frame: u32) {
        if self.rules.is_some() {
            self.uses[frame as usize] = PageUse { since: self.global.accesses, hits: 0 };
        }
    }

    /// Records that the host requests `pages` pages.
    #[inline]
    pub(super) fn asked(&mut self, pages: u64) {
        self.global.accesses += pages;
    }

    /// Counts a hit of the page in `frame`.
    #[inline]
    pub(super) fn used(&mut self, frame: u32) {
        if self.rules.is_some() {
            let hits = &mut self.uses[frame as usize].hits;
            *hits = hits.saturating_add(1);
        }
    }

    /// Records a read of the page of `frame`, with its latency.
    #[inline]
    pub(super) fn hit(&mut self, frame: u32, latency: Time) {
        if self.rules.is_some() {
            self.global.add_hit(latency);
            self.used(frame);
        }
    }

    /// Records a fetch of `pages` pages, with its latency.
    #[inline]
    pub(super) fn missed(&mut self, pages: u64, latency: Time) {
        self.global.add_misses(pages, latency);
    }
}
