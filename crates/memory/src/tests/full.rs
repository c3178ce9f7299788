//! Tests of a full disk, on which trims free space.

use super::NoFiles;
use super::small_disk::SmallDisk;
use crate::check;
use crate::persistent_device::PersistentDevice;
use crate::step::Step;
use nacre_image::tape::{Event, Followed};
use nacre_kernel::{Random, Streams, Time};
use nacre_machine::{Checked, Document};
use std::collections::BTreeSet;
use std::sync::Arc;

const JOURNAL_BYTES: u64 = 1 << 20;
/// Size in bytes of a journal that needs no checkpoint before the disk is full.
const LONG_JOURNAL_BYTES: u64 = 16 << 20;
const WRITE_BYTES: u32 = 16 << 10;
/// Maximum size in bytes of the pages that wait for free space: a batch of pages that is written together,
/// and the pages of the last write.
const WAITING_BYTES: u32 = (256 << 10) + WRITE_BYTES;

fn measured() -> Checked {
    let text = "[stack]\nkind = \"measured\"\nread = \"5 us\"\nwrite = \"10 us\"\ncapacity = \"4 MiB\"\n";
    let document = Document { text, name: "test.toml", overrides: &[], seed: None };
    check(&document).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Writes until the disk is full; returns the number of bytes written.
fn filled(device: &mut PersistentDevice, stamp: u8) -> u32 {
    let bytes = vec![stamp; WRITE_BYTES as usize];
    let places = (0..device.capacity() as u32).step_by(WRITE_BYTES as usize);
    for address in places {
        let step = Step::Write { address: address.into(), bytes: &bytes };
        // Each write completes before the next one, so that a power loss cannot drop it.
        let done = device
            .change(device.until(), step)
            .and_then(|done| device.change(done.completion.done, Step::Idle(Time::from_ms(1))));
        if done.is_err() {
            return address;
        }
    }
    device.capacity() as u32
}

#[test]
fn what_is_trimmed_makes_room_on_a_full_disk() {
    let checked = measured();
    for most in [200, 333, 500] {
        let disk = SmallDisk::of(most);
        let mut device =
            PersistentDevice::on_disk(&checked, &NoFiles, disk.clone(), JOURNAL_BYTES, true).unwrap();
        let first = filled(&mut device, 1);
        assert!(
            0 < first && u64::from(first) < device.capacity(),
            "{most} blocks are too few, {first} bytes"
        );
        for turn in 2..6 {
            device.change(device.until(), Step::Trim { address: 0, bytes: first }).unwrap();
            let again = filled(&mut device, turn);
            assert!(again >= first / 2, "{most} blocks: {again} bytes after a trim, {first} before");
        }
        device.sync().unwrap();
        drop(device);
        let mut device = PersistentDevice::on_disk(&checked, &NoFiles, disk, JOURNAL_BYTES, true).unwrap();
        let mut found = vec![0; (first / 2) as usize];
        device.read(device.until(), 0, &mut found);
        assert!(found.iter().all(|&byte| byte == 5), "{most} blocks: what was written last");
    }
}

#[test]
fn a_part_that_is_trimmed_makes_room_on_a_full_disk() {
    let checked = measured();
    for journal_bytes in [JOURNAL_BYTES, LONG_JOURNAL_BYTES] {
        for most in [500, 700] {
            let disk = SmallDisk::of(most);
            let mut device =
                PersistentDevice::on_disk(&checked, &NoFiles, disk.clone(), journal_bytes, true).unwrap();
            let first = filled(&mut device, 1);
            assert!(0 < first && u64::from(first) < device.capacity(), "{most} blocks: {first} bytes");
            for (turn, tenths) in [(2, 7), (3, 5), (4, 4), (5, 7)] {
                let bytes = first / 10 * tenths / WRITE_BYTES * WRITE_BYTES;
                device.change(device.until(), Step::Trim { address: 0, bytes }).unwrap();
                let again = filled(&mut device, turn);
                let what = format!("journal {journal_bytes}, {most} blocks, turn {turn}");
                assert!(
                    again + WAITING_BYTES >= bytes,
                    "{what}: {again} of {bytes} bytes after a trim, {first} before"
                );
            }
        }
    }
}

/// Writes until the disk is full, submitting each write as early as possible. Returns the number of bytes
/// written.
fn filled_at_once(device: &mut PersistentDevice, stamp: u8, write: u32) -> u32 {
    let bytes = vec![stamp; write as usize];
    let mut places = (0..device.capacity() as u32).step_by(write as usize);
    let has_no_room = |&address: &u32| {
        device.change(device.until(), Step::Write { address: address.into(), bytes: &bytes }).is_err()
    };
    places.find(has_no_room).unwrap_or(device.capacity() as u32)
}

#[test]
fn what_landed_takes_no_room_from_a_part_that_is_trimmed() {
    let checked = measured();
    let write = 64 << 10;
    for journal_bytes in [4 << 20, LONG_JOURNAL_BYTES] {
        let mut device =
            PersistentDevice::on_disk(&checked, &NoFiles, SmallDisk::of(900), journal_bytes, true).unwrap();
        let first = filled_at_once(&mut device, 1, write);
        assert!(0 < first && u64::from(first) < device.capacity(), "{first} bytes");
        for (turn, tenths) in [(2, 7), (3, 5), (4, 4), (5, 9)] {
            let bytes = first / 10 * tenths / write * write;
            device.change(device.until(), Step::Trim { address: 0, bytes }).unwrap();
            let again = filled_at_once(&mut device, turn, write);
            assert!(
                again + WAITING_BYTES + write >= bytes,
                "turn {turn}: {again} of {bytes} bytes after a trim, {first} before"
            );
        }
    }
}

/// Values that each block of [`WRITE_BYTES`] may contain: the byte that was last written to the block, or
/// zero after a trim.
type Blocks = Vec<BTreeSet<u8>>;

/// A device on a small disk, with its possible contents.
struct SmallDiskRun {
    checked: Checked,
    disk: Arc<SmallDisk>,
    device: PersistentDevice,
    /// Possible contents after a kill.
    known: Blocks,
    /// Possible contents after a host power loss.
    synced: Blocks,
    refused: u64,
}

impl SmallDiskRun {
    fn new(most: usize) -> SmallDiskRun {
        let (checked, disk) = (measured(), SmallDisk::of(most));
        let device =
            PersistentDevice::on_disk(&checked, &NoFiles, disk.clone(), JOURNAL_BYTES, true).unwrap();
        let none = vec![BTreeSet::from([0]); device.capacity() as usize / WRITE_BYTES as usize];
        SmallDiskRun { checked, disk, device, known: none.clone(), synced: none, refused: 0 }
    }

    fn step(&mut self, random: &mut Random, stamp: u8) {
        let first = random.below(self.known.len() as u64 - 24) as usize;
        let address = first as u64 * u64::from(WRITE_BYTES);
        if random.below(24) == 0 {
            let count = 1 + random.below(24) as usize;
            let step = Step::Trim { address, bytes: count as u32 * WRITE_BYTES };
            self.device.change(self.device.until(), step).unwrap();
            for blocks in [&mut self.known, &mut self.synced] {
                blocks[first..first + count].iter_mut().for_each(|block| {
                    block.insert(0);
                });
            }
        } else if random.below(8) == 0 {
            self.device.sync().unwrap();
            self.synced.clone_from(&self.known);
        } else {
            let step = Step::Write { address, bytes: &[stamp; WRITE_BYTES as usize] };
            let done = self
                .device
                .change(self.device.until(), step)
                .and_then(|done| self.device.change(done.completion.done, Step::Idle(Time::from_ms(1))));
            self.refused += u64::from(done.is_err());
            // The write may survive even if later steps do not.
            self.synced[first].insert(stamp);
            match done {
                Ok(_) => self.known[first] = BTreeSet::from([stamp]),
                Err(_) => _ = self.known[first].insert(stamp),
            }
        }
    }

    /// Checks that each block of the device in `file` has one of the contents that `may` allows for the
    /// block.
    fn holds(&self, file: Vec<u8>, may: [&Blocks; 2], what: &str) {
        let disk = SmallDisk::with(file);
        let mut device = PersistentDevice::on_disk(&self.checked, &NoFiles, disk, JOURNAL_BYTES, true)
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        let mut found = vec![0; device.capacity() as usize];
        device.read(device.until(), 0, &mut found);
        for (number, bytes) in found.chunks(WRITE_BYTES as usize).enumerate() {
            let is_one = bytes.iter().all(|byte| *byte == bytes[0]);
            let is_known = may.iter().any(|blocks| blocks[number].contains(&bytes[0]));
            assert!(
                is_one && is_known,
                "{what}: block {number} holds {}, not {:?}",
                bytes[0],
                may[1][number]
            );
        }
    }
}

#[test]
fn a_crash_amid_giving_room_back_takes_nothing_that_was_kept() {
    let mut random = Streams::new(4).stream("full");
    let (mut refused, mut holes) = (0, 0);
    for most in [400, 550, 700] {
        let mut run = SmallDiskRun::new(most);
        let mut file = Followed::default();
        for number in 0..600_u32 {
            let (known, synced) = (run.known.clone(), run.synced.clone());
            run.step(&mut random, 1 + (number % 255) as u8);
            let events = run.disk.events();
            if number % 4 == 1 && !events.is_empty() {
                let cut = random.below(events.len() as u64 + 1) as usize;
                let mut cut_off = file.clone();
                events[..cut].iter().for_each(|event| cut_off.follow(event));
                if let Some(Event::Write(offset, part)) = events.get(cut) {
                    let part = part[..random.below(part.len() as u64) as usize].to_vec();
                    cut_off.follow::<()>(&Event::Write(*offset, part));
                }
                let what = format!("{most} blocks, step {number}, operation {cut} of {}", events.len());
                let lost = cut_off.powerless(&mut random);
                run.holds(cut_off.bytes, [&known, &run.known], &format!("killed: {what}"));
                run.holds(lost, [&synced, &run.synced], &format!("powerless: {what}"));
            }
            events.iter().for_each(|event| file.follow(event));
        }
        (refused, holes) = (refused + run.refused, holes + run.disk.holes());
    }
    assert!(refused > 100 && holes > 100, "{refused} writes refused, {holes} holes");
}
