//! Bit errors of reads, and their correction.
//!
//! Pages have no individual error state. The number of bit errors of a codeword is computed from its
//! number, the erases of its superblock, and the mean rate at the time of the read.

mod aging;
mod copying;
mod quantile;
mod rebuilding;
mod setup;

pub(crate) use setup::build;

use crate::layout::geometry::{Cells, Geometry};
use aging::ErrorRate;
use copying::Carried;
use nacre_controller::ecc::{Ecc, Verdict};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Ledger, LossReport, Resource, Time};
use std::collections::BTreeSet;

/// Counters of bit errors since measurement started.
#[derive(Clone, Copy, Debug, Default, Value)]
struct Counts {
    /// Number of units with corrected bit errors.
    corrected_units: u64,
    /// Number of corrected bit errors.
    corrected_bits: u64,
    /// Number of unit reads, by the host or the drive, that required read retries.
    retried: u64,
    /// Number of read retries.
    retries: u64,
    /// Number of reads of units with uncorrectable bit errors.
    uncorrectable: u64,
    /// Number of superblocks that were moved because one of their blocks was read too often.
    refreshes: u64,
    /// Number of units rebuilt from the other members of their stripe.
    rebuilt_units: u64,
    /// Number of pages read for successful and failed rebuilds. Their read retries are counted with all other
    /// retries.
    rebuild_reads: u64,
}

/// Error-related state of a superblock.
#[derive(Clone, Copy, Debug, Default, Value)]
struct Row {
    /// Number of erases of the superblock when its reads were last counted.
    erases: u32,
    /// Time when the first page of the current content was programmed.
    since: Time,
}

/// Result of a read of units of one operation.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(crate) struct Sensing {
    /// Number of read retries.
    pub(crate) senses: u32,
    /// Decoding time.
    pub(crate) decoding: Time,
    pub(crate) is_lost: bool,
}

/// Bit error model of a drive, and its error-correcting code.
#[derive(State)]
#[state(after = "Self::check_restored")]
pub(crate) struct Errors {
    #[state(skip = "from the configuration")]
    error_rate: ErrorRate,
    #[state(skip = "from the configuration")]
    code: Box<dyn Ecc>,
    #[state(skip = "from the configuration")]
    geometry: Geometry,
    #[state(skip = "drawn from the seed")]
    seed: u64,
    /// State of each superblock.
    rows: Vec<Row>,
    /// Number of reads since the last erase, for each block of each superblock.
    #[state(sparse)]
    reads: Vec<u32>,
    /// Host units whose data is lost. They were uncorrectable and have not been rewritten.
    lost: BTreeSet<u64>,
    /// Number of units lost since measurement started.
    losses: u64,
    /// Losses that flushes report.
    report: LossReport,
    /// Number of reads of a block after which its superblock is refreshed.
    #[state(skip = "from the configuration")]
    refresh_reads: u32,
    /// Superblock with a block that was read too often, if any.
    #[state(varies)]
    due: Option<u32>,
    /// For each region: result of the next read of units to copy.
    copying: Vec<Sensing>,
    /// Bit errors of pages that were copied without correction.
    carried: Carried,
    counts: Counts,
    ledger: Ledger,
}

impl Errors {
    /// Checks that restored state matches this drive.
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

    /// Resets the read counts of `superblock` if it was erased after its reads were last counted.
    fn count_from_erase(&mut self, superblock: u32, erases: u32) {
        let row = &mut self.rows[superblock as usize];
        if row.erases != erases {
            row.erases = erases;
            let blocks = self.geometry.blocks_per_superblock() as usize;
            self.reads[superblock as usize * blocks..][..blocks].fill(0);
            self.carried.erase(self.geometry.page_at(superblock, 0), self.geometry.units_per_superblock);
        }
    }

    /// Records that the first page of `superblock` is programmed at `at`.
    pub(crate) fn begin_filling(&mut self, superblock: u32, at: Time) {
        self.rows[superblock as usize].since = at;
    }

    /// Returns the drive-wide number of the block that contains `page`, if its superblock is in cell mode
    /// `cells`.
    fn block_of(&self, page: u64, cells: Cells) -> usize {
        let (superblock, index) = self.geometry.place_at(page);
        (superblock * self.geometry.blocks_per_superblock() + self.geometry.lane_of(index, cells)) as usize
    }

    /// Counts `times` reads of a page in a block of `superblock`.
    fn disturb(&mut self, superblock: u32, block: usize, times: u32) {
        self.reads[block] = self.reads[block].saturating_add(times);
        if self.reads[block] >= self.refresh_reads {
            self.due = Some(superblock);
        }
    }

    /// Returns the result of a read of `page` at time `at`, in a superblock with this number of erases and
    /// this cell mode. Pages in SLC mode have no bit errors.
    pub(crate) fn decode(&mut self, page: u64, erases: u32, cells: Cells, at: Time) -> Sensing {
        self.decode_in((self.block_of(page, cells), page, 0), erases, cells, at)
    }

    /// Returns the result of a read of codewords in `block`. The codewords are identified by a page and the
    /// number of the first codeword.
    fn decode_in(
        &mut self,
        (block, page, first): (usize, u64, u32),
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

    /// Returns the mean number of bit errors of a codeword of `page` in `block`, due to wear, retention,
    /// and reads.
    fn mean(&mut self, (block, page): (usize, u64), erases: u32, cells: Cells, at: Time) -> f64 {
        let (superblock, _) = self.geometry.place_at(page);
        self.count_from_erase(superblock, erases);
        let lying = at.saturating_sub(self.rows[superblock as usize].since);
        let share = match cells {
            Cells::Full => self.error_rate.share(erases, lying, self.reads[block]),
            Cells::Single => 0.0,
        };
        share * self.code.layout().codeword_bits as f64
    }

    /// Returns the number of bit errors of one codeword: a random number with this mean, plus the bit errors
    /// that were copied with the page.
    fn wrong_bits(&self, mean: f64, page: u64, erases: u32, codeword: u32) -> u32 {
        let own = quantile::poisson(mean, quantile::place(self.seed, page, erases, codeword));
        own.saturating_add(self.carried.of(page, codeword))
    }

    /// Records that the data of `unit` is lost.
    pub(crate) fn lose(&mut self, unit: u64) {
        if self.lost.insert(unit) {
            self.losses += 1;
            self.report.lose();
        }
    }

    /// Returns whether any of these units has lost its data.
    pub(crate) fn is_lost(&self, (unit, units): (u64, u32)) -> bool {
        self.lost.range(unit..unit + u64::from(units)).next().is_some()
    }

    /// Counts a read of the units `pages` of one operation in cell mode `cells`, with `again` read retries.
    /// Each read of a flash page disturbs its block.
    pub(crate) fn count_reads(&mut self, pages: &[u64], cells: Cells, again: u32) {
        self.counts.retries += u64::from(again);
        let mut before = None;
        for &page in pages {
            let (superblock, index) = self.geometry.place_at(page);
            let of_flash = index / self.geometry.units_per_page;
            if before.replace(of_flash) != Some(of_flash) {
                self.disturb(superblock, self.block_of(page, cells), 1 + again);
            }
        }
    }

    /// Clears the loss of `unit` after the host wrote or trimmed the whole unit, or the unit became unmapped.
    pub(crate) fn replace(&mut self, unit: u64) {
        self.lost.remove(&unit);
    }

    /// Removes and returns the superblock with a block that was read too often.
    pub(crate) fn take_due(&mut self) -> Option<u32> {
        self.due.take()
    }

    /// Counts the refresh of a superblock if its data was moved.
    pub(crate) fn count_refresh(&mut self, is_moved: bool) {
        self.counts.refreshes += u64::from(is_moved);
    }

    /// Returns whether a flush that was submitted at `submitted` and ends at `now` fails because data was
    /// lost.
    pub(crate) fn fails_flush(&mut self, submitted: Time, now: Time) -> bool {
        self.report.fails_flush(submitted, now)
    }

    pub(crate) fn restart_ledger(&mut self) {
        (self.counts, self.losses, self.ledger) = (Counts::default(), 0, Ledger::default());
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

    /// Returns the decoders as a resource: one per channel, without a queue.
    pub(crate) fn resource(&self) -> Resource {
        Resource { name: "decoders", servers: self.geometry.channels, ledger: self.ledger.clone() }
    }
}
