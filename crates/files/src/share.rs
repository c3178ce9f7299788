//! Counts the bytes that are read from files, for progress reports.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counts the bytes that are read from a set of files. Clones share the count.
#[derive(Clone, Debug, Default)]
pub struct ShareRead(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    total: AtomicU64,
    read: AtomicU64,
    waits: AtomicBool,
}

impl ShareRead {
    /// Returns the share of all bytes that has been read, or `None` if the files have no size (pipes) or no
    /// file is open.
    pub fn fraction(&self) -> Option<f64> {
        let total = self.0.total.load(Ordering::Relaxed);
        (total > 0).then(|| self.0.read.load(Ordering::Relaxed) as f64 / total as f64)
    }

    /// Estimates the total number of items if the bytes read so far contained `done` items. Returns `None`
    /// before the first read.
    pub fn estimate(&self, done: u64) -> Option<u64> {
        let fraction = self.fraction().filter(|&fraction| fraction > 0.0)?;
        Some((done as f64 / fraction.min(1.0)) as u64)
    }

    /// Returns whether reads may block, because one of the files has no size, e.g. a pipe.
    pub fn may_wait(&self) -> bool {
        self.0.waits.load(Ordering::Relaxed)
    }

    /// Wraps `file`, which has `bytes` bytes, so that its reads are counted.
    pub(crate) fn counted<R: Read>(&self, file: R, bytes: u64) -> Counted<R> {
        self.0.total.fetch_add(bytes, Ordering::Relaxed);
        self.0.waits.fetch_or(bytes == 0, Ordering::Relaxed);
        Counted { file, counts: self.0.clone() }
    }
}

/// A file with counted reads.
pub(crate) struct Counted<R> {
    file: R,
    counts: Arc<Counts>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.counts.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_size_may_be_waited_for() {
        let share = ShareRead::default();
        let mut file = share.counted(io::Cursor::new([7; 4]), 4);
        assert!(!share.may_wait());
        let mut half = [0; 2];
        file.read_exact(&mut half).unwrap();
        assert_eq!((share.fraction(), share.estimate(10)), (Some(0.5), Some(20)));
        share.counted(io::empty(), 0);
        assert!(share.may_wait() && share.fraction() == Some(0.5));
    }
}
