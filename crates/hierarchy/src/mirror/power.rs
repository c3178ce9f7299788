//! Power losses: requests in progress are lost, and members may differ in written ranges.

use super::model::Mirror;
use nacre_kernel::event::Device;
use nacre_kernel::{Random, Recovery, Time};

impl Mirror {
    pub(super) fn lose_power(&mut self, at: Time, chance: &mut Random) {
        for member in &mut self.members {
            member.device.power_fail(at, chance);
            member.outstanding = 0;
        }
        self.jobs.clear();
        self.failing_flushes = 0;
        self.operations.clear();
        self.in_use.clear();
        self.hedges.clear();
        for region in self.intent.take(self.capacity.0) {
            self.may_differ(region);
        }
        self.resync.next = Time::MAX;
        self.resync.fine_until = 0;
        self.look_at_members();
    }

    fn may_differ(&mut self, range: std::ops::Range<u64>) {
        if !self.is_alone() {
            self.differing.insert(range.clone());
            self.resync.left.insert(range);
        }
    }

    /// Recovers the members in parallel, and starts the resync.
    pub(super) fn recover_all(&mut self, at: Time) -> Recovery {
        let recoveries: Vec<Recovery> =
            self.members.iter_mut().map(|member| member.device.recover(at)).collect();
        let present = self.active().iter().map(|member| recoveries[member]);
        let recovery = present.reduce(Recovery::in_parallel_with).expect("a member is left");
        // Data that the stored energy did not cover may have reached any member.
        if recovery.bytes_lost > 0 && self.capabilities().persistence.is_up_to_energy() {
            self.may_differ(0..self.capacity.0);
        }
        self.look_at_members();
        self.schedule_resync(recovery.done);
        recovery
    }
}
