//! State of the device `tiers`.

use super::Config;
use super::chunk::Migration;
use super::operation::Operation;
use super::tier::{Location, Tier};
use crate::placement::Placement;
use crate::visits::Visits;
use nacre_device::Accesses;
use nacre_kernel::event::{Completions, Payload, Slab};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{ComponentId, Op, Time};

/// Statistics of an epoch, for figures.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Epoch {
    pub(super) end: Time,
    pub(super) accesses: u64,
    /// Number of accesses that the first tier served.
    pub(super) fastest: u64,
    pub(super) migrated_bytes: u64,
}

/// Maximum number of epochs whose statistics are kept.
pub(super) const EPOCHS_MAX: usize = 1 << 16;

/// A request part that changes a chunk in progress and waits for its exchange, or a flush that waits behind
/// such parts.
#[derive(Clone, Debug, Value)]
pub(super) struct Waiting {
    pub(super) visit: u32,
    pub(super) extent: u64,
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) op: Op,
    pub(super) since: Time,
    pub(super) data: Payload,
}

/// The device `tiers`: extents placed on tiers of devices.
#[derive(State)]
#[state(after = "Tiers::complete_restored")]
pub(super) struct Tiers {
    #[state(skip = "from the configuration")]
    pub(super) id: ComponentId,
    #[state(skip = "from the configuration")]
    pub(super) path: String,
    #[state(skip = "from the configuration")]
    pub(super) shift: u32,
    pub(super) tiers: Vec<Tier>,
    pub(super) locations: Vec<Location>,
    pub(super) placement: Box<dyn Placement>,
    pub(super) migration: Migration,
    pub(super) operations: Slab<Operation>,
    pub(super) visits: Visits,
    #[state(varies)]
    pub(super) waiting: Vec<Waiting>,
    /// Accesses to each extent in the current epoch. The list is empty if extents never move.
    pub(super) accesses: Vec<Accesses>,
    /// Length and end of the current epoch; `None` if extents never move.
    pub(super) epoch: Option<(Time, Time)>,
    /// Number of accesses in the current epoch: in total, and in the first tier.
    pub(super) in_epoch: (u64, u64),
    pub(super) migrated_before: u64,
    /// Number of epochs without accesses since the last decision.
    pub(super) skipped: u64,
    #[state(varies)]
    pub(super) epochs: Vec<Epoch>,
    pub(super) epochs_ended: u64,
    /// Buffer for the completions of a device.
    #[state(skip = "empty between events")]
    pub(super) completed: Completions,
}

impl Tiers {
    pub(super) fn new(
        id: ComponentId,
        path: String,
        config: &Config,
        tiers: Vec<Tier>,
        placement: Box<dyn Placement>,
    ) -> Tiers {
        let mut next = vec![0; tiers.len()];
        let location = |home: u8| {
            let number = &mut next[usize::from(home)];
            *number += 1;
            Location::new(usize::from(home), *number - 1)
        };
        let locations: Vec<Location> = placement.start().into_iter().map(location).collect();
        let epoch = placement.epoch().map(|epoch| (epoch, epoch));
        let counted = if epoch.is_some() { locations.len() } else { 0 };
        Tiers {
            id,
            path,
            shift: config.extent.0.trailing_zeros(),
            tiers,
            locations,
            placement,
            migration: Migration::new(config),
            operations: Slab::new(),
            visits: Visits::new(id),
            waiting: Vec::new(),
            accesses: vec![Accesses::default(); counted],
            epoch,
            in_epoch: (0, 0),
            migrated_before: 0,
            skipped: 0,
            epochs: Vec::new(),
            epochs_ended: 0,
            completed: Completions::new(),
        }
    }

    /// Completes a restore. Returns an error unless each location of each tier has exactly one extent.
    fn complete_restored(&mut self) -> Result<(), String> {
        self.look_at_devices();
        let mut taken: Vec<Vec<bool>> =
            self.tiers.iter().map(|tier| vec![false; tier.extents as usize]).collect();
        for location in &self.locations {
            match taken.get_mut(location.tier()).and_then(|tier| tier.get_mut(location.number() as usize)) {
                Some(is_taken) if !*is_taken => *is_taken = true,
                _ => {
                    return Err(format!(
                        "an extent at location {} of tier {}",
                        location.number(),
                        location.tier()
                    ));
                }
            }
        }
        Ok(())
    }

    /// Updates the time of the next event of each device.
    pub(super) fn look_at_devices(&mut self) {
        self.tiers.iter_mut().for_each(|tier| tier.next = tier.device.next_event());
    }
}
