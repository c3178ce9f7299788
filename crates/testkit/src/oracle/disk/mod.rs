//! Reference model of a disk with one arm, and its scheduling.

use super::arrivals::Waiting;
use super::single_server::single_server;
use super::{Load, Visit};
use nacre_kernel::{Op, Request, Time};
use nacre_media::disk::{Arm, Disk, Target};

/// Policy that selects the request to serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Oldest request (FCFS).
    FirstCome,
    /// Shortest seek (SSTF): the request with the fewest cylinders between the arm and its first sector.
    /// Rotation and the settling time of writes are ignored.
    ShortestSeek,
    /// Shortest access (SATF): the request whose first sector is under the head earliest, after seek,
    /// settling, and rotational latency. The transfer is ignored.
    ShortestAccess,
}

/// Scheduling settings of the disk firmware.
#[derive(Clone, Copy, Debug)]
pub struct Firmware {
    /// Scheduling policy.
    pub policy: Policy,
    /// Number of oldest waiting requests that the policy considers, at least 1.
    pub depth: usize,
    /// Age above which a waiting request precedes all younger ones. If several requests exceed this age,
    /// the oldest is first. `None` means no limit.
    pub age_limit: Option<Time>,
}

/// Serves `requests` on a disk without a cache. The arm starts at the position in `disk`. Each request
/// takes its seek, rotational latency, and transfer. `load` determines the arrival times.
///
/// While no request waits, the arm stays at the position of the last access.
#[must_use]
pub fn serve(disk: &Disk, firmware: Firmware, requests: &[Request], load: Load<'_>) -> Vec<Visit> {
    assert!(firmware.depth >= 1, "the firmware knows at least one request");
    on_arm(disk, requests, load, |arm, now, waiting| {
        firmware.choose(disk, arm, now, waiting, |request| target(disk, &requests[request]))
    })
}

fn target(disk: &Disk, request: &Request) -> Target {
    disk.target(request.address, u64::from(request.bytes), request.op == Op::Write)
}

/// Serves `requests` like [`serve`], in the order that `choose` determines. `choose` receives the arm, the
/// time, and the waiting requests, oldest first, and returns the index of the request to serve.
pub(super) fn on_arm(
    disk: &Disk,
    requests: &[Request],
    load: Load<'_>,
    mut choose: impl FnMut(&Arm, Time, &[Waiting]) -> usize,
) -> Vec<Visit> {
    let mut arm = disk.arm();
    single_server(requests.len(), load, |now, waiting| {
        let chosen = choose(&arm, now, waiting);
        let target = target(disk, &requests[waiting[chosen].request]);
        let access = disk.plan_from(&arm, now, &target);
        arm = target.behind;
        (chosen, access.total())
    })
}

impl Firmware {
    /// Returns the index in `waiting` of the request that the disk starts to serve at `now`. `waiting` is
    /// not empty, and its first request is the oldest.
    fn choose(
        &self,
        disk: &Disk,
        arm: &Arm,
        now: Time,
        waiting: &[Waiting],
        target: impl Fn(usize) -> Target,
    ) -> usize {
        let has_aged = |limit| now - waiting[0].arrived > limit;
        if self.age_limit.is_some_and(has_aged) {
            return 0;
        }
        let known = 0..waiting.len().min(self.depth);
        // `min_by_key` returns the first of equal requests, which is the oldest.
        match self.policy {
            Policy::FirstCome => 0,
            Policy::ShortestSeek => known
                .min_by_key(|&position| arm.cylinder().abs_diff(target(waiting[position].request).cylinder()))
                .expect("a request waits"),
            Policy::ShortestAccess => known
                .min_by_key(|&position| {
                    let access = disk.plan_from(arm, now, &target(waiting[position].request));
                    access.seek + access.rotate
                })
                .expect("a request waits"),
        }
    }
}

#[cfg(test)]
mod tests;
