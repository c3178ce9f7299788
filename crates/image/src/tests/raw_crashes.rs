//! Tests of raw bytes across host power losses. Synced bytes are restored, and every other byte has one of
//! the values that it had since the last sync.

use super::crashes::{Replay, Tape};
use crate::{Geometry, Image, Raw};
use nacre_kernel::{Random, Streams};
use std::path::Path;
use std::sync::Arc;

const BYTES: u64 = 16 << 10;
const JOURNAL_BYTES: u64 = 2048;
const IDENTITY: &str = "device = none";

/// Allowed values of each byte after a power loss: the value at the last sync, and the values written since.
type Legal = Vec<Vec<u8>>;

fn open(bytes: Vec<u8>) -> (Arc<Tape>, Image, Raw, Vec<u8>) {
    let tape = Arc::new(Tape::with(bytes));
    let opened = Image::open_on(tape.clone(), Path::new("tape"), IDENTITY, Geometry::raw(BYTES)).unwrap();
    let raw = opened.image.raw();
    let mut found = vec![0; BYTES as usize];
    raw.read(0, &mut found).unwrap();
    (tape, opened.image, raw, found)
}

/// Performs a random write, zeroing, or trim, or appends a record. Updates `now` to the resulting content.
fn change(raw: &Raw, image: &Image, random: &mut Random, now: &mut [u8]) {
    let (from, length) = (random.below(BYTES - 3000), 1 + random.below(3000));
    let range = from as usize..(from + length) as usize;
    match random.below(6) {
        0 => {
            raw.zero(from, length, true).unwrap();
            now[range].fill(0);
        }
        1 => {
            raw.zero(from, length, false).unwrap();
            now[range].fill(0);
        }
        2 if image.wants_checkpoint() => image.checkpoint(b"state").unwrap(),
        2 => image.append(b"record").unwrap(),
        _ => {
            let bytes = vec![1 + random.below(255) as u8; length as usize];
            raw.write(from, &bytes).unwrap();
            now[range].copy_from_slice(&bytes);
        }
    }
}

#[test]
fn power_failures_one_after_the_other_take_nothing_from_raw_bytes_that_was_synced() {
    let mut states = 0;
    for case in 0..250 {
        let mut random = Streams::new(case).stream("raw");
        let tape = Arc::new(Tape::default());
        Image::create_on(tape.clone(), Path::new("tape"), IDENTITY, Geometry::raw(BYTES), JOURNAL_BYTES)
            .unwrap();
        let mut file = tape.reel().bytes.clone();
        for _ in 0..8 {
            let (tape, image, raw, mut now) = open(file.clone());
            let mut legal: Legal = vec![now.clone()];
            let mut moments = vec![(0, legal.clone())];
            for _ in 0..random.below(12) {
                if random.chance(0.2) {
                    raw.sync().unwrap();
                    legal = vec![now.clone()];
                } else {
                    change(&raw, &image, &mut random, &mut now);
                    legal.push(now.clone());
                }
                moments.push((tape.reel().events.len(), legal.clone()));
            }
            // Power fails after one of the events.
            let (events, legal) = &moments[random.below(moments.len() as u64) as usize];
            let mut replay = Replay::on(&file, 0);
            tape.reel().events[..*events].iter().for_each(|event| replay.follow(event));
            file = replay.powerless(random.below(u64::MAX));
            let (.., found) = open(file.clone());
            for (at, byte) in found.iter().enumerate() {
                let is_legal = legal.iter().any(|then| then[at] == *byte);
                assert!(is_legal, "case {case}: byte {at} is {byte}, which it never was since the last sync");
            }
            states += 1;
        }
    }
    assert_eq!(states, 2000);
}
