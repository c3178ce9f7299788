//! Pending events in time order.

use super::slab::Slab;
use crate::state::{State, StateError, StateReader, StateWriter, Value};
use crate::time::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of bits of a key that hold the entry number of the event. This number limits the number of
/// pending events.
const ENTRY_BITS: u32 = 24;
/// Number of bits of a key that hold the scheduling order. These bits suffice for more events than any
/// simulation schedules.
const ORDER_BITS: u32 = 64 - ENTRY_BITS;

/// Pending events in time order. Simultaneous events are in scheduling order.
///
/// The agenda is a binary heap of 128-bit keys that consist of time, order, and entry number. A heap
/// operation therefore compares single numbers and does not move events.
#[derive(Clone, Debug)]
pub struct Agenda<E> {
    heap: BinaryHeap<Reverse<u128>>,
    events: Slab<Option<E>>,
    scheduled: u64,
}

impl<E> Default for Agenda<E> {
    fn default() -> Agenda<E> {
        Agenda { heap: BinaryHeap::new(), events: Slab::new(), scheduled: 0 }
    }
}

impl<E> Agenda<E> {
    /// Creates an agenda without events.
    pub fn new() -> Agenda<E> {
        Agenda::default()
    }

    /// Schedules `event` for time `at`.
    #[inline]
    pub fn schedule(&mut self, at: Time, event: E) {
        let (entry, place) = self.events.take();
        *place = Some(event);
        assert!(entry >> ENTRY_BITS == 0 && self.scheduled >> ORDER_BITS == 0, "too many events");
        let order = self.scheduled << ENTRY_BITS | u64::from(entry);
        self.heap.push(Reverse(u128::from(at.as_ps()) << 64 | u128::from(order)));
        self.scheduled += 1;
    }

    /// Time of the next event; [`Time::MAX`] if no event is pending.
    #[inline]
    pub fn next(&self) -> Time {
        self.heap.peek().map_or(Time::MAX, |Reverse(key)| at_of(*key))
    }

    /// Removes and returns the next event if it is due before `until`.
    #[inline]
    pub fn pop_before(&mut self, until: Time) -> Option<(Time, E)> {
        if self.next() >= until {
            return None;
        }
        let Reverse(key) = self.heap.pop()?;
        let entry = entry_of(key);
        let event = self.events[entry].take().expect("a pending event has its entry");
        self.events.give_back(entry);
        Some((at_of(key), event))
    }

    /// Number of pending events.
    #[inline]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether no event is pending.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// All pending events, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (Time, &E)> {
        self.heap.iter().map(|&Reverse(key)| (at_of(key), self.event(key)))
    }

    fn event(&self, key: u128) -> &E {
        self.events[entry_of(key)].as_ref().expect("a pending event has its entry")
    }

    /// Removes all events.
    pub fn clear(&mut self) {
        self.heap.clear();
        self.events.clear();
    }
}

#[inline]
fn at_of(key: u128) -> Time {
    Time::from_ps((key >> 64) as u64)
}

#[inline]
fn entry_of(key: u128) -> u32 {
    key as u32 & ((1 << ENTRY_BITS) - 1)
}

/// Events are saved in time order, so that equal agendas have equal states.
impl<E: Value> State for Agenda<E> {
    fn save(&self, state: &mut StateWriter) {
        let mut keys: Vec<u128> = self.heap.iter().map(|&Reverse(key)| key).collect();
        keys.sort_unstable();
        state.put_u64(keys.len() as u64);
        for key in keys {
            at_of(key).save(state);
            self.event(key).save(state);
        }
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        *self = Agenda::new();
        let pending: Vec<(Time, E)> = Vec::read(state)?;
        pending.into_iter().for_each(|(at, event)| self.schedule(at, event));
        Ok(())
    }
}
