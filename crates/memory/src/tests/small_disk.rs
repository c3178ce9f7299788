//! A small disk that records its operations.

use nacre_image::Disk;
use nacre_image::tape::{Event, Tape};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

const BLOCK: u64 = 4096;

/// A sparse file on a disk with space for `most` blocks.
#[derive(Debug)]
pub(super) struct SmallDisk {
    most: usize,
    file: Tape<()>,
    blocks: Mutex<BTreeSet<u64>>,
    holes: AtomicU64,
}

impl SmallDisk {
    /// Creates an empty disk with space for `most` blocks.
    pub(super) fn of(most: usize) -> Arc<SmallDisk> {
        SmallDisk::new(most, Vec::new())
    }

    /// Creates a disk that contains `bytes` and has unlimited free space.
    pub(super) fn with(bytes: Vec<u8>) -> Arc<SmallDisk> {
        SmallDisk::new(usize::MAX, bytes)
    }

    fn new(most: usize, bytes: Vec<u8>) -> Arc<SmallDisk> {
        let (file, blocks) = (Tape::with(bytes), Mutex::default());
        Arc::new(SmallDisk { most, file, blocks, holes: AtomicU64::new(0) })
    }

    /// Operations since the last call.
    pub(super) fn events(&self) -> Vec<Event<()>> {
        std::mem::take(&mut self.file.reel().events)
    }

    /// Number of blocks that were returned to the file system, i.e. punched as holes.
    pub(super) fn holes(&self) -> u64 {
        self.holes.load(Ordering::Relaxed)
    }
}

impl Disk for SmallDisk {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(offset, into)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.reserve(offset, bytes.len() as u64)?;
        self.file.write_at(offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn length(&self) -> io::Result<u64> {
        self.file.length()
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.file.set_length(length)
    }

    fn next_data(&self, offset: u64) -> io::Result<Option<u64>> {
        self.file.next_data(offset)
    }

    fn zero_at(&self, offset: u64, length: u64, keeps_room: bool) -> io::Result<bool> {
        if !self.file.zero_at(offset, length, keeps_room)? {
            return Ok(false);
        }
        let mut blocks = self.blocks.lock().unwrap();
        for block in offset.div_ceil(BLOCK)..(offset + length) / BLOCK {
            self.holes.fetch_add(u64::from(blocks.remove(&block)), Ordering::Relaxed);
        }
        Ok(true)
    }

    fn file(&self) -> Option<&File> {
        None
    }

    fn reserve(&self, offset: u64, bytes: u64) -> io::Result<()> {
        let mut blocks = self.blocks.lock().unwrap();
        for block in offset / BLOCK..(offset + bytes).div_ceil(BLOCK) {
            if blocks.len() == self.most && !blocks.contains(&block) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            blocks.insert(block);
        }
        Ok(())
    }
}
