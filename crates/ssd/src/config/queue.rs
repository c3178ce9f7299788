//! Number of requests that the drive works on at one time, and the order in which it fetches requests.

use nacre_config::priority::{Priority, Weights};
use nacre_config::{Configuration, Kinds, Reader};

/// Limit on the number of requests that the drive works on at one time.
#[derive(Clone, Debug, Kinds)]
pub enum Queue {
    /// The drive processes any number of requests at the same time.
    Unlimited,
    /// All tenants share `depth` request slots, first come, first served.
    Shared(Shared),
    /// Each tenant has separate request slots. If all slots of a tenant are in use, its next requests wait.
    ByTenant(ByTenant),
    /// Each tenant has a submission queue. The drive fetches requests from the queues in round-robin order.
    ///
    /// `round_robin` is the default arbitration of NVMe, with a burst of one command. A request waits only
    /// for earlier requests of the same tenant and for the tenant's turn. The wait does not depend on the
    /// number of requests that other tenants have in their queues.
    RoundRobin(Shared),
    /// Each tenant has a submission queue with a priority class. The drive fetches requests by weighted round
    /// robin.
    ///
    /// This arbitration corresponds to NVMe's weighted round robin with urgent priority class. Waiting
    /// requests of the urgent class get a free slot first. If no urgent request waits, the high, medium, and
    /// low classes take turns. In one turn, a class gets a number of slots equal to its weight. A turn ends
    /// early if the class has no waiting requests. The queues of one class also take turns.
    ///
    /// Not modeled: bursts, i.e. several commands of one queue per turn. After the drive has fetched a
    /// request, the priority of the request has no effect. Priorities are therefore most effective if the
    /// number of slots is small.
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
    /// Number of slots of each tenant of a workload, in the order of the tenants. If there are more tenants
    /// than entries, the list repeats.
    pub depths: Vec<u32>,
}

/// Slots shared by queues of different classes.
#[derive(Clone, Debug, Configuration)]
pub struct WeightedRoundRobin {
    /// Number of slots.
    #[config(min = 1, max = 1048576)]
    pub depth: u32,
    /// Priority class of each tenant of a workload, in the order of the tenants. If there are more tenants
    /// than entries, the list repeats.
    pub classes: Vec<Priority>,
    /// Number of slots that each priority class below urgent gets per turn.
    pub weights: Weights,
}

fn check_depths(queue: &ByTenant, reader: &mut Reader<'_>) {
    if queue.depths.contains(&0) {
        let given = format!("{:?}", queue.depths);
        reader.conflict("depths", &given, "a tenant without slots waits forever", "give at least 1 to each");
    }
}
