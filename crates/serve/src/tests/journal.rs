//! What is torn is cut off; what is damaged is told and left.

use super::toy::Toy;
use super::{EMULATED, Folder, JOURNAL, contents, offer, opened, overwrite, toy, toy_refusal, us};
use crate::harm::Harm;
use crate::image::{Entry, Journal, What};
use nacre_kernel::{Op, Time};
use std::io;

const ENTRY: u64 = 24;

/// An image in which so many writes were made, one every 100 us.
fn written(folder: &Folder, writes: u64) {
    let disk = toy(&folder.image());
    for number in 0..writes {
        disk.write_at(us(100 * (number + 1)), number % 16 * 4096, &[number as u8; 512]);
    }
}

/// Opens it and says how many writes its device did, and what it was told.
fn reopened(folder: &Folder) -> (u64, Vec<String>) {
    let (disk, notices) =
        opened(offer(Box::new(Toy::default()), &folder.image()), EMULATED).expect("an image");
    (disk.model.report().counters[1].1, notices)
}

#[test]
fn a_journal_that_ends_anywhere_goes_on_after_its_last_whole_entry() {
    for cut in 0..=3 * ENTRY {
        let folder = Folder::new();
        written(&folder, 3);
        let file = std::fs::OpenOptions::new().write(true).open(folder.image()).unwrap();
        file.set_len(JOURNAL + cut).unwrap();
        let (writes, notices) = reopened(&folder);
        assert_eq!(writes, cut / ENTRY);
        if cut % ENTRY == 0 {
            assert_eq!(notices, Vec::<String>::new());
        } else {
            let told = format!("the last {} bytes of its journal were torn", cut % ENTRY);
            assert!(notices[0].contains(&told), "{}", notices[0]);
            assert!(notices[0].contains(&format!("continues from entry {writes}")), "{}", notices[0]);
        }
        assert_eq!(contents(&folder.image()).len() as u64, JOURNAL + writes * ENTRY, "it was cut off");
        assert_eq!(reopened(&folder), (writes, Vec::new()), "and is whole again");
    }
}

#[test]
fn a_last_entry_with_any_wrong_byte_is_torn() {
    for byte in 0..ENTRY {
        let folder = Folder::new();
        written(&folder, 3);
        let at = JOURNAL + 2 * ENTRY + byte;
        let wrong = contents(&folder.image())[at as usize] ^ 0x20;
        overwrite(&folder.image(), at, &[wrong]);
        let (writes, notices) = reopened(&folder);
        assert_eq!((writes, notices.len()), (2, 1));
    }
}

#[test]
fn a_damaged_entry_before_good_ones_is_an_error_and_nothing_is_changed() {
    for byte in 0..ENTRY {
        let folder = Folder::new();
        written(&folder, 3);
        let at = JOURNAL + ENTRY + byte;
        let wrong = contents(&folder.image())[at as usize] ^ 1;
        overwrite(&folder.image(), at, &[wrong]);
        let before = contents(&folder.image());
        let said = toy_refusal(&folder.image());
        let place = format!("entry 1 of its journal is damaged, at byte {}", JOURNAL + ENTRY);
        assert!(said.contains(&place), "{said}");
        assert!(said.contains("restore it from a copy"), "{said}");
        assert!(
            said.contains("65536 bytes of the device are not concerned: they lie from byte 1048576"),
            "{said}"
        );
        assert_eq!(contents(&folder.image()), before);
    }
}

#[test]
fn an_entry_in_anothers_place_is_damage() {
    let folder = Folder::new();
    written(&folder, 4);
    let bytes = contents(&folder.image());
    let entry = |number: u64| bytes[(JOURNAL + number * ENTRY) as usize..][..ENTRY as usize].to_vec();
    overwrite(&folder.image(), JOURNAL + ENTRY, &entry(2));
    overwrite(&folder.image(), JOURNAL + 2 * ENTRY, &entry(1));
    assert!(toy_refusal(&folder.image()).contains("entry 1 of its journal is damaged"));
}

/// After a loss of the machine's power pages of the file may be missing that were not synced.
#[test]
fn a_page_that_never_reached_the_disk_is_torn_unless_a_flush_knew_of_it() {
    let page = 4096 / ENTRY;
    for flushes in [false, true] {
        let folder = Folder::new();
        let disk = toy(&folder.image());
        for number in 0..3 * page {
            disk.write_at(us(100 * (number + 1)), 0, &[1; 512]);
            if flushes && (number == 2 * page || number == 2 * page + 1) {
                disk.flush_at(us(100 * (number + 1)));
            }
        }
        drop(disk);
        overwrite(&folder.image(), JOURNAL + 4096, &[0; 4096]);
        if flushes {
            assert!(
                toy_refusal(&folder.image()).contains(&format!("entry {page} of its journal is damaged"))
            );
        } else {
            let (writes, notices) = reopened(&folder);
            assert_eq!((writes, notices.len()), (page, 1));
        }
    }
}

#[test]
fn entries_come_back_as_they_were_and_only_under_their_number() {
    let mut kinds = vec![What::PowerFailure];
    kinds.extend([Harm::Reads, Harm::Writes, Harm::Heal].map(What::Harm));
    for op in [Op::Read, Op::Write, Op::Trim, Op::Flush] {
        kinds.extend([true, false].map(|forced| What::Request { op, forced }));
    }
    for what in kinds {
        let entry = Entry { now: Time::from_ps(u64::MAX), address: (1 << 56) - 1, length: u32::MAX, what };
        let bytes = entry.encode(5);
        assert_eq!(Entry::decode(5, &bytes), Some(entry));
        assert_eq!(Entry::decode(6, &bytes), None);
    }
    assert!((0..1000).all(|number| Entry::decode(number, &[0; 24]).is_none()), "zeroes are no entry");
}

/// Where the disk under the image is full, the order of the entries stays that in which the device was asked.
#[test]
fn what_could_not_be_written_is_written_first_later() {
    let journal = Journal::new(10);
    let entry = |us_: u64| Entry {
        now: us(us_),
        address: 0,
        length: 512,
        what: What::Request { op: Op::Write, forced: false },
    };
    journal.push(entry(1));
    assert!(journal.commit(|_, _| Err(io::ErrorKind::StorageFull.into())).is_err());
    assert!(journal.is_behind());
    journal.push(entry(2));
    let mut wrote = (0, Vec::new());
    let entries = journal.commit(|at, bytes| {
        wrote = (at, bytes.to_vec());
        Ok(())
    });
    assert_eq!(entries.unwrap(), 12);
    assert!(!journal.is_behind());
    assert_eq!(wrote.0, 10 * ENTRY);
    assert_eq!(wrote.1, [entry(1).encode(10), entry(2).encode(11)].concat());
}
