//! A member of the mirror, and the requests to it.

use nacre_kernel::Request;
use nacre_kernel::Time;
use nacre_kernel::event::{Device, Payload, RequestId};
use nacre_kernel::state::{State, Value};

/// A member of the mirror.
#[derive(State)]
pub(super) struct Member {
    pub(super) device: Box<dyn Device>,
    /// Time of the next event of the member's device.
    #[state(skip = "asked of the device")]
    pub(super) next: Time,
    /// Number of outstanding requests on the member.
    pub(super) outstanding: u32,
    /// Whether the member was removed.
    pub(super) has_failed: bool,
}

impl Member {
    pub(super) fn new(device: Box<dyn Device>) -> Member {
        Member { next: device.next_event(), device, outstanding: 0, has_failed: false }
    }

    /// Submits operation `number` to the member.
    #[inline]
    pub(super) fn submit(&mut self, now: Time, number: u32, request: &Request, data: Payload) {
        self.device.submit(now, RequestId(number), request, data);
        self.next = self.device.next_event();
        self.outstanding += 1;
    }
}

/// A request to a member.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct Operation {
    /// The job that the operation belongs to.
    pub(super) job: u32,
    pub(super) member: u32,
    /// Submission time.
    pub(super) since: Time,
    pub(super) is_hedge: bool,
}

/// A set of members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) struct Members {
    bits: u32,
}

impl Members {
    pub(super) const NONE: Members = Members { bits: 0 };

    pub(super) fn insert(&mut self, member: usize) {
        self.bits |= 1 << member;
    }

    pub(super) fn contains(self, member: usize) -> bool {
        self.bits >> member & 1 == 1
    }

    pub(super) fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// Members that are in both sets.
    pub(super) fn and(self, other: Members) -> Members {
        Members { bits: self.bits & other.bits }
    }

    /// Members that are in at least one set.
    pub(super) fn or(self, other: Members) -> Members {
        Members { bits: self.bits | other.bits }
    }

    /// Members that are not in `other`.
    pub(super) fn without(self, other: Members) -> Members {
        Members { bits: self.bits & !other.bits }
    }

    pub(super) fn count(self) -> u32 {
        self.bits.count_ones()
    }

    /// The members, in order.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        (0..32).filter(move |&member| self.contains(member))
    }
}
