//! The bytes that writes replaced, until the writes survive a loss of power.

use crate::overlap::Overlaps;
use crate::ranges::Ranges;
use nacre_kernel::{Random, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

/// A write that was interrupted is old or new in units of this many bytes.
pub(crate) const UNIT: u64 = 4096;

/// Old bytes held at a time. Past it the oldest writes count as durable; no buffer we model is larger.
const BYTES_MAX: u64 = 256 << 20;
/// Fewer writes than this are no reason to ask the device.
const ENOUGH_MIN: usize = 256;
/// Writes held at a time.
const WRITES_MAX: usize = 1 << 20;

/// Bytes of the device as they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Where.
    pub(crate) offset: u64,
    /// What.
    pub(crate) old: Old,
}

/// What bytes were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Old {
    Bytes(Vec<u8>),
    /// So many zeroes, which take no room.
    Zeroes(u64),
}

impl Piece {
    pub(crate) fn range(&self) -> Range<u64> {
        let length = match &self.old {
            Old::Bytes(bytes) => bytes.len() as u64,
            Old::Zeroes(length) => *length,
        };
        self.offset..self.offset + length
    }

    fn part(&self, range: Range<u64>) -> Piece {
        let old = match &self.old {
            Old::Bytes(bytes) => {
                let (from, to) = (range.start - self.offset, range.end - self.offset);
                Old::Bytes(bytes[from as usize..to as usize].to_vec())
            }
            Old::Zeroes(_) => Old::Zeroes(range.end - range.start),
        };
        Piece { offset: range.start, old }
    }
}

/// When a write is acknowledged and when it survives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fate {
    /// When it is acknowledged.
    pub(crate) done: Time,
    /// When it survives a loss of power; [`Time::MAX`] as long as only the device knows.
    pub(crate) durable: Time,
}

/// What a loss of power takes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Loss {
    /// To be put back in this order.
    pub(crate) restored: Vec<Piece>,
    /// Acknowledged writes of which something is lost.
    pub(crate) acknowledged: u64,
    /// Their lost bytes.
    pub(crate) bytes: u64,
    /// Writes that were not acknowledged yet; they are there, not there, or in part.
    pub(crate) under_way: u64,
}

/// The writes that a loss of power would take, in the order in which they changed the bytes.
#[derive(Debug, Default)]
pub(crate) struct Undo {
    writes: VecDeque<Write>,
    /// The number of the first.
    first: u64,
    /// Those that are not durable, by where they are; durable ones may still be among them.
    by_range: Overlaps,
    /// When a write becomes durable, and its number. A flush may add an earlier time.
    settling: BinaryHeap<Reverse<(Time, u64)>>,
    /// Old bytes.
    held: u64,
    /// So many writes held are a reason to ask the device.
    enough: usize,
}

#[derive(Debug)]
struct Write {
    range: Range<u64>,
    fate: Fate,
    /// Empty once it is durable.
    old: Vec<Piece>,
    is_durable: bool,
}

impl Write {
    /// Whether it is acknowledged by `now` and only the device knows if it is durable.
    fn is_open(&self, now: Time) -> bool {
        !self.is_durable && self.fate.done <= now
    }
}

impl Undo {
    /// At `now` the bytes of `range`, which were `old`, are replaced.
    pub(crate) fn push(&mut self, now: Time, range: Range<u64>, fate: Fate, old: Vec<Piece>) {
        self.settle(now);
        self.held += bytes_of(&old);
        let number = self.first + self.writes.len() as u64;
        if fate.durable < Time::MAX {
            self.settling.push(Reverse((fate.durable, number)));
        }
        self.by_range.insert(&range, number);
        self.writes.push_back(Write { range, fate, old, is_durable: false });
        while self.held > BYTES_MAX || self.writes.len() > WRITES_MAX {
            self.settle_one(self.first);
            self.drop_oldest();
        }
    }

    /// A flush that was asked for at `asked` is done at `done`: what was acknowledged before survives from then.
    pub(crate) fn flush(&mut self, asked: Time, done: Time) {
        self.settle(asked);
        for (write, number) in self.writes.iter_mut().zip(self.first..) {
            if !write.is_durable && write.fate.done <= asked && write.fate.durable > done {
                write.fate.durable = done;
                self.settling.push(Reverse((done, number)));
            }
        }
    }

    /// `range` is about to be written: asks the device, by `keeps`, whether what was written there before would
    /// survive a loss of power. Afterwards it can no longer say. Gives how many places of writes were looked at.
    pub(crate) fn ask_before(
        &mut self,
        now: Time,
        range: &Range<u64>,
        keeps: impl Fn(Range<u64>) -> bool,
    ) -> usize {
        let (writes, first) = (&self.writes, self.first);
        let write_of = |number: u64| &writes[(number - first) as usize];
        let mut settled = Vec::new();
        let looked_at = self.by_range.visit(range, |place, numbers| {
            while numbers.front().is_some_and(|&number| write_of(number).is_durable) {
                numbers.pop_front();
            }
            // The device is asked once for all that was written to the same place.
            let is_open = |number: &&u64| write_of(**number).is_open(now);
            if numbers.iter().any(|number| is_open(&number)) && keeps(place) {
                settled.extend(numbers.iter().filter(is_open));
            }
        });
        settled.into_iter().for_each(|number| self.settle_one(number));
        self.drop_oldest();
        looked_at
    }

    /// Asks of every write that only the device knows about, where so many are held that it is worth it.
    pub(crate) fn ask_sometimes(&mut self, now: Time, keeps: impl Fn(Range<u64>) -> bool) {
        if self.writes.len() >= self.enough {
            self.ask(now, keeps);
            self.enough = (2 * self.writes.len()).max(ENOUGH_MIN);
        }
    }

    /// Asks of every write acknowledged by `now` that only the device knows about. Of one that others replaced in
    /// part the rest decides; of one that others replaced as a whole nobody can say, and it is lost if they are.
    pub(crate) fn ask(&mut self, now: Time, keeps: impl Fn(Range<u64>) -> bool) {
        let mut replaced = Ranges::default();
        for place in (0..self.writes.len()).rev() {
            let write = &self.writes[place];
            let range = write.range.clone();
            if write.is_open(now) {
                let rest = replaced.missing(range.clone());
                if !rest.is_empty() && rest.into_iter().all(&keeps) {
                    self.settle_one(self.first + place as u64);
                }
            }
            replaced.insert(range);
        }
        self.drop_oldest();
    }

    /// Drops what is durable at `now`.
    pub(crate) fn settle(&mut self, now: Time) {
        while let Some(&Reverse((durable, number))) = self.settling.peek()
            && durable <= now
        {
            self.settling.pop();
            self.settle_one(number);
        }
        self.drop_oldest();
    }

    /// The power fails at `now`. Everything is decided and nothing is held any more.
    ///
    /// A write that is durable stays; one that was acknowledged and is not durable is gone; one under way is there,
    /// not there, or in some of its units, as `random` chooses. The bytes become what the writes that stay make of
    /// what was there before, in their order.
    pub(crate) fn fail(&mut self, now: Time, random: &mut Random) -> Loss {
        self.settle(now);
        let mut loss = Loss::default();
        // What newer writes leave there.
        let mut kept = Ranges::default();
        for write in std::mem::take(self).writes.into_iter().rev() {
            let is_acknowledged = write.fate.done <= now;
            if write.is_durable {
                kept.insert(write.range);
                continue;
            }
            if !is_acknowledged {
                loss.under_way += 1;
                interrupt(write.range, random, &mut kept);
            }
            let before = loss.restored.len();
            for piece in &write.old {
                let gone = kept.missing(piece.range());
                loss.restored.extend(gone.into_iter().map(|range| piece.part(range)));
            }
            let bytes: u64 =
                loss.restored[before..].iter().map(Piece::range).map(|range| range.end - range.start).sum();
            if is_acknowledged && bytes > 0 {
                loss.acknowledged += 1;
                loss.bytes += bytes;
            }
        }
        loss
    }

    fn settle_one(&mut self, number: u64) {
        let Some(place) = number.checked_sub(self.first) else { return };
        let write = &mut self.writes[place as usize];
        self.held -= bytes_of(&write.old);
        write.old = Vec::new();
        write.is_durable = true;
    }

    /// A durable write matters only to older ones that are not.
    fn drop_oldest(&mut self) {
        while let Some(Write { range, is_durable: true, .. }) = self.writes.front() {
            self.by_range.remove(range, self.first);
            self.writes.pop_front();
            self.first += 1;
        }
    }
}

/// Chooses which units of a write that was interrupted are there, and adds them to `kept`.
fn interrupt(range: Range<u64>, random: &mut Random, kept: &mut Ranges) {
    match random.below(3) {
        0 => {}
        1 => kept.insert(range),
        _ => {
            let mut at = range.start;
            while at < range.end {
                let end = ((at / UNIT + 1) * UNIT).min(range.end);
                if random.below(2) == 1 {
                    kept.insert(at..end);
                }
                at = end;
            }
        }
    }
}

fn bytes_of(old: &[Piece]) -> u64 {
    old.iter().map(|piece| if let Old::Bytes(bytes) = &piece.old { bytes.len() as u64 } else { 0 }).sum()
}

#[cfg(test)]
mod tests;
