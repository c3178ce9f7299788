//! Selects the next request for the arm.

use super::Scheduling;
use nacre_kernel::Time;
use nacre_media::disk::{Arm, Disk, Target};

/// A waiting request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) target: &'a Target,
    /// Arrival time.
    pub(super) since: Time,
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) is_write: bool,
}

impl Candidate<'_> {
    /// Whether this request must not overtake `earlier`: both touch the same bytes, and one of them is a
    /// write.
    fn depends_on(&self, earlier: &Candidate<'_>) -> bool {
        (self.is_write || earlier.is_write)
            && self.address < earlier.address + earlier.bytes
            && earlier.address < self.address + self.bytes
    }
}

/// The scheduling policy, the number of oldest requests that it considers, and the age at which a request
/// gets priority.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scheduler {
    pub(super) policy: Scheduling,
    pub(super) depth: usize,
    pub(super) age_limit: Option<Time>,
}

impl Scheduler {
    /// Returns the position in `wait` of the request to serve at `now`. `wait` must not be empty. Its
    /// requests are ordered from the oldest to the newest.
    ///
    /// In a tie, the oldest request is selected. A request never overtakes an older one if both touch the
    /// same bytes and one of them is a write.
    pub(super) fn choose<'a>(
        &self,
        now: Time,
        disk: &Disk,
        mut wait: impl ExactSizeIterator<Item = Candidate<'a>> + Clone,
    ) -> usize {
        if self.policy == Scheduling::FirstCome || wait.len() == 1 {
            return 0;
        }
        let all = wait.clone();
        let oldest = wait.next().expect("a request waits");
        if self.age_limit.is_some_and(|limit| now.saturating_sub(oldest.since) > limit) {
            return 0;
        }
        let arm = disk.arm();
        let cost = |candidate: &Candidate<'_>| self.cost(now, disk, &arm, candidate.target);
        let (mut best, mut least) = (0, cost(&oldest));
        for (place, candidate) in (1..self.depth).zip(wait) {
            let cost = cost(&candidate);
            if cost < least {
                (best, least) = (place, cost);
            }
        }
        first_dependence(best, &all)
    }

    /// Cost that the policy minimizes: the number of cylinders to move, or the picoseconds until the first
    /// sector is under the head.
    #[inline(always)]
    fn cost(&self, now: Time, disk: &Disk, arm: &Arm, target: &Target) -> u64 {
        match self.policy {
            Scheduling::FirstCome => 0,
            Scheduling::ShortestSeek => arm.cylinder().abs_diff(target.cylinder()),
            Scheduling::ShortestAccess => {
                let access = disk.plan_from(arm, now, target);
                (access.seek + access.rotate).as_ps()
            }
        }
    }
}

/// Returns the position of the oldest request that the request at `place` must not overtake, directly or
/// through other requests. If no such request exists, returns `place`.
fn first_dependence<'a>(place: usize, all: &(impl ExactSizeIterator<Item = Candidate<'a>> + Clone)) -> usize {
    let mut place = place;
    loop {
        let chosen = all.clone().nth(place).expect("it waits");
        match all.clone().take(place).position(|earlier| chosen.depends_on(&earlier)) {
            Some(earlier) => place = earlier,
            None => return place,
        }
    }
}
