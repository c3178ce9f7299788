//! Measures the cost of a policy that is built from a scenario and run on the workbench.

use super::workbench::{Array, Writes};
use super::{Cleaner, CleaningFamily};
use crate::workbench::workbench;
use nacre_config::{Configuration, Problems, Slot};

/// A document with a cleaning policy.
#[derive(Debug, Configuration)]
struct Document {
    /// The cleaning policy.
    cleaning: Slot<CleaningFamily>,
}

/// Builds the policy that the TOML value `described` defines, for an array of `segments` segments.
pub(crate) fn policy(described: &str, segments: u32) -> Result<Box<dyn Cleaner>, Problems> {
    let mut builder = workbench(1);
    let document: Document = builder.read(&format!("cleaning = {described}"))?;
    super::build(&document.cleaning, segments, &mut builder)
}

/// Measures the cleaning cost of a policy. In one turnover, as many pages are written as the array has valid
/// pages. The measurement starts after `warm_up` turnovers and lasts `warm_up` / 4 turnovers.
pub(crate) struct Trial {
    pub(crate) policy: &'static str,
    pub(crate) segments: u32,
    pub(crate) pages: u32,
    /// Share of valid pages in the data segments.
    pub(crate) live: f64,
    /// Share of hot pages. These pages receive the complementary share of the writes, e.g. 0.1 is the
    /// paper's 10/90.
    pub(crate) hot: f64,
    pub(crate) scattered: bool,
    pub(crate) warm_up: f64,
}

impl Trial {
    /// A trial with uniform writes at 80 % utilization, which soon reaches a steady state.
    pub(crate) fn of(policy: &'static str) -> Trial {
        Trial { policy, segments: 128, pages: 256, live: 0.8, hot: 0.5, scattered: false, warm_up: 8.0 }
    }

    pub(crate) fn cost(&self) -> f64 {
        let cleaner = policy(self.policy, self.segments).unwrap_or_else(|problems| panic!("{problems}"));
        self.cost_of(cleaner)
    }

    pub(crate) fn cost_of(&self, mut cleaner: Box<dyn Cleaner>) -> f64 {
        let mut array = Array::new(self.segments, self.pages, self.live, &*cleaner);
        let mut writes = Writes::new(array.len(), self.hot, 1.0 - self.hot, self.scattered, 7);
        array.cost(self.warm_up, &mut writes, &mut *cleaner);
        let cost = array.cost(self.warm_up / 4.0, &mut writes, &mut *cleaner);
        array.check();
        cost
    }
}
