//! The file of an image whose host crashes: what is done to it since a moment, and what was on the disk then.

use nacre_image::tape::{Event, Followed, Tape};
use std::sync::Arc;

/// What the file does wrong, so that tests see it found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// A sync is answered, and nothing is on the disk.
    LyingSync,
    /// One write in so many is answered and lost.
    LostWrite(u64),
    /// It keeps no checksums of pages.
    NoChecksums,
}

/// The file, and what it was at the moment.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) file: Arc<Tape<()>>,
    before: Followed,
    fault: Fault,
}

impl Recorded {
    /// A file whose bytes are on the disk.
    pub(super) fn of(bytes: Vec<u8>, fault: Fault) -> Recorded {
        let (before, file) = (Followed::of(bytes.clone()), Tape::with(bytes));
        if let Fault::LostWrite(one_in) = fault {
            file.reel().loses_one_in = Some(one_in);
        }
        Recorded { file: Arc::new(file), before, fault }
    }

    /// This is the moment.
    pub(super) fn settle(&mut self) {
        let events = std::mem::take(&mut self.file.reel().events);
        events.iter().for_each(|event| follow(&mut self.before, event, self.fault));
    }

    /// How many operations there were since the moment.
    pub(super) fn operations(&self) -> usize {
        self.file.reel().events.len()
    }

    /// Bytes that operation number `number` writes.
    pub(super) fn bytes_of(&self, number: usize) -> usize {
        match self.file.reel().events.get(number) {
            Some(Event::Write(_, part)) => part.len(),
            _ => 0,
        }
    }

    /// The file after so many operations since the moment and so many bytes of the next.
    pub(super) fn upto(&self, operations: usize, torn: usize) -> Followed {
        let (mut file, reel) = (self.before.clone(), self.file.reel());
        reel.events[..operations].iter().for_each(|event| follow(&mut file, event, self.fault));
        if let (true, Some(Event::Write(offset, part))) = (torn > 0, reel.events.get(operations)) {
            file.follow::<()>(&Event::Write(*offset, part[..torn].to_vec()));
        }
        file
    }
}

/// What `event` does to `file`, whose disk has this fault.
fn follow(file: &mut Followed, event: &Event<()>, fault: Fault) {
    if fault != Fault::LyingSync || !matches!(event, Event::Sync) {
        file.follow(event);
    }
}
