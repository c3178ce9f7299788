use super::{Loss, Pending, Program, Torn, Write};
use crate::store::{InPlace, Memory};
use nacre_kernel::{Random, Streams, Time};

fn us(time: u64) -> Time {
    Time::from_us(time)
}

fn chance() -> Random {
    Streams::new(1).stream("chance")
}

/// A medium of zeroes, and a write of `bytes` times `stamp` at `address` that lands between two moments.
struct Bench {
    medium: InPlace<Memory>,
    pending: Pending,
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
        let new = vec![stamp; bytes];
        self.pending.push(Write { address, old, new, programs, acknowledged: us(acknowledged) });
    }

    fn fail(&mut self, at: u64, powered: Option<u64>, torn: Torn) -> Loss {
        self.pending.fail(us(at), powered, torn, &mut self.medium, &mut chance())
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
        let loss = bench.pending.fail(us(5), Some(0), Torn::Units(16), &mut bench.medium, &mut chance);
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
