//! Limits on the number of dies that erase or program at one time.

use crate::config::Drive;
use crate::layout::geometry::Geometry;
use nacre_kernel::state::State;
use std::collections::{BTreeSet, VecDeque};

/// Selects the dies that erase next, if the number is limited.
#[derive(Debug, State)]
pub(super) struct EraseTurns {
    /// `None` without a limit.
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

    /// Whether the number of erases is limited.
    #[inline]
    pub(super) fn are_kept(&self) -> bool {
        self.most.is_some()
    }

    pub(super) fn add(&mut self, command: u32) {
        self.waiting.push_back(command);
    }

    /// The next erase whose turn has come, out of those that `is_ready` accepts.
    pub(super) fn next(&mut self, is_ready: impl Fn(u32) -> bool) -> Option<u32> {
        let &first = self.waiting.front()?;
        if Some(self.under_way) == self.most || !is_ready(first) {
            return None;
        }
        self.under_way += 1;
        self.waiting.pop_front()
    }

    /// Removes the first waiting erase that `is_it` accepts: it starts without a turn.
    pub(super) fn take(&mut self, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let place = self.waiting.iter().position(|&command| is_it(command))?;
        self.waiting.remove(place)
    }

    /// An erase with a turn has ended.
    pub(super) fn end(&mut self) {
        self.under_way -= 1;
    }

    pub(super) fn clear(&mut self) {
        self.under_way = 0;
        self.waiting.clear();
    }
}

/// Selects the dies that program next, if a power budget limits their number.
#[derive(Debug, State)]
pub(super) struct ProgramTurns {
    /// `None` without a limit.
    #[state(skip = "from the configuration")]
    most: Option<u32>,
    under_way: u32,
    /// Dies with a program whose data has crossed, by command number.
    waiting: BTreeSet<(u64, u32)>,
}

impl ProgramTurns {
    pub(super) fn new(config: &Drive, geometry: &Geometry) -> ProgramTurns {
        let most = config.programs_at_once.filter(|&most| most < geometry.dies);
        ProgramTurns { most, under_way: 0, waiting: BTreeSet::new() }
    }

    /// Whether the number of programs is limited.
    #[inline]
    pub(super) fn are_kept(&self) -> bool {
        self.most.is_some()
    }

    /// Queues `die` for a turn for the program with this number.
    pub(super) fn ask(&mut self, number: u64, die: u32) {
        self.waiting.insert((number, die));
    }

    /// The die whose turn has come, if any.
    pub(super) fn next(&mut self) -> Option<u32> {
        if Some(self.under_way) == self.most {
            return None;
        }
        self.waiting.pop_first().map(|(_, die)| die)
    }

    /// A program with a turn starts.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.under_way += 1;
    }

    /// A program has ended.
    #[inline]
    pub(super) fn end(&mut self) {
        self.under_way -= 1;
    }

    pub(super) fn clear(&mut self) {
        self.under_way = 0;
        self.waiting.clear();
    }
}
