//! Completed requests with their latency breakdowns.

use super::outstanding::RequestId;
use super::payload::Payload;
use crate::activity::Activity;
use crate::breakdown::{ComponentId, Span};
use crate::completion::Status;
use crate::stage::Stage;
use crate::time::Time;
use crate::zone::ZoneAnswer;

/// A completed request.
#[derive(Clone, Debug)]
pub struct Completed {
    /// Number of the request.
    pub id: RequestId,
    /// Completion time.
    pub at: Time,
    /// Status of the request.
    pub status: Status,
    /// Index of the first span of the request.
    first: u32,
    /// Index after the last span of the request.
    end: u32,
    /// Data of a read. Empty for other requests, and if the device does not store data.
    pub data: Payload,
    /// Address of an append to a zone, or reason why a zone rejected the request. The value is boxed because
    /// most completions have neither.
    pub zone: Option<Box<ZoneAnswer>>,
}

/// Completed requests in time order, with their latency breakdowns. The spans of a request sum to its
/// latency. If parts of the request were served in parallel, the spans are those of the part that finished
/// last.
#[derive(Clone, Debug, Default)]
pub struct Completions {
    list: Vec<Completed>,
    spans: Vec<Span>,
}

impl Completions {
    /// Creates an empty list.
    pub fn new() -> Completions {
        Completions::default()
    }

    /// Appends request `id`, which completed at `at` after the given `spans` of `component`. Empty spans are
    /// omitted.
    #[inline(always)]
    pub fn push<const SPANS: usize>(
        &mut self,
        id: RequestId,
        at: Time,
        status: Status,
        component: ComponentId,
        spans: [(Activity, Time); SPANS],
    ) -> &mut Completed {
        let first = self.spans.len() as u32;
        for (activity, time) in spans {
            if !time.is_zero() {
                self.spans.push(Span { component, activity, stage: Stage::Untold, time });
            }
        }
        self.add(id, at, status, first)
    }

    /// Appends request `id`, which completed at `at`, with the given `spans`.
    #[inline]
    pub fn push_spans(&mut self, id: RequestId, at: Time, status: Status, spans: &[Span]) -> &mut Completed {
        let first = self.spans.len() as u32;
        self.spans.extend_from_slice(spans);
        self.add(id, at, status, first)
    }

    /// Appends request `id`, which completed at `at`. Its latency consists of the spans `own` of `component`,
    /// followed by `spans`. Empty spans in `own` are omitted.
    #[inline(always)]
    pub fn push_behind<const SPANS: usize>(
        &mut self,
        id: RequestId,
        at: Time,
        status: Status,
        component: ComponentId,
        own: [(Activity, Time); SPANS],
        spans: &[Span],
    ) -> &mut Completed {
        let first = self.spans.len() as u32;
        for (activity, time) in own {
            if !time.is_zero() {
                self.spans.push(Span { component, activity, stage: Stage::Untold, time });
            }
        }
        self.spans.extend_from_slice(spans);
        self.add(id, at, status, first)
    }

    #[inline(always)]
    fn add(&mut self, id: RequestId, at: Time, status: Status, first: u32) -> &mut Completed {
        let end = self.spans.len() as u32;
        self.list.push(Completed { id, at, status, first, end, data: Payload::NONE, zone: None });
        self.list.last_mut().expect("one was just added")
    }

    /// Whether there are no completions.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Number of completions.
    #[inline]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// All completions, in time order.
    #[inline]
    pub fn iter(&self) -> std::slice::Iter<'_, Completed> {
        self.list.iter()
    }

    /// Returns the completion at `index` and its spans.
    #[inline]
    pub fn get(&self, index: usize) -> (&Completed, &[Span]) {
        let completed = &self.list[index];
        (completed, self.spans(completed))
    }

    /// Removes and returns the data of the read at `index`.
    #[inline]
    pub fn take_data(&mut self, index: usize) -> Payload {
        std::mem::take(&mut self.list[index].data)
    }

    /// Returns the spans of a completion.
    #[inline]
    pub fn spans(&self, completed: &Completed) -> &[Span] {
        &self.spans[completed.first as usize..completed.end as usize]
    }

    /// Removes all completions.
    #[inline]
    pub fn clear(&mut self) {
        self.list.clear();
        self.spans.clear();
    }
}
