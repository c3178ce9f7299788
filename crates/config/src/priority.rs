//! Arbitration settings shared by several rooms: priority classes, and weights of the lower ones.

use crate::{Choice, Configuration};

/// Priority class, as in NVMe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Choice)]
pub enum Priority {
    /// Before all others.
    Urgent,
    /// Before medium and low.
    High,
    /// Before low.
    Medium,
    /// Only if nothing else waits.
    Low,
}

/// Requests of each class per turn of weighted round robin.
#[derive(Clone, Copy, Debug, Configuration)]
pub struct Weights {
    /// Weight of the high class.
    #[config(min = 1, max = 256)]
    pub high: u32,
    /// Weight of the medium class.
    #[config(min = 1, max = 256)]
    pub medium: u32,
    /// Weight of the low class.
    #[config(min = 1, max = 256)]
    pub low: u32,
}

impl Weights {
    /// The weights from high to low.
    pub fn each(&self) -> [u32; 3] {
        [self.high, self.medium, self.low]
    }
}
