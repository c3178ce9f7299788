//! A disk without room: what was trimmed makes some.

use super::NoFiles;
use crate::check;
use crate::kept::Kept;
use crate::step::Step;
use nacre_image::Disk;
use nacre_kernel::Time;
use nacre_machine::{Checked, Document};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex};

const BLOCK: u64 = 4096;
const JOURNAL_BYTES: u64 = 1 << 20;
const WRITE_BYTES: u32 = 16 << 10;

/// A file of blocks, of which no more than `most` have room on the disk at a time.
#[derive(Debug)]
struct SmallDisk {
    most: usize,
    content: Mutex<Content>,
}

#[derive(Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    blocks: BTreeSet<u64>,
}

impl SmallDisk {
    fn of(most: usize) -> Arc<SmallDisk> {
        Arc::new(SmallDisk { most, content: Mutex::default() })
    }
}

fn blocks(range: Range<u64>) -> Range<u64> {
    range.start / BLOCK..range.end.div_ceil(BLOCK)
}

impl Disk for SmallDisk {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let content = self.content.lock().unwrap();
        let rest = content.bytes.get(offset as usize..).unwrap_or_default();
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.reserve(offset, bytes.len() as u64)?;
        let mut content = self.content.lock().unwrap();
        let end = offset as usize + bytes.len();
        let length = content.bytes.len().max(end);
        content.bytes.resize(length, 0);
        content.bytes[offset as usize..end].copy_from_slice(bytes);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.content.lock().unwrap().bytes.len() as u64)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.content.lock().unwrap().bytes.resize(length as usize, 0);
        Ok(())
    }

    fn next_data(&self, offset: u64) -> io::Result<Option<u64>> {
        let content = self.content.lock().unwrap();
        Ok(content.blocks.range(offset / BLOCK..).next().map(|block| offset.max(block * BLOCK)))
    }

    fn zero_at(&self, offset: u64, length: u64, keeps_room: bool) -> io::Result<bool> {
        if keeps_room {
            return Ok(false);
        }
        let mut content = self.content.lock().unwrap();
        let (start, end) = (offset as usize, (offset + length) as usize);
        let known = content.bytes.len();
        content.bytes[start.min(known)..end.min(known)].fill(0);
        for block in offset.div_ceil(BLOCK)..(offset + length) / BLOCK {
            content.blocks.remove(&block);
        }
        Ok(true)
    }

    fn file(&self) -> Option<&File> {
        None
    }

    fn reserve(&self, offset: u64, bytes: u64) -> io::Result<()> {
        let mut content = self.content.lock().unwrap();
        for block in blocks(offset..offset + bytes) {
            if content.blocks.len() == self.most && !content.blocks.contains(&block) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            content.blocks.insert(block);
        }
        Ok(())
    }
}

fn measured() -> Checked {
    let text = "[stack]\nkind = \"measured\"\nread = \"5 us\"\nwrite = \"10 us\"\ncapacity = \"4 MiB\"\n";
    let document = Document { text, name: "test.toml", overrides: &[], seed: None };
    check(&document).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Writes until there is no more room; how many bytes were written.
fn filled(kept: &mut Kept, stamp: u8) -> u32 {
    let bytes = vec![stamp; WRITE_BYTES as usize];
    let places = (0..kept.capacity() as u32).step_by(WRITE_BYTES as usize);
    for address in places {
        let step = Step::Write { address: address.into(), bytes: &bytes };
        // Writes are done before the next one, so that no loss of power can take them back.
        let done = kept
            .change(kept.until(), step)
            .and_then(|done| kept.change(done.completion.done, Step::Idle(Time::from_ms(1))));
        if done.is_err() {
            return address;
        }
    }
    kept.capacity() as u32
}

#[test]
fn what_is_trimmed_makes_room_on_a_full_disk() {
    let checked = measured();
    for most in [200, 333, 500] {
        let disk = SmallDisk::of(most);
        let mut kept = Kept::on_disk(&checked, &NoFiles, disk.clone(), JOURNAL_BYTES).unwrap();
        let first = filled(&mut kept, 1);
        assert!(0 < first && u64::from(first) < kept.capacity(), "{most} blocks are too few, {first} bytes");
        for turn in 2..6 {
            kept.change(kept.until(), Step::Trim { address: 0, bytes: first }).unwrap();
            let again = filled(&mut kept, turn);
            assert!(again >= first / 2, "{most} blocks: {again} bytes after a trim, {first} before");
        }
        kept.sync().unwrap();
        drop(kept);
        let mut kept = Kept::on_disk(&checked, &NoFiles, disk, JOURNAL_BYTES).unwrap();
        let mut found = vec![0; (first / 2) as usize];
        kept.read(kept.until(), 0, &mut found);
        assert!(found.iter().all(|&byte| byte == 5), "{most} blocks: what was written last");
    }
}
