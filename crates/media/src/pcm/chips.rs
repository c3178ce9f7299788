//! Chips of phase-change memory that operate in parallel: operation times, and endurance of cells.

use super::{CHIP_WORD, Cells, KINDS, Rank};
use crate::charge::Energies;
use nacre_config::{Configuration, Reader};
use nacre_kernel::{Bytes, Energy, Time};

/// Sizes, times, wear, and energy of the chips of a rank.
#[derive(Clone, Debug, Configuration)]
pub struct Chips {
    /// Number of chips of a rank that hold data.
    #[config(default = 4, min = 1, max = 64, source = "paper: akel-2011 section 2.2")]
    pub data_chips: u32,
    /// Number of spare chips of a rank, for error correction.
    #[config(default = 1, max = 64, source = "paper: akel-2011 section 2.2")]
    pub spare_chips: u32,
    /// Capacity of a chip, in bytes.
    #[config(
        default = "16 MiB",
        min = "4 KiB",
        max = "64 GiB",
        source = "datasheet: akel-2011 section 2.2, P8P"
    )]
    pub chip: Bytes,
    /// Number of bytes read from a chip at once.
    #[config(default = "16 B", min = "1 B", max = "4 KiB", source = "paper: akel-2011 section 2.2")]
    pub read_unit: Bytes,
    /// Latency and endurance of the cells.
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
        doc = "Energy of one program of one chip, in addition to idle power.",
        after = "endurance"
    )))]
    #[config(with(read_energy(
        doc = "Energy of one read of one chip, in addition to idle power.",
        after = "program_energy"
    )))]
    #[config(with(idle_power(after = "read_energy")))]
    pub cells: Cells,
    /// Number of bytes that a chip programs at once.
    #[config(default = "64 B", min = "1 B", max = "64 KiB", source = "paper: akel-2011 section 2.2")]
    pub program_unit: Bytes,
    /// Time to fill the write buffers of a rank's chips.
    #[config(
        default = "3.2 us",
        max = "1 s",
        source = "assumed: 32 words of a chip, 100 ns each, the usual write cycle of such chips"
    )]
    pub fill: Time,
    /// Time for a rank to program write buffers that contain only zeros. Each nonzero word adds an equal
    /// share of the difference between `program` and this time. If absent, the time does not depend on the
    /// data.
    #[config(min = "1 ps", max = "1 s")]
    pub program_zeros: Option<Time>,
}

impl Chips {
    /// Number of chips of a rank.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.data_chips + self.spare_chips
    }

    /// The rank that consists of these chips. The controller adds `control` to the time of each read.
    #[must_use]
    pub fn rank(&self, control: Time) -> Rank {
        let data_chips = u64::from(self.data_chips);
        let program = self.cells.program;
        Rank {
            beat: self.read_unit.0 * data_chips,
            read: self.cells.read + control,
            chunk: self.program_unit.0 * data_chips,
            program,
            zeros: self.program_zeros.map_or(program, |zeros| zeros.min(program)),
            word: CHIP_WORD * data_chips,
        }
    }

    /// Reports an error if programs of zeros take longer than those of arbitrary data.
    pub fn check_times(&self, reader: &mut Reader<'_>) {
        let program = self.cells.program;
        if let Some(zeros) = self.program_zeros.filter(|&zeros| zeros > program) {
            let problem = format!("zeros take longer to program than arbitrary data, {program}");
            let remedy = format!("use at most {program}, or leave program_zeros out");
            reader.conflict("program_zeros", &zeros.to_string(), &problem, &remedy);
        }
    }

    /// Reports an error if some energies are set and others are missing. With `may_lack_reads`, the program
    /// energy may be set alone, e.g. to size capacitors. Energy is then not modeled.
    pub fn check_energies(&self, reader: &mut Reader<'_>, may_lack_reads: bool) {
        if !may_lack_reads || self.cells.read_energy.is_some() || self.cells.idle_power.is_some() {
            self.cells.check_energies(reader, ["read_energy", "program_energy"]);
        }
    }

    /// Energies of a whole rank, indexed by [`Operation`](super::Operation), followed by the energy of a
    /// programmed nonzero word. The energy of a program is proportional to its time.
    #[must_use]
    pub fn energies(&self) -> Energies<KINDS> {
        let rank = self.rank(Time::ZERO);
        let zeros = rank.zeros.as_secs_f64() / rank.program.as_secs_f64();
        let program = self.cells.program_energy;
        let share = |share: f64| program.map(|whole| Energy(whole.0 * share));
        let word = share((1.0 - zeros) / rank.words() as f64);
        Energies::of([self.cells.read_energy, share(zeros), word]).times(f64::from(self.count()))
    }
}
