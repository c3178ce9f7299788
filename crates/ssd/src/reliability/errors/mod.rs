//! Bit errors of what is read, and what the error-correcting code makes of them.
//!
//! No page has its own memory. How many bits of a codeword are wrong follows from its number, the erases of its
//! superblock and the mean that the law gives at that moment.

mod carried;
mod copying;
mod quantile;
mod rebuilding;
mod setup;

pub(crate) use setup::build;

use crate::layout::geometry::{Cells, Geometry};
use crate::optional_part::OptionalPart;
use crate::reliability::aging::Law;
use carried::Carried;
use nacre_controller::ecc::{Ecc, Verdict};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Ledger, Resource, Time};
use rebuilding::Rebuilds;
use std::collections::BTreeSet;

/// What was done since measuring began.
#[derive(Clone, Copy, Debug, Default, Value)]
struct Counts {
    /// Units that had bit errors that were corrected, and these bits.
    corrected_units: u64,
    corrected_bits: u64,
    /// Reads of units by the host and by the drive for which a page was sensed again, and how often.
    retried: u64,
    retries: u64,
    /// Times that a unit was read of which more bits were wrong than are corrected.
    uncorrectable: u64,
    /// Superblocks whose data was moved since a block of theirs was read so often.
    refreshes: u64,
}

/// A superblock.
#[derive(Clone, Copy, Debug, Default, Value)]
struct Row {
    /// Its erases when its reads were last counted.
    erases: u32,
    /// When the first page of what it holds was programmed.
    since: Time,
}

/// What reading units of one operation came to.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(crate) struct Sensing {
    /// How often the page is sensed again.
    pub(crate) senses: u32,
    /// What the decoder takes.
    pub(crate) decoding: Time,
    pub(crate) is_lost: bool,
}

/// Bit errors, and the code against them.
#[derive(State)]
#[state(after = "Self::check_restored")]
pub(crate) struct Errors {
    #[state(skip = "from the configuration")]
    law: Law,
    #[state(skip = "from the configuration")]
    code: Box<dyn Ecc>,
    #[state(skip = "from the configuration")]
    geometry: Geometry,
    #[state(skip = "drawn from the seed")]
    seed: u64,
    /// By superblock.
    rows: Vec<Row>,
    /// Reads since its erase, by block of a superblock.
    #[state(sparse)]
    reads: Vec<u32>,
    /// Units of the host whose data is lost: they were found uncorrectable, and nobody has written them since.
    lost: BTreeSet<u32>,
    /// Units that were lost since measuring began.
    losses: u64,
    /// Whether something was lost that no flush has told.
    is_untold: bool,
    /// Reads of a block after which its superblock is refreshed.
    #[state(skip = "from the configuration")]
    refresh_reads: u32,
    /// The superblock with a block that was read so often.
    #[state(varies)]
    due: Option<u32>,
    /// By region, the units that are copied next, which one read brings.
    copying: Vec<Sensing>,
    /// Bit errors that pages had when they were copied without correction.
    carried: Carried,
    counts: Counts,
    rebuilds: OptionalPart<Rebuilds>,
    ledger: Ledger,
}

impl Errors {
    /// Whether what was restored is of this drive.
    fn check_restored(&mut self) -> Result<(), String> {
        let units = self.geometry.logical_units;
        match (self.due, self.lost.last()) {
            (Some(due), _) if due >= self.geometry.superblocks => {
                Err(format!("superblock {due} of {}", self.geometry.superblocks))
            }
            (_, Some(&unit)) if unit >= units => Err(format!("logical unit {unit} of {units}")),
            _ => Ok(()),
        }
    }

    /// Reads of `superblock`, which has been erased so often, count from its last erase on.
    fn count_from_erase(&mut self, superblock: u32, erases: u32) {
        let row = &mut self.rows[superblock as usize];
        if row.erases != erases {
            row.erases = erases;
            let blocks = self.geometry.blocks_per_superblock() as usize;
            self.reads[superblock as usize * blocks..][..blocks].fill(0);
            self.carried.erase(superblock << self.geometry.shift, self.geometry.units_per_superblock);
        }
    }

    /// The first page of `superblock` is programmed at `at`.
    pub(crate) fn begin_filling(&mut self, superblock: u32, at: Time) {
        self.rows[superblock as usize].since = at;
    }

    /// The block that holds `page`, by its number among all.
    fn block_of(&self, page: u32) -> usize {
        let (superblock, index) = (page >> self.geometry.shift, page & ((1 << self.geometry.shift) - 1));
        (superblock * self.geometry.blocks_per_superblock() + self.geometry.lane_of(index)) as usize
    }

    /// A page of a block of `superblock` is read so many times.
    fn disturb(&mut self, superblock: u32, block: usize, times: u32) {
        self.reads[block] = self.reads[block].saturating_add(times);
        if self.reads[block] >= self.refresh_reads {
            self.due = Some(superblock);
        }
    }

    /// What reading `page` comes to at `at`, of a superblock that was erased so often and whose `cells` hold so much. What
    /// cells with one bit hold has no bit errors.
    pub(crate) fn decode(&mut self, page: u32, erases: u32, cells: Cells, at: Time) -> Sensing {
        self.decode_in((self.block_of(page), page, 0), erases, cells, at)
    }

    /// The same of codewords in `block`, which are distinguished by a page and the number of the first of them there.
    fn decode_in(
        &mut self,
        (block, page, first): (usize, u32, u32),
        erases: u32,
        cells: Cells,
        at: Time,
    ) -> Sensing {
        let mean = self.mean((block, page), erases, cells, at);
        let (mut sensing, mut bits) = (Sensing::default(), 0);
        for codeword in first..first + self.code.layout().codewords {
            let wrong = self.wrong_bits(mean, page, erases, codeword);
            let decoding = self.code.decoding(wrong);
            sensing.senses = sensing.senses.max(decoding.senses);
            sensing.decoding += decoding.work.time;
            if let Some(energy) = decoding.work.energy {
                self.ledger.charge_energy(Activity::Correct, energy);
            }
            match decoding.verdict {
                Verdict::Clean => {}
                Verdict::Corrected(right) => bits += u64::from(right),
                Verdict::Uncorrectable | Verdict::Unnoticed => sensing.is_lost = true,
            }
        }
        self.ledger.charge(Activity::Correct, sensing.decoding);
        self.counts.corrected_units += u64::from(bits > 0 && !sensing.is_lost);
        self.counts.corrected_bits += if sensing.is_lost { 0 } else { bits };
        self.counts.retried += u64::from(sensing.senses > 0);
        self.counts.uncorrectable += u64::from(sensing.is_lost);
        sensing
    }

    /// Bit errors of a codeword of `page` in `block` that come from how it lies there, on average.
    fn mean(&mut self, (block, page): (usize, u32), erases: u32, cells: Cells, at: Time) -> f64 {
        let superblock = page >> self.geometry.shift;
        self.count_from_erase(superblock, erases);
        let lying = at.saturating_sub(self.rows[superblock as usize].since);
        let share = match cells {
            Cells::Full => self.law.share(erases, lying, self.reads[block]),
            Cells::Single => 0.0,
        };
        share * self.code.layout().codeword_bits as f64
    }

    /// Bit errors of one codeword where that is the mean, and those that came with the page.
    fn wrong_bits(&self, mean: f64, page: u32, erases: u32, codeword: u32) -> u32 {
        let own = quantile::poisson(mean, quantile::place(self.seed, page, erases, codeword));
        own.saturating_add(self.carried.of(page, codeword))
    }

    /// The data of `unit` is lost.
    pub(crate) fn lose(&mut self, unit: u32) {
        if self.lost.insert(unit) {
            (self.losses, self.is_untold) = (self.losses + 1, true);
        }
    }

    /// Whether one of these units is lost.
    pub(crate) fn is_lost(&self, (unit, units): (u32, u32)) -> bool {
        self.lost.range(unit..unit + units).next().is_some()
    }

    /// These units, which one operation holds, were read, and so many times again: each page of the flash that they
    /// lie on disturbs its block.
    pub(crate) fn count_reads(&mut self, pages: &[u32], again: u32) {
        self.counts.retries += u64::from(again);
        let mut before = None;
        for &page in pages {
            let index = page & ((1 << self.geometry.shift) - 1);
            let of_flash = index / self.geometry.units_per_page;
            if before.replace(of_flash) != Some(of_flash) {
                let superblock = page >> self.geometry.shift;
                self.disturb(superblock, self.block_of(page), 1 + again);
            }
        }
    }

    /// The host has written or trimmed all of `unit`, or it has no place: nothing of it is lost.
    pub(crate) fn replace(&mut self, unit: u32) {
        self.lost.remove(&unit);
    }

    /// The superblock with a block that was read too often, once.
    pub(crate) fn take_due(&mut self) -> Option<u32> {
        self.due.take()
    }

    /// The data of that superblock was moved, or could not be yet.
    pub(crate) fn count_refresh(&mut self, is_moved: bool) {
        self.counts.refreshes += u64::from(is_moved);
    }

    /// Whether something was lost since this was asked.
    pub(crate) fn tell_loss(&mut self) -> bool {
        std::mem::take(&mut self.is_untold)
    }

    pub(crate) fn restart_ledger(&mut self) {
        (self.counts, self.losses, self.ledger) = (Counts::default(), 0, Ledger::default());
        if let Some(rebuilds) = &mut self.rebuilds.0 {
            **rebuilds = Rebuilds::default();
        }
    }

    pub(crate) fn counters(&self) -> [(&'static str, u64); 7] {
        [
            ("corrected_units", self.counts.corrected_units),
            ("corrected_bits", self.counts.corrected_bits),
            ("retried_units", self.counts.retried),
            ("read_retries", self.counts.retries),
            ("uncorrectable_units", self.counts.uncorrectable),
            ("refreshes", self.counts.refreshes),
            (nacre_kernel::ledger::LOST_PAGES, self.losses),
        ]
    }

    /// The decoders: one for each channel, of which none is waited for.
    pub(crate) fn resource(&self) -> Resource {
        Resource { name: "decoders", servers: self.geometry.channels, ledger: self.ledger.clone() }
    }
}
