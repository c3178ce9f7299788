//! Programs and erases: the controller's work while the host is idle.
//!
//! Background work has a separate clock, which runs only while no operation is suspended. If an operation of
//! duration `d` starts at time `t` of this clock, it ends at `t + d`, regardless of how often the host
//! suspends it.

use super::array::Array;
use super::history::Cleanings;
use super::relocation::{Cause, Relocation};
use super::write_buffer::{SlotState, WriteBuffer};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Ledger, Time};
use nacre_media::store::Store;

/// Number of pages at the tail of the buffer in which the controller searches for a page that can be
/// programmed concurrently.
const LOOK: usize = 64;

/// Durations of operations, and limits for the start of operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) program: Time,
    pub(super) erase: Time,
    pub(super) concurrency: usize,
    /// Number of pages in the buffer above which the controller drains pages.
    pub(super) threshold: u32,
    pub(super) wear_swap_gap: u32,
}

/// A program or erase in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) enum Operation {
    /// The page in buffer slot `slot` is being programmed into flash page `page`.
    Drain { slot: u32, page: u32 },
    /// Flash page `from` is being programmed into `to`, to relocate the segment `task`.
    Copy { task: u32, from: u32, to: u32 },
    /// The segment is being erased.
    Erase { segment: u32 },
}

#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Running {
    pub(super) operation: Operation,
    /// End time on the background clock.
    pub(super) done: Time,
    pub(super) bank: u32,
}

/// A relocation, the erase that ends or restarts it, and the further positions to relocate after it.
#[derive(Clone, Debug, Value)]
pub(super) struct Task {
    pub(super) relocation: Relocation,
    pub(super) is_erasing: bool,
    /// Further positions to relocate, starting with the last element. Each position is relocated into the
    /// segment that was erased before.
    pub(super) chain: Vec<u32>,
    /// The two positions whose data is exchanged, if the relocation is part of a wear swap.
    pub(super) swap: Option<[u32; 2]>,
}

/// Condition that can end background work before the available time is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// No condition: the work uses the whole available time.
    TimeIsUp,
    /// The work ends when a slot of the buffer is free.
    SlotIsFree,
    /// The work ends when no operation is in progress and the number of pages in the buffer is at most the
    /// threshold.
    BelowThreshold,
}

/// Operations in progress, and the relocations to which they belong.
#[derive(State)]
pub(super) struct Background {
    #[state(skip = "from the configuration")]
    pub(super) pace: Pace,
    pub(super) clock: Time,
    #[state(varies)]
    pub(super) running: Vec<Running>,
    #[state(varies)]
    pub(super) tasks: Vec<Task>,
    /// Energy and counts of operations, recorded at completion.
    pub(super) ledger: Ledger,
    /// Time spent per activity in the latest period of work, in the order of [`SPENT`].
    pub(super) spent: [Time; 4],
    /// Cleanings completed since the last query, with times on the background clock.
    #[state(varies)]
    pub(super) cleanings_done: Vec<(Time, Cleanings)>,
}

/// The activities of [`Background::spent`], in order.
pub(super) const SPENT: [Activity; 4] =
    [Activity::Drain, Activity::Clean, Activity::Erase, Activity::LevelWear];

impl Background {
    pub(super) fn new(pace: Pace) -> Background {
        Background {
            pace,
            clock: Time::ZERO,
            running: Vec::new(),
            tasks: Vec::new(),
            ledger: Ledger::default(),
            spent: [Time::ZERO; 4],
            cleanings_done: Vec::new(),
        }
    }

    /// Whether there is work to do.
    #[inline]
    pub(super) fn has_work(&self, buffer: &WriteBuffer) -> bool {
        !self.running.is_empty() || !self.tasks.is_empty() || self.is_above_threshold(buffer)
    }

    /// Whether an operation is in progress that an access must suspend.
    #[inline]
    pub(super) fn is_running(&self) -> bool {
        !self.running.is_empty()
    }

    #[inline]
    fn is_above_threshold(&self, buffer: &WriteBuffer) -> bool {
        buffer.held() - buffer.draining() > self.pace.threshold && buffer.count(SlotState::Dirty) > 0
    }

    /// Runs operations for `budget`, or until `until` is met. Returns the time used.
    pub(super) fn run<S: Store>(
        &mut self,
        array: &mut Array<S>,
        buffer: &mut WriteBuffer,
        budget: Time,
        until: Until,
    ) -> Time {
        let begin = self.clock;
        let end = begin + budget;
        self.spent = [Time::ZERO; 4];
        loop {
            let is_over = match until {
                Until::TimeIsUp => false,
                Until::SlotIsFree => buffer.count(SlotState::Free) > 0,
                Until::BelowThreshold => !self.is_above_threshold(buffer) && self.running.is_empty(),
            };
            if is_over {
                return self.clock - begin;
            }
            self.begin_operations(array, buffer, end, until);
            let Some(next) = self.next_done() else { return self.clock - begin };
            let Running { operation, done, .. } = self.running[next];
            let kind = self.kind(operation);
            self.spent[kind] += done.min(end) - self.clock;
            self.clock = done.min(end);
            if done > end {
                return budget;
            }
            self.running.swap_remove(next);
            self.complete(array, buffer, operation);
        }
    }

    /// Index of the operation in progress that ends first, if any. In a tie, the result is the operation in
    /// the bank with the lowest number.
    #[inline]
    fn next_done(&self) -> Option<usize> {
        if self.running.len() == 1 {
            return Some(0);
        }
        (0..self.running.len()).min_by_key(|&index| (self.running[index].done, self.running[index].bank))
    }

    /// Starts operations while work remains and the number of operations in progress is below the limit.
    #[inline]
    fn begin_operations<S: Store>(
        &mut self,
        array: &mut Array<S>,
        buffer: &mut WriteBuffer,
        end: Time,
        until: Until,
    ) {
        while self.running.len() < self.pace.concurrency {
            let is_wanted = match until {
                Until::SlotIsFree => buffer.count(SlotState::Free) == 0,
                _ => self.is_above_threshold(buffer),
            };
            let began = self.advance_task(array, end) || (is_wanted && self.drain_one(array, buffer, end));
            if !began {
                return;
            }
        }
    }

    /// Continues a relocation whose bank is free. Copies that are certain to end before `end` are completed
    /// immediately. Returns whether a copy or an erase was started.
    fn advance_task<S: Store>(&mut self, array: &mut Array<S>, end: Time) -> bool {
        for index in 0..self.tasks.len() {
            if self.tasks[index].is_erasing {
                continue;
            }
            if self.pace.concurrency == 1 {
                self.copy_in_bulk(array, index, end);
            }
            let mut relocation = self.tasks[index].relocation;
            let (operation, segment) = match array.next_live(&mut relocation) {
                Some((from, position)) => {
                    let segment = array.order[position];
                    if self.is_busy(array, segment) {
                        continue;
                    }
                    self.tasks[index].relocation = relocation;
                    let to = array.take_page_in(position);
                    (Operation::Copy { task: relocation.from, from, to }, segment)
                }
                None if array.lacks_pages(&relocation) => {
                    let to = array.order[relocation.position as usize];
                    if self.is_busy(array, to) || self.is_copying(relocation.from) {
                        continue;
                    }
                    let task = &mut self.tasks[index];
                    task.is_erasing = true;
                    let segment = array.undo(&mut task.relocation);
                    (Operation::Erase { segment }, segment)
                }
                None if array.live[relocation.from as usize] > 0 => continue,
                None if self.is_busy(array, relocation.from)
                    || self.outlasts_erase(array, relocation.from) =>
                {
                    continue;
                }
                None => {
                    self.tasks[index].is_erasing = true;
                    array.filled(relocation.position);
                    (Operation::Erase { segment: relocation.from }, relocation.from)
                }
            };
            self.begin(array, operation, segment);
            return true;
        }
        false
    }

    /// Copies pages, without a separate event for each page. The number of copies is limited by the time
    /// until `end`.
    fn copy_in_bulk<S: Store>(&mut self, array: &mut Array<S>, index: usize, end: Time) {
        let relocation = &mut self.tasks[index].relocation;
        let fit = (end - self.clock).as_ps() / self.pace.program.as_ps();
        let mut copied = 0;
        while copied < fit {
            copied += array.copy_run(relocation, fit - copied);
            if copied == fit {
                break;
            }
            let Some((from, position)) = array.next_live(relocation) else { break };
            let to = array.take_page_in(position);
            array.moved(relocation, from, to, position);
            copied += 1;
        }
        let time = Time::from_ps(copied * self.pace.program.as_ps());
        let kind = if relocation.cause == Cause::Cleaning { 1 } else { 3 };
        self.clock += time;
        self.spent[kind] += time;
        self.ledger.charge(SPENT[kind], time);
    }

    /// Starts to drain a page of the buffer, or to clean the partition of the page. If programs are not
    /// concurrent, a program that is certain to end before `end` is completed immediately. Returns whether an
    /// operation was started or completed.
    #[inline]
    fn drain_one<S: Store>(&mut self, array: &mut Array<S>, buffer: &mut WriteBuffer, end: Time) -> bool {
        if self.pace.concurrency == 1 && !self.tasks.is_empty() {
            return false;
        }
        let look = if self.pace.concurrency == 1 { 1 } else { LOOK };
        let mut blocked = None;
        let taken = buffer.take(look, |slot| {
            let partition = array.with_space(slot.partition as usize);
            let has_room = array.find_room(partition);
            if !has_room && blocked.is_none() {
                blocked = Some(partition);
            }
            has_room && !self.is_busy(array, array.order[array.partitions[partition].active])
        });
        if let Some(slot) = taken {
            let partition = array.with_space(buffer.slot(slot).partition as usize);
            let segment = array.order[array.partitions[partition].active];
            let page = array.take_page(partition);
            if self.pace.concurrency == 1 && end - self.clock >= self.pace.program {
                self.clock += self.pace.program;
                self.spent[0] += self.pace.program;
                self.complete(array, buffer, Operation::Drain { slot, page });
                return true;
            }
            self.begin(array, Operation::Drain { slot, page }, segment);
            return true;
        }
        match blocked {
            Some(partition) if self.can_clean(array, partition) => {
                let relocation = array.begin_cleaning(partition);
                self.tasks.push(Task { relocation, is_erasing: false, chain: Vec::new(), swap: None });
                self.advance_task(array, self.clock)
            }
            _ => false,
        }
    }

    /// Whether a cleaning may start in `partition`. A cleaning needs an erased segment. No wear swap may be
    /// in progress, and no relocation or program may be in progress in this partition.
    fn can_clean<S: Store>(&self, array: &Array<S>, partition: usize) -> bool {
        let is_in = |position: usize| array.partition_of(position) == partition;
        let mut tasks = self.tasks.iter();
        !array.standby.is_empty()
            && !tasks.any(|task| task.swap.is_some() || is_in(task.relocation.position as usize))
            && !self.is_programming(array, is_in)
    }

    /// Whether a page of `segment` is being copied.
    fn is_copying(&self, segment: u32) -> bool {
        let is_of = |operation| matches!(operation, Operation::Copy { task, .. } if task == segment);
        self.running.iter().any(|running| is_of(running.operation))
    }

    /// Whether an erase that starts now would end before a copy from `segment`, or a copy for its relocation,
    /// has completed. This can happen if the host overwrote the page during the copy. The segment then has no
    /// valid page, but its relocation has not ended.
    fn outlasts_erase<S: Store>(&self, array: &Array<S>, segment: u32) -> bool {
        let erased = self.clock + self.pace.erase;
        let is_of = |operation| match operation {
            Operation::Copy { task, from, .. } => task == segment || array.flash.block_of(from) == segment,
            _ => false,
        };
        self.running.iter().any(|running| is_of(running.operation) && running.done >= erased)
    }

    #[inline]
    fn begin<S: Store>(&mut self, array: &Array<S>, operation: Operation, segment: u32) {
        let time = match operation {
            Operation::Erase { .. } => self.pace.erase,
            _ => self.pace.program,
        };
        let bank = array.geometry.bank_of(segment);
        self.running.push(Running { operation, done: self.clock + time, bank });
    }

    #[inline]
    fn is_busy<S: Store>(&self, array: &Array<S>, segment: u32) -> bool {
        !self.running.is_empty() && {
            let bank = array.geometry.bank_of(segment);
            self.running.iter().any(|running| running.bank == bank)
        }
    }

    /// Index in [`SPENT`] of the activity of `operation`.
    #[inline]
    pub(super) fn kind(&self, operation: Operation) -> usize {
        match operation {
            Operation::Drain { .. } => 0,
            Operation::Erase { .. } => 2,
            Operation::Copy { task, .. } => match self.task(task).relocation.cause {
                Cause::Cleaning => 1,
                Cause::Wear => 3,
            },
        }
    }

    pub(super) fn task(&self, segment: u32) -> &Task {
        let found = self.tasks.iter().find(|task| task.relocation.from == segment);
        found.expect("an operation belongs to a relocation that is not over")
    }

    /// Mutable reference to the task that relocates `segment`.
    pub(super) fn task_mut(&mut self, segment: u32) -> &mut Task {
        let found = self.tasks.iter_mut().find(|task| task.relocation.from == segment);
        found.expect("an operation belongs to a relocation that is not over")
    }

    /// Number of pages reserved for programs in progress.
    pub(super) fn programs_under_way(&self) -> u64 {
        let is_program = |running: &&Running| !matches!(running.operation, Operation::Erase { .. });
        self.running.iter().filter(is_program).count() as u64
    }

    /// Returns the cleanings completed since the last call, with times on the background clock, and clears
    /// the list.
    #[inline]
    pub(super) fn take_cleanings_done(&mut self) -> Vec<(Time, Cleanings)> {
        std::mem::take(&mut self.cleanings_done)
    }

    /// Time until the next program or erase ends, if no other operation starts. `None` if no operation is in
    /// progress.
    #[inline]
    pub(super) fn next_in(&self) -> Option<Time> {
        self.next_done().map(|next| self.running[next].done - self.clock)
    }
}
