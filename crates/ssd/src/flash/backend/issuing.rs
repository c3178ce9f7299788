//! Commands that the drive issues to the flash.

use super::Backend;
use crate::errors::Sensing;
use crate::flash::command::{Command, Kind, NONE, Owner};
use crate::flash::die::{Lined, Parked};
use crate::layout::geometry::{Cells, Spot};
use crate::ops::{Cause, Copied, FlashOps};
use nacre_kernel::{Activity, Time};
use nacre_media::flash::Block;
use std::collections::VecDeque;
use std::ops::Range;

/// A host read of units of one operation.
#[derive(Clone, Debug)]
pub(crate) struct HostRead {
    /// Request or part that waits for the read.
    pub(crate) owner: Owner,
    pub(crate) spot: Spot,
    /// Planes that the read uses; ignored unless planes read independently.
    pub(crate) planes: Range<u32>,
    pub(crate) units: u32,
    /// Time for which the data occupies the channel.
    pub(crate) data: Time,
    /// Activity to which the die time is charged.
    pub(crate) activity: Activity,
}

/// Returns the activity to which die time with this cause is charged.
fn activity(cause: Cause) -> Activity {
    match cause {
        Cause::Host => Activity::Drain,
        Cause::Cleaning | Cause::Refresh => Activity::Clean,
        Cause::Wear => Activity::LevelWear,
        Cause::Mapping => Activity::Translate,
    }
}

impl Backend {
    /// Issues a host read.
    #[inline]
    pub(crate) fn read(&mut self, read: &HostRead) {
        let pages = if read.units == 1 { 1 } else { self.geometry.pages_of(read.units) };
        let lanes = match self.timing.lanes {
            1 => 1,
            _ => (u64::MAX >> (64 - read.planes.len())) << read.planes.start,
        };
        let command = Command {
            kind: Kind::Read,
            owner: read.owner,
            activity: read.activity,
            die: read.spot.die,
            lanes,
            pages,
            array: self.timing.sensing(read.spot),
            command: self.timing.command * u64::from(pages),
            data: read.data,
            is_ready: true,
            ..Command::default()
        };
        let order = self.issued;
        let number = self.issue(command);
        let die = &mut self.dies[read.spot.die as usize];
        if self.timing.read_priority {
            die.reads.push_back(number);
        } else {
            die.queued += command.array;
            die.line.push_back(Lined { order, command: number, kind: Kind::Read });
        }
        self.look_at(read.spot.die);
    }

    /// Assigns a number to `command` and stores it.
    #[inline]
    fn issue(&mut self, command: Command) -> u32 {
        let (number, entry) = self.commands.take();
        *entry = Command { order: self.issued, issued: self.now, ..command };
        self.issued += 1;
        number
    }

    fn issue_program(
        &mut self,
        (superblock, operation): (u32, u32),
        cells: Cells,
        (activity, cause): (Activity, Cause),
        is_mixed: bool,
    ) -> u32 {
        let spot = Spot { cells, ..self.geometry.spot(operation) };
        let pages = self.geometry.operation_units / self.geometry.units_per_page;
        let is_inside = self.timing.is_inside(cause) && activity != Activity::Correct;
        let program = self.geometry.number_on_die(superblock, operation);
        if self.geometry.is_first(operation)
            && let Some(errors) = &mut self.errors
        {
            errors.begin_filling(superblock, self.now);
        }
        if self.erase_turns.are_kept() && operation < self.geometry.dies {
            self.erase_now(superblock, spot.die);
        }
        let command = Command {
            kind: Kind::Program,
            activity,
            die: spot.die,
            lanes: u64::MAX,
            pages,
            superblock,
            program,
            array: self.timing.programming(spot),
            command: if is_inside { self.timing.command } else { self.timing.command * u64::from(pages) },
            data: if is_inside { Time::ZERO } else { self.timing.program_data },
            is_ready: true,
            ..Command::default()
        };
        let number = self.issue(command);
        if cause != Cause::Host {
            let scope = self.scope_of(spot.die);
            let waits = self.copies[scope].wait(number);
            self.commands[number].is_ready = !waits;
        }
        if self.flush_waits && is_mixed {
            self.commands[number].number = self.programs.begin();
        }
        let die = &mut self.dies[spot.die as usize];
        die.add_program(program);
        die.queued += command.array;
        self.line_up(spot.die, number);
        number
    }

    /// Reads units of one operation in order to copy or check them.
    pub(super) fn read_for_copy(
        &mut self,
        (superblock, operation): (u32, u32),
        cells: Cells,
        units: u32,
        (cause, again): (Cause, Sensing),
    ) {
        let spot = Spot { cells, ..self.geometry.spot(operation) };
        let senses = 1 + again.senses;
        let pages = self.geometry.pages_of(units) * senses;
        let is_inside = self.timing.is_inside(cause);
        let scope = self.scope_of(spot.die);
        let command = Command {
            kind: Kind::Read,
            owner: Owner::Copy,
            activity: activity(cause),
            die: spot.die,
            lanes: u64::MAX >> (64 - self.timing.lanes),
            pages,
            superblock,
            array: self.timing.sensing(spot) * u64::from(senses),
            command: if is_inside { self.timing.command } else { self.timing.command * u64::from(pages) },
            data: match cause {
                _ if is_inside => Time::ZERO,
                Cause::Mapping => self.timing.mapping_data,
                _ => self.timing.unit_data * u64::from(units) * u64::from(senses),
            },
            decoding: again.decoding,
            is_ready: true,
            number: self.copies[scope].begin(),
            ..Command::default()
        };
        let number = self.issue(command);
        self.dies[spot.die as usize].queued += command.array;
        self.line_up(spot.die, number);
    }

    /// Adds `command` to the queue of `die`, or parks the command if it cannot start yet.
    fn line_up(&mut self, die: u32, command: u32) {
        let Command { order, kind, superblock, is_ready, .. } = self.commands[command];
        let state = &mut self.dies[die as usize];
        let parked = state.parked.iter_mut().find(|parked| parked.superblock == superblock);
        match parked {
            Some(parked) => parked.commands.push_back(command),
            None if is_ready => {
                state.line.push_back(Lined { order, command, kind });
                self.look_at(die);
            }
            None => state.parked.push(Parked { superblock, commands: VecDeque::from([command]) }),
        }
    }

    /// Moves a parked command of `superblock` that can now start to the queue of `die`, together with the
    /// commands that it held back. Nothing moves while an earlier command of the superblock is parked.
    pub(super) fn unpark(&mut self, die: u32, superblock: u32) {
        let commands = &self.commands;
        let state = &mut self.dies[die as usize];
        let place = state.parked.iter().position(|parked| parked.superblock == superblock);
        let Some(place) = place else { return };
        let parked = &mut state.parked[place].commands;
        while let Some(command) = parked.pop_front_if(|command| commands[*command].is_ready) {
            let Command { order, kind, .. } = commands[command];
            let place = state.line.partition_point(|other| other.order < order);
            state.line.insert(place, Lined { order, command, kind });
        }
        if parked.is_empty() {
            state.parked.swap_remove(place);
        }
        self.look_at(die);
    }

    /// Reads, in parallel, the other stripe units of an uncorrectable unit that is being copied. Returns
    /// whether the unit is rebuilt, which requires parity.
    #[inline(never)]
    fn rebuild(&mut self, copied: &Copied, block: &Block) -> bool {
        let Copied { from, cells, .. } = *copied;
        let others = self.geometry.others(from, block.programmed, true);
        let mut is_rebuilt = !others.is_empty();
        let (superblock, _) = self.geometry.place_at(from);
        for other in &others {
            let Some(errors) = &mut self.errors else { return false };
            let sensing = errors.decode_other(other, block.erases, cells, self.now);
            errors.count_rebuild_read(sensing.senses);
            is_rebuilt &= !sensing.is_lost;
            self.read_for_copy((superblock, other.operation), cells, 1, (Cause::Refresh, sensing));
        }
        if let Some(errors) = &mut self.errors {
            errors.count_rebuilt(is_rebuilt);
        }
        is_rebuilt
    }

    /// Starts the erase of `superblock` on `die` without a grant, because the superblock is written next.
    fn erase_now(&mut self, superblock: u32, die: u32) {
        loop {
            let commands = &self.commands;
            let is_it =
                |number: u32| (commands[number].superblock, commands[number].die) == (superblock, die);
            let Some(number) = self.erase_turns.take(is_it) else { return };
            self.commands[number].has_slot = false;
            self.line_up(die, number);
        }
    }

    /// Adds erases that were granted to the queues of their dies.
    pub(super) fn give_erase_turns(&mut self) {
        let (commands, mut turns) = (&self.commands, Vec::new());
        while let Some(number) = self.erase_turns.next(|number| commands[number].is_ready) {
            self.erase_turns.begin();
            turns.push(number);
        }
        for number in turns {
            let die = self.commands[number].die;
            self.line_up(die, number);
        }
    }
}

impl FlashOps for Backend {
    fn program(
        &mut self,
        superblock: u32,
        operation: u32,
        cells: Cells,
        cause: Cause,
        is_mixed: bool,
        omitted: u64,
    ) {
        let is_mixed = is_mixed || cause == Cause::Host;
        let number = self.issue_program((superblock, operation), cells, (activity(cause), cause), is_mixed);
        if omitted > 0 {
            let data = &mut self.commands[number].data;
            *data = data.saturating_sub(self.timing.bus.time_for(omitted));
        }
        if cause == Cause::Host {
            self.commands[number].has_slot = true;
            let geometry = &self.geometry;
            let bytes = u64::from(geometry.operation_units) * u64::from(geometry.unit_bytes) - omitted;
            self.slots.take(self.commands[number].order, bytes);
        }
    }

    fn program_parity(&mut self, superblock: u32, operation: u32, cells: Cells, cause: Cause) {
        // Parity has no slot in the write buffer, and a flush does not wait for parity because the data that
        // it covers is in flash.
        self.issue_program((superblock, operation), cells, (Activity::Correct, cause), false);
    }

    fn read(&mut self, superblock: u32, operation: u32, cells: Cells, units: u32, cause: Cause) {
        let sensing = match &mut self.errors {
            Some(errors) if cause != Cause::Mapping => errors.take_copied(superblock),
            _ => Sensing::default(),
        };
        self.read_for_copy((superblock, operation), cells, units, (cause, sensing));
    }

    #[inline]
    fn copied(&mut self, copied: &Copied, blocks: &[Block]) {
        let Some(errors) = &mut self.errors else { return };
        if self.timing.is_inside(copied.cause) {
            return errors.copy_inside(copied, blocks, self.now);
        }
        let block = &blocks[self.geometry.place_at(copied.from).0 as usize];
        if errors.copy(copied, block.erases, self.now)
            && !self.rebuild(copied, block)
            && let Some(errors) = &mut self.errors
        {
            errors.lose(copied.owner);
        }
    }

    fn erase(&mut self, superblock: u32) {
        let on = self.geometry.dies_of(superblock);
        let blocks = self.geometry.blocks_per_die();
        let has_turn = self.erase_turns.are_kept();
        let mut chain = NONE;
        for die in (0..self.geometry.blocks_of_plane).flat_map(|_| on.clone().rev()) {
            chain = self.issue(Command {
                kind: Kind::Erase,
                activity: Activity::Erase,
                die,
                lanes: u64::MAX,
                pages: blocks,
                superblock,
                array: self.timing.erase,
                has_slot: has_turn,
                next: chain,
                ..Command::default()
            });
        }
        let scope = self.scope_of(on.start);
        let is_ready = !self.copies[scope].wait(chain);
        let (order, mut number) = (self.issued, chain);
        while number != NONE {
            self.commands[number].is_ready = is_ready;
            let die = self.commands[number].die;
            if has_turn {
                self.erase_turns.ask(order, number);
            } else {
                self.line_up(die, number);
            }
            self.dies[die as usize].queued += self.timing.erase;
            number = self.commands[number].next;
        }
        if has_turn {
            self.give_erase_turns();
        }
    }

    fn die_free_from(&mut self, die: u32) -> Time {
        self.dies[die as usize].expected_free(self.now)
    }
}
