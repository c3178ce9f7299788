//! A rank of DRAM: its open rows, and the timing of its commands.

use std::collections::VecDeque;

/// Timing constraints between commands, in clocks.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Time from the activation of a row to its read or write: tRCD.
    pub activate_to_column: u64,
    /// Time from the precharge of a bank to the activation of another row: tRP.
    pub precharge: u64,
    /// Time from the activation of a row to its precharge: tRAS.
    pub row_open: u64,
    /// Time from a read to its data: CL.
    pub read_latency: u64,
    /// Time from a write to its data: CWL.
    pub write_latency: u64,
    /// Time of the data transfer of one access.
    pub burst: u64,
    /// Time from a read to the precharge of its row: tRTP.
    pub read_to_precharge: u64,
    /// Time from the last data of a write to the precharge of the row: tWR.
    pub write_recovery: u64,
    /// Time from the last data of a write to a read: tWTR.
    pub write_to_read: u64,
    /// Time between the data of a read and the data of a following write.
    pub read_to_write_gap: u64,
    /// Time from the activation of a row to the activation of a row in another bank: tRRD.
    pub activate_to_activate: u64,
    /// Time window in which at most four rows may be activated: tFAW.
    pub four_activates: u64,
}

impl Timing {
    /// DDR3-1600 (11-11-11) of 4 Gb chips, in clocks of 1.25 ns, with bursts of eight.
    pub const DDR3_1600: Timing = Timing {
        activate_to_column: 11,
        precharge: 11,
        row_open: 28,
        read_latency: 11,
        write_latency: 8,
        burst: 4,
        read_to_precharge: 6,
        write_recovery: 12,
        write_to_read: 6,
        read_to_write_gap: 2,
        activate_to_activate: 5,
        four_activates: 24,
    };
}

/// A command for one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Read or write.
    Column,
    /// Activate the row.
    Activate,
    /// Precharge the bank.
    Precharge,
}

/// State of a bank. Times are the first clocks at which a command is allowed.
#[derive(Clone, Debug, Default)]
struct Bank {
    open: Option<u64>,
    activate: u64,
    column: u64,
    precharge: u64,
}

/// State of a rank and its data bus. Times are the first clocks at which a command or a transfer is allowed.
#[derive(Clone, Debug)]
pub(super) struct Rank {
    timing: Timing,
    banks: Vec<Bank>,
    /// Clocks of the last four row activations.
    activates: VecDeque<u64>,
    /// First clock at which data of a read may be transferred.
    read_data: u64,
    /// First clock at which data of a write may be transferred.
    write_data: u64,
    /// First clock at which a read may be issued.
    read: u64,
}

impl Rank {
    /// Creates a rank with all rows closed.
    pub(super) fn new(timing: Timing, banks: usize) -> Rank {
        let banks = vec![Bank::default(); banks];
        Rank { timing, banks, activates: VecDeque::new(), read_data: 0, write_data: 0, read: 0 }
    }

    pub(super) fn open_row(&self, bank: usize) -> Option<u64> {
        self.banks[bank].open
    }

    pub(super) fn allows_activate(&self, now: u64, bank: usize) -> bool {
        let Timing { activate_to_activate, four_activates, .. } = self.timing;
        let after_last = self.activates.back().is_none_or(|&last| now >= last + activate_to_activate);
        let is_fifth = self.activates.len() == 4 && now < self.activates[0] + four_activates;
        now >= self.banks[bank].activate && after_last && !is_fifth
    }

    pub(super) fn allows_precharge(&self, now: u64, bank: usize) -> bool {
        now >= self.banks[bank].precharge
    }

    pub(super) fn allows_column(&self, now: u64, bank: usize, is_write: bool) -> bool {
        let has_bus = match is_write {
            true => now + self.timing.write_latency >= self.write_data,
            false => now + self.timing.read_latency >= self.read_data && now >= self.read,
        };
        now >= self.banks[bank].column && has_bus
    }

    /// Activates a row.
    pub(super) fn activate(&mut self, now: u64, bank: usize, row: u64) {
        self.activates.push_back(now);
        if self.activates.len() > 4 {
            self.activates.pop_front();
        }
        let Timing { activate_to_column, row_open, .. } = self.timing;
        let bank = &mut self.banks[bank];
        (bank.open, bank.column, bank.precharge) = (Some(row), now + activate_to_column, now + row_open);
    }

    /// Precharges a bank, which closes its open row.
    pub(super) fn precharge(&mut self, now: u64, bank: usize) {
        let bank = &mut self.banks[bank];
        (bank.open, bank.activate) = (None, now + self.timing.precharge);
    }

    /// Closes the open row of a bank as soon as the timing allows, without a command.
    pub(super) fn close_behind(&mut self, bank: usize) {
        self.precharge(self.banks[bank].precharge, bank);
    }

    /// Reads or writes the open row of a bank. Returns the clock at which the data transfer ends.
    pub(super) fn column(&mut self, now: u64, bank: usize, is_write: bool) -> u64 {
        let timing = self.timing;
        let latency = if is_write { timing.write_latency } else { timing.read_latency };
        let end = now + latency + timing.burst;
        let precharge = if is_write {
            (self.read_data, self.write_data) = (end, end);
            self.read = end + timing.write_to_read;
            end + timing.write_recovery
        } else {
            (self.read_data, self.write_data) = (end, end + timing.read_to_write_gap);
            now + timing.read_to_precharge
        };
        let bank = &mut self.banks[bank];
        bank.precharge = bank.precharge.max(precharge);
        end
    }
}
