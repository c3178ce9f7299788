//! Tests of images that served devices, memories, and runs use in turn, and of images that are rejected.

use super::{
    BARE_SSD, CACHED_DISK, EMULATED, Folder, NoFiles, PLAIN, checked, offer, opened, refusal, served, us,
};
use crate::model::Timing;
use crate::offer::Offer;
use nacre_machine::SavedRun;
use nacre_memory::persistent_device::PersistentDevice;
use nacre_memory::{Access, Memory};
use std::os::unix::fs::FileExt;

#[test]
fn what_a_memory_left_is_served_and_the_other_way_round() {
    for stack in [PLAIN, BARE_SSD] {
        let folder = Folder::new();
        let open = || Memory::open_image(&checked(stack), &NoFiles, &folder.image(), true).expect("an image");
        let mut memory = open();
        memory.write(1000, b"from a memory").unwrap();
        let now = memory.now();
        memory.close().unwrap();
        let disk = served(stack, &folder.image());
        assert_eq!(&disk.bytes()[1000..1013], b"from a memory");
        assert!(disk.model().with(|device| device.until()) >= now, "time continues");
        disk.write_at(now + us(100_000), 5000, b"from a server");
        drop(disk);
        let mut memory = open();
        assert_eq!(memory.read(5000, 13).unwrap(), b"from a server");
        assert_eq!(memory.read(1000, 13).unwrap(), b"from a memory");
        assert!(memory.now() >= now + us(100_000));
    }
}

#[test]
fn a_served_device_is_simulated_onwards_and_a_state_is_served() {
    let folder = Folder::new();
    let disk = served(CACHED_DISK, &folder.image());
    let mut now = us(1);
    for number in 0..300 {
        now = disk.write_at(now, number * 7919 % 200 * 4096, &[number as u8; 4096]).done;
    }
    let report = disk.model().with(|device| {
        // Saving a state waits until the device is idle, like this call.
        device.saved_run(&checked(CACHED_DISK)).expect("a state");
        device.device().report(device.until())
    });
    drop(disk);
    let checked = checked(CACHED_DISK);
    let before = std::fs::metadata(folder.image()).unwrap().modified().unwrap();
    let mut device =
        PersistentDevice::open(&checked, &NoFiles, &folder.image(), Access::READ_ONLY).expect("an image");
    let state = device.saved_run(&checked).expect("a state");
    drop(device);
    assert_eq!(std::fs::metadata(folder.image()).unwrap().modified().unwrap(), before, "it was only read");
    let saved = SavedRun::read(&state).expect("a state");
    // A run restores the state without data.
    let mut device = nacre_machine::stack::build_alone(&checked, &NoFiles).expect("a legal stack");
    let quiet = saved.restore_device(&checked, &NoFiles, &mut *device).expect("its own state");
    assert_eq!(device.report(quiet).counters, report.counters);
    assert!(quiet >= now);
    // A server restores the state into a new image.
    let new = folder.0.join("new.image");
    let from = Offer { from: Some(state.clone()), ..offer(super::checked(CACHED_DISK), &new) };
    let disk = opened(from, EMULATED).unwrap_or_else(|error| panic!("{error}"));
    disk.model().with(|device| assert_eq!(device.device().report(quiet).counters, report.counters));
    disk.write_at(quiet, 0, b"served");
    assert_eq!(&disk.bytes()[..6], b"served");
    drop(disk);
    assert_eq!(&served(CACHED_DISK, &new).bytes()[..6], b"served", "and after a kill");
    let again = Offer { from: Some(state.clone()), ..offer(super::checked(CACHED_DISK), &new) };
    assert!(refusal(again, EMULATED).contains("the file already exists"));
    let other = Offer { from: Some(state), ..offer(super::checked(PLAIN), &folder.0.join("other")) };
    let text = refusal(other, EMULATED);
    assert!(text.contains("the state has other settings"), "{text}");
    assert_eq!(folder.names(), ["new.image", "x.image"]);
}

#[test]
fn a_run_goes_on_from_a_served_flash_drive() {
    let folder = Folder::new();
    drop(served(BARE_SSD, &folder.image()));
    let mut device = PersistentDevice::open(&checked(BARE_SSD), &NoFiles, &folder.image(), Access::READ_ONLY)
        .expect("an image");
    let state = device.saved_run(&checked(BARE_SSD)).expect("a state");
    let mut device = nacre_machine::stack::build_alone(&checked(BARE_SSD), &NoFiles).expect("a legal stack");
    let saved = SavedRun::read(&state).expect("a state");
    saved.restore_device(&checked(BARE_SSD), &NoFiles, &mut *device).unwrap_or_else(|why| panic!("{why}"));
    device.check_invariants();
}

#[test]
fn an_image_of_an_earlier_server_is_refused_with_a_remedy() {
    let folder = Folder::new();
    let mut bytes = vec![0; 2 << 20];
    bytes[..8].copy_from_slice(b"NACREBLK");
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(folder.image())
        .and_then(|file| file.write_all_at(&bytes, 0))
        .unwrap();
    for timing in [EMULATED, Timing::None] {
        let text = refusal(offer(checked(PLAIN), &folder.image()), timing);
        assert!(text.contains("it has the format of an earlier Nacre"), "{text}");
        assert!(text.contains("nbdcopy -- [ dd if=... bs=1M skip=1 ]"), "{text}");
    }
}

#[test]
fn raw_bytes_and_a_device_are_not_taken_for_each_other() {
    for (made, asked, said) in [
        (EMULATED, Timing::None, "it holds a modeled device"),
        (Timing::None, EMULATED, "it holds raw data (--timing none)"),
    ] {
        let folder = Folder::new();
        drop(opened(offer(checked(PLAIN), &folder.image()), made).unwrap_or_else(|error| panic!("{error}")));
        let text = refusal(offer(checked(PLAIN), &folder.image()), asked);
        assert!(text.contains(said), "{text}");
    }
}

#[test]
fn another_stack_is_named_with_what_differs() {
    let folder = Folder::new();
    drop(served(PLAIN, &folder.image()));
    let text = refusal(offer(checked(&PLAIN.replace("10 us", "11 us")), &folder.image()), EMULATED);
    assert!(text.contains("`stack.read.latency` is 10 us in the image, but 11 us was requested"), "{text}");
}

#[test]
fn an_empty_file_becomes_an_image_and_a_read_only_server_makes_none() {
    let folder = Folder::new();
    let missing =
        |timing| refusal(Offer { read_only: true, ..offer(checked(PLAIN), &folder.image()) }, timing);
    assert!(missing(EMULATED).contains("there is no image"));
    assert!(missing(Timing::None).contains("there is no image"));
    assert!(folder.names().is_empty());
    std::fs::OpenOptions::new().write(true).create_new(true).open(folder.image()).unwrap();
    let disk = served(PLAIN, &folder.image());
    disk.write_at(us(1), 0, b"kept");
    let text = refusal(offer(checked(PLAIN), &folder.image()), EMULATED);
    assert!(text.contains("it is open in another process"), "{text}");
    drop(disk);
    let offer = Offer { read_only: true, ..offer(checked(PLAIN), &folder.image()) };
    let disk = opened(offer, EMULATED).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(&disk.bytes()[..4], b"kept");
    assert_eq!(disk.power_fail(None).unwrap_err().to_string(), "the device is served read-only");
    assert_eq!(folder.names(), ["x.image"]);
}
