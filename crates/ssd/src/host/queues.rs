//! Requests that wait for a slot in the drive, in a single queue or in one queue per tenant.

use crate::config::{Drive, Queue as Setting};
use nacre_config::priority::Priority;
use nacre_kernel::event::Arbiter;
use nacre_kernel::state::{State, Value};
use std::collections::VecDeque;

/// Maximum number of submission queues in NVMe. Additional tenants share these queues.
const QUEUES_MAX: usize = 65_535;

/// The queues of a drive.
#[derive(State)]
pub(super) enum Queues {
    /// No limit on outstanding requests.
    Unlimited,
    /// One queue for all tenants, or one queue per tenant. Each queue has separate slots.
    Separate(Vec<Queue>),
    /// Queues of tenants that compete for shared slots.
    Arbitrated(Arbitrated),
}

/// Requests of one tenant or of all tenants, in order of arrival.
#[derive(Clone, Debug, Value)]
pub(super) struct Queue {
    slots: u32,
    taken: u32,
    waiting: VecDeque<u32>,
}

/// Submission queues, one per tenant. Free slots are assigned after all requests of an instant have arrived.
#[derive(State)]
pub(super) struct Arbitrated {
    arbiter: Arbiter,
    /// Priority class of each tenant. The list repeats if there are more tenants than entries.
    #[state(skip = "from the configuration")]
    classes: Vec<Priority>,
    #[state(varies)]
    waiting: Vec<VecDeque<u32>>,
    /// Number of requests that wait in all queues.
    count: u32,
}

impl Queues {
    pub(super) fn new(config: &Drive) -> Queues {
        let queue = |&slots: &u32| Queue { slots, taken: 0, waiting: VecDeque::new() };
        match &config.queue {
            Setting::Unlimited => Queues::Unlimited,
            Setting::Shared(of) => Queues::Separate(vec![queue(&of.depth)]),
            Setting::ByTenant(of) => Queues::Separate(of.depths.iter().map(queue).collect()),
            Setting::RoundRobin(of) => {
                Queues::Arbitrated(Arbitrated::new(Arbiter::new(of.depth, None), vec![Priority::Medium]))
            }
            Setting::WeightedRoundRobin(of) => {
                let arbiter = Arbiter::new(of.depth, Some(of.weights.each()));
                Queues::Arbitrated(Arbitrated::new(arbiter, of.classes.clone()))
            }
        }
    }

    /// Assigns a slot to request `number` of tenant `volume`, or queues the request. Returns whether the
    /// request has a slot.
    #[inline]
    pub(super) fn enter(&mut self, volume: u32, number: u32) -> bool {
        match self {
            Queues::Unlimited => true,
            Queues::Separate(queues) => of_tenant(queues, volume).enter(number),
            Queues::Arbitrated(queues) => {
                queues.wait(volume, number);
                false
            }
        }
    }

    /// Frees the slot of a request of tenant `volume`. Returns the request that gets the slot. Returns `None`
    /// if no request waits or if arbitration selects the request later.
    #[inline]
    pub(super) fn leave(&mut self, volume: u32) -> Option<u32> {
        match self {
            Queues::Unlimited => None,
            Queues::Separate(queues) => of_tenant(queues, volume).leave(),
            Queues::Arbitrated(queues) => {
                queues.arbiter.free();
                None
            }
        }
    }

    /// Returns whether a request waits for arbitration while a slot is free.
    #[inline]
    pub(super) fn has_decision(&self) -> bool {
        matches!(self, Queues::Arbitrated(queues) if queues.count > 0 && queues.arbiter.has_slot())
    }

    /// Removes and returns the request that arbitration selects for a free slot, if any.
    pub(super) fn fetch(&mut self) -> Option<u32> {
        match self {
            Queues::Arbitrated(queues) if queues.arbiter.has_slot() => queues.fetch(),
            _ => None,
        }
    }

    pub(super) fn clear(&mut self) {
        match self {
            Queues::Unlimited => {}
            Queues::Separate(queues) => queues.iter_mut().for_each(Queue::clear),
            Queues::Arbitrated(queues) => {
                queues.arbiter.clear();
                (queues.waiting, queues.count) = (Vec::new(), 0);
            }
        }
    }

    pub(super) fn check_invariants(&self) {
        match self {
            Queues::Unlimited => {}
            Queues::Separate(queues) => {
                for queue in queues {
                    assert!(queue.waiting.is_empty() || queue.taken == queue.slots, "{queue:?}");
                }
            }
            Queues::Arbitrated(queues) => {
                let waiting: usize = queues.waiting.iter().map(VecDeque::len).sum();
                assert_eq!(waiting, queues.count as usize, "a waiting request is lost");
            }
        }
    }
}

/// Returns the queue of tenant `volume`.
fn of_tenant(queues: &mut [Queue], volume: u32) -> &mut Queue {
    let count = queues.len();
    &mut queues[volume as usize % count]
}

impl Queue {
    fn enter(&mut self, number: u32) -> bool {
        let has_slot = self.taken < self.slots;
        if has_slot {
            self.taken += 1;
        } else {
            self.waiting.push_back(number);
        }
        has_slot
    }

    fn leave(&mut self) -> Option<u32> {
        let next = self.waiting.pop_front();
        self.taken -= u32::from(next.is_none());
        next
    }

    fn clear(&mut self) {
        self.taken = 0;
        self.waiting.clear();
    }
}

impl Arbitrated {
    fn new(arbiter: Arbiter, classes: Vec<Priority>) -> Arbitrated {
        Arbitrated { arbiter, classes, waiting: Vec::new(), count: 0 }
    }

    fn wait(&mut self, volume: u32, number: u32) {
        let queue = volume as usize % QUEUES_MAX;
        if self.waiting.len() <= queue {
            self.waiting.resize_with(queue + 1, VecDeque::new);
        }
        self.waiting[queue].push_back(number);
        self.count += 1;
    }

    fn fetch(&mut self) -> Option<u32> {
        let classes = &self.classes;
        let waiting = self.waiting.iter().enumerate().filter(|(_, waiting)| !waiting.is_empty());
        let of_class = waiting.map(|(queue, _)| (queue, classes[queue % classes.len()] as usize));
        let queue = self.arbiter.choose(of_class)?;
        self.count -= 1;
        self.waiting[queue].pop_front()
    }
}
