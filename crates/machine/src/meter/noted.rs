//! Compact notes on served requests. The sums are computed from the notes later, many at a time, possibly on
//! another thread.

use nacre_kernel::{Activity, Op, Request, Span, Status, Time};

/// A served request that is not in the sums yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    pub(super) latency: Time,
    /// Completion time, relative to the start of measurement.
    pub(super) done: Time,
    pub(super) bytes: u32,
    pub(super) volume: u32,
    pub(super) is_error: bool,
}

/// Served requests that are not in the sums yet, in arrival order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    /// Time at which measurement started, or `None` if it did not start just before these requests. Earlier
    /// requests are excluded.
    pub(super) begun: Option<Time>,
    pub(super) reads: Vec<Note>,
    pub(super) writes: Vec<Note>,
    /// Trims and flushes.
    pub(super) others: Vec<(Op, Note)>,
}

impl Notes {
    /// Drops all notes.
    pub(super) fn clear(&mut self) {
        self.begun = None;
        self.reads.clear();
        self.writes.clear();
        self.others.clear();
    }
}

/// Notes of the requests that are not in the sums yet, and totals over all requests since measurement
/// started.
#[derive(Clone, Debug)]
pub(crate) struct Noted {
    /// Notes of requests that are not in the sums yet.
    pub(crate) notes: Notes,
    /// Time in picoseconds on the critical path by component and activity, for successful reads, writes, and
    /// flushes.
    pub(super) spent: [Vec<[u128; Activity::COUNT]>; 3],
    /// Time at which measurement started.
    start: Time,
    /// Time of the last completion.
    pub(crate) end: Time,
}

impl Noted {
    /// Creates empty notes for a stack with this number of `components`.
    pub(crate) fn new(components: usize) -> Noted {
        let spent = vec![[0; Activity::COUNT]; components];
        Noted {
            notes: Notes::default(),
            spent: [spent.clone(), spent.clone(), spent],
            start: Time::ZERO,
            end: Time::ZERO,
        }
    }

    /// Starts measurement at `start`. Earlier notes are excluded.
    pub(crate) fn begin(&mut self, start: Time) {
        self.notes.clear();
        self.notes.begun = Some(start);
        self.spent.iter_mut().flatten().for_each(|spent| *spent = [0; Activity::COUNT]);
        (self.start, self.end) = (start, start);
    }

    /// Records a completed request that was issued at `issued` after a wait of `waited`.
    #[inline(always)]
    pub(crate) fn record(
        &mut self,
        request: &Request,
        issued: Time,
        waited: Time,
        completed: (Time, Status),
        spans: &[Span],
    ) {
        self.end = self.end.max(completed.0);
        let is_read = request.op == Op::Read;
        if !is_read && request.op != Op::Write {
            return self.record_other(request, issued, waited, completed, spans);
        }
        if completed.1 == Status::Done {
            add_spans(&mut self.spent[usize::from(!is_read)], waited, spans);
        }
        let note = self.note(request, issued - waited, completed);
        let notes = if is_read { &mut self.notes.reads } else { &mut self.notes.writes };
        notes.push(note);
    }

    #[inline(always)]
    fn note(&self, request: &Request, since: Time, (done, status): (Time, Status)) -> Note {
        Note {
            latency: done - since,
            done: done.saturating_sub(self.start),
            bytes: request.bytes,
            volume: request.volume,
            is_error: status != Status::Done,
        }
    }

    /// Records a trim or flush. Not inlined, because such requests are rare.
    #[cold]
    fn record_other(
        &mut self,
        request: &Request,
        issued: Time,
        waited: Time,
        completed: (Time, Status),
        spans: &[Span],
    ) {
        if request.op == Op::Flush && completed.1 == Status::Done {
            add_spans(&mut self.spent[2], waited, spans);
        }
        let note = self.note(request, issued - waited, completed);
        self.notes.others.push((request.op, note));
    }
}

/// Adds the breakdown of one request that was issued after a wait of `waited`.
#[inline(always)]
fn add_spans(spent: &mut [[u128; Activity::COUNT]], waited: Time, spans: &[Span]) {
    for span in spans {
        spent[span.component.0 as usize][span.activity as usize] += u128::from(span.time.as_ps());
    }
    // Waiting for the device counts as queueing of the top component.
    spent[0][Activity::Queue as usize] += u128::from(waited.as_ps());
}
