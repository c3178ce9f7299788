use super::{Landed, drawn_units};
use crate::store::{Memory, Nothing};
use nacre_kernel::event::Payload;
use nacre_kernel::{Bytes, Op, Request, Streams, Time};
use proptest::prelude::*;

fn request(address: u64, bytes: usize) -> Request {
    Request { arrival: Time::ZERO, address, bytes: bytes as u32, volume: 0, op: Op::Read }
}

fn found(bytes: &Landed<Memory>, address: u64, count: usize) -> Vec<u8> {
    bytes.read(&request(address, count)).bytes().expect("it carries bytes").to_vec()
}

#[test]
fn without_a_store_there_are_no_bytes() {
    let mut bytes = Landed::new(Nothing, 512);
    bytes.write(0, &vec![1; 512].into());
    assert!(bytes.read(&request(0, 512)).is_none());
    let mut chance = Streams::new(1).stream("chance");
    assert_eq!(bytes.tear(0, &vec![1; 512].into(), &mut chance), 0);
}

#[test]
fn a_layout_holds_the_capacity() {
    let layout = Landed::layout(Some(Bytes(4097)));
    assert_eq!((layout.page_bytes, layout.pages), (4096, 2));
    assert!(Landed::layout(None).pages >= 1 << 38, "as much as any host reaches");
}

#[test]
fn what_is_trimmed_reads_as_zero() {
    let mut bytes = Landed::new(Memory::new(64), 8);
    bytes.write(0, &vec![3; 32].into());
    bytes.trim(&Request { op: Op::Trim, ..request(8, 16) });
    assert_eq!(found(&bytes, 0, 32), [[3; 8], [0; 8], [0; 8], [3; 8]].concat());
}

/// Checks that each unit of a torn write has either old or new data, that about half of the units have new
/// data, and that no other data changes.
#[test]
fn half_of_the_units_of_torn_writes_are_new() {
    let mut chance = Streams::new(2).stream("chance");
    let mut landed = 0;
    for _ in 0..200 {
        let mut bytes = Landed::new(Memory::new(64), 4);
        bytes.write(0, &vec![1; 64].into());
        landed += bytes.tear(8, &vec![2; 48].into(), &mut chance);
    }
    let (mean, deviation) = (200.0 * 24.0, (200.0 * 12.0 * 0.25f64).sqrt() * 4.0);
    assert!((landed as f64 - mean).abs() < 4.0 * deviation, "{landed} of {}", 2.0 * mean);
}

proptest! {
    #[test]
    fn a_torn_write_leaves_whole_units_of_the_address_space(
        unit in prop_oneof![Just(1u32), Just(8), Just(512)],
        start in 0..2_000u64,
        count in 1..3_000usize,
        seed in 0..1_000u64,
    ) {
        let mut chance = Streams::new(seed).stream("chance");
        let mut bytes = Landed::new(Memory::new(4096), unit);
        bytes.write(0, &vec![1; 8192].into());
        let new: Payload = vec![2; count].into();
        let landed = bytes.tear(start, &new, &mut chance);
        let after = found(&bytes, 0, 8192);
        prop_assert_eq!(after.iter().filter(|&&byte| byte == 2).count() as u64, landed);
        let inside = start as usize..start as usize + count;
        for (at, pair) in after.windows(2).enumerate() {
            let is_boundary = (at as u64 + 1).is_multiple_of(u64::from(unit))
                || at + 1 == inside.start
                || at + 1 == inside.end;
            prop_assert!(pair[0] == pair[1] || is_boundary, "units are torn at {}", at + 1);
        }
        prop_assert!(after.iter().enumerate().all(|(at, &byte)| byte == 1 || inside.contains(&at)));
    }

    #[test]
    fn drawn_units_lie_within_their_bytes_in_order(start in 0..100u64, count in 0..100u64, unit in 1..20u32, seed in 0..100u64) {
        let mut chance = Streams::new(seed).stream("chance");
        let mut end = start;
        for part in drawn_units(start..start + count, unit, &mut chance) {
            prop_assert!(part.start >= end && part.end > part.start && part.end <= start + count);
            prop_assert_eq!(part.start / u64::from(unit), (part.end - 1) / u64::from(unit));
            end = part.end;
        }
    }
}
