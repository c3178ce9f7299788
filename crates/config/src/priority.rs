//! Arbitration settings shared by several components: priority classes, and weights of the lower classes.

use crate::{Choice, Configuration};

/// Priority class, as in NVMe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Choice)]
pub enum Priority {
    /// Requests of this class have strict priority over all other classes.
    Urgent,
    /// Requests of this class have priority over the classes medium and low.
    High,
    /// Requests of this class have priority over the class low.
    Medium,
    /// Requests of this class are served only if no other class has waiting requests.
    Low,
}

/// Number of requests of each class per round of weighted round robin.
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
    /// Returns the weights in the order high, medium, low.
    pub fn each(&self) -> [u32; 3] {
        [self.high, self.medium, self.low]
    }
}
