//! NAND flash with two modes: operation times, and endurance of the cells.

use super::{Aging, ErrorModel, Mode};
use crate::charge::check_powers;
use crate::flash::Timing;
use nacre_config::{Configuration, Reader};
use nacre_kernel::{Power, Ratio, Time};

/// Times, wear, and power of NAND flash in SLC and MLC mode.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Nand {
    /// Operation times in SLC mode.
    #[config(flatten)]
    #[config(with(read(
        name = "slc_read",
        doc = "Time to read a page in SLC mode.",
        default = "25 us",
        max = "1 s",
        source = "paper: roberts-2009 section II.A"
    )))]
    #[config(with(program(
        name = "slc_program",
        doc = "Time to program a page in SLC mode.",
        default = "250 us",
        min = "1 ps",
        max = "1 s",
        source = "paper: roberts-2009 section II.A"
    )))]
    #[config(with(erase(
        name = "slc_erase",
        doc = "Time to erase a block with mostly SLC slots.",
        default = "500 us",
        max = "1 s",
        source = "paper: roberts-2009 section II.A"
    )))]
    pub slc: Timing<Time>,
    /// Operation times in MLC mode.
    #[config(flatten)]
    #[config(with(read(
        name = "mlc_read",
        doc = "Time to read a page in MLC mode.",
        default = "50 us",
        max = "1 s",
        source = "paper: roberts-2009 section II.A"
    )))]
    #[config(with(program(
        name = "mlc_program",
        doc = "Time to program a page in MLC mode.",
        default = "900 us",
        min = "1 ps",
        max = "1 s",
        source = "paper: roberts-2009 section II.A"
    )))]
    #[config(with(erase(
        name = "mlc_erase",
        doc = "Time to erase a block with mostly MLC slots.",
        default = "3.5 ms",
        max = "1 s",
        source = "paper: roberts-2009 section II.A"
    )))]
    pub mlc: Timing<Time>,
    /// Rated number of erases of a slot in SLC mode.
    #[config(default = 100_000, min = 1, max = 4294967294, source = "paper: roberts-2009 table I, 2009")]
    pub slc_endurance: u64,
    /// Rated number of erases of a slot in MLC mode.
    #[config(
        default = 10_000,
        min = 1,
        max = 4294967294,
        source = "paper: roberts-2009 section II.A: shorter by a factor of 10 or more"
    )]
    pub mlc_endurance: u64,
    /// Bit errors as a function of wear.
    #[config(flatten)]
    pub errors: ErrorModel,
    /// Relative increase of the bit error rate per day of retention.
    #[config(
        default = "1 %",
        max = "10000 %",
        source = "assumed: twice as many after 100 days; in mielke-2008, retention errors are as frequent as others"
    )]
    pub drift: Ratio,
    /// Power of a busy die, including idle power.
    pub active_power: Option<Power>,
    /// Power of an idle die.
    pub idle_power: Option<Power>,
}

impl Nand {
    /// Bit error rates as a function of erase cycles and time.
    #[must_use]
    pub fn aging(&self) -> Aging {
        let endurance = [self.slc_endurance as f64, self.mlc_endurance as f64];
        Aging { endurance, errors: self.errors, drift: self.drift.0 }
    }

    fn timing(&self, mode: Mode) -> &Timing<Time> {
        [&self.slc, &self.mlc][mode as usize]
    }

    /// Time to read a page.
    #[must_use]
    pub fn read(&self, mode: Mode) -> Time {
        self.timing(mode).read
    }

    /// Time to program a page.
    #[must_use]
    pub fn program(&self, mode: Mode) -> Time {
        self.timing(mode).program_erase.program
    }

    /// Time to erase a block whose slots are mostly in `mode`.
    #[must_use]
    pub fn erase(&self, mode: Mode) -> Time {
        self.timing(mode).program_erase.erase
    }
}

fn check(nand: &Nand, reader: &mut Reader<'_>) {
    check_powers(reader, &[("active_power", nand.active_power), ("idle_power", nand.idle_power)]);
    if let (Some(active), Some(idle)) = (nand.active_power, nand.idle_power)
        && active < idle
    {
        let remedy = format!("it includes idle power: at least {idle}");
        reader.conflict("active_power", &active.to_string(), "it is below idle_power", &remedy);
    }
}
