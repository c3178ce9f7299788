//! Memory parts: sizes and times from their data sheets.

use crate::charge::check_energies;
use nacre_config::{Choice, Configuration, Reader};
use nacre_kernel::{Bytes, Energy, Time};

/// Rounding of a constraint from nanoseconds to clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Rounding {
    /// Rounds up to the next clock.
    Up,
    /// Rounds up to the next clock, but rounds down if the excess is less than 2.6 % of a clock. With this
    /// rule, the DDR4 standard compensates for rounded clock periods and times.
    Ddr4,
}

/// A memory part, and the ranks built from it. If a data sheet gives a time both in nanoseconds and in
/// clocks, use the longer of the two.
#[derive(Clone, Debug, PartialEq, Configuration)]
#[config(check = "check")]
pub struct Part {
    /// Capacity of a chip, in bytes.
    #[config(min = "4 KiB", max = "64 GiB")]
    pub chip: Bytes,
    /// Number of data lines of a chip.
    #[config(default = 8, min = 4, max = 32, source = "assumed: the usual chip of a module")]
    pub width: u32,
    /// Size of a row of a chip, in bytes.
    #[config(min = "8 B", max = "64 KiB")]
    pub row: Bytes,
    /// Number of banks in a group.
    #[config(default = 8, min = 1, max = 64, source = "standard: jesd79-3")]
    pub banks: u32,
    /// Number of bank groups, or 1 for parts without groups.
    #[config(default = 1, min = 1, max = 16, source = "standard: jesd79-3")]
    pub groups: u32,
    /// Number of transfers in a burst.
    #[config(default = 8, min = 2, max = 32, source = "standard: jesd79-3 and jesd79-4")]
    pub burst: u64,
    /// Clock period. Data is transferred on both edges.
    #[config(min = "1 ps", max = "1 us")]
    pub clock: Time,
    /// Rounding of constraints from nanoseconds to clocks.
    #[config(default = "up", source = "assumed: never earlier than in the data sheet")]
    pub rounding: Rounding,
    /// Clocks from a read to its data: CL.
    #[config(max = 256)]
    pub read_latency: u64,
    /// Clocks from a write to its data: CWL.
    #[config(max = 256)]
    pub write_latency: u64,
    /// Time from opening a row to accessing it: tRCD.
    #[config(max = "1 ms")]
    pub activate_to_access: Time,
    /// Time from closing a row to opening another row of the bank: tRP.
    #[config(max = "1 ms")]
    pub precharge: Time,
    /// Time from opening a row to closing it: tRAS.
    #[config(max = "1 ms")]
    pub row_open: Time,
    /// Time from opening a row to opening the next row of its bank: tRC.
    #[config(max = "1 ms")]
    pub row_cycle: Time,
    /// Time from opening a row to opening a row in another bank: tRRD. With bank groups, the other bank is in
    /// another group.
    #[config(max = "1 ms")]
    pub activate_to_activate: Time,
    /// Time from opening a row to opening a row in another bank of the group: tRRD_L.
    #[config(max = "1 ms")]
    pub activate_to_activate_in_group: Option<Time>,
    /// Time window in which at most four rows are opened: tFAW.
    #[config(max = "1 ms")]
    pub four_activates: Time,
    /// Clocks between two reads, or between two writes: tCCD. With bank groups, the two accesses are in
    /// different groups.
    #[config(default = 4, min = 1, max = 256, source = "standard: jesd79-3 and jesd79-4")]
    pub access_to_access: u64,
    /// Time between two reads, or between two writes, in the same group: tCCD_L.
    #[config(max = "1 ms")]
    pub access_to_access_in_group: Option<Time>,
    /// Time from the last written data to closing the row: tWR.
    #[config(max = "1 ms")]
    pub write_recovery: Time,
    /// Time from the last written data to a read: tWTR. With bank groups, the read is in another group.
    #[config(max = "1 ms")]
    pub write_to_read: Time,
    /// Time from the last written data to a read in the same group: tWTR_L.
    #[config(max = "1 ms")]
    pub write_to_read_in_group: Option<Time>,
    /// Time from a read to closing the row: tRTP.
    #[config(max = "1 ms")]
    pub read_to_precharge: Time,
    /// Clocks between data transfers of different ranks: tRTRS.
    #[config(default = 2, max = 256, source = "assumed: one clock per change of the bus owner")]
    pub rank_to_rank: u64,
    /// Refresh interval of each rank: tREFI. Absent for a part without refresh.
    #[config(min = "100 ns", max = "1 s")]
    pub refresh_every: Option<Time>,
    /// Duration of a refresh: tRFC.
    #[config(min = "1 ps", max = "1 ms")]
    pub refresh: Option<Time>,
    /// Energy to open and close a row of a rank, in addition to idle power.
    pub activate_energy: Option<Energy>,
    /// Energy to read a burst from a rank, in addition to idle power.
    pub read_energy: Option<Energy>,
    /// Energy to write a burst to a rank, in addition to idle power.
    pub write_energy: Option<Energy>,
    /// Energy to refresh a rank, in addition to idle power.
    pub refresh_energy: Option<Energy>,
}

impl Part {
    /// Number of clocks in `time`, rounded up.
    #[inline]
    pub fn clocks(&self, time: Time) -> u64 {
        time.as_ps().div_ceil(self.clock.as_ps())
    }

    /// Number of clocks of a constraint that lasts `time`, with the rounding of the part.
    pub fn constraint(&self, time: Time) -> u64 {
        match self.rounding {
            Rounding::Up => self.clocks(time),
            // jedec-21c-spd-ddr4 and jesd79-4 calculate in thousandths of a clock, and also drop the
            // remainder.
            Rounding::Ddr4 => (time.as_ps() * 1000 / self.clock.as_ps() + 974) / 1000,
        }
    }

    /// Number of banks in a rank.
    #[inline]
    pub fn banks_in_all(&self) -> u32 {
        self.banks * self.groups
    }

    /// Number of clocks that an access may need between two refreshes of `refresh`, which close all rows:
    /// tRFC, tRAS and tRP of another row, and then tRCD and the distance of activations (tRRD, tRRD_L, or a
    /// quarter of tFAW) for one row in each bank group.
    fn clocks_of_access(&self, refresh: Time) -> u64 {
        let clocks = |time: Time| self.clocks(time).max(1);
        let in_group = self.activate_to_activate_in_group.unwrap_or_default();
        let distance =
            clocks(self.activate_to_activate.max(in_group)).max(clocks(self.four_activates).div_ceil(4));
        let others = [refresh, self.row_open, self.precharge, self.activate_to_access];
        others.map(clocks).iter().sum::<u64>() + distance * u64::from(self.groups) + 1
    }

    /// Interval and duration of the refreshes of a rank. `None` if the part needs no refresh.
    pub fn refreshing(&self) -> Option<(Time, Time)> {
        self.refresh_every.zip(self.refresh)
    }
}

fn check(part: &Part, reader: &mut Reader<'_>) {
    let rows = part.row.0 * u64::from(part.banks_in_all());
    if !part.row.0.is_power_of_two() || !part.chip.0.is_multiple_of(rows) {
        let problem = "the row size is not a power of two, or no divisor of the bank size";
        reader.conflict("row", &part.row.to_string(), problem, "use the row size of one chip");
    }
    match (part.refresh_every, part.refresh) {
        (Some(every), Some(refresh)) if every <= refresh => {
            let remedy = format!("use less than refresh_every, {every}");
            reader.conflict("refresh", &refresh.to_string(), "refreshes would take all of the time", &remedy);
        }
        (Some(every), Some(refresh)) if part.clocks(every) <= part.clocks_of_access(refresh) => {
            let problem = "the time between two refreshes, which close all rows, is too short for an access";
            let remedy = format!("use more than {}", part.clock * part.clocks_of_access(refresh));
            reader.conflict("refresh_every", &every.to_string(), problem, &remedy);
        }
        (Some(every), None) => {
            let problem = "refresh is missing";
            reader.conflict("refresh_every", &every.to_string(), problem, "give refresh");
        }
        (None, Some(refresh)) => {
            let problem = "refresh_every is missing";
            reader.conflict("refresh", &refresh.to_string(), problem, "give refresh_every");
        }
        _ => {}
    }
    if let (Some(energy), None, None) = (part.refresh_energy, part.refresh_every, part.refresh) {
        let remedy = "set refresh_every and refresh, too, or remove refresh_energy";
        reader.conflict("refresh_energy", &energy.to_string(), "the part is never refreshed", remedy);
    }
    let energies = [
        ("activate_energy", part.activate_energy),
        ("read_energy", part.read_energy),
        ("write_energy", part.write_energy),
    ];
    // A part that keeps its data without refresh is never refreshed.
    let refresh = part.refresh_every.map(|_| ("refresh_energy", part.refresh_energy));
    check_energies(reader, &energies.into_iter().chain(refresh).collect::<Vec<_>>(), None);
}
