//! Blocks on their way from the backing device, each with the time it arrives.

use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};

/// Most blocks on their way at one time. Past it, misses pass the cache by until some have arrived.
pub(super) const IN_FLIGHT_MAX: usize = 1 << 16;

/// Places of the smallest table.
const PLACES_MIN: usize = 64;

/// A key no block has: marks a place whose block is no longer on its way.
const NO_BLOCK: u64 = u64::MAX;

/// Where a block is that the policy holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It is not on its way: if a level holds it, its data is there.
    Idle,
    /// It arrives at this time.
    Arriving(Time),
    /// It sets out later: the driver has gone back in time.
    SetsOutLater,
}

#[derive(Clone, Copy, Debug, Value)]
struct Place {
    block: u64,
    /// When it sets out.
    since: Time,
    /// When the block arrives; zero marks a place never used since the table was laid out.
    ready: Time,
}

const UNUSED: Place = Place { block: NO_BLOCK, since: Time::ZERO, ready: Time::ZERO };

/// Open addressing, linear probing. Arrived blocks stay in the table until it is laid out again, which
/// happens when half of it is used: an arrival costs nothing. Most blocks that are looked up are not in the table; of
/// these nearly all have no mark, so that their look-ups end in the same way.
#[derive(Debug, State)]
#[state(after = "InFlight::check_restored")]
pub(super) struct InFlight {
    /// No block arrives after this: most look-ups end here.
    latest: Time,
    /// No look-up will ask about a time before this.
    floor: Time,
    /// No room before this.
    full_until: Time,
    #[state(varies)]
    places: Vec<Place>,
    /// For each place the marks of the blocks whose search begins there, since the table was laid out.
    #[state(skip = "follows from the places")]
    marks: Vec<u32>,
    used: usize,
}

/// Where the search for a block begins, before it is cut to the size of the table, and the mark it leaves there.
fn home_and_mark(block: u64) -> (usize, u32) {
    let hash = block.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((hash >> 32) as usize, 1 << (hash >> 59))
}

impl InFlight {
    /// Nothing is on its way.
    pub(super) fn new() -> InFlight {
        InFlight {
            latest: Time::ZERO,
            floor: Time::ZERO,
            full_until: Time::ZERO,
            places: vec![UNUSED; PLACES_MIN],
            marks: vec![0; PLACES_MIN],
            used: 0,
        }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let (places, used) =
            (self.places.len(), self.places.iter().filter(|place| !place.ready.is_zero()).count());
        if !places.is_power_of_two() || places < PLACES_MIN || used != self.used || used >= places {
            return Err(format!("{} blocks on their way in {places} places", self.used));
        }
        self.marks = vec![0; places];
        for at in 0..places {
            self.mark(self.places[at].block);
        }
        Ok(())
    }

    /// Whether everything has arrived by `now`.
    #[inline]
    pub(super) fn is_idle(&self, now: Time) -> bool {
        now >= self.latest
    }

    /// Whether `block` is on its way at `now`.
    #[inline]
    pub(super) fn way(&self, block: u64, now: Time) -> Way {
        if self.is_idle(now) || !self.is_marked(block) { Way::Idle } else { self.look_up(block, now) }
    }

    /// Whether one more block may set out at `now` beside `waiting` ones that will be inserted before it.
    #[inline]
    pub(super) fn has_room(&mut self, now: Time, waiting: usize) -> bool {
        self.used + waiting < IN_FLIGHT_MAX || self.make_room(now, waiting)
    }

    /// `block` sets out at `since` and arrives at `ready`, which is later.
    pub(super) fn insert(&mut self, block: u64, since: Time, ready: Time) {
        if self.used * 2 >= self.places.len() {
            self.lay_out(self.floor);
        }
        self.latest = self.latest.max(ready);
        let at = self.find(block);
        self.used += usize::from(self.places[at].ready.is_zero());
        self.places[at] = Place { block, since, ready };
        self.mark(block);
    }

    /// What was on its way for `block` is out of date.
    pub(super) fn forget(&mut self, block: u64, now: Time) {
        if now < self.latest {
            let at = self.find(block);
            self.places[at].block = NO_BLOCK;
        }
    }

    /// No look-up will ask about a time before this.
    pub(super) fn floor(&self) -> Time {
        self.floor
    }

    /// Nothing will be asked about times before `to`.
    #[inline]
    pub(super) fn advance(&mut self, to: Time) {
        self.floor = self.floor.max(to);
    }

    /// Panics unless the table is within its bounds and every block in it can be found.
    pub(super) fn check_invariants(&self) {
        let used = self.places.iter().filter(|place| !place.ready.is_zero()).count();
        assert_eq!(used, self.used, "used places are counted right");
        assert!(used * 2 <= self.places.len() + 2, "{used} of {} places are used", self.places.len());
        for (at, place) in self.places.iter().enumerate().filter(|(_, place)| place.block != NO_BLOCK) {
            assert_eq!(self.find(place.block), at, "block {} is found where it is", place.block);
            assert!(self.is_marked(place.block), "block {} has its mark", place.block);
            assert!(place.ready <= self.latest, "block {} arrives last of all", place.block);
        }
    }

    /// Whether `block` may be in the table.
    #[inline]
    fn is_marked(&self, block: u64) -> bool {
        let (home, mark) = home_and_mark(block);
        self.marks[home & (self.marks.len() - 1)] & mark != 0
    }

    fn mark(&mut self, block: u64) {
        let ((home, mark), places) = (home_and_mark(block), self.marks.len());
        self.marks[home & (places - 1)] |= mark;
    }

    fn look_up(&self, block: u64, now: Time) -> Way {
        let place = self.places[self.find(block)];
        if place.block != block || now >= place.ready {
            Way::Idle
        } else if now < place.since {
            Way::SetsOutLater
        } else {
            Way::Arriving(place.ready)
        }
    }

    /// The place of `block`, or the first one never used on the way to it.
    fn find(&self, block: u64) -> usize {
        let mask = self.places.len() - 1;
        let mut at = home_and_mark(block).0 & mask;
        while !self.places[at].ready.is_zero() && self.places[at].block != block {
            at = (at + 1) & mask;
        }
        at
    }

    /// Forgets what has arrived by `now`. That is exact unless time went back by more than a full table of
    /// misses. Whether it made room; if the table is full, the next try is when an eighth of it has arrived.
    #[cold]
    fn make_room(&mut self, now: Time, waiting: usize) -> bool {
        if now < self.full_until {
            return false;
        }
        self.lay_out(self.floor.max(now));
        if self.used < IN_FLIGHT_MAX {
            return self.used + waiting < IN_FLIGHT_MAX;
        }
        let live = self.places.iter().map(|place| place.ready).filter(|ready| !ready.is_zero());
        let mut arrivals: Vec<Time> = live.collect();
        let eighth = arrivals.len() / 8;
        self.full_until = *arrivals.select_nth_unstable(eighth).1;
        false
    }

    /// Lays the table out anew, without the blocks that have arrived by `horizon`.
    fn lay_out(&mut self, horizon: Time) {
        let mut live = 0;
        for at in 0..self.places.len() {
            // Which places live on is not to be guessed by a processor: each is copied.
            let place = self.places[at];
            self.places[live] = place;
            live += usize::from((place.block != NO_BLOCK) & (place.ready > horizon));
        }
        let live = self.places[..live].to_vec();
        // The more room there is, the more blocks come in before the table is laid out again.
        let places = (live.len() * 8).next_power_of_two().max(PLACES_MIN);
        self.places.clear();
        self.places.resize(places, UNUSED);
        self.marks.clear();
        self.marks.resize(places, 0);
        self.used = live.len();
        for place in live {
            let at = self.find(place.block);
            self.places[at] = place;
            self.mark(place.block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn us(us: u64) -> Time {
        Time::from_us(us)
    }

    #[test]
    fn a_block_is_on_its_way_from_setting_out_to_arrival() {
        let mut table = InFlight::new();
        table.insert(7, us(2), us(10));
        assert_eq!(table.way(7, us(1)), Way::SetsOutLater);
        assert_eq!(table.way(7, us(2)), Way::Arriving(us(10)));
        assert_eq!(table.way(7, us(9)), Way::Arriving(us(10)));
        assert_eq!(table.way(7, us(10)), Way::Idle);
        assert_eq!(table.way(8, us(9)), Way::Idle);
        table.forget(7, us(9));
        assert_eq!(table.way(7, us(9)), Way::Idle);
        table.insert(7, us(9), us(12));
        assert_eq!(table.way(7, us(11)), Way::Arriving(us(12)));
    }

    #[test]
    fn the_table_answers_like_a_map_whatever_happened_before() {
        let mut random = nacre_kernel::Streams::new(5).stream("in flight");
        let mut table = InFlight::new();
        let mut naive: BTreeMap<u64, Time> = BTreeMap::new();
        for step in 0..20_000 {
            let (now, block) = (us(step), random.below(300));
            match random.below(8) {
                0 => {
                    table.forget(block, now);
                    naive.remove(&block);
                }
                1 => table.advance(now),
                2..5 => {
                    let ready = us(step + 1 + random.below(200));
                    table.insert(block, now, ready);
                    naive.insert(block, ready);
                }
                _ => {
                    let expected = naive.get(&block).filter(|&&ready| ready > now);
                    let expected = expected.map_or(Way::Idle, |&ready| Way::Arriving(ready));
                    assert_eq!(table.way(block, now), expected, "at step {step}");
                }
            }
        }
        table.check_invariants();
    }

    #[test]
    fn memory_follows_the_blocks_on_their_way_and_the_table_has_a_bound() {
        let mut table = InFlight::new();
        for block in 0..1_000_000 {
            table.insert(block, us(block), us(block + 10));
            table.advance(us(block));
        }
        assert_eq!(table.places.len(), (8 * 10u64).next_power_of_two() as usize, "ten are on their way");
        let mut inserted = 0;
        while table.has_room(us(2_000_000), 0) {
            table.insert(inserted, us(2_000_000), us(9_000_000));
            inserted += 1;
        }
        assert_eq!(inserted as usize, IN_FLIGHT_MAX);
        assert!(!table.has_room(us(3_000_000), 0));
        assert!(table.has_room(us(9_000_000), 0), "there is room again when the blocks have arrived");
        assert!(table.has_room(us(9_000_000), IN_FLIGHT_MAX - 1));
        assert!(!table.has_room(us(9_000_000), IN_FLIGHT_MAX), "those that wait for room take it too");
        table.check_invariants();
    }
}
