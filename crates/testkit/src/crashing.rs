//! Devices that carry bytes, and lose their power anywhere.

use crate::workbench::Workbench;
use nacre_crash::{Media, Options, Report, Stack, crash};
use nacre_kernel::Device;
use std::ops::ControlFlow;

/// What a text describes, over bytes.
#[derive(Debug)]
pub struct Described<'a> {
    workbench: Workbench,
    toml: &'a str,
}

impl<'a> Described<'a> {
    /// The device that the inside of a TOML table describes.
    pub fn new(workbench: Workbench, toml: &'a str) -> Described<'a> {
        Described { workbench, toml }
    }
}

impl Stack for Described<'_> {
    fn build(&mut self, media: &Media) -> Box<dyn Device> {
        self.workbench.use_bytes(media);
        self.workbench.build(self.toml).unwrap_or_else(|problems| panic!("{}: {problems}", self.toml))
    }
}

/// Panics unless the device that `toml` describes carries its bytes as it promises: reads give what was written
/// last, and after so many losses of power, also during a recovery and between a request and its completion, every
/// block is one that may be there. It is saved and restored in between. Gives what was done.
pub fn keeps_its_bytes(workbench: Workbench, toml: &str, points: u64) -> Report {
    let name = toml.lines().next().unwrap_or_default();
    keeps(&mut Described::new(workbench, toml), name, points, 1)
}

/// The same of any stack, with what is drawn from `seed`.
pub fn keeps(stack: &mut dyn Stack, name: &str, points: u64, seed: u64) -> Report {
    let report = crash(stack, &Options::new(points, seed), &mut |_| ControlFlow::Continue(()));
    if let Some(finding) = &report.finding {
        panic!("{name}, seed {seed}: {}\n{}", finding.problem, finding.sequence);
    }
    report
}
