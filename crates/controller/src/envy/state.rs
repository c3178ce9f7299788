//! The device's state as bytes, for an image that outlives the process.
//!
//! What follows from the rest is not written: which pages of a segment live follows from the page table and
//! the shadows. The cleaning policy is not asked: it begins anew with the view of the array it finds.

use super::array::{Array, Programs};
use super::background::{Background, Operation, Running, Task};
use super::model::Envy;
use super::page_table::Location;
use super::relocation::{Cause, Relocation};
use super::wear_swap::Exchange;
use super::write_buffer::{SlotState, WriteBuffer};
use nacre_kernel::Time;
use nacre_kernel::state::{StateError, StateReader, StateWriter};
use nacre_media::flash::Block;
use nacre_media::store::Store;

impl<S: Store> Envy<S> {
    pub(super) fn write_state(&self, state: &mut StateWriter) {
        state.section("envy");
        state.put_u64(self.free_at.as_ps());
        state.put_u64(self.worked_until.as_ps());
        state.put_bool(self.is_transaction_open());
        self.array.write_state(state);
        self.buffer.write_state(state);
        self.background.write_state(state);
    }

    pub(super) fn read_state(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        state.section("envy")?;
        self.free_at = Time::from_ps(state.u64("when the host was served")?);
        self.worked_until = Time::from_ps(state.u64("when the flash was worked in")?);
        let is_open = state.bool("whether a transaction is open")?;
        self.writable = if is_open { SlotState::Uncommitted } else { SlotState::Dirty };
        self.array.read_state(state)?;
        self.buffer.read_state(state)?;
        self.background.read_state(state)?;
        self.translation.clear();
        self.start_book(self.free_at);
        Ok(())
    }
}

fn location_word(location: Location) -> u64 {
    match location {
        Location::Nowhere => 0,
        Location::Flash(page) => 1 << 32 | u64::from(page),
        Location::Buffer(slot) => 2 << 32 | u64::from(slot),
    }
}

fn location_of(word: u64, state: &StateReader<'_>) -> Result<Location, StateError> {
    match (word >> 32, word as u32) {
        (0, 0) => Ok(Location::Nowhere),
        (1, page) => Ok(Location::Flash(page)),
        (2, slot) => Ok(Location::Buffer(slot)),
        _ => Err(state.error("a place of a page".into(), format!("{word:#x}"))),
    }
}

impl<S: Store> Array<S> {
    fn write_state(&self, state: &mut StateWriter) {
        state.section("array");
        let blocks = self.flash.blocks();
        state.put_u32s(&blocks.iter().map(|block| block.programmed).collect::<Vec<_>>());
        state.put_u32s(&blocks.iter().map(|block| block.erases).collect::<Vec<_>>());
        state.put_u64s(&[self.flash.programs(), self.flash.erases(), self.laid_out]);
        let Programs { drained, cleaned, levelled, cleanings, swaps, lost } = self.programs;
        state.put_u64s(&[drained, cleaned, levelled, cleanings, swaps, lost]);
        state.put_u32s(&self.order);
        state.put_u32s(&self.place_of);
        state.put_u32s(&self.standby);
        state.put_u32s(&self.filling);
        let exchanges = self.exchanges.iter().map(|exchange| match *exchange {
            Exchange::Never => 0,
            Exchange::Rests(at) => 1 << 32 | u64::from(at),
            Exchange::Rises(at) => 2 << 32 | u64::from(at),
        });
        state.put_u64s(&exchanges.collect::<Vec<_>>());
        let places = self.places.iter().flat_map(|place| [place.cleaned_at, place.written_at]);
        state.put_u64s(&places.collect::<Vec<_>>());
        let partitions = self.partitions.iter().flat_map(|partition| {
            let active = partition.active as u64;
            [active, partition.drained, partition.moved_in, partition.cleanings, partition.copied]
        });
        state.put_u64s(&partitions.collect::<Vec<_>>());
        let (lpns, locations): (Vec<u32>, Vec<u64>) =
            self.table.mapped().map(|(lpn, location)| (lpn, location_word(location))).unzip();
        state.put_u32s(&lpns);
        state.put_u64s(&locations);
        let (lpns, locations): (Vec<u32>, Vec<u64>) =
            self.shadows.iter().map(|(&lpn, &location)| (lpn, location_word(location))).unzip();
        state.put_u32s(&lpns);
        state.put_u64s(&locations);
    }

    fn read_state(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        state.section("array")?;
        let mut programmed = vec![0; self.live.len()];
        let mut erases = programmed.clone();
        state.u32s_into("programmed pages by segment", &mut programmed)?;
        state.u32s_into("erases by segment", &mut erases)?;
        for (segment, (&programmed, &erases)) in programmed.iter().zip(&erases).enumerate() {
            if programmed > self.geometry.pages_per_segment {
                let expected = format!("at most {} pages", self.geometry.pages_per_segment);
                return Err(state.error(expected, format!("{programmed} in segment {segment}")));
            }
            self.flash.restore(segment as u32, Block { programmed, erases });
        }
        let mut counts = [0; 3];
        state.u64s_into("programs and erases", &mut counts)?;
        self.flash.restore_counts(counts[0], counts[1]);
        self.laid_out = counts[2];
        let mut counts = [0; 6];
        state.u64s_into("programs by cause", &mut counts)?;
        let [drained, cleaned, levelled, cleanings, swaps, lost] = counts;
        self.programs = Programs { drained, cleaned, levelled, cleanings, swaps, lost };
        self.read_order(state)?;
        self.read_pages(state)
    }

    fn read_order(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        state.u32s_into("segments by place", &mut self.order)?;
        state.u32s_into("places by segment", &mut self.place_of)?;
        self.standby = state.u32s("segments that stand by")?;
        self.filling = state.u32s("places being filled")?;
        let mut exchanges = vec![0; self.exchanges.len()];
        state.u64s_into("exchanges by segment", &mut exchanges)?;
        for (exchange, word) in self.exchanges.iter_mut().zip(exchanges) {
            *exchange = match (word >> 32, word as u32) {
                (0, 0) => Exchange::Never,
                (1, at) => Exchange::Rests(at),
                (2, at) => Exchange::Rises(at),
                _ => return Err(state.error("an exchange".into(), format!("{word:#x}"))),
            };
        }
        let segments = self.order.iter().chain(&self.standby);
        if let Some(unknown) = segments.copied().find(|&segment| segment >= self.geometry.segments) {
            return Err(
                state.error(format!("a segment below {}", self.geometry.segments), unknown.to_string())
            );
        }
        let mut times = vec![0; self.places.len() * 2];
        state.u64s_into("times by place", &mut times)?;
        for (place, times) in times.chunks(2).enumerate() {
            let block = self.flash.blocks()[self.order[place] as usize];
            let live = 0;
            let (programmed, erases) = (block.programmed, block.erases);
            let (cleaned_at, written_at) = (times[0], times[1]);
            self.places[place] = crate::cleaning::Place { programmed, live, erases, cleaned_at, written_at };
        }
        let mut partitions = vec![0; self.partitions.len() * 5];
        state.u64s_into("partitions", &mut partitions)?;
        for (partition, counts) in self.partitions.iter_mut().zip(partitions.chunks(5)) {
            partition.active = counts[0] as usize;
            (partition.drained, partition.moved_in) = (counts[1], counts[2]);
            (partition.cleanings, partition.copied, partition.live) = (counts[3], counts[4], 0);
        }
        Ok(())
    }

    fn read_pages(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        let lpns = state.u32s("mapped pages")?;
        let locations = state.u64s("where mapped pages are")?;
        let shadow_lpns = state.u32s("pages of the open transaction")?;
        let shadows = state.u64s("where their old versions are")?;
        for (lpn, word) in lpns.into_iter().zip(locations) {
            let location = self.checked_location(lpn, word, state)?;
            if let Location::Flash(page) = location {
                self.keep(lpn, page, self.place_of[self.flash.block_of(page) as usize] as usize);
            }
            self.table.set(lpn, location);
        }
        for (lpn, word) in shadow_lpns.into_iter().zip(shadows) {
            let location = self.checked_location(lpn, word, state)?;
            if let Location::Flash(page) = location {
                self.keep(lpn, page, self.place_of[self.flash.block_of(page) as usize] as usize);
            }
            self.shadows.insert(lpn, location);
        }
        Ok(())
    }

    fn checked_location(&self, lpn: u32, word: u64, state: &StateReader<'_>) -> Result<Location, StateError> {
        let location = location_of(word, state)?;
        let is_known = match location {
            Location::Flash(page) => u64::from(page) < self.geometry.flash_pages(),
            _ => true,
        };
        if u64::from(lpn) >= self.geometry.logical_pages || !is_known {
            return Err(state.error("a page of this device".into(), format!("{lpn} at {location:?}")));
        }
        Ok(location)
    }
}

impl WriteBuffer {
    fn write_state(&self, state: &mut StateWriter) {
        state.section("write buffer");
        let slots = (0..self.capacity()).map(|slot| *self.slot(slot)).collect::<Vec<_>>();
        state.put_u32s(&slots.iter().map(|slot| slot.lpn).collect::<Vec<_>>());
        state.put_u32s(&slots.iter().map(|slot| slot.partition).collect::<Vec<_>>());
        state.put_bytes(&slots.iter().map(|slot| slot.state as u8).collect::<Vec<_>>());
        state.put_u32s(&self.queued().collect::<Vec<_>>());
        state.put_u32s(self.free_slots());
        for slot in self.held_slots() {
            state.put_bytes(self.bytes(slot));
        }
    }

    fn read_state(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        state.section("write buffer")?;
        let slots = self.capacity() as usize;
        let (mut lpns, mut partitions, mut states) = (vec![0; slots], vec![0; slots], vec![0; slots]);
        state.u32s_into("pages by slot", &mut lpns)?;
        state.u32s_into("partitions by slot", &mut partitions)?;
        state.bytes_into("states by slot", &mut states)?;
        let queue = state.u32s("slots in the order of draining")?;
        let free = state.u32s("free slots")?;
        for (slot, ((lpn, partition), byte)) in lpns.into_iter().zip(partitions).zip(states).enumerate() {
            let Some(content) = SlotState::from_byte(byte) else {
                return Err(state.error("a state of a slot".into(), format!("{byte} of slot {slot}")));
            };
            self.restore(slot as u32, super::write_buffer::Slot { lpn, partition, state: content });
        }
        if queue.iter().chain(&free).any(|&slot| slot >= self.capacity()) {
            return Err(state.error(format!("slots below {slots}"), "a larger one".into()));
        }
        self.restore_order(queue, free);
        let held: Vec<u32> = self.held_slots().collect();
        for slot in held {
            state.bytes_into("the bytes of a slot", self.bytes_mut(slot))?;
        }
        Ok(())
    }
}

impl Background {
    fn write_state(&self, state: &mut StateWriter) {
        state.section("background");
        state.put_u64(self.clock.as_ps());
        state.put_u64(self.tasks.len() as u64);
        for Task { relocation, is_erasing, chain, swap } in &self.tasks {
            let Relocation { cause, from, place, cursor, copied, to_lower, to_higher } = *relocation;
            state.put_bool(cause == Cause::Wear);
            state.put_u32s(&[from, place, cursor, copied, to_lower, to_higher]);
            state.put_bool(*is_erasing);
            state.put_u32s(chain);
            state.put_u32s(swap.as_ref().map_or(&[], |swap| &swap[..]));
        }
        state.put_u64(self.running.len() as u64);
        for Running { operation, done, bank } in &self.running {
            let words = match *operation {
                Operation::Drain { slot, page } => [0, slot, page, 0],
                Operation::Copy { task, from, to } => [1, task, from, to],
                Operation::Erase { segment } => [2, segment, 0, 0],
            };
            state.put_u32s(&words);
            state.put_u64(done.as_ps());
            state.put_u32(*bank);
        }
    }

    fn read_state(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        state.section("background")?;
        self.clock = Time::from_ps(state.u64("the clock of programs and erases")?);
        self.tasks.clear();
        for _ in 0..state.u64("how many relocations are under way")? {
            let cause = if state.bool("why pages move")? { Cause::Wear } else { Cause::Cleaning };
            let mut words = [0; 6];
            state.u32s_into("a relocation", &mut words)?;
            let [from, place, cursor, copied, to_lower, to_higher] = words;
            let relocation = Relocation { cause, from, place, cursor, copied, to_lower, to_higher };
            let is_erasing = state.bool("whether it erases")?;
            let chain = state.u32s("places still to be relocated")?;
            let swap = state.u32s("places that exchange their data")?.try_into().ok();
            self.tasks.push(Task { relocation, is_erasing, chain, swap });
        }
        self.running.clear();
        for _ in 0..state.u64("how many operations are under way")? {
            let mut words = [0; 4];
            state.u32s_into("an operation", &mut words)?;
            let operation = match words {
                [0, slot, page, _] => Operation::Drain { slot, page },
                [1, task, from, to] => Operation::Copy { task, from, to },
                [2, segment, ..] => Operation::Erase { segment },
                _ => return Err(state.error("an operation".into(), format!("{words:?}"))),
            };
            let done = Time::from_ps(state.u64("when it is done")?);
            self.running.push(Running { operation, done, bank: state.u32("its bank")? });
        }
        Ok(())
    }
}
