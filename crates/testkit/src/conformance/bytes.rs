//! Checks of the data that reads return.

use nacre_kernel::event::Payload;
use nacre_kernel::{Op, Request, Status, Time};
use std::collections::BTreeMap;

/// Unit in which data is tracked, in bytes.
const SECTOR: u64 = 4096;

/// Records the writes and reads of all sectors, in order to check the data that reads return.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    sectors: BTreeMap<u64, Sector>,
    requests: BTreeMap<u64, (Time, Request)>,
    /// Whether sectors may have any content until they are written, e.g. after a power loss.
    pub(super) is_unknown: bool,
    clock: u64,
}

#[derive(Clone, Debug, Default)]
struct Sector {
    changes: Vec<Change>,
    /// Data of the last read that did not mix versions, and the sequence number of the submission of this
    /// read. `None` before the first such read.
    read: Option<(u64, u64)>,
}

/// A write or a trim. Times are sequence numbers of calls, because calls at the same simulated time have an
/// order.
#[derive(Clone, Debug)]
struct Change {
    number: u64,
    is_trim: bool,
    from: u64,
    /// Sequence number of the completion. [`u64::MAX`] means that the request is outstanding or failed.
    to: u64,
    has_failed: bool,
}

fn sectors(request: &Request) -> std::ops::Range<u64> {
    request.address / SECTOR..(request.address + u64::from(request.bytes)).div_ceil(SECTOR)
}

impl Contents {
    /// Records the submission of request `number`. Returns the data to write.
    pub(super) fn submitted(&mut self, number: u64, _now: Time, request: &Request) -> Payload {
        self.clock += 1;
        let at = Time::from_ps(self.clock);
        self.requests.insert(number, (at, *request));
        if matches!(request.op, Op::Write | Op::Trim) {
            let is_trim = request.op == Op::Trim;
            for sector in sectors(request) {
                let change = Change { number, is_trim, from: self.clock, to: u64::MAX, has_failed: false };
                self.sectors.entry(sector).or_default().changes.push(change);
            }
        }
        if request.op != Op::Write {
            return Payload::NONE;
        }
        let mut bytes = Vec::with_capacity(request.bytes as usize);
        while bytes.len() < request.bytes as usize {
            bytes.extend_from_slice(&(number + 1).to_le_bytes());
        }
        bytes.into()
    }

    pub(super) fn canceled(&mut self, number: u64) {
        let Some((_, request)) = self.requests.remove(&number) else { return };
        for sector in sectors(&request) {
            if let Some(of) = self.sectors.get_mut(&sector) {
                of.changes.retain(|change| change.number != number);
            }
        }
    }

    /// Records the completion of request `number` with `data`. Panics if a read returned data that is not
    /// allowed.
    pub(super) fn completed(&mut self, number: u64, now: Time, status: Status, data: &Payload) {
        self.clock += 1;
        let clock = self.clock;
        let (since, request) = self.requests.remove(&number).expect("it was submitted");
        let since = since.as_ps();
        if request.op != Op::Read {
            for sector in sectors(&request) {
                let of = self.sectors.entry(sector).or_default();
                let change = of.changes.iter_mut().find(|change| change.number == number);
                let Some(change) = change else { continue };
                change.has_failed = status != Status::Done;
                change.to = if change.has_failed { u64::MAX } else { clock };
                of.forget_old();
            }
            return;
        }
        if status != Status::Done {
            return;
        }
        let bytes = data.bytes().unwrap_or_else(|| panic!("{request:?} returns no bytes"));
        assert_eq!(
            bytes.len(),
            request.bytes as usize,
            "{request:?} returns other bytes than were asked for"
        );
        for (index, sector) in sectors(&request).enumerate() {
            let bytes = &bytes[index * SECTOR as usize..(index + 1) * SECTOR as usize];
            self.check_sector(sector, bytes, since, (&request, now));
        }
    }

    fn check_sector(&mut self, sector: u64, bytes: &[u8], since: u64, (request, now): (&Request, Time)) {
        let of = self.sectors.entry(sector).or_default();
        let words: Vec<u64> =
            bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes"))).collect();
        for &word in &words {
            let is_right = of.may_hold(word, since, self.is_unknown);
            assert!(
                is_right,
                "{request:?} done at {now} returns bytes of write {word} - 1 in sector {sector}: {of:?}"
            );
        }
        if words.iter().any(|&word| word != words[0]) {
            return;
        }
        if let Some((before, at)) = of.read {
            // No change occurred since the earlier submission, so both reads return the same data.
            let first = at.min(since);
            let is_quiet = of.changes.iter().all(|change| change.to < first && !change.has_failed);
            let same = before == words[0] || !is_quiet;
            assert!(
                same,
                "{request:?} returns {}, an earlier read {before}, sector {sector}: {of:?}",
                words[0]
            );
        }
        of.read = Some((words[0], since));
    }
}

impl Sector {
    /// Returns whether a read that was submitted at `since` may return `word`.
    fn may_hold(&self, word: u64, since: u64, is_unknown: bool) -> bool {
        let newest_settled = self.changes.iter().filter(|of| of.to < since && !of.is_trim && !of.has_failed);
        let floor = newest_settled.map(|of| of.from).max().unwrap_or(0);
        if word == 0 {
            return floor == 0 || self.changes.iter().any(|of| of.is_trim && of.to > floor);
        }
        match self.changes.iter().find(|of| of.number + 1 == word) {
            // A change is obsolete if a later change was submitted after its completion and has completed.
            Some(change) => change.to >= floor || change.has_failed,
            None => is_unknown && floor == 0,
        }
    }

    /// Discards changes that no read can return.
    fn forget_old(&mut self) {
        if self.changes.len() < 32 {
            return;
        }
        let settled = self.changes.iter().filter(|of| of.to < u64::MAX && !of.is_trim && !of.has_failed);
        let floor = settled.map(|of| of.from).max().unwrap_or(0);
        // Outstanding reads may have been submitted earlier. The margin preserves the changes that they may
        // return.
        self.changes.retain(|of| of.to >= floor.saturating_sub(2000));
    }
}
