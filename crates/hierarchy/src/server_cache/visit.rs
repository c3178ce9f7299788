//! One request on its way through the cache: what it asks, what is done, and what is still to be moved for it.

use super::cache::ServerCache;
use super::levels::Moves;
use crate::parts::Parts;
use nacre_kernel::{Breakdown, Completion, Data, Request, Time};

/// A request that is being served block by block.
pub(super) struct Visit<'a, 'd> {
    pub(super) request: &'a Request,
    pub(super) data: Data<'d>,
    pub(super) moves: Moves,
    pub(super) parts: Parts,
    pub(super) breakdown: &'a mut Breakdown,
}

impl Visit<'_, '_> {
    /// Adds a part whose spans begin at mark `from`.
    #[inline]
    pub(super) fn add(&mut self, part: Completion, from: usize) {
        self.parts.add(part, from, self.breakdown);
    }
}

impl ServerCache {
    /// A request is served block by block from `start` on. The moves are those in the spare ones.
    #[inline]
    pub(super) fn enter<'a, 'd>(
        &mut self,
        start: Time,
        request: &'a Request,
        data: Data<'d>,
        breakdown: &'a mut Breakdown,
    ) -> Visit<'a, 'd> {
        let moves = std::mem::take(&mut self.spare);
        Visit { request, data, moves, parts: Parts::new(start, breakdown), breakdown }
    }

    /// All blocks are served.
    #[inline]
    pub(super) fn leave(&mut self, visit: Visit<'_, '_>) -> Completion {
        assert!(visit.moves.is_empty(), "a move was left undone");
        self.spare = visit.moves;
        visit.parts.completion()
    }
}
