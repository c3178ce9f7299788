//! What the tables of a drive tell the schedule to do: programs, reads for copies, erases.

use super::errors::Sensing;
use super::flash_ops::{Cause, Copied, FlashOps};
use super::geometry::{Cells, Spot};
use super::line::Task;
use super::schedule::Schedule;
use nacre_kernel::{Activity, Time};
use nacre_media::flash::{Block, Operation};

/// A schedule that does work of one request.
pub(super) struct Working<'a> {
    pub(super) schedule: &'a mut Schedule,
    /// When the request came.
    pub(super) now: Time,
    /// When what the drive does for it begins.
    pub(super) at: Time,
}

impl Schedule {
    /// What the flash has to do from `at` on for a request that came at `now`.
    #[inline]
    pub(super) fn from(&mut self, now: Time, at: Time) -> Working<'_> {
        Working { schedule: self, now, at }
    }
}

/// What the die's time is charged to.
fn activity(cause: Cause) -> Activity {
    match cause {
        Cause::Host => Activity::Drain,
        Cause::Cleaning | Cause::Refresh => Activity::Clean,
        Cause::Wear => Activity::LevelWear,
        Cause::Mapping => Activity::Translate,
    }
}

impl FlashOps for Working<'_> {
    fn program(&mut self, superblock: u32, operation: u32, cells: Cells, cause: Cause, is_mixed: bool) {
        let (schedule, now, at) = (&mut *self.schedule, self.now, self.at);
        let spot = Spot { cells, ..schedule.geometry.spot(operation) };
        let time = schedule.pace.programming(spot);
        let is_inside = schedule.pace.is_inside(cause);
        let transfer = if is_inside { schedule.pace.command } else { schedule.pace.program_transfer };
        let number = schedule.geometry.number_on_die(superblock, operation);
        if schedule.erase_turns.are_kept() {
            schedule.erase_in_turn(now, superblock, operation, spot.die);
        }
        if schedule.geometry.is_first(operation)
            && let Some(errors) = &mut schedule.errors.0
        {
            errors.begin_filling(superblock, at);
        }
        let pages = schedule.geometry.operation_units / schedule.geometry.units_per_page;
        let task = Task::program(number, activity(cause), pages);
        let ready = if cause == Cause::Host { at } else { schedule.copied_of(spot.die).max(at) };
        if schedule.pace.joins_planes
            && let Some(end) = schedule.join_planes((now, ready), spot, task, (time, transfer))
        {
            let end = (spot.die, end);
            return schedule.note_program((superblock, operation), end, (now, cause, is_mixed), true);
        }
        let crossing = if is_inside { 0 } else { pages };
        let end = schedule.program_on((now, ready), spot.die, task, (time, transfer, crossing));
        schedule.note_program((superblock, operation), (spot.die, end), (now, cause, is_mixed), false);
    }

    fn program_parity(&mut self, superblock: u32, operation: u32, cells: Cells, cause: Cause) {
        let (schedule, now, at) = (&mut *self.schedule, self.now, self.at);
        let spot = Spot { cells, ..schedule.geometry.spot(operation) };
        if schedule.erase_turns.are_kept() {
            schedule.erase_in_turn(now, superblock, operation, spot.die);
        }
        let time = schedule.pace.programming(spot);
        let pages = schedule.geometry.operation_units / schedule.geometry.units_per_page;
        let number = schedule.geometry.number_on_die(superblock, operation);
        let task = Task::program(number, Activity::Correct, pages);
        let ready = if cause == Cause::Host { at } else { schedule.copied_of(spot.die).max(at) };
        // It holds no place in the write buffer, and a flush does not wait for it: what it protects is on the flash.
        let transfer = schedule.pace.program_transfer;
        schedule.program_on((now, ready), spot.die, task, (time, transfer, pages));
    }

    fn read(&mut self, superblock: u32, operation: u32, cells: Cells, units: u32, cause: Cause) {
        let sensing = match &mut self.schedule.errors.0 {
            Some(errors) if cause != Cause::Mapping => errors.take_copied(superblock),
            _ => Sensing::default(),
        };
        self.read_sensed(operation, cells, units, cause, sensing);
    }

    #[inline]
    fn copied(&mut self, copied: &Copied, blocks: &[Block]) {
        let Schedule { geometry, pace, errors, .. } = &mut *self.schedule;
        if let Some(errors) = &mut errors.0 {
            if pace.is_inside(copied.cause) {
                return errors.copy_inside(copied, blocks, self.at);
            }
            let block = &blocks[(copied.from >> geometry.shift) as usize];
            if errors.copy(copied, block.erases, self.at) && !self.rebuild(copied, block) {
                self.lose(copied.owner);
            }
        }
    }

    fn erase(&mut self, superblock: u32) {
        let (schedule, now, at) = (&mut *self.schedule, self.now, self.at);
        let (on, blocks) = (schedule.geometry.dies_of(superblock), schedule.geometry.blocks_per_die());
        let ready = schedule.copied_of(on.start).max(at);
        let dies = on.len() as u64;
        if schedule.erase_turns.are_kept() {
            schedule.erase_turns.add(superblock, ready, on);
            schedule.erase_turns.begin(now, &mut schedule.dies);
        } else {
            for die in &mut schedule.dies[on.start as usize..on.end as usize] {
                die.work(now, ready, schedule.pace.erase, Task::erase(blocks));
            }
        }
        schedule.die_charges.charge(Activity::Erase, schedule.pace.erase * dies);
        let blocks = u64::from(schedule.geometry.blocks_per_superblock());
        schedule.die_charges.count(Operation::Erase as usize, Activity::Erase, blocks);
    }

    fn die_free_from(&mut self, die: u32) -> Time {
        let Schedule { erase_turns, dies, .. } = &mut *self.schedule;
        if !erase_turns.is_idle() {
            erase_turns.begin(self.now, dies);
        }
        let die = &mut dies[die as usize];
        die.begin_before(self.now);
        die.free_from().max(self.at)
    }
}

impl Schedule {
    /// Has `die` do `task`, a program whose data is ready then: it takes so long, so long to cross the channel, and so many
    /// pages cross. Gives where it ends on the line of the die.
    #[inline(always)]
    fn program_on(
        &mut self,
        (now, ready): (Time, Time),
        die: u32,
        task: Task,
        (time, transfer, crossing): (Time, Time, u32),
    ) -> Time {
        let die = &mut self.dies[die as usize];
        die.begin_before(now);
        // A die takes data in while it works on what came before; without that it has to be idle.
        let open = if self.pace.cached { die.last_start() } else { die.free_from() };
        let begin = match self.arbiters.get_mut(die.channel as usize) {
            Some(arbiter) => arbiter.other(now, ready.max(open), transfer),
            None => self.channels[die.channel as usize].reserve(ready.max(open), transfer),
        };
        let across = begin + transfer;
        // The data is on its die, and waits there where too many others program.
        let start = match &mut self.program_turns.0 {
            Some(turns) => turns.reserve(across.max(die.free_from()), time),
            None => across,
        };
        let end = if self.pace.cached {
            die.work(now, start, time, task)
        } else {
            die.work(now, start - transfer, transfer + time, task)
        };
        let occupied = if self.pace.cached { time } else { transfer + time };
        self.die_charges.charge(task.activity, occupied);
        self.charge_crossing(transfer, crossing);
        self.counts.programs += 1;
        if self.carries_bytes {
            self.note_crossing(Operation::Program, begin, transfer, crossing);
        }
        end
    }
}

impl Working<'_> {
    /// Reads so many units of one operation to copy them or look into them, for whose wrong bits this is needed.
    #[inline(always)]
    fn read_sensed(&mut self, operation: u32, cells: Cells, units: u32, cause: Cause, again: Sensing) {
        let (schedule, now, at) = (&mut *self.schedule, self.now, self.at);
        let spot = Spot { cells, ..schedule.geometry.spot(operation) };
        let (pages, time) = schedule.crossing(units);
        let senses = 1 + u64::from(again.senses);
        let (pages, time) = (pages * (1 + again.senses), time * senses);
        let (read, decoding) = (schedule.pace.reading(spot) * senses, again.decoding);
        let is_inside = schedule.pace.is_inside(cause);
        let (crossing, time) = if is_inside { (0, schedule.pace.command) } else { (pages, time) };
        let die = &mut schedule.dies[spot.die as usize];
        let occupied = if schedule.pace.cached { read } else { read + time };
        let end = die.work(now, at, occupied, Task::read(activity(cause), pages));
        let sensed = die.time_of(end).saturating_sub(occupied - read);
        let begin = match schedule.arbiters.get_mut(die.channel as usize) {
            Some(arbiter) => arbiter.other(now, sensed, time),
            None => schedule.channels[die.channel as usize].reserve(sensed, time),
        };
        schedule.note_copied(spot.die, begin + time + decoding);
        schedule.die_charges.charge(activity(cause), occupied);
        schedule.charge_crossing(time, crossing);
        if schedule.carries_bytes {
            schedule.note_crossing(Operation::Read, begin, time, crossing);
        }
        match cause {
            Cause::Mapping => schedule.count_read(Activity::Translate, 1),
            // Planes are read together, and each takes its energy.
            _ => {
                schedule.counts.copy_reads += 1;
                schedule.count_read(Activity::Clean, pages);
            }
        }
    }

    /// The unit that is copied is beyond the code, in a superblock whose first block is `block`: where there is parity, the
    /// others of its stripe are read beside it. Gives whether it is rebuilt from them.
    #[inline(never)]
    fn rebuild(&mut self, copied: &Copied, block: &Block) -> bool {
        let Copied { from, cells, .. } = *copied;
        let others = self.schedule.geometry.others(from, block.programmed, true);
        let mut is_rebuilt = !others.is_empty();
        for other in &others {
            let Some(errors) = &mut self.schedule.errors.0 else { return false };
            let sensing = errors.decode_other(other, block.erases, cells, self.at);
            errors.count_rebuild_read(sensing.senses);
            is_rebuilt &= !sensing.is_lost;
            self.read_sensed(other.operation, cells, 1, Cause::Refresh, sensing);
        }
        if let Some(errors) = &mut self.schedule.errors.0 {
            errors.count_rebuilt(is_rebuilt);
        }
        is_rebuilt
    }

    #[inline(never)]
    fn lose(&mut self, owner: u32) {
        if let Some(errors) = &mut self.schedule.errors.0 {
            errors.lose(owner);
        }
    }
}
