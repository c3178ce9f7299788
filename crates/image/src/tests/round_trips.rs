//! Tests of images in real files.

use super::Folder;
use super::toy::{GEOMETRY, IDENTITY, PAGE, Step, Toy, history};
use crate::{Geometry, Image, Problem};
use nacre_media::store::Store;

const STEPS: [Step; 6] = [
    Step::Program(0, 1),
    Step::Program(9, 2),
    Step::Copy(9, 20),
    Step::Erase(8, 8),
    Step::Program(9, 3),
    Step::Erase(20, 1),
];

#[test]
fn a_device_dropped_without_a_checkpoint_comes_back_from_its_journal() {
    let folder = Folder::new();
    let image = Image::create(&folder.file(), IDENTITY, GEOMETRY).expect("created");
    let mut toy = Toy::new(&image);
    STEPS.iter().for_each(|&step| toy.serve(&image, step).expect("served"));
    drop((image, toy));
    let opened = Image::open(&folder.file(), IDENTITY, GEOMETRY).expect("opened");
    assert_eq!((opened.state.is_none(), opened.records.count(), opened.torn), (true, 6, false));
    assert_eq!(Toy::recovered(&opened).contents(), history(&STEPS)[6]);
}

#[test]
fn a_checkpoint_empties_the_journal_and_what_follows_is_played_back_on_top() {
    let folder = Folder::new();
    let image = Image::create(&folder.file(), IDENTITY, GEOMETRY).expect("created");
    let mut toy = Toy::new(&image);
    STEPS[..3].iter().for_each(|&step| toy.serve(&image, step).expect("served"));
    image.checkpoint(&toy.state()).expect("checkpoint");
    STEPS[3..].iter().for_each(|&step| toy.serve(&image, step).expect("served"));
    let state = toy.state();
    drop((image, toy));
    // The image is opened twice, because replay writes pages to the file. Later, it is opened again after a
    // checkpoint.
    for _ in 0..2 {
        let opened = Image::open(&folder.file(), IDENTITY, GEOMETRY).expect("opened");
        assert_eq!((opened.state.is_some(), opened.records.count()), (true, 3));
        assert_eq!(Toy::recovered(&opened).contents(), history(&STEPS)[6]);
    }
    let opened = Image::open(&folder.file(), IDENTITY, GEOMETRY).expect("opened");
    let toy = Toy::recovered(&opened);
    opened.image.checkpoint(&toy.state()).expect("checkpoint");
    drop((toy, opened));
    let opened = Image::open(&folder.file(), IDENTITY, GEOMETRY).expect("opened");
    assert_eq!((opened.state.clone(), opened.records.count()), (Some(state), 0));
    assert_eq!(Toy::recovered(&opened).contents(), history(&STEPS)[6]);
}

#[test]
fn an_image_is_created_on_its_first_use_and_opened_on_the_next() {
    let folder = Folder::new();
    let first = Image::open_or_create(&folder.file(), IDENTITY, GEOMETRY).expect("created");
    first.image.append(&Step::Program(3, 4).record()).expect("appended");
    drop(first);
    let second = Image::open_or_create(&folder.file(), IDENTITY, GEOMETRY).expect("opened");
    assert_eq!(second.records.iter().collect::<Vec<_>>(), [&[0, 3, 4]]);
}

#[test]
fn a_record_may_be_a_byte_or_megabytes_long() {
    let folder = Folder::new();
    let image = Image::create(&folder.file(), IDENTITY, GEOMETRY).expect("created");
    let long: Vec<u8> = (0..3_000_000u32).map(|at| at as u8).collect();
    for record in [&[0][..], &long, &[7], &[0]] {
        image.append(record).expect("appended");
    }
    drop(image);
    let opened = Image::open(&folder.file(), IDENTITY, GEOMETRY).expect("opened");
    assert_eq!(opened.records.iter().collect::<Vec<_>>(), [&[0][..], &long, &[7], &[0]]);
}

#[test]
fn a_checkpoint_is_due_when_half_the_journal_is_filled() {
    let folder = Folder::new();
    let image = Image::create(&folder.file(), IDENTITY, GEOMETRY).expect("created");
    let record = vec![0; (16 << 20) - 32];
    for _ in 0..4 {
        assert!(!image.wants_checkpoint());
        image.append(&record).expect("appended");
    }
    assert!(!image.wants_checkpoint(), "64 MiB are the half");
    image.append(&[0]).expect("appended");
    assert!(image.wants_checkpoint());
    image.append(&vec![0; image.longest_record() - 33]).expect("the longest record fits after it");
    image.checkpoint(&[]).expect("checkpoint");
    assert!(!image.wants_checkpoint());
}

#[test]
fn a_file_takes_room_for_what_is_in_it_only() {
    use std::os::unix::fs::MetadataExt;
    let folder = Folder::new();
    // The device has 64 TiB in segments of 16 MiB.
    let geometry = Geometry { page_bytes: 4096, pages_per_extent: 4096, pages: 1 << 34, raw_bytes: 0 };
    let image = Image::create(&folder.file(), IDENTITY, geometry).expect("created");
    let mut store = image.store();
    store.program((1 << 34) - 1, &[5; 4096]);
    image.append(&[1]).expect("appended");
    image.checkpoint(&[2; 1000]).expect("checkpoint");
    assert_eq!(image.error(), None);
    let taken = folder.file().metadata().expect("it is there").blocks() * 512;
    assert!(taken < 1 << 20, "{taken} bytes");
    let mut byte = [0];
    store.read((1 << 34) - 1, 4095, &mut byte);
    assert_eq!(byte, [5]);
}

#[test]
fn the_device_in_an_image_can_be_asked_for_while_it_is_open() {
    let folder = Folder::new();
    let _image = Image::create(&folder.file(), IDENTITY, GEOMETRY).expect("created");
    assert_eq!(Image::inspect(&folder.file()), Ok((GEOMETRY, IDENTITY.to_string())));
}

#[test]
fn the_lock_ends_with_the_last_owner_of_image_and_pages() {
    let folder = Folder::new();
    let image = Image::create(&folder.file(), IDENTITY, GEOMETRY).expect("created");
    let store = image.store();
    drop(image);
    let locked = Image::open(&folder.file(), IDENTITY, GEOMETRY).expect_err("the store holds it");
    assert_eq!(locked.problem, Problem::Locked);
    drop(store);
    assert!(Image::open(&folder.file(), IDENTITY, GEOMETRY).is_ok());
}

#[test]
fn pages_never_programmed_read_as_erased() {
    let folder = Folder::new();
    let image = Image::create(&folder.file(), IDENTITY, GEOMETRY).expect("created");
    assert_eq!(Toy::new(&image).contents(), vec![[0xFF; PAGE]; 40]);
}

#[test]
fn what_was_read_ahead_is_forgotten_where_an_extent_moves() {
    let folder = Folder::new();
    let geometry = Geometry { pages: 8 * 40, ..GEOMETRY };
    let image = Image::create(&folder.file(), IDENTITY, geometry).expect("created");
    let mut store = image.store();
    // Extents of 4 KiB are allocated in order. Then the space of the second extent is released.
    for (extent, byte) in (0..40).zip(1..) {
        store.program(extent * 8, &[byte; PAGE]);
        store.program(extent * 8 + 1, &[byte; PAGE]);
    }
    image.checkpoint(&[]).expect("checkpoint");
    store.erase(8, 8);
    image.checkpoint(&[]).expect("checkpoint");
    // This copy reads ahead over 16 extents and writes after them. Then the third extent moves to the space
    // of the second one.
    store.copy(0, 30 * 8 + 2);
    store.program(16, &[100; PAGE]);
    store.copy(17, 31 * 8 + 2);
    let mut copied = [0; PAGE];
    store.read(31 * 8 + 2, 0, &mut copied);
    assert_eq!((copied, image.error()), ([3; PAGE], None));
}
