//! An image file on a host that crashes. It records the disk content at a certain time (the mark), and all
//! operations since then.

use nacre_image::tape::{Event, Followed, Tape};
use std::sync::Arc;

/// Faults that are injected into the file, and that the tests must detect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No fault.
    None,
    /// A sync is acknowledged without effect.
    LyingSync,
    /// A write whose operation number is a multiple of this value is acknowledged but lost.
    LostWrite(u64),
    /// The image has no page checksums.
    NoChecksums,
}

/// A file, its content on the disk at the mark, and its fault.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) file: Arc<Tape<()>>,
    before: Followed,
    fault: Fault,
}

impl Recorded {
    /// Creates a file with the durable content `bytes` and with `fault`.
    pub(super) fn of(bytes: Vec<u8>, fault: Fault) -> Recorded {
        let (before, file) = (Followed::of(bytes.clone()), Tape::with(bytes));
        if let Fault::LostWrite(one_in) = fault {
            file.reel().loses_one_in = Some(one_in);
        }
        Recorded { file: Arc::new(file), before, fault }
    }

    /// Sets the mark at the current state of the file.
    pub(super) fn settle(&mut self) {
        let events = std::mem::take(&mut self.file.reel().events);
        events.iter().for_each(|event| follow(&mut self.before, event, self.fault));
    }

    /// Number of operations since the mark.
    pub(super) fn operations(&self) -> usize {
        self.file.reel().events.len()
    }

    /// Number of bytes that operation `number` writes.
    pub(super) fn bytes_of(&self, number: usize) -> usize {
        match self.file.reel().events.get(number) {
            Some(Event::Write(_, part)) => part.len(),
            _ => 0,
        }
    }

    /// The file after the first `operations` operations and the first `torn` bytes of the next operation.
    pub(super) fn upto(&self, operations: usize, torn: usize) -> Followed {
        let (mut file, reel) = (self.before.clone(), self.file.reel());
        reel.events[..operations].iter().for_each(|event| follow(&mut file, event, self.fault));
        if let (true, Some(Event::Write(offset, part))) = (torn > 0, reel.events.get(operations)) {
            file.follow::<()>(&Event::Write(*offset, part[..torn].to_vec()));
        }
        file
    }
}

/// Applies `event` to `file`, whose disk has `fault`.
fn follow(file: &mut Followed, event: &Event<()>, fault: Fault) {
    if fault != Fault::LyingSync || !matches!(event, Event::Sync) {
        file.follow(event);
    }
}
