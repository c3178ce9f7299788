//! What goes wrong in a device because somebody wants it to, and what a write has to keep for that.

use crate::harm::{Harm, UNIT, touched};
use crate::image::{Entry, ImageError, What};
use crate::model::{HostRequest, Outcome};
use crate::serving::Disk;
use crate::undo::Fate;
use nacre_kernel::{Op, Streams, Time};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::MutexGuard;
use std::sync::atomic::Ordering;

/// Old bytes that one request may keep. A larger one, zeroes over gigabytes of data, is durable at once.
const OLD_MAX: u64 = 64 << 20;

/// What a loss of power did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outage {
    /// Writes that were acknowledged, were not durable yet, and are gone or in part.
    pub acknowledged_lost: u64,
    /// Their bytes that are gone.
    pub bytes_lost: u64,
    /// Writes that were not acknowledged yet: each is there, not there, or in some of its units of 4 KiB.
    pub under_way: u64,
    /// How long the device is not ready, in simulated time.
    pub ready_after: Time,
}

impl Disk {
    /// The power fails and comes back. What the device acknowledged and had only in volatile memory is gone; what
    /// it was about to write is there, not there, or in part. Who calls it has ended all connections before, so
    /// that no more answers leave. Without modelled time a write is durable at once and nothing is lost.
    ///
    /// Errors: the image is read-only, or cannot be written. A kill in the middle does no harm: opening the image
    /// finishes it, or it never happened.
    pub(crate) fn power_fail(&self) -> io::Result<Outage> {
        let _alone = self.gate.write().expect("nobody panics with the lock");
        self.check_writable()?;
        let Some((failed, ready)) = self.model.power_fail() else { return Ok(Outage::default()) };
        self.lose_power(failed, ready)
    }

    pub(crate) fn lose_power(&self, failed: Time, ready: Time) -> io::Result<Outage> {
        let entry = self.image.commit()?;
        let mut random = Streams::new(self.seed).stream(&format!("power failure at entry {entry}"));
        let loss = {
            let mut undo = self.undo();
            undo.ask(failed, |range| self.model.keeps(failed, range));
            undo.fail(failed, &mut random)
        };
        let failure = Entry { now: failed, address: 0, length: 0, what: What::PowerFailure };
        self.image.take_back(&loss.restored, entry, failure)?;
        Ok(Outage {
            acknowledged_lost: loss.acknowledged,
            bytes_lost: loss.bytes,
            under_way: loss.under_way,
            ready_after: ready - failed,
        })
    }

    /// From now on the sectors that a range touches fail, or work again. It stays so when the image is opened again.
    ///
    /// Errors: the range does not lie within the device, the image is read-only or cannot be written.
    pub(crate) fn harm(&self, offset: u64, bytes: u64, harm: Harm) -> io::Result<()> {
        let end = offset.checked_add(bytes).filter(|&end| end <= self.export.bytes && bytes > 0);
        let Some(end) = end else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the range does not lie within the device",
            ));
        };
        self.check_writable()?;
        let mut harmed = self.harmed.lock().expect("nobody panics with the lock");
        self.note(harm, touched(offset..end))?;
        harmed.apply(harm, offset..end);
        self.is_harmed.store(!harmed.is_empty(), Ordering::Release);
        Ok(())
    }

    /// Copies the image to `to` while no request is served; the copy is an image. Returns the bytes of disk it takes.
    ///
    /// Errors: something is there already, or it cannot be written.
    pub(crate) fn snapshot(&self, to: &Path) -> Result<u64, ImageError> {
        let _alone = self.gate.write().expect("nobody panics with the lock");
        self.image.copy_to(to)
    }

    /// Whether what is asked fails because somebody wants it to.
    pub(crate) fn fails(&self, asked: HostRequest) -> bool {
        if !self.is_harmed.load(Ordering::Acquire) {
            return false;
        }
        let range = asked.offset..asked.offset + u64::from(asked.bytes);
        let harmed = self.harmed.lock().expect("nobody panics with the lock");
        match asked.op {
            Op::Read => harmed.fails_reads(&range),
            Op::Write | Op::Trim => harmed.fails_writes(&range),
            Op::Flush => false,
        }
    }

    /// Before the model is asked to write `range`: what is there now may survive a loss of power already.
    pub(crate) fn settle(&self, range: &Range<u64>) {
        let now = self.model.now();
        self.undo().ask_before(now, range, |range| self.model.keeps(now, range));
    }

    /// Lets `write` replace the bytes of `range` and keeps the old ones as long as a loss of power would bring
    /// them back.
    pub(crate) fn replace(
        &self,
        said: Option<Outcome>,
        range: Range<u64>,
        write: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        if let Some(Outcome { now, done, durable, .. }) = said.filter(|_| self.model.is_timed()) {
            // Held while the bytes change: old bytes are those of the write before.
            let mut undo = self.undo();
            let pieces = self.image.pieces(range.start, range.end - range.start, OLD_MAX)?;
            let fate = Fate { done, durable: if pieces.is_some() { durable } else { now } };
            undo.push(now, range.clone(), fate, pieces.unwrap_or_default());
            undo.ask_sometimes(now, |range| self.model.keeps(now, range));
            write()?;
        } else {
            write()?;
        }
        self.heal(range)
    }

    /// Trimmed bytes are nobody's: a loss of power does not bring them back.
    pub(crate) fn trim(&self, said: Option<Outcome>, range: Range<u64>) -> io::Result<()> {
        let mut undo = self.undo();
        self.image.zero(range.start, range.end - range.start, false)?;
        if let Some(Outcome { now, .. }) = said.filter(|_| self.model.is_timed()) {
            undo.push(now, range.clone(), Fate { done: now, durable: now }, Vec::new());
        }
        drop(undo);
        self.heal(range)
    }

    /// What was acknowledged is on the disk under the image, and for the model in the medium.
    pub(crate) fn flush(&self, said: Option<Outcome>) -> io::Result<()> {
        if !self.image.is_read_only() {
            self.image.sync()?;
        }
        if let Some(Outcome { now, done, .. }) = said.filter(|_| self.model.is_timed()) {
            self.undo().flush(now, done);
        }
        Ok(())
    }

    /// A write of `range` heals the sectors it covers.
    fn heal(&self, range: Range<u64>) -> io::Result<()> {
        if !self.is_harmed.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut harmed = self.harmed.lock().expect("nobody panics with the lock");
        if let Some(healed) = harmed.overwritten(range) {
            self.is_harmed.store(!harmed.is_empty(), Ordering::Release);
            self.note(Harm::Heal, healed)?;
        }
        Ok(())
    }

    /// Puts `harm` to whole sectors into the journal.
    fn note(&self, harm: Harm, sectors: Range<u64>) -> io::Result<()> {
        self.image.catch_up()?;
        let now = self.model.now();
        let mut at = sectors.start;
        while at < sectors.end {
            let length = ((sectors.end - at) / UNIT).min(u64::from(u32::MAX)) as u32;
            self.image.push(Entry { now, address: at, length, what: What::Harm(harm) });
            at += u64::from(length) * UNIT;
        }
        self.image.commit().map(|_| ())
    }

    fn check_writable(&self) -> io::Result<()> {
        match self.image.is_read_only() {
            true => Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "the device is served read-only")),
            false => Ok(()),
        }
    }

    fn undo(&self) -> MutexGuard<'_, crate::undo::Undo> {
        self.undo.lock().expect("nobody panics with the lock")
    }
}
