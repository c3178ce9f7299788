//! Backup of volatile memory on power loss: flash, and a capacitor that powers the dump.

use super::config::{Config, Dump};
use crate::ecc::{self, Ecc};
use nacre_config::{ErrorCode, Families, Problem, Problems};
use nacre_kernel::state::State;
use nacre_kernel::{Energy, Power, Random, Time};

/// The flash and the capacitor of a card with volatile memory.
#[derive(State)]
#[state(after = "Backup::check")]
pub(super) struct Backup {
    #[state(skip = "from the configuration")]
    plan: DumpCost,
    /// One bit per flash page. The bit is set if the memory differs from the page.
    changed: Vec<u64>,
    /// One bit per flash page. The bit is set if the page was ever saved. Pages that were never saved have
    /// no data to lose.
    held: Vec<u64>,
    /// Charge of the capacitor at `since`.
    charge: Energy,
    /// Time at which the capacitor started charging.
    since: Time,
}

/// Sizes, times, and energies of a dump.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DumpCost {
    is_volatile: bool,
    /// Number of flash pages that hold the whole memory.
    pub(super) pages: u64,
    /// Base-2 logarithm of the flash page size in bytes.
    pub(super) page_shift: u32,
    dump: Dump,
    setup: Time,
    /// Time to encode or program a flash page, whichever takes longer.
    save: Time,
    /// Time to read or decode a flash page, whichever takes longer.
    load: Time,
    /// Number of spare bytes per flash page, for error correction.
    pub(super) spare: u64,
    /// Probability that a flash page has uncorrectable errors when it is read.
    unreadable: f64,
    power: Power,
    /// Usable energy of the charged capacitor, or `None` if it is always sufficient.
    pub(super) stored: Option<Energy>,
    charge_power: Power,
    waits_for_charge: bool,
}

/// Result of a dump.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Dumped {
    pub(super) time: Time,
    /// Number of pages saved.
    pub(super) saved: u64,
    /// Number of changed pages that are lost.
    pub(super) lost: u64,
    /// Number of the first page that is not saved. Changed pages with this or a higher number are lost.
    pub(super) end: u64,
}

impl DumpCost {
    pub(super) fn new(config: &Config, ecc: &dyn Ecc) -> DumpCost {
        let layout = ecc.layout();
        let bytes = config.flash_page.0 + layout.spare_bytes;
        let rate = config.flash_error_rate.0;
        let decoding = decoding(ecc, rate) * u64::from(layout.codewords);
        DumpCost {
            is_volatile: config.volatile,
            pages: config.capacity() / config.flash_page.0,
            page_shift: config.flash_page.0.trailing_zeros(),
            dump: config.dump,
            setup: config.dump_setup,
            save: config.flash_write.time_for(bytes).max(ecc.encoding().time),
            load: config.flash_read.time_for(bytes).max(decoding),
            spare: layout.spare_bytes,
            unreadable: if rate > 0.0 { ecc.page_failure(rate) } else { 0.0 },
            power: config.dump_power,
            stored: config.stored(),
            charge_power: config.charge_power,
            waits_for_charge: config.wait_for_charge,
        }
    }

    /// Duration of a dump with this number of pages.
    pub(super) fn time(&self, pages: u64) -> Time {
        self.setup + self.save * pages
    }

    /// Energy of a dump with this number of pages.
    pub(super) fn energy(&self, pages: u64) -> Energy {
        self.power.over(self.time(pages))
    }

    /// Time to read the whole flash after power returns.
    pub(super) fn loading(&self) -> Time {
        if self.is_volatile { self.load * self.pages } else { Time::ZERO }
    }

    /// Expected number of pages with uncorrectable errors when a full dump is read.
    pub(super) fn unreadable(&self) -> f64 {
        self.unreadable * self.pages as f64
    }

    /// Number of pages, at most `most`, that can be saved with `energy`.
    pub(super) fn saved_by(&self, energy: Energy, most: u64) -> u64 {
        // Floating-point rounding must not lose a page if the capacitor has exactly the required energy.
        let seconds = energy.0 / self.power.0 * (1.0 + 1e-12) - self.setup.as_secs_f64();
        let pages = seconds / self.save.as_secs_f64();
        if pages <= 0.0 { 0 } else { most.min(pages as u64) }
    }

    /// Whether a charged capacitor can save the whole memory.
    pub(super) fn is_enough(&self) -> bool {
        self.stored.is_none_or(|stored| self.saved_by(stored, self.pages) == self.pages)
    }

    /// Whether a power loss may lose data.
    fn may_lose(&self) -> bool {
        self.is_volatile && self.stored.is_some() && !(self.is_enough() && self.waits_for_charge)
    }
}

/// Mean time to decode a codeword with independent bit errors at `rate`.
fn decoding(ecc: &dyn Ecc, rate: f64) -> Time {
    let bits = ecc.layout().codeword_bits as f64;
    let clean = libm::exp(bits * libm::log1p(-rate));
    let errors = (libm::round(bits * rate) as u32).clamp(1, ecc.corrects().max(1));
    let [none, some] = [0, errors].map(|errors| ecc.decoding(errors).work.time.as_secs_f64());
    Time::from_secs_f64(clean * none + (1.0 - clean) * some)
}

impl Backup {
    pub(super) fn new(config: &Config, ecc: &dyn Ecc) -> Backup {
        let plan = DumpCost::new(config, ecc);
        let words = if plan.is_volatile { plan.pages.div_ceil(64) } else { 0 };
        let charge = plan.stored.unwrap_or_default();
        let changed = vec![0; words as usize];
        Backup { plan, held: changed.clone(), changed, charge, since: Time::ZERO }
    }

    /// Whether a power loss may lose data of the card in `config`. Returns an error if the capacitor is too
    /// small for a dump and the settings do not allow this, or if the error-correcting code does not fit the
    /// flash pages.
    pub(super) fn may_lose(config: &Config, families: &dyn Families) -> Result<bool, Problems> {
        let code = ecc::build(&config.flash_ecc, ecc::Page { families, bytes: config.flash_page })?;
        let plan = DumpCost::new(config, &*code);
        match plan.stored {
            Some(stored) if !plan.is_enough() && !config.may_lose_writes => {
                let needed = plan.energy(plan.pages);
                let problem = format!(
                    "it is not enough for a dump: after capacitor_hours, a dump needs \
                                       {needed}"
                );
                let remedy =
                    "use a larger capacitor, faster flash, or may_lose_writes = true to measure the loss";
                Err(Problem::new(ErrorCode::ConflictingSettings, "capacitor", None, &problem)
                    .given(stored.to_string())
                    .remedy(remedy)
                    .into())
            }
            _ => Ok(plan.may_lose()),
        }
    }

    pub(super) fn plan(&self) -> &DumpCost {
        &self.plan
    }

    /// Whether a dump may be incomplete.
    pub(super) fn loses(&self) -> bool {
        self.plan.may_lose()
    }

    /// Whether pages of a dump may be unreadable.
    pub(super) fn misreads(&self) -> bool {
        self.plan.is_volatile && self.plan.unreadable > 0.0
    }

    /// Selects unreadable pages at random among all pages that were ever written. Each page is selected
    /// independently.
    pub(super) fn misread(&mut self, chance: &mut Random) -> Vec<u64> {
        if !self.misreads() {
            return Vec::new();
        }
        self.held.iter_mut().zip(&self.changed).for_each(|(held, changed)| *held |= changed);
        let (held, share) = (&self.held, self.plan.unreadable);
        let is_held = |&page: &u64| held[(page / 64) as usize] >> (page % 64) & 1 == 1;
        (0..self.plan.pages).filter(is_held).filter(|_| chance.chance(share)).collect()
    }

    /// Records that the host wrote `bytes` bytes from `address`.
    #[inline]
    pub(super) fn change(&mut self, address: u64, bytes: u64) {
        if self.plan.is_volatile && bytes > 0 {
            for page in address >> self.plan.page_shift..=(address + bytes - 1) >> self.plan.page_shift {
                self.changed[(page / 64) as usize] |= 1 << (page % 64);
            }
        }
    }

    /// Whether the memory differs from page `page` of the flash.
    pub(super) fn is_changed(&self, page: u64) -> bool {
        self.changed[(page / 64) as usize] >> (page % 64) & 1 == 1
    }

    /// Number of pages that differ from the flash.
    pub(super) fn changed(&self) -> u64 {
        self.changed.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Charge of the capacitor at `at`, or `None` if it is always sufficient.
    pub(super) fn charge(&self, at: Time) -> Option<Energy> {
        let since = self.plan.charge_power.over(at.saturating_sub(self.since));
        self.plan.stored.map(|stored| Energy((self.charge.0 + since.0).min(stored.0)))
    }

    /// Result of the dump after a power loss at `at`. The caller then calls [`Backup::dumped`].
    pub(super) fn dump(&self, at: Time) -> Dumped {
        let DumpCost { pages, dump, .. } = self.plan;
        let changed = self.changed();
        let charge = self.charge(at);
        let wanted = match dump {
            _ if changed == 0 => 0,
            Dump::All => pages,
            Dump::Changed => changed,
        };
        let saved = charge.map_or(wanted, |charge| self.plan.saved_by(charge, wanted));
        let end = match dump {
            _ if saved == wanted => pages,
            Dump::All => saved,
            Dump::Changed => {
                let mut differing = (0..pages).filter(|&page| self.is_changed(page));
                differing.nth(saved as usize).unwrap_or(pages)
            }
        };
        let lost = (end..pages).filter(|&page| self.is_changed(page)).count() as u64;
        // Only a card that may lose data stores the previous content of the flash next to its memory.
        assert!(lost == 0 || self.loses(), "a dump that was to save everything loses {lost} pages");
        let time = if wanted == 0 { Time::ZERO } else { self.plan.time(saved) };
        Dumped { time, saved, lost, end }
    }

    /// Ends the dump that started at `at`, after which memory and flash are equal.
    pub(super) fn dumped(&mut self, at: Time, dumped: &Dumped) {
        self.changed.fill(0);
        if let Some(charge) = self.charge(at) {
            let used = self.plan.power.over(dumped.time);
            self.charge = Energy((charge.0 - used.0).max(0.0));
        }
        // The capacitor has no charge until power returns.
        self.since = Time::MAX;
    }

    /// Time at which the capacitor is charged enough to accept requests, if power returns at `at`.
    pub(super) fn recharge(&mut self, at: Time) -> Time {
        self.since = at;
        match self.plan.stored {
            Some(stored) if self.plan.waits_for_charge => {
                at + Time::from_secs_f64((stored.0 - self.charge.0) / self.plan.charge_power.0)
            }
            _ => at,
        }
    }

    fn check(&mut self) -> Result<(), String> {
        let beyond = self.plan.pages % 64;
        let last = [&self.changed, &self.held].map(|bits| bits.last().copied().unwrap_or(0));
        let last = last[0] | last[1];
        let is_legal = (beyond == 0 || last >> beyond == 0) && self.charge.0 >= 0.0;
        if is_legal { Ok(()) } else { Err("changes beyond the memory, or no charge".into()) }
    }
}
