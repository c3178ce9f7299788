//! NAND flash: operation times, and endurance of blocks.

use crate::charge::{Energies, check_energies};
use nacre_config::{Configuration, FieldType, Reader};
use nacre_kernel::{Energy, Power, Ratio, Time};

/// Kind of a NAND flash operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reads a page.
    Read,
    /// Programs a page.
    Program,
    /// Erases a block.
    Erase,
    /// Transfers a page over the channel of its die.
    Transfer,
}

impl Operation {
    /// Number of kinds of operations.
    pub const COUNT: usize = 4;
}

/// Time to program a page, which may differ between pages, and time to erase a block.
#[derive(Clone, Debug, Configuration)]
pub struct ProgramErase<T: FieldType> {
    /// Time to program a page.
    pub program: T,
    /// Time to erase a block.
    #[config(min = "1 ps")]
    pub erase: Time,
}

/// Times of flash operations.
#[derive(Clone, Debug, Configuration)]
pub struct Timing<T: FieldType> {
    /// Time to read a page.
    pub read: T,
    /// Times of programs and erases.
    #[config(flatten)]
    pub program_erase: ProgramErase<T>,
}

/// Energy of flash operations, in addition to idle power.
#[derive(Clone, Debug, Configuration)]
pub struct OperationEnergy {
    /// Energy to read a page, in addition to idle power.
    pub read_energy: Option<Energy>,
    /// Energy to program a page, in addition to idle power.
    pub program_energy: Option<Energy>,
    /// Energy to erase a block, in addition to idle power.
    pub erase_energy: Option<Energy>,
}

impl OperationEnergy {
    /// Energies of a page read, a page program, and a block erase.
    #[must_use]
    pub fn each(&self) -> [Option<Energy>; 3] {
        [self.read_energy, self.program_energy, self.erase_energy]
    }
}

/// Times, wear, and energy of NAND flash.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Nand {
    /// Operation times.
    #[config(flatten)]
    #[config(with(read(doc = "Times to read a page, one per position on a word line.")))]
    #[config(with(program(doc = "Times to program a page, one per position on a word line.")))]
    #[config(with(erase(max = "10 s")))]
    pub timing: Timing<Vec<Time>>,
    /// Rated number of erases of a block. Unlimited by default.
    #[config(min = 1, max = 4294967294)]
    pub endurance: Option<u64>,
    /// Standard deviation of the endurance of blocks, as a share of `endurance`.
    #[config(default = "0 %", max = "50 %", source = "assumed: no variation by default")]
    pub endurance_spread: Ratio,
    /// Energy of the operations.
    #[config(flatten)]
    pub energy: OperationEnergy,
    /// Energy to transfer a page over its channel, in addition to idle power.
    pub transfer_energy: Option<Energy>,
    /// Idle power, which the device uses at all times.
    pub idle_power: Option<Power>,
}

impl Nand {
    /// Energies, indexed by [`Operation`].
    #[must_use]
    pub fn energies(&self) -> Energies<{ Operation::COUNT }> {
        let [read, program, erase] = self.energy.each();
        Energies::of([read, program, erase, self.transfer_energy])
    }

    /// Page read times, indexed by the page's position on its word line.
    #[must_use]
    pub fn read(&self) -> &[Time] {
        &self.timing.read
    }

    /// Page program times, indexed by the page's position on its word line.
    #[must_use]
    pub fn program(&self) -> &[Time] {
        &self.timing.program_erase.program
    }

    /// Time to erase a block.
    #[must_use]
    pub fn erase(&self) -> Time {
        self.timing.program_erase.erase
    }

    /// Maximum page read time.
    #[must_use]
    pub fn longest_read(&self) -> Time {
        longest(self.read())
    }

    /// Maximum page program time.
    #[must_use]
    pub fn longest_program(&self) -> Time {
        longest(self.program())
    }
}

fn longest(times: &[Time]) -> Time {
    times.iter().copied().fold(Time::ZERO, Time::max)
}

fn check(nand: &Nand, reader: &mut Reader<'_>) {
    for (field, times) in [("read", nand.read()), ("program", nand.program())] {
        if times.iter().any(|time| time.is_zero()) {
            let remedy = "give a time above zero for every page";
            reader.conflict(field, "0 s", "a page takes some time", remedy);
        }
    }
    let [read, program, erase] = nand.energy.each();
    let energies = [
        ("read_energy", read),
        ("program_energy", program),
        ("erase_energy", erase),
        ("transfer_energy", nand.transfer_energy),
    ];
    check_energies(reader, &energies, nand.idle_power);
}
