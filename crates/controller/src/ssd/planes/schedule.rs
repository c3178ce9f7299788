//! Pages of several planes of a die that are programmed by one command, since they wait with the same page number.

use super::super::flash_ops::Cause;
use super::super::geometry::Spot;
use super::super::line::Task;
use super::super::schedule::{Issued, Schedule};
use nacre_kernel::Time;
use nacre_media::flash::Operation;

impl Schedule {
    /// Has the page of `task`, whose data is ready at `ready`, programmed together with one that waits on its die. It is
    /// programmed in `time`, and crosses the channel in `transfer`. Gives where that ends on the line of the die; `None` where none waits, or the data would come too late for it.
    #[inline(never)]
    pub(in super::super) fn join_planes(
        &mut self,
        (now, ready): (Time, Time),
        spot: Spot,
        task: Task,
        (time, transfer): (Time, Time),
    ) -> Option<Time> {
        let Schedule { geometry, pace, dies, arbiters, channels, .. } = self;
        let cached = pace.cached;
        let die = &mut dies[spot.die as usize];
        let channel = die.channel as usize;
        let duration = if cached { time } else { transfer + time };
        let (mut crossing, mut takes) = (Time::ZERO, Time::ZERO);
        // Without cached commands all data crosses before the planes begin; with them it has crossed by then.
        let least = if cached { ready + transfer } else { ready };
        let cross = |start: Time, longer: Time| {
            let from = if cached { ready } else { start + transfer + longer };
            crossing = match arbiters.get_mut(channel) {
                Some(arbiter) => arbiter.other(now, from, transfer),
                None => channels[channel].reserve(from, transfer),
            };
            let across = crossing + transfer;
            if cached {
                return (across, Time::ZERO);
            }
            takes = across - from;
            (start, takes)
        };
        let place = |number| geometry.page_and_plane(number);
        let end = die.join(now, (duration, task), place, least, cross)?;
        let pages = if transfer < self.pace.program_transfer { 0 } else { u32::from(task.count) };
        self.die_charges.charge(task.activity, takes);
        self.charge_crossing(transfer, pages);
        if self.carries_bytes {
            self.note_crossing(Operation::Program, crossing, transfer, pages);
        }
        Some(end)
    }

    /// An operation of a superblock was issued, and ends on its die then; perhaps it joined another one.
    #[inline(always)]
    pub(in super::super) fn note_program(
        &mut self,
        (superblock, operation): (u32, u32),
        program: (u32, Time),
        (now, cause, is_mixed): (Time, Cause, bool),
        has_joined: bool,
    ) {
        let (die, end) = program;
        if cause == Cause::Host {
            self.hold_place(now, program, has_joined);
        } else if is_mixed {
            self.hold_beside(now, die, end);
        }
        if self.carries_bytes {
            self.issued.push(Issued { superblock, operation, program });
        }
    }
}
