//! The write buffer: pages in battery-backed SRAM, drained in FIFO order.

use nacre_kernel::state::{State, Value};
use std::collections::VecDeque;

/// State of a slot of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
#[repr(u8)]
pub(super) enum SlotState {
    /// The slot is empty.
    Free,
    /// The slot holds the current version of a page.
    Dirty,
    /// The slot holds the current version of a page, which is being programmed into flash.
    Draining,
    /// The slot holds an obsolete version that is being programmed into flash.
    Superseded,
    /// The slot holds a version that an open transaction wrote.
    Uncommitted,
    /// The slot holds the version from before the writes of an open transaction.
    Shadow,
    /// The slot is empty but still in the queue.
    Released,
}

impl SlotState {
    const COUNT: usize = 7;
}

/// One slot of the write buffer.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Slot {
    /// Logical page number.
    pub(super) lpn: u32,
    /// Partition from which the page was copied, and to which it is drained.
    pub(super) partition: u32,
    /// State of the slot.
    pub(super) state: SlotState,
}

/// The write buffer, with a queue of its slots in the order in which they were filled.
#[derive(State)]
#[state(after = "WriteBuffer::rebuild")]
pub(super) struct WriteBuffer {
    slots: Vec<Slot>,
    #[state(varies)]
    free: Vec<u32>,
    /// Slots from the tail, which is drained first, to the head.
    queue: VecDeque<u32>,
    #[state(skip = "they follow from the slots")]
    counts: [u32; SlotState::COUNT],
    /// Bytes of the slots. The vector is empty if the device stores no data.
    #[state(varies)]
    bytes: Vec<u8>,
    #[state(skip = "whether there are bytes is not part of the state")]
    page_bytes: usize,
}

impl WriteBuffer {
    /// A buffer of `slots` free slots with `page_bytes` bytes each. If the device stores no data,
    /// `page_bytes` is 0.
    pub(super) fn new(slots: u32, page_bytes: usize) -> WriteBuffer {
        let empty = Slot { lpn: 0, partition: 0, state: SlotState::Free };
        let mut counts = [0; SlotState::COUNT];
        counts[SlotState::Free as usize] = slots;
        WriteBuffer {
            slots: vec![empty; slots as usize],
            free: (0..slots).rev().collect(),
            queue: VecDeque::with_capacity(slots as usize),
            counts,
            bytes: vec![0; slots as usize * page_bytes],
            page_bytes,
        }
    }

    /// Number of slots.
    pub(super) fn capacity(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Number of slots in `state`.
    #[inline]
    pub(super) fn count(&self, state: SlotState) -> u32 {
        self.counts[state as usize]
    }

    /// Number of slots being programmed into flash.
    #[inline]
    pub(super) fn draining(&self) -> u32 {
        self.count(SlotState::Draining) + self.count(SlotState::Superseded)
    }

    /// Number of pages in the buffer, including pages that are being programmed into flash.
    #[inline]
    pub(super) fn held(&self) -> u32 {
        self.capacity() - self.count(SlotState::Free) - self.count(SlotState::Released)
    }

    /// Fills a free slot, and adds it to the head of the queue. Returns the number of the slot.
    #[inline]
    pub(super) fn fill(&mut self, slot: Slot) -> u32 {
        let index = self.free.pop().expect("the caller made room");
        self.slots[index as usize] = slot;
        self.counts[SlotState::Free as usize] -= 1;
        self.counts[slot.state as usize] += 1;
        self.queue.push_back(index);
        index
    }

    /// Removes a dirty slot from the queue to drain it: the first for which `fits` returns true, among the
    /// first `look` dirty slots from the tail. Returns `None` if no slot fits.
    ///
    /// Slots of an open transaction at the tail are moved to the head.
    #[inline]
    pub(super) fn take(&mut self, look: usize, mut fits: impl FnMut(&Slot) -> bool) -> Option<u32> {
        if self.count(SlotState::Dirty) == 0 {
            return None;
        }
        self.bring_dirty_to_tail();
        let (mut index, mut seen) = (0, 0);
        while seen < look {
            let slot = *self.queue.get(index)?;
            if self.slots[slot as usize].state == SlotState::Dirty {
                if fits(&self.slots[slot as usize]) {
                    self.queue.remove(index);
                    self.set_state(slot, SlotState::Draining);
                    return Some(slot);
                }
                seen += 1;
            }
            index += 1;
        }
        None
    }

    #[inline]
    fn bring_dirty_to_tail(&mut self) {
        while let Some(&slot) = self.queue.front() {
            match self.slots[slot as usize].state {
                SlotState::Dirty => return,
                SlotState::Released => self.collect_released(),
                _ => self.queue.rotate_left(1),
            }
        }
    }

    /// Frees a slot that has left the queue.
    #[inline]
    pub(super) fn set_free(&mut self, slot: u32) {
        self.set_state(slot, SlotState::Free);
        self.free.push(slot);
    }

    /// Marks a slot in the queue as released.
    pub(super) fn release(&mut self, slot: u32) {
        self.set_state(slot, SlotState::Released);
        self.collect_released();
    }

    /// Returns a slot to the tail with `state` after an interrupted program.
    pub(super) fn put_back(&mut self, slot: u32, state: SlotState) {
        self.set_state(slot, state);
        self.queue.push_front(slot);
    }

    /// Frees released slots at the tail.
    fn collect_released(&mut self) {
        while let Some(&slot) = self.queue.front() {
            if self.slots[slot as usize].state != SlotState::Released {
                return;
            }
            self.queue.pop_front();
            self.set_free(slot);
        }
    }

    /// Frees every released slot, at any position.
    pub(super) fn collect_all_released(&mut self) {
        let queue = std::mem::take(&mut self.queue);
        for slot in queue {
            if self.slots[slot as usize].state == SlotState::Released {
                self.set_free(slot);
            } else {
                self.queue.push_back(slot);
            }
        }
    }

    /// Content of slot number `slot`.
    #[inline]
    pub(super) fn slot(&self, slot: u32) -> &Slot {
        &self.slots[slot as usize]
    }

    /// Changes the state of `slot`.
    #[inline]
    pub(super) fn set_state(&mut self, slot: u32, state: SlotState) {
        let content = &mut self.slots[slot as usize];
        self.counts[content.state as usize] -= 1;
        self.counts[state as usize] += 1;
        content.state = state;
    }

    /// Data of `slot`.
    #[inline]
    pub(super) fn bytes(&self, slot: u32) -> &[u8] {
        let start = slot as usize * self.page_bytes;
        &self.bytes[start..start + self.page_bytes]
    }

    /// Mutable data of `slot`.
    #[inline]
    pub(super) fn bytes_mut(&mut self, slot: u32) -> &mut [u8] {
        let start = slot as usize * self.page_bytes;
        &mut self.bytes[start..start + self.page_bytes]
    }

    /// Copies the data of slot `from` to slot `to`.
    pub(super) fn copy_bytes(&mut self, from: u32, to: u32) {
        let start = from as usize * self.page_bytes;
        self.bytes.copy_within(start..start + self.page_bytes, to as usize * self.page_bytes);
    }

    /// Slots in the queue, starting at the tail.
    #[inline]
    pub(super) fn next_to_leave(&self) -> impl Iterator<Item = &Slot> {
        self.queue.iter().map(|&slot| &self.slots[slot as usize])
    }

    fn rebuild(&mut self) -> Result<(), String> {
        let (found, expected) = (self.bytes.len(), self.slots.len() * self.page_bytes);
        if found != expected && found > 0 && expected > 0 {
            return Err(format!("{found} bytes in slots for {expected}"));
        }
        // Pages that were written without stored data read as zeros.
        self.bytes.resize(expected, 0);
        self.counts = [0; SlotState::COUNT];
        self.slots.iter().for_each(|slot| self.counts[slot.state as usize] += 1);
        let mut listed = vec![false; self.slots.len()];
        for &slot in self.queue.iter().chain(&self.free) {
            match listed.get_mut(slot as usize) {
                Some(is_listed) if !*is_listed => *is_listed = true,
                _ => return Err(format!("slot {slot} of {} is listed", self.slots.len())),
            }
        }
        let stand = self.capacity() - self.count(SlotState::Free) - self.draining();
        match self.count(SlotState::Free) as usize == self.free.len() && stand as usize == self.queue.len() {
            true => Ok(()),
            false => Err(format!("{} slots are free and {} are queued", self.free.len(), self.queue.len())),
        }
    }

    /// Panics if the state is inconsistent.
    pub(super) fn check_invariants(&self) {
        let mut counts = [0; SlotState::COUNT];
        self.slots.iter().for_each(|slot| counts[slot.state as usize] += 1);
        assert_eq!(counts, self.counts, "slots are counted by state");
        assert_eq!(self.count(SlotState::Free) as usize, self.free.len(), "free slots are in their list");
        let outside = self.count(SlotState::Free) + self.draining();
        assert_eq!((self.capacity() - outside) as usize, self.queue.len(), "other slots are in the queue");
    }
}
