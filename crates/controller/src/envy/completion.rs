//! Actions at the end of a program or erase.

use super::array::Array;
use super::background::{Background, Operation, SPENT, Task};
use super::history::Cleanings;
use super::page_table::Location;
use super::relocation::{Cause, Relocation};
use super::write_buffer::{SlotState, WriteBuffer};
use nacre_media::store::Store;

impl Background {
    #[inline]
    pub(super) fn complete<S: Store>(
        &mut self,
        array: &mut Array<S>,
        buffer: &mut WriteBuffer,
        operation: Operation,
    ) {
        let kind = self.kind(operation);
        let time = if kind == 2 { self.pace.erase } else { self.pace.program };
        self.ledger.charge(SPENT[kind], time);
        match operation {
            Operation::Drain { slot, page } => drained(array, buffer, slot, page),
            Operation::Copy { task, from, to } => {
                let relocation = self.task(task).relocation;
                let position = array.position_of[array.flash.block_of(to) as usize] as usize;
                array.moved(&relocation, from, to, position);
            }
            Operation::Erase { segment } => self.erased(array, segment),
        }
    }

    /// Handles the end of an erase: restarts a relocation, continues a chain, or makes the segment a spare.
    fn erased<S: Store>(&mut self, array: &mut Array<S>, segment: u32) {
        array.erased(segment);
        let is_of = |&Task { relocation: Relocation { from, position, .. }, .. }: &Task| {
            from == segment || array.order[position as usize] == segment
        };
        let index = self.tasks.iter().position(is_of).expect("a relocation erases");
        let Relocation { from, position, .. } = self.tasks[index].relocation;
        if from != segment {
            array.erased_in(position);
            self.tasks[index].is_erasing = false;
            return;
        }
        if let Some(position) = self.tasks[index].chain.pop() {
            self.tasks[index].relocation = array.relocate(position as usize, segment, Cause::Wear, (0, 0));
            self.tasks[index].is_erasing = false;
            return;
        }
        let task = self.tasks.remove(index);
        array.standby.push(segment);
        match task.swap {
            Some(positions) => array.exchanged(positions),
            None => {
                let pages = array.geometry.pages_per_segment;
                self.cleanings_done.push((self.clock, Cleanings::of(task.relocation.copied, pages)));
            }
        }
        if self.tasks.is_empty() {
            self.level_wear(array);
        }
    }

    /// Starts to exchange the data of two unevenly worn segments through an erased segment. First, the data
    /// of the less worn segment moves into the erased segment. Then, the data of the more worn segment moves
    /// into the less worn one. Finally, the data of the less worn segment moves into the more worn one.
    fn level_wear<S: Store>(&mut self, array: &mut Array<S>) {
        let Some((worn, young)) = array.uneven(self.pace.wear_swap_gap) else { return };
        if self.is_programming(array, |position| position == worn || position == young) {
            return;
        }
        let to = array.standby.pop().expect("one segment was just erased");
        let relocation = array.relocate(young, to, Cause::Wear, (0, 0));
        let (worn, young) = (worn as u32, young as u32);
        self.tasks.push(Task {
            relocation,
            is_erasing: false,
            chain: vec![young, worn],
            swap: Some([worn, young]),
        });
    }

    /// Whether a program is in progress at a position for which `is_meant` returns true.
    pub(super) fn is_programming<S: Store>(
        &self,
        array: &Array<S>,
        is_meant: impl Fn(usize) -> bool,
    ) -> bool {
        self.running.iter().any(|running| match running.operation {
            Operation::Drain { page, .. } | Operation::Copy { to: page, .. } => {
                is_meant(array.position_of[array.flash.block_of(page) as usize] as usize)
            }
            Operation::Erase { .. } => false,
        })
    }
}

/// Records that the page of `slot` was programmed. If the host has written a newer version, the programmed
/// page is invalid, unless it is the shadow of an open transaction.
#[inline]
fn drained<S: Store>(array: &mut Array<S>, buffer: &mut WriteBuffer, slot: u32, page: u32) {
    let lpn = buffer.slot(slot).lpn;
    let position = array.position_of[array.flash.block_of(page) as usize] as usize;
    let partition = array.partition_of(position);
    array.programs.drained += 1;
    array.partitions[partition].drained += 1;
    array.positions[position].written_at = array.programs.drained;
    if buffer.slot(slot).state == SlotState::Draining {
        debug_assert_eq!(array.table.get(lpn), Location::Buffer(slot));
        array.flash.fill(page, buffer.bytes(slot));
        array.settle(lpn, page, position);
    } else if let Some(shadow) = array.shadows.get_mut(&lpn)
        && *shadow == Location::Buffer(slot)
    {
        *shadow = Location::Flash(page);
        array.flash.fill(page, buffer.bytes(slot));
        array.keep(lpn, page, position);
    }
    buffer.set_free(slot);
}
