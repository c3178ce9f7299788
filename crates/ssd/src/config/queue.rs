//! Number of requests that the drive works on at one time, and which it fetches first.

use nacre_config::priority::{Priority, Weights};
use nacre_config::{Configuration, Kinds, Reader};

/// Requests that the drive works on at one time.
#[derive(Clone, Debug, Kinds)]
pub enum Queue {
    /// No limit.
    Unlimited,
    /// All tenants share the slots, first come, first served.
    Shared(Shared),
    /// Each tenant has its own slots; its further requests wait for them.
    ByTenant(ByTenant),
    /// Each tenant has a submission queue. A free slot fetches from the queues in turn.
    ///
    /// This is the default arbitration of NVMe, with a burst of one command. A request of a tenant waits only for
    /// earlier ones of its tenant and for its turn, however many requests the other tenants have sent.
    RoundRobin(Shared),
    /// Each tenant has a submission queue with a priority class. A free slot fetches by weighted round robin.
    ///
    /// This is the weighted round robin with urgent priority class of NVMe. A free slot goes to the urgent class if
    /// it waits. Otherwise, the high, medium, and low classes take turns. In its turn, a class gets as many slots as
    /// its weight; if it has no waiting requests, it loses the rest. Queues of one class take turns.
    ///
    /// Not modeled: bursts, i.e. several commands of one queue per turn. The flash serves requests that have been
    /// fetched without priority, so few slots separate the classes best.
    WeightedRoundRobin(WeightedRoundRobin),
}

/// Slots shared by all tenants.
#[derive(Clone, Debug, Configuration)]
pub struct Shared {
    /// Number of slots.
    #[config(min = 1, max = 1048576)]
    pub depth: u32,
}

/// Slots of each tenant.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check_depths")]
pub struct ByTenant {
    /// Slots of each tenant of a workload, in their order; the list repeats if there are more tenants.
    pub depths: Vec<u32>,
}

/// Slots shared by queues of different classes.
#[derive(Clone, Debug, Configuration)]
pub struct WeightedRoundRobin {
    /// Number of slots.
    #[config(min = 1, max = 1048576)]
    pub depth: u32,
    /// Priority class of each tenant of a workload, in their order; the list repeats if there are more tenants.
    pub classes: Vec<Priority>,
    /// Slots of each class below urgent per turn.
    pub weights: Weights,
}

fn check_depths(queue: &ByTenant, reader: &mut Reader<'_>) {
    if queue.depths.contains(&0) {
        let given = format!("{:?}", queue.depths);
        reader.conflict("depths", &given, "a tenant without slots waits forever", "give at least 1 to each");
    }
}
