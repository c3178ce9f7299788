//! Tests of media errors, snapshots, and zero writes from the perspective of a client.

use super::{EMULATED, Folder, PLAIN, checked, offer, opened, us};
use crate::model::{Answer, Early, Timing};
use crate::serving::{Body, Disk, Served};
use nacre_memory::harm::Harm;
use nacre_nbd::{HEADER_BYTES, Request, Session};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

const READ: u16 = 0;
const WRITE: u16 = 1;
const WRITE_ZEROES: u16 = 6;
const FUA: u16 = 1;
/// Error number of an I/O error in the protocol.
const EIO: u32 = 5;
/// Size in bytes of a simple reply without data.
const HEAD: usize = 16;

fn open(path: &Path, timing: Timing) -> Disk {
    opened(offer(checked(PLAIN), path), timing).unwrap_or_else(|error| panic!("{error}"))
}

/// Serves one request and returns the whole reply.
fn answer(disk: &Disk, flags: u16, command: u16, offset: u64, bytes: u32) -> Vec<u8> {
    answer_with(disk, flags, command, offset, bytes, 1)
}

/// Like [`answer`], with `fill` as the value of the written bytes.
pub(super) fn answer_with(
    disk: &Disk,
    flags: u16,
    command: u16,
    offset: u64,
    bytes: u32,
    fill: u8,
) -> Vec<u8> {
    let mut header = [0; HEADER_BYTES];
    header[..4].copy_from_slice(&0x2560_9513_u32.to_be_bytes());
    header[4..6].copy_from_slice(&flags.to_be_bytes());
    header[6..8].copy_from_slice(&command.to_be_bytes());
    header[16..24].copy_from_slice(&offset.to_be_bytes());
    header[24..].copy_from_slice(&bytes.to_be_bytes());
    let request = Request::parse(&header).unwrap();
    let payload = vec![fill; request.payload(1 << 20).unwrap()];
    let session = Session { export: 0, structured: false, allocation: false };
    let mut out = Vec::new();
    let mut served = disk.serve(&session, (&request, &payload), Early::Not, 0, &mut out);
    while let (Served::Asked(pending), Body::Device(model)) = (served, &disk.body) {
        let mut found: Option<Answer> = None;
        while found.is_none() {
            let ticket = std::iter::once(pending.ticket);
            model.look(Duration::ZERO, ticket, |_, answer| found = Some(answer));
        }
        served = disk.answer(&session, &pending, &found.unwrap(), 0, &mut out);
    }
    out
}

/// Serves one request and returns the error number of the reply, or 0 for success.
fn submitted(disk: &Disk, command: u16, offset: u64, bytes: u32) -> u32 {
    u32::from_be_bytes(answer(disk, 0, command, offset, bytes)[4..8].try_into().unwrap())
}

/// A progress callback that never stops the operation.
fn on() -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn bytes(disk: &Disk) -> Vec<u8> {
    answer(disk, 0, READ, 0, 64 << 10)[HEAD..].to_vec()
}

#[test]
fn harmed_sectors_fail_over_restarts_until_they_are_overwritten() {
    for timing in [EMULATED, Timing::None] {
        let folder = Folder::new();
        let disk = open(&folder.image(), timing);
        disk.harm(1000, 1, Harm::Reads).unwrap();
        assert_eq!(submitted(&disk, READ, 512, 1), EIO);
        assert_eq!(submitted(&disk, READ, 0, 512), 0);
        assert_eq!(submitted(&disk, WRITE, 512, 100), 0, "a part of it heals nothing");
        drop(disk);
        let disk = open(&folder.image(), timing);
        assert_eq!(submitted(&disk, READ, 0, 4096), EIO);
        assert_eq!(submitted(&disk, WRITE, 0, 1024), 0);
        assert_eq!(submitted(&disk, READ, 0, 4096), 0);
        drop(disk);
        assert_eq!(submitted(&open(&folder.image(), timing), READ, 0, 4096), 0, "it stays healed");
    }
}

#[test]
fn writes_fail_where_they_are_to_and_change_nothing() {
    for timing in [EMULATED, Timing::None] {
        let folder = Folder::new();
        let disk = open(&folder.image(), timing);
        disk.harm(4096, 512, Harm::Writes).unwrap();
        assert_eq!(submitted(&disk, WRITE, 4000, 4096), EIO);
        assert_eq!(submitted(&disk, READ, 0, 8192), 0);
        assert!(bytes(&disk).iter().all(|&byte| byte == 0));
        disk.harm(4096, 1, Harm::Heal).unwrap();
        assert_eq!(submitted(&disk, WRITE, 4000, 4096), 0);
        assert!(disk.harm(64 << 10, 1, Harm::Reads).is_err(), "beyond the end");
        assert!(disk.harm(0, 0, Harm::Reads).is_err(), "nothing");
    }
}

#[test]
fn zeroes_and_forced_writes_are_done_to_their_end() {
    for timing in [EMULATED, Timing::None] {
        let folder = Folder::new();
        let disk = open(&folder.image(), timing);
        assert_eq!(answer(&disk, FUA, WRITE, 100, 5000).len(), HEAD);
        assert_eq!(submitted(&disk, WRITE_ZEROES, 300, 4000), 0);
        let bytes = bytes(&disk);
        let is_set = |at: usize| (100..300).contains(&at) || (4300..5100).contains(&at);
        assert!((0..bytes.len()).all(|at| bytes[at] == u8::from(is_set(at))));
    }
}

#[test]
fn a_snapshot_is_an_image_of_that_moment_and_replaces_nothing() {
    for timing in [EMULATED, Timing::None] {
        let folder = Folder::new();
        let disk = open(&folder.image(), timing);
        assert_eq!(submitted(&disk, WRITE, 0, 6), 0);
        disk.harm(512, 1, Harm::Reads).unwrap();
        let snapshot = folder.0.join("snapshot");
        let room = disk.snapshot(&snapshot, &mut on).unwrap();
        assert!((4096..4 << 20).contains(&room), "{room} bytes: holes stay holes");
        assert_eq!(submitted(&disk, WRITE, 0, 1000), 0);
        let copy = open(&snapshot, timing);
        assert_eq!(answer(&copy, 0, READ, 0, 12)[HEAD..], [1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(submitted(&copy, READ, 512, 1), EIO);
        for taken in [folder.image(), snapshot] {
            let error = disk.snapshot(&taken, &mut on).unwrap_err().to_string();
            assert!(error.contains("the file already exists"), "{error}");
        }
        assert!(disk.snapshot(&folder.0.join("nowhere/at/all"), &mut on).is_err());
        assert_eq!(folder.names(), ["snapshot", "x.image"]);
    }
}

#[test]
fn a_forced_write_is_flushed_when_it_is_done() {
    // The disk acknowledges writes in its cache. A forced write is acknowledged when it is on the platter.
    let folder = Folder::new();
    let disk = super::served(super::CACHED_DISK, &folder.image());
    assert_eq!(answer(&disk, FUA, WRITE, 0, 4096).len(), HEAD);
    let at = disk.model().with(|device| device.until());
    assert!(at > us(50), "{at}: not from the cache");
    let outage = disk.model().power_fail_at(at);
    assert_eq!((outage.bytes_lost, outage.under_way), (0, 0));
    assert!(disk.bytes()[..4096].iter().all(|&byte| byte == 1));
}
