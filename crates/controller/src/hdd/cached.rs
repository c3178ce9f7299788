//! The write cache of a drive: writes that are acknowledged before they are on the platter.

use nacre_kernel::Request;
use nacre_kernel::event::Payload;
use nacre_kernel::state::State;
use std::collections::VecDeque;

/// The space of the cache, the writes in the cache, and the writes that wait for space.
#[derive(Debug, State)]
pub(super) struct Cached {
    #[state(same)]
    capacity: u64,
    /// Total size of the writes for which space is allocated, in bytes. Their data is in the cache or being
    /// transferred.
    used: u64,
    /// Request numbers of the acknowledged writes, oldest first.
    #[state(varies)]
    acknowledged: VecDeque<u32>,
    /// Request numbers of the writes that wait for space, oldest first.
    #[state(varies)]
    waiting: VecDeque<u32>,
    /// Number of bytes that are being transferred into the cache.
    crossing: u64,
}

impl Cached {
    pub(super) fn new(capacity: u64) -> Cached {
        Cached { capacity, used: 0, acknowledged: VecDeque::new(), waiting: VecDeque::new(), crossing: 0 }
    }

    /// Whether the cache is large enough for a write of `bytes`.
    pub(super) fn takes(&self, bytes: u64) -> bool {
        self.capacity > 0 && bytes <= self.capacity
    }

    /// Whether there is space for `bytes` and no earlier write waits for space.
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        self.waiting.is_empty() && self.used + bytes <= self.capacity
    }

    /// Adds a write that waits for space.
    pub(super) fn wait(&mut self, number: u32) {
        self.waiting.push_back(number);
    }

    /// Allocates space for `bytes`.
    pub(super) fn take(&mut self, bytes: u64) {
        self.used += bytes;
        self.crossing += bytes;
    }

    /// Acknowledges write `number`, whose data is in the cache.
    pub(super) fn accept(&mut self, number: u32, bytes: u64) {
        self.crossing -= bytes;
        self.acknowledged.push_back(number);
    }

    /// Frees the space of write `number`, whose data is on the platter. Returns whether the write was in the
    /// cache.
    pub(super) fn land(&mut self, number: u32, bytes: u64) -> bool {
        let Some(place) = self.acknowledged.iter().position(|&held| held == number) else { return false };
        self.acknowledged.remove(place);
        self.used -= bytes;
        true
    }

    /// Removes and returns the first waiting write, if there is space for it.
    pub(super) fn next_that_fits(&mut self, bytes_of: impl Fn(u32) -> u64) -> Option<u32> {
        let &first = self.waiting.front()?;
        if self.used + bytes_of(first) > self.capacity {
            return None;
        }
        self.waiting.pop_front()
    }

    /// Whether `number` is an acknowledged write.
    pub(super) fn holds(&self, number: u32) -> bool {
        self.acknowledged.contains(&number)
    }

    /// Acknowledged writes, oldest first.
    pub(super) fn acknowledged(&self) -> impl Iterator<Item = u32> + '_ {
        self.acknowledged.iter().copied()
    }

    /// Withdraws a write that waits for space. Returns whether the write was waiting.
    pub(super) fn withdraw(&mut self, number: u32) -> bool {
        let place = self.waiting.iter().position(|&waits| waits == number);
        place.is_some_and(|place| self.waiting.remove(place).is_some())
    }

    /// Returns the data of a read: the data `read` from the platter, overwritten with newer data from the
    /// cache.
    pub(super) fn over<'a>(
        &self,
        read: Payload,
        request: &Request,
        held: impl Fn(u32) -> (u64, &'a Payload),
    ) -> Payload {
        let (start, end) = (request.address, request.address + u64::from(request.bytes));
        let mut newer = None;
        for number in self.acknowledged() {
            let (address, data) = held(number);
            let Some(bytes) = data.bytes() else { continue };
            let (from, to) = (address.max(start), (address + bytes.len() as u64).min(end));
            if from < to {
                let into: &mut Vec<u8> =
                    newer.get_or_insert_with(|| read.bytes().expect("a read has bytes").to_vec());
                into[(from - start) as usize..(to - start) as usize]
                    .copy_from_slice(&bytes[(from - address) as usize..(to - address) as usize]);
            }
        }
        newer.map_or(read, Payload::from)
    }

    pub(super) fn check_invariants(&self, bytes_of: impl Fn(u32) -> u64) {
        let held: u64 = self.acknowledged().map(bytes_of).sum();
        assert_eq!(self.used, held + self.crossing, "dirty bytes are lost");
        assert!(self.used <= self.capacity, "{} dirty bytes in a cache of {}", self.used, self.capacity);
    }
}
