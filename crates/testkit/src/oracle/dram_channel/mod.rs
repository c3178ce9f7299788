//! Reference model of a memory controller with one rank of DRAM, simulated one clock at a time.

mod rank;
#[cfg(test)]
mod tests;

use super::arrivals::{Arrivals, Waiting};
use super::{Load, Visit};
use nacre_kernel::Time;
pub use rank::Timing;
use rank::{Command, Rank};

/// A memory controller with one rank.
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    /// Clock period. Commands are issued at multiples of this period.
    pub clock: Time,
    /// Timing constraints between commands.
    pub timing: Timing,
    /// Number of banks.
    pub banks: usize,
    /// Whether each access closes its row. Otherwise, a row stays open until its bank needs another row.
    pub closes_rows: bool,
    /// Number of oldest waiting accesses that the controller considers, at least 1. An access waits until its
    /// read or write command is issued. With 1, accesses are served in order of arrival.
    pub queue: usize,
    /// Watermarks of a separate write queue. `None` means that reads and writes are treated equally.
    pub writes: Option<Watermarks>,
}

/// Numbers of queued writes at which a controller switches between reads and writes.
///
/// The controller switches to writes if there are `high` writes, or no reads. It continues with writes until
/// only `low` of them are left and a read waits, or until no writes are left.
#[derive(Clone, Copy, Debug)]
pub struct Watermarks {
    /// High watermark. It exceeds `low` and is at most the length of the queue.
    pub high: usize,
    /// Low watermark. It is less than `high`.
    pub low: usize,
}

/// An access that transfers one burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Bank of the access.
    pub bank: usize,
    /// Row of the access.
    pub row: u64,
    /// Whether the access is a write.
    pub is_write: bool,
}

/// Serves `accesses` with the FR-FCFS policy (first ready, first come, first served). In each clock, the
/// controller issues one command, the first of these that the timing allows:
///
/// 1. the read or write of the oldest access whose row is open (a row hit);
/// 2. from the oldest access to the newest, the command that opens its row, or the command that closes
///    another row in its bank, unless an access that is being served hits that row.
///
/// An access that arrives at a clock edge is considered at that edge. An access is complete when its last
/// data was transferred.
#[must_use]
pub fn serve(controller: &Controller, accesses: &[Access], load: Load<'_>) -> Vec<Visit> {
    assert!(controller.queue >= 1, "the controller sees an access");
    if let Some(Watermarks { high, low }) = controller.writes {
        assert!(low < high && high <= controller.queue, "watermarks lie in the queue");
    }
    let mut arrivals = Arrivals::new(accesses.len(), load);
    let mut visits = vec![Visit::default(); accesses.len()];
    let mut rank = Rank::new(controller.timing, controller.banks);
    let mut waiting: Vec<Waiting> = Vec::new();
    let mut is_writing = false;
    let mut now = 0;
    loop {
        while let Some(arrived) = arrivals.take(controller.clock * now) {
            waiting.push(arrived);
        }
        if waiting.is_empty() {
            let Some(arrival) = arrivals.next() else { return visits };
            now = arrival.as_ps().div_ceil(controller.clock.as_ps());
            continue;
        }
        let seen = &waiting[..waiting.len().min(controller.queue)];
        if let Some(watermarks) = controller.writes {
            let writes = seen.iter().filter(|seen| accesses[seen.request].is_write).count();
            is_writing = watermarks.is_writing(is_writing, seen.len() - writes, writes);
        }
        let is_served = |access: Access| controller.writes.is_none() || access.is_write == is_writing;
        // Each access with its index in `waiting`.
        let served: Vec<(usize, Access)> = seen
            .iter()
            .map(|seen| accesses[seen.request])
            .enumerate()
            .filter(|&(_, access)| is_served(access))
            .collect();
        match choose(&rank, now, &served) {
            Some((Command::Column, position, access)) => {
                let done = controller.clock * rank.column(now, access.bank, access.is_write);
                if controller.closes_rows {
                    rank.close_behind(access.bank);
                }
                let Waiting { request, arrived } = waiting.remove(position);
                visits[request] = Visit { arrived, done };
                arrivals.completed(done);
            }
            Some((Command::Activate, _, access)) => rank.activate(now, access.bank, access.row),
            Some((Command::Precharge, _, access)) => rank.precharge(now, access.bank),
            None => {}
        }
        now += 1;
    }
}

/// Returns the command to issue at `now` for one of the `served` accesses, which are sorted from oldest to
/// newest. Returns `None` if the timing allows no command.
fn choose(rank: &Rank, now: u64, served: &[(usize, Access)]) -> Option<(Command, usize, Access)> {
    let is_hit = |access: &Access| rank.open_row(access.bank) == Some(access.row);
    let hit = served
        .iter()
        .find(|(_, access)| is_hit(access) && rank.allows_column(now, access.bank, access.is_write));
    if let Some(&(position, access)) = hit {
        return Some((Command::Column, position, access));
    }
    served.iter().find_map(|&(position, access)| match rank.open_row(access.bank) {
        None => rank.allows_activate(now, access.bank).then_some((Command::Activate, position, access)),
        Some(row) if row == access.row => None,
        Some(_) => {
            let is_wanted = served.iter().any(|(_, other)| other.bank == access.bank && is_hit(other));
            (!is_wanted && rank.allows_precharge(now, access.bank)).then_some((
                Command::Precharge,
                position,
                access,
            ))
        }
    })
}

impl Watermarks {
    /// Returns whether writes are served next. `was_writing` states whether writes were served last.
    fn is_writing(&self, was_writing: bool, reads: usize, writes: usize) -> bool {
        if was_writing {
            writes > 0 && (writes > self.low || reads == 0)
        } else {
            writes >= self.high || reads == 0
        }
    }
}
