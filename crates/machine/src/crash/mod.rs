//! Power-loss tests of the stack of a scenario, and of random stacks.

mod combinations;
#[cfg(test)]
mod contract;
mod hints;
#[cfg(test)]
mod planted;
mod random_stack;
mod report_json;
#[cfg(test)]
mod tests;

pub use nacre_crash::{Fault, Report};
pub use random_stack::{NoFiles, RandomStack, random_stack};
pub use report_json::report_json;

use crate::scenario::Checked;
use crate::stack::{Files, build_with_bytes, store_layouts};
use nacre_config::Problems;
use nacre_crash::{Media, Options, Stack};
use nacre_kernel::event::Device;
use nacre_media::store::{Layout, Pages};
use std::ops::ControlFlow;

/// A stack built from a scenario. It can be rebuilt any number of times.
pub struct ScenarioStack<'a> {
    checked: &'a Checked,
    files: &'a dyn Files,
    layouts: Vec<Layout>,
}

impl<'a> ScenarioStack<'a> {
    /// Creates the builder and checks that the stack can be built. Returns an error if a component stores
    /// no data, or the stack has no capacity limit or cannot be built.
    pub fn new(checked: &'a Checked, files: &'a dyn Files) -> Result<ScenarioStack<'a>, Problems> {
        let layouts = store_layouts(checked, files)?.into_iter().map(|(_, layout)| layout).collect();
        let stack = ScenarioStack { checked, files, layouts };
        stack.over(&Media::new())?;
        Ok(stack)
    }

    fn over(&self, media: &Media) -> Result<Box<dyn Device>, Problems> {
        let store = |layout: &Layout| Box::new(media.store(*layout)) as Box<dyn Pages>;
        build_with_bytes(self.checked, self.files, self.layouts.iter().map(store).collect())
    }
}

impl Stack for ScenarioStack<'_> {
    fn build(&mut self, media: &Media) -> Box<dyn Device> {
        self.over(media).unwrap_or_else(|problems| panic!("it was built before: {problems}"))
    }
}

/// Runs power-loss tests on the stack in `checked`. The workload of the scenario is not used. `watch` is
/// called with the number of points tested so far, and may stop the test. Returns the same errors as
/// [`ScenarioStack::new`].
pub fn crash(
    checked: &Checked,
    files: &dyn Files,
    options: &Options,
    watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Report, Problems> {
    Ok(nacre_crash::crash(&mut ScenarioStack::new(checked, files)?, options, watch))
}
