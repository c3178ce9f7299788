//! Chips of phase change memory that work in parallel: times of operations, and endurance of cells.

use super::{Cells, Operation, Rank};
use crate::charge::Energies;
use nacre_config::{Configuration, Reader};
use nacre_kernel::{Bytes, Time};

/// Sizes, times, wear and energy of the chips of a rank.
#[derive(Clone, Debug, Configuration)]
pub struct Chips {
    /// Chips of a rank that hold data.
    #[config(default = 4, min = 1, max = 64, source = "paper: akel-2011 section 2.2")]
    pub data_chips: u32,
    /// Spare chips of a rank, for error correction.
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
    /// Bytes read from a chip at once.
    #[config(default = "16 B", min = "1 B", max = "4 KiB", source = "paper: akel-2011 section 2.2")]
    pub read_unit: Bytes,
    /// Latency and endurance of their cells.
    #[config(flatten)]
    #[config(with(read(
        doc = "Time of one read of a rank.",
        default = "314 ns",
        min = "1 ps",
        source = "paper: akel-2011 section 2.2"
    )))]
    #[config(with(program(
        doc = "Time of a rank to program the write buffers of its chips.",
        default = "120 us",
        min = "1 ps",
        source = "datasheet: akel-2011 section 2.2, arbitrary data",
        after = "fill"
    )))]
    #[config(with(endurance(
        default = 1000000,
        max = 4294967294,
        source = "datasheet: akel-2011 section 2.2",
        after = "program"
    )))]
    #[config(with(program_energy(
        doc = "Energy of one program of one chip, above idling.",
        after = "endurance"
    )))]
    #[config(with(read_energy(
        doc = "Energy of one read of one chip, above idling.",
        after = "program_energy"
    )))]
    #[config(with(idle_power(after = "read_energy")))]
    pub cells: Cells,
    /// Bytes that a chip programs at once.
    #[config(default = "64 B", min = "1 B", max = "64 KiB", source = "paper: akel-2011 section 2.2")]
    pub program_unit: Bytes,
    /// Time to fill the write buffers of a rank's chips.
    #[config(
        default = "3.2 us",
        max = "1 s",
        source = "assumed: 32 words of a chip, 100 ns each, the usual write cycle of such chips"
    )]
    pub fill: Time,
}

impl Chips {
    /// Chips of a rank.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.data_chips + self.spare_chips
    }

    /// A rank of these chips; a controller adds `control` to each read.
    #[must_use]
    pub fn rank(&self, control: Time) -> Rank {
        Rank {
            beat: self.read_unit.0 * u64::from(self.data_chips),
            read: self.cells.read + control,
            chunk: self.program_unit.0 * u64::from(self.data_chips),
            program: self.cells.program,
        }
    }

    /// Reports incomplete energies. Only that of a program may be required, e.g. by capacitors: energy is not
    /// modeled then.
    pub fn check_energies(&self, reader: &mut Reader<'_>, may_lack_reads: bool) {
        if !may_lack_reads || self.cells.read_energy.is_some() || self.cells.idle_power.is_some() {
            self.cells.check_energies(reader, ["read_energy", "program_energy"]);
        }
    }

    /// Energies of a whole rank, by [`Operation`].
    #[must_use]
    pub fn energies(&self) -> Energies<{ Operation::COUNT }> {
        self.cells.energies().times(f64::from(self.count()))
    }
}
