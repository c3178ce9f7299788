//! Power loss. Operations in progress are lost, but chunks in memory are battery-backed.

use super::chunk::Stage;
use super::model::Tiers;
use nacre_kernel::{Random, Recovery, Time};

impl Tiers {
    pub(super) fn lose_power(&mut self, at: Time, chance: &mut Random) {
        self.tiers.iter_mut().for_each(|tier| tier.device.power_fail(at, chance));
        self.operations.clear();
        self.visits.clear();
        self.waiting.clear();
        let migration = &mut self.migration;
        migration.stage = match migration.stage {
            Stage::Idle | Stage::Held | Stage::Reading => Stage::Idle,
            Stage::InMemory | Stage::Writing | Stage::Again => Stage::Again,
        };
        migration.left = 0;
        // No chunk moves without power.
        migration.next = Time::MAX;
        self.look_at_devices();
    }

    /// Recovers the devices in parallel. Interrupted chunk writes are repeated when the devices are ready.
    pub(super) fn recover_all(&mut self, at: Time) -> Recovery {
        let tiers = self.tiers.iter_mut().map(|tier| tier.device.recover(at));
        let mut recovery = tiers.reduce(Recovery::in_parallel_with).expect("there is a tier");
        let migration = &mut self.migration;
        migration.next = recovery.done;
        if migration.stage == Stage::Again {
            // A device that lost data may have lost a chunk that was already durable.
            if recovery.bytes_lost > 0 {
                migration.moving.iter_mut().for_each(|chunk| chunk.is_safe = false);
            }
            let is_open = migration.moving.iter().filter(|chunk| !chunk.is_safe);
            recovery.programs_repeated += is_open.count() as u64;
        }
        self.look_at_devices();
        recovery
    }
}
