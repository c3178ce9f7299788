//! Tests that errors of an image are reported with location, value, and remedy, and that they do not change
//! the file.

use super::Folder;
use super::toy::{GEOMETRY, IDENTITY, Step, Toy};
use crate::{Geometry, Image, Problem};
use std::path::Path;

/// Offset of the first checkpoint of the toy device, after the journal.
const AFTER_JOURNAL: u64 = (128 << 10) + (128 << 20);

/// Creates and closes an image with a checkpoint and a record.
fn image(folder: &Folder) {
    let image = Image::create(&folder.file(), IDENTITY, GEOMETRY).expect("created");
    let mut toy = Toy::new(&image);
    toy.serve(&image, Step::Program(1, 1)).expect("served");
    image.checkpoint(&toy.state()).expect("checkpoint");
    toy.serve(&image, Step::Program(2, 2)).expect("served");
}

fn change(path: &Path, offset: u64, bytes: &[u8]) {
    use std::os::unix::fs::FileExt;
    let file = std::fs::OpenOptions::new().write(true).open(path).expect("it can be opened");
    file.write_all_at(bytes, offset).expect("it can be written");
}

/// Opens an image that has an error. Returns the error message without the path at its start. Checks that
/// the start of the file does not change.
fn message(path: &Path) -> String {
    message_for(path, IDENTITY, GEOMETRY)
}

fn message_for(path: &Path, identity: &str, geometry: Geometry) -> String {
    let head = || {
        let file = std::fs::OpenOptions::new().read(true).open(path).expect("it can be read");
        let mut head = vec![0; 1 << 20];
        let _ = crate::disk::Disk::read_at(&file, 0, &mut head);
        (head, file.metadata().expect("it is there").len())
    };
    let before = path.is_file().then(head);
    let error = Image::open(path, identity, geometry).expect_err("it cannot be opened");
    assert!(before == path.is_file().then(head), "the file is as it was");
    let text = error.to_string();
    text.strip_prefix(&format!("{}: ", path.display())).expect("the path comes first").to_string()
}

#[test]
fn a_missing_and_an_existing_image_have_different_errors() {
    let folder = Folder::new();
    assert_eq!(message(&folder.file()), "there is no image; create it first, or check the path");
    image(&folder);
    let error = Image::create(&folder.file(), IDENTITY, GEOMETRY).expect_err("it is there");
    assert_eq!(error.problem, Problem::Exists);
    assert!(Image::open(&folder.file(), IDENTITY, GEOMETRY).is_ok(), "and it is still whole");
}

#[test]
fn a_folder_is_no_image() {
    let folder = Folder::new();
    let text = "it is a directory, not a file; give a file name for the image";
    assert_eq!(message(&folder.0), text);
    let created = Image::create(&folder.0, IDENTITY, GEOMETRY).expect_err("a folder");
    assert_eq!(created.problem, Problem::NotAFile { found: "a directory" });
    let null = Image::open(Path::new("/dev/null"), IDENTITY, GEOMETRY).expect_err("a device");
    assert_eq!(null.problem, Problem::NotAFile { found: "a pipe, a socket or a device" });
}

#[test]
fn an_image_in_a_folder_that_is_not_there_is_not_created() {
    let folder = Folder::new();
    let error = Image::create(&folder.0.join("no/x.nacre"), IDENTITY, GEOMETRY).expect_err("no folder");
    assert!(error.to_string().contains("creating it failed: No such file or directory"), "{error}");
}

#[test]
fn another_file_is_no_image() {
    let folder = Folder::new();
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), folder.file()).expect("copied");
    let text = "it is not a Nacre image, or both copies of its superblock were overwritten: it begins with \
                \"[package\", not with \"NACREIMG\"; name another file";
    assert_eq!(message(&folder.file()), text);
}

#[test]
fn an_empty_file_is_an_image_never_finished() {
    let folder = Folder::new();
    std::fs::OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(false)
        .open(folder.file())
        .expect("created");
    let text = "its creation was interrupted, so it holds no data; delete it and create it again";
    assert_eq!(message(&folder.file()), text);
}

#[test]
fn an_image_is_opened_through_a_link_but_never_made_through_one() {
    let folder = Folder::new();
    let [link, empty, whole] = ["link", "empty", "whole"].map(|name| folder.0.join(name));
    std::fs::File::create_new(&empty).expect("made");
    let open = |path: &Path| {
        Image::open_or_create(path, IDENTITY, GEOMETRY).map(drop).map_err(|error| error.problem)
    };
    // One link leads to an empty file, and the other to a file that does not exist.
    for target in [&empty, &folder.0.join("nothing")] {
        std::os::unix::fs::symlink(target, &link).expect("linked");
        assert_eq!(open(&link), Err(Problem::Linked), "{target:?}");
        std::fs::remove_file(&link).expect("removed");
    }
    assert_eq!(empty.metadata().expect("it is there").len(), 0);
    assert!(!folder.0.join("nothing").exists());
    assert_eq!(open(&empty), Ok(()));
    std::fs::rename(&empty, &whole).expect("renamed");
    std::os::unix::fs::symlink(&whole, &link).expect("linked");
    assert_eq!(open(&link), Ok(()));
}

#[test]
fn a_file_whose_name_is_another_files_by_now_is_not_held() {
    let folder = Folder::new();
    let other = folder.0.join("other");
    std::fs::File::create_new(folder.file()).expect("made");
    std::fs::File::create_new(&other).expect("made");
    let opened = std::fs::OpenOptions::new().read(true).open(folder.file()).expect("opened");
    assert_eq!(crate::disk::hold(&opened, &folder.file()), Ok(()));
    std::fs::rename(&other, folder.file()).expect("renamed");
    assert_eq!(crate::disk::hold(&opened, &folder.file()), Err(Problem::Replaced));
}

#[test]
fn another_version_of_the_format_is_named_when_its_checksum_holds() {
    let folder = Folder::new();
    image(&folder);
    for slot in [0, 64 << 10] {
        use std::os::unix::fs::FileExt;
        let file = std::fs::OpenOptions::new().read(true).open(folder.file()).expect("it can be read");
        let mut copy = vec![0; 64 << 10];
        file.read_exact_at(&mut copy, slot).expect("it can be read");
        let length = u64::from_le_bytes(*copy[16..].first_chunk().expect("a head"));
        copy[8..12].copy_from_slice(&8u32.to_le_bytes());
        let rest = [&copy[8..12], &copy[16..24 + length as usize]].concat();
        copy[12..16].copy_from_slice(&crc32fast::hash(&rest).to_le_bytes());
        change(&folder.file(), slot, &copy);
    }
    let text = "its format is version 8, but this Nacre supports version 7; use the Nacre that wrote it";
    assert_eq!(message(&folder.file()), text);
}

#[test]
fn the_settings_that_differ_are_named() {
    let folder = Folder::new();
    image(&folder);
    let identity = "banks = 4\ndevice = toy\npages = 80";
    let geometry = Geometry { page_bytes: 32, ..GEOMETRY };
    let text = "it holds another device: `banks` is nothing in the image, but 4 was requested; `page bytes` is 16 in \
        the image, but 32 was requested; `pages` is 40 in the image, but 80 was requested; use the image's settings, or another \
        image";
    assert_eq!(message_for(&folder.file(), identity, geometry), text);
}

#[test]
fn every_setting_that_differs_is_named() {
    let folder = Folder::new();
    image(&folder);
    let identity: String =
        (0..20).map(|number| format!("setting {number:02} = {number}\n")).chain([IDENTITY.into()]).collect();
    let text = message_for(&folder.file(), &identity, GEOMETRY);
    for number in 0..20 {
        let told = format!("`setting {number:02}` is nothing in the image, but {number} was requested");
        assert!(text.contains(&told), "{number}: {text}");
    }
}

#[test]
fn settings_in_another_order_are_the_same_device() {
    let folder = Folder::new();
    image(&folder);
    assert!(Image::open(&folder.file(), "pages = 40\ndevice = toy\n", GEOMETRY).is_ok());
}

#[test]
fn a_file_cut_short_is_found_wherever_it_is_cut() {
    let folder = Folder::new();
    image(&folder);
    let whole = folder.file().metadata().expect("it is there").len();
    for length in [whole - 1, AFTER_JOURNAL, AFTER_JOURNAL - 1, 200 << 10, 65 << 10] {
        let file = std::fs::OpenOptions::new().write(true).open(folder.file()).expect("it can be opened");
        file.set_len(length).expect("it can be cut");
        drop(file);
        let text = message(&folder.file());
        assert!(text.starts_with(&format!("it is truncated: {length} bytes instead of")), "{text}");
        assert!(text.ends_with("; restore it from a copy, or run nacre image check"), "{text}");
    }
}

#[test]
fn a_file_cut_within_its_last_page_is_found() {
    let folder = Folder::new();
    let image = Image::create(&folder.file(), IDENTITY, GEOMETRY).expect("created");
    let mut toy = Toy::new(&image);
    // The file has two copies of the first checkpoint, the extent, and two copies of the second checkpoint.
    // The copies of the third checkpoint replace those of the first.
    image.checkpoint(&toy.state()).expect("checkpoint");
    toy.serve(&image, Step::Program(1, 1)).expect("served");
    image.checkpoint(&toy.state()).expect("checkpoint");
    image.checkpoint(&toy.state()).expect("checkpoint");
    drop((image, toy));
    let end = AFTER_JOURNAL + 2 * 4096 + 32;
    for (length, whole) in [(end, true), (end - 1, false)] {
        let file = std::fs::OpenOptions::new().write(true).open(folder.file()).expect("it can be opened");
        file.set_len(length).expect("it can be cut");
        drop(file);
        assert_eq!(Image::open(&folder.file(), IDENTITY, GEOMETRY).is_ok(), whole, "{length} bytes");
    }
    let text = format!("it is truncated: {} bytes instead of {end}", end - 1);
    assert!(message(&folder.file()).starts_with(&text));
}

#[test]
fn a_checkpoint_with_a_changed_byte_in_both_copies_is_refused_and_one_is_enough() {
    let folder = Folder::new();
    image(&folder);
    // The only extent of the toy device follows the journal, and the copies of the checkpoint follow the
    // extent.
    let at = AFTER_JOURNAL + 4096;
    change(&folder.file(), at + 9, &[0xA5]);
    assert!(Image::open(&folder.file(), IDENTITY, GEOMETRY).is_ok(), "the second copy is whole");
    change(&folder.file(), at + 4096 + 9, &[0xA5]);
    let text = message(&folder.file());
    let start = format!("it is damaged: the checkpoint at byte {at}: expected checksum ");
    assert!(
        text.starts_with(&start) && text.ends_with("; restore it from a copy, or run nacre image check"),
        "{text}"
    );
}

#[test]
fn superblocks_both_changed_are_refused_and_one_is_enough() {
    let folder = Folder::new();
    image(&folder);
    change(&folder.file(), 50, &[0xA5]);
    assert!(Image::open(&folder.file(), IDENTITY, GEOMETRY).is_ok(), "the second copy is whole");
    change(&folder.file(), (64 << 10) + 50, &[0xA5]);
    let text = message(&folder.file());
    let start = "it is damaged: checksum of the superblock, in both copies, at byte 0: expected ";
    assert!(text.starts_with(start), "{text}");
}

#[test]
fn superblocks_put_back_from_an_older_copy_are_refused() {
    let folder = Folder::new();
    let created = Image::create(&folder.file(), IDENTITY, GEOMETRY).expect("created");
    let mut old = vec![0; 128 << 10];
    let file = std::fs::OpenOptions::new().read(true).open(folder.file()).expect("it can be read");
    let _ = crate::disk::Disk::read_at(&file, 0, &mut old).expect("it can be read");
    drop(created);
    // The next process appends records of a new generation.
    let opened = Image::open(&folder.file(), IDENTITY, GEOMETRY).expect("opened");
    opened.image.append(&[0, 1, 1]).expect("appended");
    drop(opened);
    change(&folder.file(), 0, &old);
    let text = "it is damaged: the superblock, which is older than the journal, at byte 0: expected \
        generation 2 or later, found 1; restore it from a copy, or run nacre image check";
    assert_eq!(message(&folder.file()), text);
}

#[test]
fn a_changed_byte_in_the_last_record_is_told_and_one_without_its_end_is_cut_off() {
    let folder = Folder::new();
    image(&folder);
    let record = 128 << 10;
    for byte in [0, 5, 9, 16, 25] {
        let file = std::fs::OpenOptions::new().read(true).open(folder.file()).expect("it can be read");
        let mut old = [0];
        let _ = crate::disk::Disk::read_at(&file, record + byte, &mut old).expect("it can be read");
        change(&folder.file(), record + byte, &[old[0] ^ 4]);
        let text = message(&folder.file());
        assert!(
            text.starts_with("it is damaged: its journal at byte 131072: expected an intact record"),
            "{text}"
        );
        change(&folder.file(), record + byte, &old);
    }
    change(&folder.file(), record + 24 + 1, &[0; 10]);
    let opened = Image::open(&folder.file(), IDENTITY, GEOMETRY).expect("opened");
    assert_eq!((opened.records.count(), opened.torn), (0, true));
}

#[test]
fn a_second_opener_is_told_that_the_image_is_held() {
    let folder = Folder::new();
    let _image = Image::create(&folder.file(), IDENTITY, GEOMETRY).expect("created");
    let text = "it is open in another process; end that process first";
    assert_eq!(message(&folder.file()), text);
}

#[test]
fn a_file_marked_read_only_is_refused() {
    let folder = Folder::new();
    image(&folder);
    let mut permissions = folder.file().metadata().expect("it is there").permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(folder.file(), permissions).expect("it is ours");
    let text = "it is not writable, but a device modifies its image; make it writable, or use a copy";
    assert_eq!(message(&folder.file()), text);
}

#[test]
fn an_identity_that_does_not_fit_leaves_no_file() {
    let folder = Folder::new();
    let error = Image::create(&folder.file(), &"x".repeat(70_000), GEOMETRY).expect_err("too long");
    assert_eq!(error.problem, Problem::IdentityTooLong { found: 70_000, limit: 64_512 });
    assert!(!folder.file().exists());
}

#[test]
fn a_file_cut_short_behind_our_back_stops_the_image() {
    let folder = Folder::new();
    let image = Image::create(&folder.file(), IDENTITY, GEOMETRY).expect("created");
    let mut toy = Toy::new(&image);
    toy.serve(&image, Step::Program(1, 1)).expect("served");
    image.checkpoint(&toy.state()).expect("checkpoint");
    let file = std::fs::OpenOptions::new().write(true).open(folder.file()).expect("it can be opened");
    file.set_len(4096).expect("it can be cut");
    assert_eq!(toy.contents()[1], [0xFF; 16]);
    let error = image.error().expect("the page could not be read");
    assert!(error.to_string().contains("reading a page failed"), "{error}");
    assert_eq!(image.append(&[0, 1, 1]), Err(error), "and nothing is appended any more");
}
