//! NAND flash: what its operations take, and what its blocks are made for.

use crate::charge::{Energies, check_energies};
use nacre_config::{Configuration, FieldType, Reader};
use nacre_kernel::{Energy, Power, Ratio, Time};

/// Operations of NAND flash.
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

/// Time to program a page, which may differ between pages, and to erase a block.
#[derive(Clone, Debug, Configuration)]
pub struct ProgramErase<T: FieldType> {
    /// Programming a page.
    pub program: T,
    /// Erasing a block.
    #[config(min = "1 ps")]
    pub erase: Time,
}

/// How long the operations of flash take.
#[derive(Clone, Debug, Configuration)]
pub struct Timing<T: FieldType> {
    /// Reading a page.
    pub read: T,
    /// What changes it.
    #[config(flatten)]
    pub program_erase: ProgramErase<T>,
}

/// Energy of flash operations, above idle power.
#[derive(Clone, Debug, Configuration)]
pub struct OperationEnergy {
    /// Energy to read a page, above idling.
    pub read_energy: Option<Energy>,
    /// Energy to program a page, above idling.
    pub program_energy: Option<Energy>,
    /// Energy to erase a block, above idling.
    pub erase_energy: Option<Energy>,
}

impl OperationEnergy {
    /// Of a read, a program and an erase.
    #[must_use]
    pub fn each(&self) -> [Option<Energy>; 3] {
        [self.read_energy, self.program_energy, self.erase_energy]
    }
}

/// Times, wear and energy of NAND flash.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Nand {
    /// How long its operations take.
    #[config(flatten)]
    #[config(with(read(doc = "Reading a page, by its place among the pages that share a word line.")))]
    #[config(with(program(
        doc = "Programming a page, by its place among the pages that share a word line."
    )))]
    #[config(with(erase(max = "10 s")))]
    pub timing: Timing<Vec<Time>>,
    /// Erases a block is made for; absent means no limit.
    #[config(min = 1, max = 4294967294)]
    pub endurance: Option<u64>,
    /// Standard deviation of the endurance of blocks, as a share of `endurance`.
    #[config(default = "0 %", max = "50 %", source = "assumed: all alike unless told otherwise")]
    pub endurance_spread: Ratio,
    /// Energy of the operations.
    #[config(flatten)]
    pub energy: OperationEnergy,
    /// Energy to move a page over its channel, above idling.
    pub transfer_energy: Option<Energy>,
    /// Power that flows whether or not it works.
    pub idle_power: Option<Power>,
}

impl Nand {
    /// By [`Operation`].
    #[must_use]
    pub fn energies(&self) -> Energies<{ Operation::COUNT }> {
        let [read, program, erase] = self.energy.each();
        Energies::of([read, program, erase, self.transfer_energy])
    }

    /// Reading a page, by its place on its word line.
    #[must_use]
    pub fn read(&self) -> &[Time] {
        &self.timing.read
    }

    /// Programming a page, by its place on its word line.
    #[must_use]
    pub fn program(&self) -> &[Time] {
        &self.timing.program_erase.program
    }

    /// Erasing a block.
    #[must_use]
    pub fn erase(&self) -> Time {
        self.timing.program_erase.erase
    }

    /// The longest a read takes.
    #[must_use]
    pub fn longest_read(&self) -> Time {
        longest(self.read())
    }

    /// The longest a program takes.
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
