//! One request on its way through the cache: what it asks, and what is done.

use super::cache::ServerCache;
use crate::parts::Parts;
use nacre_kernel::{Breakdown, Completion, Data, Request, Time};

/// A request that is being served block by block.
pub(super) struct Visit<'a, 'd> {
    pub(super) request: &'a Request,
    pub(super) data: Data<'d>,
    pub(super) parts: Parts,
    pub(super) breakdown: &'a mut Breakdown,
}

impl<'a, 'd> Visit<'a, 'd> {
    /// A request is served block by block from `start` on.
    #[inline]
    pub(super) fn new(
        start: Time,
        request: &'a Request,
        data: Data<'d>,
        breakdown: &'a mut Breakdown,
    ) -> Visit<'a, 'd> {
        Visit { request, data, parts: Parts::new(start, breakdown), breakdown }
    }

    /// Adds a part whose spans begin at mark `from`.
    #[inline]
    pub(super) fn add(&mut self, part: Completion, from: usize) {
        self.parts.add(part, from, self.breakdown);
    }
}

impl ServerCache {
    /// All blocks are served.
    #[inline]
    pub(super) fn leave(&self, visit: &Visit<'_, '_>) -> Completion {
        assert!(self.moves.is_empty(), "a move was left undone");
        visit.parts.completion()
    }
}
