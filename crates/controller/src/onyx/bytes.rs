//! The bytes of the drive.
//!
//! A row is a page of the store.

use super::controller::Part;
use super::model::{Onyx, RowMove};
use crate::wear_levelling::Move;
use nacre_kernel::{Data, Time};
use nacre_media::persistence::{Program, Write};
use nacre_media::store::Store;

impl<S: Store> Onyx<S> {
    /// The page of a physical row.
    fn page(&self, controller: usize, physical: u64) -> u64 {
        controller as u64 * self.controllers[controller].rows.count() + physical
    }

    /// Where the first byte of a part lies among the pages.
    fn place(&self, controller: usize, part: Part) -> u64 {
        let physical = self.controllers[controller].leveller.physical(part.row);
        self.page(controller, physical) * self.config.row.0 + part.offset
    }

    /// The bytes of a part that begins at `address` of the host and was just read or written.
    pub(super) fn carry(&mut self, controller: usize, part: Part, address: u64, data: Data<'_>) {
        let place = self.place(controller, part);
        match data {
            Data::None => {}
            Data::Read(into) => self.rows.read(place, into),
            Data::Write(new) => {
                let mut old = vec![0; new.len()];
                self.rows.read(place, &mut old);
                self.rows.write(place, new);
                let programs = self.programs(controller, part);
                // Its request says when it is acknowledged, once it is known.
                self.pending.push(Write { address, old, programs }, Time::MAX);
            }
        }
    }

    /// The programs of the part that `controller` wrote last, one for each chunk.
    fn programs(&self, controller: usize, part: Part) -> Vec<Program> {
        let chunk = self.config.rank().chunk;
        let first_end = chunk - part.offset % chunk;
        let times = self.controllers[controller].programs.iter().enumerate();
        let programs = times.map(|(index, &(begin, end))| {
            let first = if index == 0 { 0 } else { first_end + (index as u64 - 1) * chunk };
            let count = (first_end + index as u64 * chunk).min(part.bytes) - first;
            Program { first: first as usize, count: count as usize, begin, end }
        });
        programs.collect()
    }

    /// The bytes of a row that wear levelling moves, which takes until `end`.
    pub(super) fn carry_moved(&mut self, controller: usize, moved: Move, end: Time) {
        let (from, to) = (self.page(controller, moved.from), self.page(controller, moved.to));
        self.rows.copy_page(from, to);
        self.moves.push_back(RowMove { controller, from: moved.from, to: moved.to, end });
    }

    /// No loss of power comes before `time`.
    pub(super) fn settle(&mut self, time: Time) {
        self.pending.settle(time, &());
        while self.moves.front().is_some_and(|moved| moved.end <= time) {
            self.moves.pop_front();
        }
    }

    /// The bytes from `address` of the host on are `old` again.
    pub(super) fn put_back(&mut self, address: u64, old: &[u8]) {
        let mut at = 0;
        while at < old.len() {
            let (controller, part) = self.part(address + at as u64, (old.len() - at) as u64);
            let end = at + part.bytes as usize;
            let place = self.place(controller, part);
            self.rows.write(place, &old[at..end]);
            at = end;
        }
    }
}
