//! NAND flash: what its operations take, and what its blocks are made for.

use crate::charge::{Energies, check_energies};
use nacre_config::{Configuration, Reader};
use nacre_kernel::{Energy, Power, Ratio, Time};

/// What NAND flash does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reads a page.
    Read,
    /// Programs a page.
    Program,
    /// Erases a block.
    Erase,
    /// Moves a page over the channel of its die.
    Transfer,
}

impl Operation {
    /// How many kinds there are.
    pub const COUNT: usize = 4;
}

/// Times, wear and energy of NAND flash.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Nand {
    /// Reading a page, by its place among the pages that share a word line.
    pub read: Vec<Time>,
    /// Programming a page, by its place among the pages that share a word line.
    pub program: Vec<Time>,
    /// Erasing a block.
    #[config(min = "1 ps", max = "10 s")]
    pub erase: Time,
    /// Erases a block is made for; absent means no limit.
    #[config(min = 1, max = 4294967294)]
    pub endurance: Option<u64>,
    /// Standard deviation of the erases a block takes, as a share of `endurance`.
    #[config(default = "0 %", max = "50 %", source = "assumed: all alike unless told otherwise")]
    pub endurance_spread: Ratio,
    /// Energy to read a page, above idling.
    pub read_energy: Option<Energy>,
    /// Energy to program a page, above idling.
    pub program_energy: Option<Energy>,
    /// Energy to erase a block, above idling.
    pub erase_energy: Option<Energy>,
    /// Energy to move a page over its channel, above idling.
    pub transfer_energy: Option<Energy>,
    /// Power that flows whether or not it works.
    pub idle_power: Option<Power>,
}

impl Nand {
    /// By [`Operation`].
    #[must_use]
    pub fn energies(&self) -> Energies<{ Operation::COUNT }> {
        Energies::of([self.read_energy, self.program_energy, self.erase_energy, self.transfer_energy])
    }

    /// The longest a read takes.
    #[must_use]
    pub fn longest_read(&self) -> Time {
        longest(&self.read)
    }

    /// The longest a program takes.
    #[must_use]
    pub fn longest_program(&self) -> Time {
        longest(&self.program)
    }
}

fn longest(times: &[Time]) -> Time {
    times.iter().copied().fold(Time::ZERO, Time::max)
}

fn check(nand: &Nand, reader: &mut Reader<'_>) {
    for (field, times) in [("read", &nand.read), ("program", &nand.program)] {
        if times.iter().any(|time| time.is_zero()) {
            let remedy = "give a time above zero for every page";
            reader.conflict(field, "0 s", "a page takes some time", remedy);
        }
    }
    let energies = [
        ("read_energy", nand.read_energy),
        ("program_energy", nand.program_energy),
        ("erase_energy", nand.erase_energy),
        ("transfer_energy", nand.transfer_energy),
    ];
    check_energies(reader, &energies, nand.idle_power);
}
