//! How many requests the drive works on at one time.

use nacre_config::{Configuration, Kinds, Reader};

/// Requests that the drive works on at one time.
#[derive(Clone, Debug, Kinds)]
pub enum Queue {
    /// As many as come.
    Unlimited,
    /// All tenants share its slots.
    Shared(Shared),
    /// Each tenant has slots of its own; one that sends more requests waits for them.
    ByTenant(ByTenant),
}

/// Slots of all tenants.
#[derive(Clone, Debug, Configuration)]
pub struct Shared {
    /// Slots.
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

fn check_depths(queue: &ByTenant, reader: &mut Reader<'_>) {
    if queue.depths.contains(&0) {
        let given = format!("{:?}", queue.depths);
        reader.conflict("depths", &given, "a tenant without slots waits forever", "give at least 1 to each");
    }
}

impl Queue {
    /// The slots of each queue: one queue, or one for each tenant. None if there is no limit.
    pub(crate) fn depths(&self) -> Vec<u32> {
        match self {
            Queue::Unlimited => Vec::new(),
            Queue::Shared(of) => vec![of.depth],
            Queue::ByTenant(of) => of.depths.clone(),
        }
    }
}
