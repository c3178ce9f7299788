//! Tests that a changed byte of an image is reported and never returned, and that a repair copies the
//! intact data.

use super::Folder;
use super::crashes::Tape;
use super::toy::{GEOMETRY, IDENTITY, PAGE, Step, Toy, history};
use crate::check::inspect;
use crate::repair::mend;
use crate::{Image, ImageError, NewImage, Opened, Problem, check, repair};
use nacre_kernel::{Random, Streams};
use nacre_media::store::Store;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Size in bytes of a journal that holds 200 steps.
const JOURNAL_BYTES: u64 = 16 << 10;

/// Offset of the journal.
const JOURNAL: usize = 128 << 10;

/// A callback that never stops the operation.
fn on() -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn open(bytes: Vec<u8>) -> Result<Opened, ImageError> {
    Image::open_on(Arc::new(Tape::with(bytes)), Path::new("tape"), IDENTITY, GEOMETRY)
}

fn steps(random: &mut Random, count: u64) -> Vec<Step> {
    let step = |_| match random.below(4) {
        0 => Step::Copy(random.below(40) as u8, random.below(40) as u8),
        1 => Step::Erase(8 * random.below(5) as u8, 8),
        _ => Step::Program(random.below(40) as u8, random.below(256) as u8),
    };
    (0..count).map(step).collect()
}

/// Returns an image on which `steps` were performed and synced, with a checkpoint after the first `kept`
/// steps.
fn image(steps: &[Step], kept: usize) -> Vec<u8> {
    let tape = Arc::new(Tape::default());
    let image = Image::create_on(tape.clone(), Path::new("tape"), IDENTITY, GEOMETRY, JOURNAL_BYTES).unwrap();
    let mut toy = Toy::new(&image);
    for (number, &step) in steps.iter().enumerate() {
        if number == kept {
            image.checkpoint(&toy.state()).unwrap();
        }
        toy.serve(&image, step).unwrap();
    }
    image.sync().unwrap();
    tape.reel().bytes.clone()
}

#[test]
fn a_changed_bit_is_told_or_does_not_matter() {
    let (mut told, mut silent, mut pages) = (0, 0, 0);
    for case in 0..600 {
        let mut random = Streams::new(case).stream("damage");
        let count = 60 + random.below(60);
        let steps = steps(&mut random, count);
        let mut bytes = image(&steps, 30 + random.below(30) as usize);
        // Only bytes that were written are changed, because damage elsewhere loses no data. In every second
        // case, the byte is after the journal.
        let first = if case % 2 == 0 { 0 } else { (128 << 10) + JOURNAL_BYTES as usize };
        let set: Vec<usize> = (first..bytes.len()).filter(|&at| bytes[at] != 0).collect();
        let at = set[random.below(set.len() as u64) as usize];
        bytes[at] ^= 1 << random.below(8);
        let expected = history(&steps);
        let opened = match open(bytes) {
            Ok(opened) => opened,
            Err(_) => {
                told += 1;
                continue;
            }
        };
        let toy = Toy::recovered(&opened);
        let contents = toy.contents();
        if let Some(error) = opened.image.error() {
            pages += u64::from(matches!(error.problem, Problem::DamagedPage { .. }));
            told += 1;
            continue;
        }
        // The second copies of superblock and checkpoint replace the damaged first copies. If the byte
        // belongs to a page that was programmed again, it is no longer used. A damaged sync mark may be
        // mistaken for a torn record, but contains no step.
        assert_eq!(toy.done as usize, steps.len(), "case {case}: byte {at} took steps away in silence");
        assert!(&contents == expected.last().unwrap(), "case {case}: byte {at} changed bytes in silence");
        silent += 1;
    }
    let found = format!("{told} told, {pages} of them pages, {silent} harmless");
    assert!(told > 60 && pages > 5 && silent > 20, "{found}");
}

#[test]
fn a_changed_bit_in_the_last_record_before_a_flush_is_told() {
    for count in 1..40 {
        let steps = steps(&mut Streams::new(count).stream("flushed"), count);
        let good = image(&steps, usize::MAX);
        // A record has 35 bytes. The last eight bytes show its end if the head is invalid, and are not
        // checked otherwise.
        let last = JOURNAL + 35 * (count as usize - 1);
        for at in last..last + 27 {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << (at % 8);
            let error = open(bytes.clone()).map(drop).expect_err("it was on the disk").to_string();
            assert!(error.contains("it is damaged: its journal at byte"), "{error}");
            let checked = inspect(&Tape::with(bytes), &mut on).unwrap().checked;
            assert!(!checked.is_good() && checked.journal.damage.is_some(), "{checked:?}");
            assert_eq!(checked.journal.records, count - 1);
        }
    }
}

#[test]
fn a_record_that_was_not_flushed_may_be_taken_for_torn() {
    let tape = Arc::new(Tape::default());
    let image = Image::create_on(tape.clone(), Path::new("tape"), IDENTITY, GEOMETRY, JOURNAL_BYTES).unwrap();
    let mut toy = Toy::new(&image);
    (0..20).for_each(|number| toy.serve(&image, Step::Program(number, number)).unwrap());
    let mut bytes = tape.reel().bytes.clone();
    // The fifteenth record spans two sectors. Without its length, neither its end nor the fact that it was
    // synced can be determined.
    bytes[JOURNAL + 14 * 35 + 4] ^= 1;
    let opened = open(bytes).unwrap();
    assert!(opened.torn && opened.records.count() == 14, "{} records", opened.records.count());
}

#[test]
fn a_flush_with_nothing_new_adds_nothing_to_the_journal() {
    let tape = Arc::new(Tape::default());
    let image = Image::create_on(tape.clone(), Path::new("tape"), IDENTITY, GEOMETRY, JOURNAL_BYTES).unwrap();
    image.append(b"record").unwrap();
    image.sync().unwrap();
    let once = tape.reel().bytes.clone();
    image.sync().unwrap();
    image.sync().unwrap();
    assert!(once == tape.reel().bytes);
    assert_eq!(open(once).unwrap().records.iter().collect::<Vec<_>>(), [b"record"]);
}

#[test]
fn a_checkpoint_whose_copies_are_damaged_one_after_the_other_is_mended() {
    let steps = steps(&mut Streams::new(7).stream("copies"), 60);
    let tape = Arc::new(Tape::default());
    let made = Image::create_on(tape.clone(), Path::new("tape"), IDENTITY, GEOMETRY, JOURNAL_BYTES).unwrap();
    let mut toy = Toy::new(&made);
    steps.iter().for_each(|&step| toy.serve(&made, step).unwrap());
    made.checkpoint(&toy.state()).unwrap();
    let bytes = tape.reel().bytes.clone();
    let superblock = crate::superblock::read(&Tape::with(bytes.clone())).unwrap();
    let offsets = superblock.checkpoint.expect("it was just made").offsets;
    for (number, offset) in offsets.into_iter().enumerate() {
        let mut bytes = bytes.clone();
        bytes[offset as usize + 5] ^= 1;
        let tape = Tape::with(bytes);
        let inspected = inspect(&tape, &mut on).unwrap();
        let expected = [number != 0, number != 1];
        assert_eq!(inspected.checked.checkpoint_copies, expected);
        assert!(!inspected.checked.is_good() && inspected.checked.can_be_repaired());
        mend(&tape, inspected, &mut on).unwrap();
        assert!(inspect(&tape, &mut on).unwrap().checked.is_good());
        let toy = Toy::recovered(&open(tape.reel().bytes.clone()).unwrap());
        assert!(&toy.contents() == history(&steps).last().unwrap());
    }
}

#[test]
fn a_damaged_image_is_saved_into_a_copy_that_opens() {
    let (mut saved, mut lost) = (0, 0);
    for case in 0..300 {
        let mut random = Streams::new(case).stream("repair");
        let steps = steps(&mut random, 100);
        let mut bytes = image(&steps, 40);
        for _ in 0..=random.below(3) {
            let set: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] != 0).collect();
            bytes[set[random.below(set.len() as u64) as usize]] ^= 1 << random.below(8);
        }
        let before = bytes.clone();
        let tape = Tape::with(bytes);
        let Ok(inspected) = inspect(&tape, &mut on) else {
            lost += 1;
            continue;
        };
        assert!(tape.reel().bytes == before, "inspecting changes nothing");
        if !inspected.checked.can_be_repaired() {
            lost += 1;
            continue;
        }
        mend(&tape, inspected, &mut on).unwrap();
        let again = inspect(&tape, &mut on).unwrap();
        assert!(again.checked.is_good(), "case {case}: {:?}", again.checked);
        let opened = open(tape.reel().bytes.clone()).unwrap_or_else(|error| panic!("case {case}: {error}"));
        let toy = Toy::recovered(&opened);
        assert!((40..=100).contains(&toy.done), "case {case}: {} steps", toy.done);
        toy.contents();
        assert_eq!(opened.image.error(), None);
        saved += 1;
    }
    assert!(saved > 200, "{saved} saved, {lost} beyond repair");
}

#[test]
fn damage_that_is_copied_and_written_over_in_part_stays_damage() {
    let steps = [Step::Program(1, 7), Step::Program(2, 8)];
    let tape = Arc::new(Tape::default());
    let image = Image::create_on(tape.clone(), Path::new("tape"), IDENTITY, GEOMETRY, JOURNAL_BYTES).unwrap();
    let mut toy = Toy::new(&image);
    steps.iter().for_each(|&step| toy.serve(&image, step).unwrap());
    image.checkpoint(&toy.state()).unwrap();
    let mut bytes = tape.reel().bytes.clone();
    let page = bytes.windows(PAGE).rposition(|bytes| bytes == [7; PAGE]).unwrap();
    bytes[page + 3] = 6;
    let opened = open(bytes).unwrap();
    let mut toy = Toy::recovered(&opened);
    toy.serve(&opened.image, Step::Copy(1, 20)).unwrap();
    opened.image.checkpoint(&toy.state()).unwrap();
    let contents = toy.contents();
    assert_eq!(contents[20], [0xFF; PAGE], "damaged data is not returned");
    let error = opened.image.error().expect("it is reported").to_string();
    assert!(error.contains("page 1 of the medium") && error.contains("nacre image repair"), "{error}");
    assert!(opened.image.append(b"more").is_err(), "nothing is written after it");
}

#[test]
fn a_copy_of_a_damaged_page_is_not_given_before_it_is_in_the_file() {
    let tape = Arc::new(Tape::default());
    let image = Image::create_on(tape.clone(), Path::new("tape"), IDENTITY, GEOMETRY, JOURNAL_BYTES).unwrap();
    let mut toy = Toy::new(&image);
    toy.serve(&image, Step::Program(1, 7)).unwrap();
    image.checkpoint(&toy.state()).unwrap();
    let mut bytes = tape.reel().bytes.clone();
    let page = bytes.windows(PAGE).rposition(|bytes| bytes == [7; PAGE]).unwrap();
    bytes[page + 3] = 6;
    let opened = open(bytes).unwrap();
    let mut toy = Toy::recovered(&opened);
    toy.serve(&opened.image, Step::Copy(1, 20)).unwrap();
    for (offset, length) in [(0, PAGE), (2, 4)] {
        let mut read = [0; PAGE];
        opened.image.store().read(20, offset, &mut read[..length]);
        assert_eq!(read[..length], [0xFF; PAGE][..length], "bytes {offset} and so on");
    }
    let error = opened.image.error().expect("it is reported").to_string();
    assert!(error.contains("page 20 of the medium"), "{error}");
}

#[test]
fn without_checksums_pages_are_what_is_there() {
    let tape = Arc::new(Tape::default());
    let plan = NewImage { geometry: GEOMETRY, page_checksums: false };
    let image = Image::create_on(tape.clone(), Path::new("tape"), IDENTITY, plan, JOURNAL_BYTES).unwrap();
    let mut toy = Toy::new(&image);
    toy.serve(&image, Step::Program(1, 7)).unwrap();
    image.checkpoint(&toy.state()).unwrap();
    let mut bytes = tape.reel().bytes.clone();
    let page = bytes.windows(PAGE).rposition(|bytes| bytes == [7; PAGE]).unwrap();
    bytes[page] = 6;
    let inspected = inspect(&Tape::with(bytes.clone()), &mut on).unwrap().checked;
    assert!(inspected.is_good() && !inspected.pages.are_checked && inspected.pages.programmed == 1);
    let toy = Toy::recovered(&open(bytes).unwrap());
    assert_eq!(toy.contents()[1][0], 6);
}

#[test]
fn check_and_repair_do_not_overwrite_files() {
    let folder = Folder::new();
    let (image, toy) = twenty_pages(&folder);
    let held = check(&folder.file(), &mut on).expect_err("it is open");
    assert_eq!(held.problem, Problem::Locked);
    drop((image, toy));
    assert!(check(&folder.file(), &mut on).unwrap().is_good());
    let length = folder.file().metadata().unwrap().len();
    let file = std::fs::OpenOptions::new().write(true).open(folder.file()).unwrap();
    file.set_len(length - 4096).unwrap();
    let found = check(&folder.file(), &mut on).unwrap();
    assert!(!found.is_good(), "{found:?}");
    let out = folder.0.join("copy");
    // One of the two copies of the state is missing.
    assert!(found.can_be_repaired(), "{found:?}");
    assert_eq!(repair(&folder.file(), &out, &mut on).unwrap(), found);
    assert!(check(&out, &mut on).unwrap().is_good());
    assert!(Image::open(&out, IDENTITY, GEOMETRY).is_ok());
    let taken = repair(&folder.file(), &out, &mut on).expect_err("it is there");
    assert_eq!(taken.problem, Problem::Exists);
    assert_eq!(check(&folder.file(), &mut on).unwrap(), found, "the image is as it was");
}

/// Creates an image with a checkpoint after twenty programs.
fn twenty_pages(folder: &Folder) -> (Image, Toy) {
    let image = Image::create(&folder.file(), IDENTITY, GEOMETRY).unwrap();
    let mut toy = Toy::new(&image);
    (0..20).for_each(|number| toy.serve(&image, Step::Program(number, number + 1)).unwrap());
    image.checkpoint(&toy.state()).unwrap();
    (image, toy)
}

#[test]
fn what_is_ended_leaves_the_image_and_no_copy() {
    let folder = Folder::new();
    let (image, toy) = twenty_pages(&folder);
    let out = folder.0.join("copy");
    for asked in 0.. {
        let mut left = asked;
        let copied = image.copy_to(&out, &mut || ending(&mut left));
        let Err(error) = copied else { break };
        assert!(error.to_string().contains("copying the image"), "{error}");
        assert!(asked < 100 && !out.exists());
    }
    std::fs::remove_file(&out).unwrap();
    drop((image, toy));
    let found = check(&folder.file(), &mut on).unwrap();
    for asked in 0.. {
        let mut left = asked;
        if repair(&folder.file(), &out, &mut || ending(&mut left)).is_ok() {
            assert!(asked > 20, "each page is a part");
            break;
        }
        assert!(asked < 100 && !out.exists());
        assert_eq!(check(&folder.file(), &mut on).unwrap(), found, "the image is as it was");
    }
    assert!(check(&out, &mut on).unwrap().is_good());
}

#[test]
fn a_file_that_replaces_an_unfinished_copy_is_not_removed() {
    let folder = Folder::new();
    let (image, toy) = twenty_pages(&folder);
    let out = folder.0.join("copy");
    // During the copy, another process moves the unfinished copy and creates a link with its name. The copy
    // is then stopped.
    let mut takes_its_place = || {
        std::fs::rename(&out, folder.0.join("moved")).unwrap();
        std::os::unix::fs::symlink("mine", &out).unwrap();
        ControlFlow::Break(())
    };
    image.copy_to(&out, &mut takes_its_place).expect_err("it was ended");
    assert_eq!(out.read_link().unwrap().as_os_str(), "mine");
    std::fs::remove_file(&out).unwrap();
    drop((image, toy));
    let mut asked = 0;
    let mut later = || {
        // The first calls come from the check, before the copy exists.
        asked += 1;
        if out.exists() { takes_its_place() } else { ControlFlow::Continue(()) }
    };
    repair(&folder.file(), &out, &mut later).expect_err("it was ended");
    assert_eq!(out.read_link().unwrap().as_os_str(), "mine");
    assert!(asked > 1);
}

#[test]
fn discard_removes_the_image_and_no_other_file_of_its_name() {
    let folder = Folder::new();
    let (first, second) = (folder.0.join("first"), folder.0.join("second"));
    let image = Image::create(&first, IDENTITY, GEOMETRY).unwrap();
    std::fs::rename(&first, &second).unwrap();
    std::os::unix::fs::symlink(&second, &first).unwrap();
    image.discard();
    assert!(first.is_symlink() && second.exists(), "a link to it was created by another process, too");
    std::fs::remove_file(&first).unwrap();
    std::fs::rename(&second, &first).unwrap();
    image.discard();
    assert!(!first.exists());
}

/// A callback that stops the operation after `left` calls.
fn ending(left: &mut i32) -> ControlFlow<()> {
    *left -= 1;
    if *left < 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
