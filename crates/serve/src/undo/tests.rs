use super::{Fate, Loss, Old, Piece, Undo};
use nacre_kernel::{Random, Streams, Time};
use std::cell::Cell;
use std::ops::Range;

const BLOCK: u64 = 4096;

fn us(us: u64) -> Time {
    Time::from_us(us)
}

/// A write that is acknowledged at once; only the device knows when it survives.
fn push(undo: &mut Undo, now: Time, range: Range<u64>) {
    let old = vec![Piece { offset: range.start, old: Old::Zeroes(range.end - range.start) }];
    undo.push(now, range, Fate { done: now, durable: Time::MAX }, old);
}

/// The same as `ask_before`, by looking at every write.
fn ask_all(undo: &mut Undo, now: Time, range: &Range<u64>, keeps: impl Fn(Range<u64>) -> bool) {
    for place in 0..undo.writes.len() {
        let write = &undo.writes[place];
        let touches = write.range.start < range.end && range.start < write.range.end;
        if touches && write.is_open(now) && keeps(write.range.clone()) {
            undo.settle_one(undo.first + place as u64);
        }
    }
    undo.drop_oldest();
}

/// One of a few blocks or of many, or a range that begins and ends in the middle of blocks.
fn range(random: &mut Random, blocks: u64) -> Range<u64> {
    match random.below(3) {
        0 => {
            let block = random.below(8);
            block * BLOCK..(block + 1) * BLOCK
        }
        1 => {
            let (block, count) = (random.below(blocks), 1 << random.below(6));
            block * BLOCK..(block + count) * BLOCK
        }
        _ => {
            let start = random.below(blocks * BLOCK);
            start..start + 1 + random.below(9 * BLOCK)
        }
    }
}

/// What is lost, and what is held on the way, is the same as if every write were looked at.
#[test]
fn writes_that_overlap_are_found_as_if_all_were_looked_at() {
    for seed in 0..20 {
        let mut random = Streams::new(seed).stream("writes");
        let (mut undo, mut naive) = (Undo::default(), Undo::default());
        for number in 0..400 {
            let now = us(number);
            let range = range(&mut random, 64);
            // What the device says depends on the place and the time alone, as a device's answer does.
            let keeps =
                |range: Range<u64>| (range.start / BLOCK * 7 + range.end + number / 3).is_multiple_of(5);
            undo.ask_before(now, &range, keeps);
            ask_all(&mut naive, now, &range, keeps);
            push(&mut undo, now, range.clone());
            push(&mut naive, now, range);
            if random.below(100) == 0 {
                undo.flush(now, now + us(5));
                naive.flush(now, now + us(5));
            }
            assert_eq!(
                (undo.first, undo.writes.len(), undo.held),
                (naive.first, naive.writes.len(), naive.held)
            );
        }
        let lost = |undo: &mut Undo| -> Loss { undo.fail(us(400), &mut Streams::new(seed).stream("units")) };
        assert_eq!(lost(&mut undo), lost(&mut naive), "seed {seed}");
    }
}

/// Before each write, with `writes` held: the places of writes that are looked at, and how often the device is
/// asked, on average.
fn steps(writes: u64) -> (f64, f64) {
    let mut random = Streams::new(1).stream("writes");
    let mut undo = Undo::default();
    let (mut looked_at, asked) = (0, Cell::new(0_u64));
    for number in 0..writes {
        let (now, range) = (us(number), range(&mut random, writes));
        looked_at += undo.ask_before(now, &range, |_| {
            asked.set(asked.get() + 1);
            false
        });
        push(&mut undo, now, range);
    }
    assert_eq!(undo.writes.len() as u64, writes, "all of them are held");
    (looked_at as f64 / writes as f64, asked.get() as f64 / writes as f64)
}

/// As many writes as a large cache holds may be held: what one costs does not grow with them.
#[test]
fn a_write_looks_at_few_of_those_held_however_many_they_are() {
    let (few, asked_of_few) = steps(1_000);
    let (many, asked_of_many) = steps(32_000);
    assert!(many < 1.5 * few && many < 64.0, "{few} places of 1,000 writes, {many} of 32,000");
    assert!(asked_of_many <= 1.5 * asked_of_few, "{asked_of_few} questions, {asked_of_many}");
}
