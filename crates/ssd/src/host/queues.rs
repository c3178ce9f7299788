//! How many requests the drive works on at one time: of all tenants together, or of each.

use crate::config::Drive;
use nacre_kernel::state::{State, Value};
use std::collections::VecDeque;

/// The queues of a drive; none if as many requests are worked on as come.
#[derive(State)]
pub(super) struct Queues(Vec<Queue>);

/// Requests of one tenant, or of all.
#[derive(Clone, Debug, Value)]
struct Queue {
    places: u32,
    taken: u32,
    waiting: VecDeque<u32>,
}

impl Queues {
    pub(super) fn new(config: &Drive) -> Queues {
        let queue = |places| Queue { places, taken: 0, waiting: VecDeque::new() };
        Queues(config.queue.depths().into_iter().map(queue).collect())
    }

    /// Request `number` of tenant `volume` takes a place, if there is one, or waits.
    #[inline]
    pub(super) fn enter(&mut self, volume: u32, number: u32) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let queue = self.queue(volume);
        let has_place = queue.taken < queue.places;
        if has_place {
            queue.taken += 1;
        } else {
            queue.waiting.push_back(number);
        }
        has_place
    }

    /// A request of tenant `volume` gives its place to the one that comes out of this.
    #[inline]
    pub(super) fn leave(&mut self, volume: u32) -> Option<u32> {
        if self.0.is_empty() {
            return None;
        }
        let queue = self.queue(volume);
        let next = queue.waiting.pop_front();
        queue.taken -= u32::from(next.is_none());
        next
    }

    fn queue(&mut self, volume: u32) -> &mut Queue {
        let queues = self.0.len();
        &mut self.0[volume as usize % queues]
    }

    pub(super) fn clear(&mut self) {
        for queue in &mut self.0 {
            queue.taken = 0;
            queue.waiting.clear();
        }
    }

    pub(super) fn check_invariants(&self) {
        for queue in &self.0 {
            assert!(queue.waiting.is_empty() || queue.taken == queue.places, "{queue:?}");
        }
    }
}
