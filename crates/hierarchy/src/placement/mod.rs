//! Placement of extents in tiers: one component per policy.
//!
//! A placement receives the reads and writes of each extent and the latencies of each tier, and returns
//! moves. The tiered device, not the placement, moves extents at a limited rate and at the cost of its
//! devices.

pub mod assignment;
pub mod by_size;
pub mod surface;

pub mod dynamic;
pub mod external;
pub mod fixed;
pub mod static_optimal;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod workbench;

use assignment::Speed;
use nacre_config::{Choice, Families, Family, Problems, Table};
use nacre_device::{Accesses, SizedAccesses};
use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};

/// Maximum number of tiers.
pub const TIERS_MAX: usize = 4;

/// The family of placements.
#[derive(Debug)]
pub struct PlacementFamily;

impl Family for PlacementFamily {
    const NAME: &'static str = "placement";
    type Built = Box<dyn Placement>;
    type Context<'a> = dyn PlacementContext + 'a;
}

/// Services for a placement during construction.
pub trait PlacementContext {
    /// Returns all component families, which are needed to read the configuration of a slot.
    fn families(&self) -> &dyn Families;

    /// Number of extents of each tier, fastest tier first.
    fn extents(&self) -> &[u32];

    /// Measures the latency of an access of `bytes` on an idle device, for each tier.
    fn speeds(&mut self, bytes: u32) -> Result<Vec<Speed>, Problems>;

    /// Reads and writes of each extent over the whole workload, by request size in ascending order.
    fn accesses(&mut self) -> Result<Vec<Vec<SizedAccesses>>, Problems>;

    /// Returns the user's policy with this name, which is called at the end of each epoch. Returns an error
    /// if no policy has this name.
    fn external(&mut self, path: &str, name: &str) -> Result<Box<dyn Decider>, Problems>;
}

/// The placements, in documentation order.
pub static MODELS: &Table<PlacementFamily> =
    &[fixed::MODEL, static_optimal::MODEL, dynamic::MODEL, external::MODEL];

/// A policy that assigns extents to tiers.
pub trait Placement: State + Send {
    /// Returns the initial tier of every extent. Every tier is filled.
    fn start(&self) -> Vec<u8>;

    /// Time over which accesses are counted before [`Placement::decide`] is called, or `None` if extents
    /// never move.
    fn epoch(&self) -> Option<Time> {
        None
    }

    /// Ends an epoch and appends moves, most urgent first. Moves that are not performed by the end of the
    /// next epoch are dropped.
    fn decide(&mut self, _view: &View<'_>, _moves: &mut Vec<Exchange>) {}
}

/// Decision function for the end of an epoch, provided by the caller.
pub trait Decider: State + Send {
    /// Appends moves, most urgent first, like [`Placement::decide`].
    fn decide(&mut self, view: &View<'_>, moves: &mut Vec<Exchange>);
}

/// Input of a placement at the end of an epoch.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The tier of each extent.
    pub homes: &'a [u8],
    /// Accesses to each extent in the epoch.
    pub accesses: &'a [Accesses],
    /// Number of epochs without accesses before this one, since the last decision.
    pub skipped: u64,
}

/// Two extents of different tiers to exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub struct Exchange {
    /// The extent that benefits from the exchange.
    pub extent: u32,
    /// The extent that moves in exchange.
    pub partner: u32,
}

/// Initial placement of extents on tiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Layout {
    /// Each tier holds extents from all parts of the address space, in proportion to its size.
    Spread,
    /// The lowest addresses are in the fastest tier, the next ones in the second, and so on.
    InOrder,
}

impl Layout {
    /// Returns the tier of every extent. `extents` is the number of extents of each tier.
    pub fn homes(self, extents: &[u32]) -> Vec<u8> {
        let total: u64 = extents.iter().map(|&count| u64::from(count)).sum();
        let mut placed = vec![0u64; extents.len()];
        let mut next = |_| {
            let open = (0..extents.len()).filter(|&tier| placed[tier] < u64::from(extents[tier]));
            // With `Spread`, selects the tier whose next extent is due first. The extents of a tier are in
            // the middle of equal intervals.
            let due = |&tier: &usize| match self {
                Layout::Spread => (2 * placed[tier] + 1) * total / u64::from(extents[tier]),
                Layout::InOrder => 0,
            };
            let tier = open.min_by_key(due).expect("an extent has a place");
            placed[tier] += 1;
            tier as u8
        };
        (0..total).map(&mut next).collect()
    }
}
