//! Chips of phase change memory that work in concert: what their operations take, and what their cells are made for.

use super::Rank;
use crate::charge::{Energies, check_energies};
use nacre_config::{Configuration, Reader};
use nacre_kernel::{Bytes, Energy, Power, Time};

/// What chips of phase change memory do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reads a unit of a chip.
    Read,
    /// Programs what a chip's write buffer holds.
    Program,
}

impl Operation {
    /// How many kinds there are.
    pub const COUNT: usize = 2;
}

/// Sizes, times, wear and energy of the chips of a rank.
#[derive(Clone, Debug, Configuration)]
pub struct Chips {
    /// Chips of a rank that hold data.
    #[config(default = 4, min = 1, max = 64, source = "paper: akel-2011 section 2.2")]
    pub data_chips: u32,
    /// Chips of a rank beside them, for error correction.
    #[config(default = 1, max = 64, source = "paper: akel-2011 section 2.2")]
    pub spare_chips: u32,
    /// Bytes of a chip.
    #[config(
        default = "16 MiB",
        min = "4 KiB",
        max = "64 GiB",
        source = "datasheet: akel-2011 section 2.2, P8P"
    )]
    pub chip: Bytes,
    /// Bytes one read takes from a chip.
    #[config(default = "16 B", min = "1 B", max = "4 KiB", source = "paper: akel-2011 section 2.2")]
    pub read_unit: Bytes,
    /// How long one read of a rank takes.
    #[config(default = "314 ns", min = "1 ps", max = "1 s", source = "paper: akel-2011 section 2.2")]
    pub read: Time,
    /// Bytes a chip programs at one time.
    #[config(default = "64 B", min = "1 B", max = "64 KiB", source = "paper: akel-2011 section 2.2")]
    pub program_unit: Bytes,
    /// How long it takes to fill the write buffers of a rank's chips.
    #[config(
        default = "3.2 us",
        max = "1 s",
        source = "assumed: 32 words of a chip, 100 ns each, the usual write cycle of such chips"
    )]
    pub fill: Time,
    /// How long a rank takes to program what its chips' write buffers hold.
    #[config(
        default = "120 us",
        min = "1 ps",
        max = "1 s",
        source = "datasheet: akel-2011 section 2.2, arbitrary data"
    )]
    pub program: Time,
    /// Programs a row is made for.
    #[config(default = 1000000, min = 1, max = 4294967294, source = "datasheet: akel-2011 section 2.2")]
    pub endurance: u64,
    /// Energy of one program of one chip, above idling.
    pub program_energy: Option<Energy>,
    /// Energy of one read of one chip, above idling.
    pub read_energy: Option<Energy>,
    /// Power that flows whether or not it works.
    pub idle_power: Option<Power>,
}

impl Chips {
    /// Chips of a rank.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.data_chips + self.spare_chips
    }

    /// A rank of them, to each of whose reads a controller adds `control`.
    #[must_use]
    pub fn rank(&self, control: Time) -> Rank {
        Rank {
            beat: self.read_unit.0 * u64::from(self.data_chips),
            read: self.read + control,
            chunk: self.program_unit.0 * u64::from(self.data_chips),
            program: self.program,
        }
    }

    /// Reports energies that are given in part. That of a program alone may be asked for by something else, such as
    /// capacitors: energy is not modelled then.
    pub fn check_energies(&self, reader: &mut Reader<'_>, may_lack_reads: bool) {
        let energies = [("read_energy", self.read_energy), ("program_energy", self.program_energy)];
        if !may_lack_reads || self.read_energy.is_some() || self.idle_power.is_some() {
            check_energies(reader, &energies, self.idle_power);
        }
    }

    /// Of a whole rank, by [`Operation`].
    #[must_use]
    pub fn energies(&self) -> Energies<{ Operation::COUNT }> {
        Energies::of([self.read_energy, self.program_energy]).times(f64::from(self.count()))
    }
}
