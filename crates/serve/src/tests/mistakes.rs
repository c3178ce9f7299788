//! Files that cannot be served, and what is said of them.

#![expect(clippy::disallowed_methods, reason = "these tests are about files")]

use super::toy::Toy;
use super::{Folder, contents, offer, opened, overwrite, refusal, toy, toy_refusal, toy_with, us};
use crate::model::Timing;
use crate::server::Offer;
use nacre_kernel::Op;
use std::ops::ControlFlow;

/// Opens the image where a piece of the header is wrong and says what it found.
fn with_header_bytes(at: u64, bytes: &[u8]) -> (Folder, Vec<String>) {
    let folder = Folder::new();
    drop(toy(&folder.image()));
    overwrite(&folder.image(), at, bytes);
    let notices = opened(offer(Box::new(Toy::default()), &folder.image()), super::EMULATED).unwrap().1;
    (folder, notices)
}

#[test]
fn one_copy_of_the_header_is_enough_and_the_other_is_written_anew() {
    for (at, bytes) in
        [(0, &[0; 4096][..]), (30, b"?"), (8, b"\xff"), (512 << 10, &[0; 100]), ((512 << 10) + 12, b"?")]
    {
        let (folder, notices) = with_header_bytes(at, bytes);
        assert_eq!(notices.len(), 1, "at {at}");
        assert!(notices[0].contains("one copy of its header is damaged"), "{}", notices[0]);
        let (_, notices) = opened(offer(Box::new(Toy::default()), &folder.image()), super::EMULATED).unwrap();
        assert_eq!(notices, Vec::<String>::new(), "it was written anew");
    }
}

#[test]
fn nothing_is_changed_where_both_copies_of_the_header_are_damaged() {
    let folder = Folder::new();
    drop(toy(&folder.image()));
    overwrite(&folder.image(), 30, b"?");
    overwrite(&folder.image(), (512 << 10) + 30, b"?");
    let before = contents(&folder.image());
    assert!(
        toy_refusal(&folder.image())
            .ends_with("both copies of its header are damaged; restore it from a copy")
    );
    assert_eq!(contents(&folder.image()), before);
}

#[test]
fn an_image_of_another_version_says_which() {
    let folder = Folder::new();
    drop(toy(&folder.image()));
    for copy in [0, 512 << 10] {
        overwrite(&folder.image(), copy + 8, &9_u32.to_le_bytes());
    }
    assert!(toy_refusal(&folder.image()).contains("its format is version 9, and this Nacre knows version 1"));
}

#[test]
fn an_image_of_another_scenario_names_both() {
    let folder = Folder::new();
    drop(toy(&folder.image()));
    let other = Offer {
        name: "another".into(),
        identity: "stack.kind = hdd\nrun.seed = 7".into(),
        ..offer(Box::new(Toy::default()), &folder.image())
    };
    let said = refusal(other);
    assert!(said.contains("it holds the device of \"test\", and \"another\" was asked for"), "{said}");
    assert!(said.contains("`stack.kind` is toy in it, hdd was asked for"), "{said}");
    assert!(!said.contains("run.seed"), "{said}");
}

#[test]
fn an_image_of_another_size_or_cut_short_is_refused() {
    let folder = Folder::new();
    let wanted = crate::image::Wanted {
        bytes: 4096,
        name: "test",
        identity: "stack.kind = toy\nrun.seed = 7",
        read_only: false,
    };
    drop(crate::image::Image::open(&folder.image(), &wanted).unwrap());
    assert!(
        toy_refusal(&folder.image())
            .contains("it holds a device of 4096 bytes, and the scenario describes one of 65536")
    );
    std::fs::remove_file(folder.image()).unwrap();
    drop(toy(&folder.image()));
    std::fs::OpenOptions::new()
        .write(true)
        .open(folder.image())
        .unwrap()
        .set_len(super::JOURNAL - 1)
        .unwrap();
    let said = toy_refusal(&folder.image());
    assert!(
        said.contains(&format!("it is cut short: {} of {} bytes", super::JOURNAL - 1, super::JOURNAL)),
        "{said}"
    );
}

#[test]
fn two_servers_cannot_have_one_image() {
    let folder = Folder::new();
    let first = toy(&folder.image());
    assert!(toy_refusal(&folder.image()).contains("another process has it open"));
    drop(first);
    toy(&folder.image());
}

#[test]
fn other_files_are_no_images_and_stay_as_they_are() {
    let folder = Folder::new();
    overwrite_new(&folder, b"hello, this is something else entirely");
    assert!(toy_refusal(&folder.image()).contains("it is not the image of a served device"));
    assert_eq!(contents(&folder.image()), b"hello, this is something else entirely");
    assert!(toy_refusal(&folder.0).contains("it is not the image of a served device"), "a folder");
}

fn overwrite_new(folder: &Folder, bytes: &[u8]) {
    drop(std::fs::OpenOptions::new().write(true).create_new(true).open(folder.image()).unwrap());
    overwrite(&folder.image(), 0, bytes);
}

#[test]
fn a_kill_while_an_image_is_made_leaves_nothing_in_the_way() {
    let folder = Folder::new();
    // What a kill leaves: the file beside, half written.
    for begun in [&b""[..], b"NACR", b"NACRENEW", b"NACRENEW and then some of a header"] {
        std::fs::write(folder.0.join("x.image.new"), begun).unwrap();
        drop(toy(&folder.image()));
        assert_eq!(folder.names(), ["x.image"]);
        assert_eq!(
            opened(offer(Box::new(Toy::default()), &folder.image()), super::EMULATED).unwrap().1,
            [""; 0]
        );
        std::fs::remove_file(folder.image()).unwrap();
    }
}

/// A file that is somebody else's, or a link, has a name that a server wants to use.
#[test]
fn foreign_files_beside_an_image_are_named_and_stay() {
    for (ending, is_there) in [(".new", false), (".outage", true)] {
        let folder = Folder::new();
        let other = folder.0.join("other");
        drop(toy(&other));
        let image = contents(&other);
        let taken = folder.0.join(format!("x.image{ending}"));
        if is_there {
            drop(toy(&folder.image()));
        }
        let before = is_there.then(|| contents(&folder.image()));
        let is_refused = || {
            let said = toy_refusal(&folder.image());
            assert!(said.contains(&format!("{} is something else", taken.display())), "{said}");
            assert_eq!(folder.image().exists().then(|| contents(&folder.image())), before);
        };
        for content in [&b"a letter"[..], b"N?", &image] {
            std::fs::write(&taken, content).unwrap();
            is_refused();
            assert_eq!(contents(&taken), content);
            std::fs::remove_file(&taken).unwrap();
        }
        for target in [other.clone(), folder.0.join("nowhere")] {
            std::os::unix::fs::symlink(&target, &taken).unwrap();
            is_refused();
            assert!(taken.is_symlink() && contents(&other) == image);
            std::fs::remove_file(&taken).unwrap();
        }
        std::fs::create_dir(&taken).unwrap();
        is_refused();
    }
}

#[test]
fn a_loss_of_power_writes_through_no_link() {
    let folder = Folder::new();
    let (letter, beside) = (folder.0.join("letter"), folder.0.join("x.image.outage"));
    std::fs::write(&letter, "a letter").unwrap();
    let disk = toy(&folder.image());
    disk.write_at(us(1), super::toy::BYTES - 4096, &[9; 4096]);
    std::os::unix::fs::symlink(&letter, &beside).unwrap();
    let (failed, ready) = disk.model.power_fail_at(us(100));
    let said = disk.lose_power(failed, ready).unwrap_err().to_string();
    assert!(said.contains("x.image.outage is something else"), "{said}");
    assert_eq!(contents(&letter), b"a letter");
    std::fs::remove_file(&beside).unwrap();
    disk.lose_power(failed, ready).unwrap();
    assert_eq!(folder.names(), ["letter", "x.image"]);
}

#[test]
fn an_image_behind_a_link_is_made_and_opened_there() {
    let folder = Folder::new();
    let there = folder.0.join("there");
    std::fs::write(&there, "").unwrap();
    std::os::unix::fs::symlink(&there, folder.image()).unwrap();
    toy(&folder.image()).write_at(us(1), 0, b"bytes");
    assert!(folder.image().is_symlink());
    assert_eq!(&toy(&there).bytes()[..5], b"bytes");
    std::fs::remove_file(&there).unwrap();
    assert!(
        toy_refusal(&folder.image()).contains("already a file of this name"),
        "a link that leads nowhere"
    );
    assert!(folder.image().is_symlink() && !there.exists());
}

#[test]
fn an_empty_file_becomes_an_image() {
    let folder = Folder::new();
    overwrite_new(&folder, b"");
    drop(toy(&folder.image()));
    drop(toy(&folder.image()));
}

#[test]
fn a_read_only_server_makes_no_image_and_writes_to_none() {
    let folder = Folder::new();
    let read_only = || Offer { read_only: true, ..offer(Box::new(Toy::default()), &folder.image()) };
    assert!(refusal(read_only()).contains("there is no image"));
    let disk = toy(&folder.image());
    disk.write_at(us(1), 0, b"bytes");
    drop(disk);
    overwrite(&folder.image(), super::JOURNAL + 24, b"torn");
    let before = contents(&folder.image());
    let (disk, notices) = opened(read_only(), super::EMULATED).unwrap();
    assert!(notices[0].contains("they are left out"), "{}", notices[0]);
    disk.ask_at(us(900), Op::Read, 0, 512, false);
    assert_eq!(&disk.bytes()[..5], b"bytes");
    assert!(disk.power_fail().is_err() && disk.harm(0, 512, crate::harm::Harm::Reads).is_err());
    drop(disk);
    assert_eq!(contents(&folder.image()), before);
}

#[test]
fn opening_may_be_stopped_and_changes_nothing_then() {
    let folder = Folder::new();
    toy(&folder.image()).write_at(us(1), 0, b"bytes");
    overwrite(&folder.image(), super::JOURNAL + 24, b"torn");
    let before = contents(&folder.image());
    let mut asked = Vec::new();
    let stopped = crate::opening::open(
        offer(Box::new(Toy::default()), &folder.image()),
        super::EMULATED,
        crate::transport::Transport::default(),
        &mut |replayed| {
            asked.push((replayed.done, replayed.total));
            ControlFlow::Break(())
        },
    );
    assert!(stopped.is_err_and(|error| error.to_string().contains("opening it was stopped")));
    assert_eq!(asked, [(0, 1)]);
    assert_eq!(contents(&folder.image()), before);
}

#[test]
fn without_timing_nothing_is_asked_and_the_past_stays() {
    let folder = Folder::new();
    toy(&folder.image()).write_at(us(5), 0, b"bytes");
    let disk = toy_with(&folder.image(), Timing::None);
    assert_eq!(disk.model.report().counters[1], ("writes", 0));
    assert_eq!(disk.power_fail().unwrap(), crate::failing::Outage::default());
    drop(disk);
    assert_eq!(toy(&folder.image()).model.report().counters[1], ("writes", 1));
}
