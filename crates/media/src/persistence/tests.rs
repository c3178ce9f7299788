use super::{Change, Loss, Pending, Program, Torn, Write};
use crate::store::{InPlace, Memory};
use nacre_kernel::state::Value;
use nacre_kernel::{Random, Streams, Time};
use proptest::prelude::*;
use std::cell::Cell;
use std::ops::Range;

fn us(time: u64) -> Time {
    Time::from_us(time)
}

fn chance() -> Random {
    Streams::new(1).stream("chance")
}

/// A medium of zeroes, and a write of `bytes` times `stamp` at `address` that lands between two moments.
struct Bench {
    medium: InPlace<Memory>,
    pending: Pending<Write>,
}

impl Bench {
    fn new() -> Bench {
        Bench { medium: InPlace::new(Memory::new(64)), pending: Pending::default() }
    }

    fn write(&mut self, address: u64, bytes: usize, stamp: u8, (begin, end, acknowledged): (u64, u64, u64)) {
        let mut old = vec![0; bytes];
        self.medium.read(address, &mut old);
        self.medium.write(address, &vec![stamp; bytes]);
        let programs = vec![Program { first: 0, count: bytes, begin: us(begin), end: us(end) }];
        self.pending.push(Write { address, old, programs }, us(acknowledged));
    }

    fn fail(&mut self, at: u64, powered: Option<u64>, torn: Torn) -> Loss {
        self.fail_by(at, powered, torn, &mut chance())
    }

    fn fail_by(&mut self, at: u64, powered: Option<u64>, torn: Torn, chance: &mut Random) -> Loss {
        let medium = &mut self.medium;
        self.pending
            .fail_with_energy(us(at), powered, torn, chance, |address, old| medium.write(address, old))
    }

    fn bytes(&self, address: u64, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.medium.read(address, &mut bytes);
        bytes
    }
}

#[test]
fn what_has_landed_stays_what_has_not_begun_is_gone_and_what_is_landing_is_torn_where_it_was() {
    let mut bench = Bench::new();
    bench.write(0, 16, 1, (0, 10, 5));
    bench.write(16, 16, 2, (5, 15, 5));
    bench.write(32, 16, 3, (11, 20, 5));
    let loss = bench.fail(10, Some(0), Torn::Progress { unit: 4 });
    assert_eq!(bench.bytes(0, 16), [1; 16]);
    // Half of its time: eight of sixteen bytes, two units of four.
    assert_eq!(bench.bytes(16, 16), [[2; 8], [0; 8]].concat());
    assert_eq!(bench.bytes(32, 16), [0; 16]);
    assert_eq!((loss.programs_lost, loss.bytes_lost), (2, 8 + 16));
    assert!(bench.pending.is_empty());
}

#[test]
fn a_write_that_is_lost_shows_the_newest_one_below_it_that_landed() {
    for (at, expected) in [(15, 2), (25, 2), (35, 3)] {
        let mut bench = Bench::new();
        bench.write(8, 8, 1, (0, 20, 1));
        bench.write(8, 8, 2, (0, 12, 1));
        bench.write(8, 8, 3, (30, 32, 1));
        bench.fail(at, Some(0), Torn::Units(8));
        assert_eq!(bench.bytes(8, 8), [expected; 8], "at {at} us");
    }
}

#[test]
fn stored_energy_goes_to_the_programs_that_would_end_first() {
    let mut bench = Bench::new();
    for (place, end) in [(0, 40), (1, 20), (2, 30)] {
        bench.write(place * 8, 8, 7, (10, end, 1));
    }
    let loss = bench.fail(11, Some(2), Torn::Units(8));
    assert_eq!((loss.programs_finished, loss.programs_lost), (2, 1));
    assert_eq!(loss.ready, us(30), "until then they were finished");
    assert_eq!([bench.bytes(8, 8), bench.bytes(16, 8)], [[7; 8], [7; 8]]);
}

#[test]
fn torn_units_are_old_or_new_and_never_mixed() {
    let (mut old, mut new) = (0, 0);
    for seed in 0..40 {
        let mut bench = Bench::new();
        bench.write(4, 60, 9, (0, 10, 99));
        let mut chance = Streams::new(seed).stream("chance");
        let loss = bench.fail_by(5, Some(0), Torn::Units(16), &mut chance);
        assert_eq!(loss.bytes_lost, 0, "nothing that was not acknowledged is lost");
        for unit in [4..16, 16..32, 32..48, 48..64] {
            let bytes = bench.bytes(unit.start, (unit.end - unit.start) as usize);
            assert!(bytes.iter().all(|&byte| byte == bytes[0]), "{bytes:?}");
            old += u64::from(bytes[0] == 0);
            new += u64::from(bytes[0] == 9);
        }
    }
    assert!(old + new == 160 && old > 40 && new > 40, "{old} old and {new} new units");
}

#[test]
fn cleared_bytes_are_zero_and_whole_pages_take_no_room() {
    let mut medium = InPlace::new(Memory::new(16));
    medium.write(0, &[5; 64]);
    medium.clear(10, 30);
    let mut bytes = [0; 64];
    medium.read(0, &mut bytes);
    let expected: Vec<u8> = (0..64).map(|at| if (10..40).contains(&at) { 0 } else { 5 }).collect();
    assert_eq!(bytes[..], expected[..]);
}

proptest! {
    #[test]
    fn of_each_byte_the_newest_write_that_landed_is_left(
        writes in prop::collection::vec((0u64..40, 1usize..16, 0u64..20, 1u64..20), 1..12),
        at in 0u64..40,
    ) {
        let mut bench = Bench::new();
        for (stamp, &(address, bytes, begin, duration)) in (1..).zip(&writes) {
            bench.write(address, bytes, stamp, (begin, begin + duration, 0));
        }
        bench.fail(at, Some(0), Torn::Progress { unit: 1 });
        let left = bench.bytes(0, 64);
        for (byte, &left) in (0..).zip(&left) {
            let has_landed = |&(_, &(address, bytes, begin, duration)): &(u8, &(u64, usize, u64, u64))| {
                let landed = at.saturating_sub(begin).min(duration) * bytes as u64 / duration;
                (address..address + landed).contains(&byte)
            };
            let newest = (1..).zip(&writes).filter(has_landed).last();
            prop_assert_eq!(left, newest.map_or(0, |(stamp, _)| stamp), "byte {}", byte);
        }
    }
}

/// A block that comes to a place, until a moment that somebody else knows.
#[derive(Clone, Debug, Value)]
struct Step(u64, usize);

impl Change for Step {
    type Ends = [Time];

    fn place(&self) -> Range<u64> {
        self.0..self.0 + 1
    }

    fn landed_at(&self, ends: &[Time]) -> Time {
        ends[self.1]
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn ends_may_move_and_what_has_landed_waits_for_what_is_older() {
    let mut pending = Pending::default();
    let mut ends = [us(30), us(10), us(20)];
    for (block, step) in [(1, 0), (2, 1), (1, 2)] {
        assert_eq!(pending.push(Step(block, step), us(5)), step as u64);
    }
    pending.settle(us(15), &ends[..]);
    assert_eq!(pending.numbers(), 0..3, "the first one has not landed");
    // The first program comes to its turn earlier, and the last one is suspended.
    (ends[0], ends[2]) = (us(12), us(40));
    let mut lost = Vec::new();
    pending.clone().fail(us(20), &ends[..], |of| lost.push((of.change.0, of.change.1)));
    assert_eq!(lost, [(1, 2)]);
    pending.settle(us(20), &ends[..]);
    assert_eq!(pending.numbers(), 2..3);
    assert_eq!(pending.get_mut(2).0, 1);
}

/// A change of one block, which counts how often it is asked whether it has landed.
#[derive(Clone, Debug, Value)]
struct Counted {
    block: u64,
    end: Time,
}

impl Change for Counted {
    type Ends = Cell<u64>;

    fn place(&self) -> Range<u64> {
        self.block..self.block + 1
    }

    fn landed_at(&self, asked: &Cell<u64>) -> Time {
        asked.set(asked.get() + 1);
        self.end
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// As many blocks of 4 KiB as a write cache of 1 GiB holds, and twice as many written: each is looked at a few times, however
/// many wait with it.
#[test]
fn what_is_kept_of_a_write_does_not_grow_with_the_writes_that_wait() {
    const WAITING: u64 = (1 << 30) / 4096;
    let (asked, mut pending) = (Cell::new(0), Pending::<Counted>::default());
    for number in 0..2 * WAITING {
        let end = Time::from_us(number + WAITING);
        pending.push(Counted { block: number * 7 % WAITING, end }, Time::from_us(number));
        pending.settle(Time::from_us(number), &asked);
    }
    assert_eq!(pending.len() as u64, WAITING);
    let mut lost = 0;
    pending.fail(Time::from_us(2 * WAITING), &asked, |_| lost += 1);
    assert_eq!(lost, WAITING - 1, "those that land later");
    assert!(asked.get() <= 6 * WAITING, "{} questions of {} writes", asked.get(), 2 * WAITING);
}
