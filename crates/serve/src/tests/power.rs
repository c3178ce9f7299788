//! What a loss of power takes, against a device in an array.

use super::toy::{BYTES, DELAYS, LATENCY};
use super::{EMULATED, Folder, offer, opened, overwrite, toy, us};
use crate::failing::Outage;
use crate::undo::UNIT;
use nacre_kernel::Time;
use proptest::prelude::*;
use std::os::unix::fs::FileExt;

#[derive(Clone, Debug)]
enum Step {
    Write { offset: u64, bytes: u64 },
    Flush,
    Wait(u64),
    PowerFailure,
    Kill,
}

fn step() -> impl Strategy<Value = Step> {
    let write = (0..BYTES / 512, 1..40_u64).prop_map(|(sector, sectors)| Step::Write {
        offset: sector * 512,
        bytes: (sectors * 512).min(BYTES - sector * 512),
    });
    prop_oneof![
        12 => write,
        1 => Just(Step::Flush),
        6 => (0..400_u64).prop_map(Step::Wait),
        2 => Just(Step::PowerFailure),
        1 => Just(Step::Kill),
    ]
}

/// A write as the device's design treats it.
struct Written {
    offset: usize,
    bytes: Vec<u8>,
    done: Time,
    durable: Time,
}

/// What the device was before all writes that may be lost, and these writes.
struct Oracle {
    base: Vec<u8>,
    writes: Vec<Written>,
}

impl Oracle {
    fn flush(&mut self, asked: Time, done: Time) {
        let acknowledged = self.writes.iter_mut().filter(|write| write.done <= asked);
        acknowledged.for_each(|write| write.durable = write.durable.min(done));
    }

    /// Whether a write stays for sure: it is durable, and what replaced some of it is so too. Of what a volatile
    /// buffer replaced the device cannot say whether the medium has it.
    fn is_certain(&self, number: usize, now: Time) -> bool {
        let write = &self.writes[number];
        let end = write.offset + write.bytes.len();
        let newer = &self.writes[number + 1..];
        write.durable <= now
            && newer.iter().all(|newer| newer.durable <= now || !overlap(newer, write.offset, end))
    }

    /// Every byte after a loss of power at `now` is what the writes that stay leave: each byte of a write under
    /// way may be there or not, but units of it only as a whole.
    fn check(&mut self, now: Time, found: &[u8]) {
        let certain: Vec<_> = (0..self.writes.len()).map(|number| self.is_certain(number, now)).collect();
        let possible: Vec<_> =
            self.writes.iter().map(|write| write.durable <= now || write.done > now).collect();
        for (at, &byte) in found.iter().enumerate() {
            let mut allowed = vec![self.base[at]];
            for (number, write) in self.writes.iter().enumerate() {
                let Some(&new) = at.checked_sub(write.offset).and_then(|place| write.bytes.get(place)) else {
                    continue;
                };
                if certain[number] {
                    allowed.clear();
                }
                if possible[number] {
                    allowed.push(new);
                }
            }
            assert!(allowed.contains(&byte), "byte {at} is {byte}, allowed are {allowed:?}");
        }
        // Bytes of one write differ from all others, and all bytes of a unit have the same fate.
        for write in self.writes.iter().filter(|write| write.done > now) {
            let end = write.offset + write.bytes.len();
            let mut at = write.offset;
            while at < end {
                let unit = at..end.min((at / UNIT as usize + 1) * UNIT as usize);
                let there =
                    unit.clone().filter(|&byte| found[byte] == write.bytes[byte - write.offset]).count();
                let is_alone =
                    self.writes.iter().filter(|other| overlap(other, unit.start, unit.end)).count() == 1;
                assert!(!is_alone || there == 0 || there == unit.len(), "unit at {at} is torn");
                at = unit.end;
            }
        }
        self.base = found.to_vec();
        self.writes.clear();
    }
}

fn overlap(write: &Written, start: usize, end: usize) -> bool {
    write.offset < end && start < write.offset + write.bytes.len()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]
    #[test]
    fn a_loss_of_power_takes_what_the_design_loses_and_nothing_else(steps in prop::collection::vec(step(), 1..80)) {
        let folder = Folder::new();
        let mut disk = Some(toy(&folder.image()));
        let mut oracle = Oracle { base: vec![0; BYTES as usize], writes: Vec::new() };
        let (mut now, mut fill) = (us(1), 0_u8);
        for step in steps {
            let open = disk.as_ref().expect("it is open");
            match step {
                Step::Write { offset, bytes } => {
                    // Never what is there by chance.
                    fill = fill.wrapping_add(1).max(1);
                    let bytes = vec![fill; bytes as usize];
                    let said = open.write_at(now, offset, &bytes);
                    let durable = said.done + DELAYS[(offset / (BYTES / 4)) as usize];
                    let known = if durable == said.done { durable } else { Time::MAX };
                    prop_assert_eq!((said.done, said.durable), (said.now + LATENCY, known));
                    now = said.now;
                    oracle.writes.push(Written { offset: offset as usize, bytes, done: said.done, durable });
                }
                Step::Flush => {
                    let said = open.flush_at(now);
                    oracle.flush(said.now, said.done);
                    now = said.now;
                }
                Step::Wait(time) => now += us(time),
                Step::PowerFailure => {
                    let failed = now.max(open.model.now());
                    let Outage { acknowledged_lost, under_way, .. } = open.fail_at(now);
                    let lost = (0..oracle.writes.len())
                        .filter(|&number| oracle.writes[number].done <= failed && !oracle.is_certain(number, failed));
                    prop_assert!(acknowledged_lost <= lost.count() as u64);
                    let interrupted =
                        oracle.writes.iter().filter(|write| write.done > failed && write.durable > failed);
                    prop_assert_eq!(under_way, interrupted.count() as u64);
                    oracle.check(failed, &open.bytes());
                    now = open.model.now();
                }
                // All that was written to the file is there again, durable in the device or not.
                Step::Kill => {
                    disk = None;
                    let open = disk.insert(toy(&folder.image()));
                    now = now.max(open.model.now());
                    oracle = Oracle { base: open.bytes(), writes: Vec::new() };
                }
            }
        }
    }
}

#[test]
fn acknowledged_writes_are_lost_until_they_are_durable_or_flushed() {
    // The last quarter is durable 2 ms after it is acknowledged.
    let offset = BYTES - 8192;
    for (flushes, fails_at, lost) in
        [(false, us(1000), 1), (true, us(21), 1), (true, us(22), 0), (false, us(2011), 0)]
    {
        let folder = Folder::new();
        let disk = toy(&folder.image());
        let said = disk.write_at(us(1), offset, &[9; 8192]);
        assert_eq!((said.done, said.durable), (us(11), Time::MAX));
        if flushes {
            disk.flush_at(us(12));
        }
        let outage = disk.fail_at(fails_at);
        assert_eq!(outage.acknowledged_lost, lost);
        assert_eq!(outage.bytes_lost, lost * 8192);
        assert_eq!(outage.ready_after, us(2011).saturating_sub(fails_at));
        let expected = if lost == 1 { 0 } else { 9 };
        assert!(disk.bytes()[offset as usize..].iter().all(|&byte| byte == expected));
        let next = disk.write_at(us(1), 0, &[1]);
        assert!(next.now >= us(2011), "it is asked again when it is ready");
    }
}

#[test]
fn a_durable_write_over_one_that_is_lost_stays() {
    let folder = Folder::new();
    let disk = toy(&folder.image());
    // Begins in the last quarter but one, durable after 300 us, and reaches into the last; then the other way round.
    let edge = BYTES * 3 / 4;
    disk.write_at(us(1), edge, &[1; 4096]);
    disk.write_at(us(2), edge - 512, &[2; 1024]);
    let outage = disk.fail_at(us(500));
    assert_eq!((outage.acknowledged_lost, outage.bytes_lost), (1, 4096 - 512));
    let bytes = disk.bytes();
    assert!(bytes[edge as usize - 512..][..1024].iter().all(|&byte| byte == 2));
    assert!(bytes[edge as usize + 512..][..3584].iter().all(|&byte| byte == 0));
}

#[test]
fn what_is_left_of_interrupted_writes_is_the_seeds_choice_and_every_choice_comes() {
    let interrupted = |seed: u64| {
        let folder = Folder::new();
        let offer =
            crate::server::Offer { seed, ..offer(Box::new(super::toy::Toy::default()), &folder.image()) };
        let disk = opened(offer, EMULATED).unwrap().0;
        disk.write_at(us(1), 0, &[1; 16384]);
        assert_eq!(disk.fail_at(us(2)).under_way, 1);
        disk.bytes().iter().filter(|&&byte| byte == 1).count()
    };
    let seen: Vec<_> = (0..30).map(interrupted).collect();
    assert_eq!(seen, (0..30).map(interrupted).collect::<Vec<_>>());
    assert!(seen.contains(&0) && seen.contains(&16384), "{seen:?}");
    assert!(seen.iter().any(|count| (1..16384).contains(count)), "{seen:?}");
    assert!(seen.iter().all(|count| count.is_multiple_of(4096)), "{seen:?}");
}

/// A kill at every moment of carrying a loss of power out, told by the files it leaves.
#[test]
fn a_kill_while_power_fails_finishes_it_or_leaves_it_out() {
    let folder = Folder::new();
    let disk = toy(&folder.image());
    disk.write_at(us(1), BYTES - 4096, &[9; 4096]);
    let before = folder.0.join("before");
    disk.snapshot(&before).unwrap();
    // A file in the way of the one beside: the loss of power stops before its entry.
    std::fs::create_dir(folder.0.join("x.image.outage")).unwrap();
    let (failed, ready) = disk.model.power_fail_at(us(100));
    assert!(disk.lose_power(failed, ready).is_err());
    assert!(disk.bytes()[BYTES as usize - 1] == 9);
    std::fs::remove_dir(folder.0.join("x.image.outage")).unwrap();
    drop(disk);

    // With entry and file beside, whatever part of the bytes was put back.
    let pieces = [crate::undo::Piece { offset: BYTES - 4096, old: crate::undo::Old::Bytes(vec![0; 4096]) }];
    for put_back in [0, 100, 4096] {
        let image = folder.0.join(format!("killed-{put_back}"));
        std::fs::copy(&before, &image).unwrap();
        let failure = crate::image::Entry {
            now: us(100),
            address: 0,
            length: 0,
            what: crate::image::What::PowerFailure,
        };
        overwrite(&image, super::JOURNAL + 24, &failure.encode(1));
        overwrite(&image, (1 << 20) + BYTES - 4096, &vec![0; put_back]);
        let beside = folder.0.join(format!("killed-{put_back}.outage"));
        let file = std::fs::OpenOptions::new().write(true).create_new(true).open(&beside).unwrap();
        file.write_all_at(&crate::image::outage_bytes(&pieces, 1), 0).unwrap();
        let disk = toy(&image);
        assert!(disk.bytes()[BYTES as usize - 4096..].iter().all(|&byte| byte == 0), "it was finished");
        assert!(!beside.exists());
    }

    // The file beside without the entry: it never happened.
    let beside = folder.0.join("before.outage");
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(&beside).unwrap();
    file.write_all_at(&crate::image::outage_bytes(&pieces, 1), 0).unwrap();
    let disk = toy(&before);
    assert!(disk.bytes()[BYTES as usize - 4096..].iter().all(|&byte| byte == 9));
    assert!(!beside.exists());
}
