//! Media errors and snapshots, as clients see them.

use super::{EMULATED, Folder, toy, toy_with, us};
use crate::harm::Harm;
use crate::model::Timing;
use crate::serving::Disk;
use nacre_nbd::{HEADER_BYTES, Request, Session};

const READ: u16 = 0;
const WRITE: u16 = 1;
/// The protocol's number of the error.
const EIO: u32 = 5;

/// The error that a client gets; zero for none.
fn asked(disk: &Disk, command: u16, offset: u64, bytes: u32) -> u32 {
    let mut header = [0; HEADER_BYTES];
    header[..4].copy_from_slice(&0x2560_9513_u32.to_be_bytes());
    header[6..8].copy_from_slice(&command.to_be_bytes());
    header[16..24].copy_from_slice(&offset.to_be_bytes());
    header[24..].copy_from_slice(&bytes.to_be_bytes());
    let request = Request::parse(&header).unwrap();
    let payload = vec![1; request.payload(1 << 20).unwrap()];
    let mut out = Vec::new();
    disk.serve(&Session { export: 0, structured: false, allocation: false }, &request, &payload, &mut out);
    u32::from_be_bytes(out[4..8].try_into().unwrap())
}

#[test]
fn harmed_sectors_fail_over_restarts_until_they_are_overwritten() {
    for timing in [EMULATED, Timing::None] {
        let folder = Folder::new();
        let disk = toy_with(&folder.image(), timing);
        disk.harm(1000, 1, Harm::Reads).unwrap();
        assert_eq!(asked(&disk, READ, 512, 1), EIO);
        assert_eq!(asked(&disk, READ, 0, 512), 0);
        assert_eq!(asked(&disk, WRITE, 512, 100), 0, "a part of it heals nothing");
        drop(disk);
        let disk = toy_with(&folder.image(), timing);
        assert_eq!(asked(&disk, READ, 0, 4096), EIO);
        assert_eq!(asked(&disk, WRITE, 0, 1024), 0);
        assert_eq!(asked(&disk, READ, 0, 4096), 0);
        drop(disk);
        assert_eq!(asked(&toy_with(&folder.image(), timing), READ, 0, 4096), 0, "it stays healed");
    }
}

#[test]
fn writes_fail_where_they_are_to_and_change_nothing() {
    let folder = Folder::new();
    let disk = toy(&folder.image());
    disk.harm(4096, 512, Harm::Writes).unwrap();
    assert_eq!(asked(&disk, WRITE, 4000, 4096), EIO);
    assert_eq!(asked(&disk, READ, 0, 8192), 0);
    assert!(disk.bytes().iter().all(|&byte| byte == 0));
    disk.harm(4096, 1, Harm::Heal).unwrap();
    assert_eq!(asked(&disk, WRITE, 4000, 4096), 0);
    assert!(disk.harm(super::toy::BYTES, 1, Harm::Reads).is_err(), "beyond the end");
    assert!(disk.harm(0, 0, Harm::Reads).is_err(), "nothing");
}

#[test]
fn a_snapshot_is_an_image_of_that_moment() {
    let folder = Folder::new();
    let disk = toy(&folder.image());
    disk.write_at(us(1), 0, b"before");
    disk.harm(512, 1, Harm::Reads).unwrap();
    let snapshot = folder.0.join("snapshot");
    let room = disk.snapshot(&snapshot).unwrap();
    assert!((4096..1 << 20).contains(&room), "{room} bytes: holes stay holes");
    disk.write_at(us(50), 0, b"after!");
    let copy = toy(&snapshot);
    assert_eq!((&copy.bytes()[..6], &disk.bytes()[..6]), (&b"before"[..], &b"after!"[..]));
    assert_eq!(copy.model.report().counters[1], ("writes", 1));
    assert_eq!(asked(&copy, READ, 512, 1), EIO);
    assert_eq!(folder.names(), ["snapshot", "x.image"]);
}

#[test]
fn a_snapshot_replaces_nothing() {
    let folder = Folder::new();
    let disk = toy(&folder.image());
    let error = disk.snapshot(&folder.image()).unwrap_err().to_string();
    assert!(
        error.ends_with("there is already a file of this name; remove it, or choose another name"),
        "{error}"
    );
    assert!(disk.snapshot(&folder.0.join("nowhere/at/all")).is_err());
    drop(disk);
    toy(&folder.image());
    assert_eq!(folder.names(), ["x.image"]);
}
