//! Cells of phase-change memory: operation times and endurance.

use crate::charge::{Energies, check_energies};
use nacre_config::{Configuration, Reader};
use nacre_kernel::{Energy, Power, Time};

/// Kind of an operation on phase-change memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reads a row.
    Read,
    /// Programs a row.
    Program,
}

impl Operation {
    /// Number of kinds of operations.
    pub const COUNT: usize = 2;
}

/// Times, wear, and energy of phase-change memory.
#[derive(Clone, Debug, Configuration)]
pub struct Cells {
    /// Time of a read.
    #[config(max = "1 s")]
    pub read: Time,
    /// Time of a program.
    #[config(max = "1 s")]
    pub program: Time,
    /// Rated number of programs of a row.
    #[config(min = 1)]
    pub endurance: u64,
    /// Energy of a read, in addition to idle power.
    pub read_energy: Option<Energy>,
    /// Energy of a program, in addition to idle power.
    pub program_energy: Option<Energy>,
    /// Idle power, which the device uses at all times.
    pub idle_power: Option<Power>,
}

impl Cells {
    /// Energies, indexed by [`Operation`].
    #[must_use]
    pub fn energies(&self) -> Energies<{ Operation::COUNT }> {
        Energies::of([self.read_energy, self.program_energy])
    }

    /// Reports an error if some energies are set and others are missing. `read` and `program` are the names
    /// of the settings.
    pub fn check_energies(&self, reader: &mut Reader<'_>, [read, program]: [&str; 2]) {
        let energies = [(read, self.read_energy), (program, self.program_energy)];
        check_energies(reader, &energies, self.idle_power);
    }
}
