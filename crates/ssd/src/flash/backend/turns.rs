//! Limits on the number of dies that erase or program simultaneously.

use crate::config::Drive;
use crate::layout::geometry::Geometry;
use nacre_kernel::state::State;
use std::collections::{BTreeSet, VecDeque};

/// Grants erases to dies if the number of simultaneous erases is limited.
#[derive(Debug, State)]
pub(super) struct EraseTurns {
    /// Maximum number of erases; `None` means no limit.
    #[state(skip = "from the configuration")]
    most: Option<u32>,
    under_way: u32,
    /// Waiting erases, oldest first.
    #[state(varies)]
    waiting: VecDeque<u32>,
}

impl EraseTurns {
    pub(super) fn new(config: &Drive, geometry: &Geometry) -> EraseTurns {
        let most = config.erases_at_once.filter(|&most| most < geometry.dies);
        EraseTurns { most, under_way: 0, waiting: VecDeque::new() }
    }

    /// Whether the number of simultaneous erases is limited.
    #[inline]
    pub(super) fn are_kept(&self) -> bool {
        self.most.is_some()
    }

    pub(super) fn add(&mut self, command: u32) {
        self.waiting.push_back(command);
    }

    /// Removes and returns the oldest waiting erase that `is_ready` accepts, if another erase may start.
    pub(super) fn next(&mut self, is_ready: impl Fn(u32) -> bool) -> Option<u32> {
        let &first = self.waiting.front()?;
        if Some(self.under_way) == self.most || !is_ready(first) {
            return None;
        }
        self.under_way += 1;
        self.waiting.pop_front()
    }

    /// Removes the first waiting erase that `is_it` accepts. That erase starts without a grant.
    pub(super) fn take(&mut self, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let place = self.waiting.iter().position(|&command| is_it(command))?;
        self.waiting.remove(place)
    }

    /// Records the end of a granted erase.
    pub(super) fn end(&mut self) {
        self.under_way -= 1;
    }

    pub(super) fn clear(&mut self) {
        self.under_way = 0;
        self.waiting.clear();
    }
}

/// Grants programs to dies if a power budget limits the number of simultaneous programs.
#[derive(Debug, State)]
pub(super) struct ProgramTurns {
    /// Maximum number of programs; `None` means no limit.
    #[state(skip = "from the configuration")]
    most: Option<u32>,
    under_way: u32,
    /// Command number and die of each program whose data has been transferred, in command order.
    waiting: BTreeSet<(u64, u32)>,
}

impl ProgramTurns {
    pub(super) fn new(config: &Drive, geometry: &Geometry) -> ProgramTurns {
        let most = config.programs_at_once.filter(|&most| most < geometry.dies);
        ProgramTurns { most, under_way: 0, waiting: BTreeSet::new() }
    }

    /// Whether the number of simultaneous programs is limited.
    #[inline]
    pub(super) fn are_kept(&self) -> bool {
        self.most.is_some()
    }

    /// Queues `die` for a grant to start the program with this number.
    pub(super) fn ask(&mut self, number: u64, die: u32) {
        self.waiting.insert((number, die));
    }

    /// Removes and returns the die that may start its program next, if any.
    pub(super) fn next(&mut self) -> Option<u32> {
        if Some(self.under_way) == self.most {
            return None;
        }
        self.waiting.pop_first().map(|(_, die)| die)
    }

    /// Records the start of a granted program.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.under_way += 1;
    }

    /// Records the end of a program.
    #[inline]
    pub(super) fn end(&mut self) {
        self.under_way -= 1;
    }

    pub(super) fn clear(&mut self) {
        self.under_way = 0;
        self.waiting.clear();
    }
}
