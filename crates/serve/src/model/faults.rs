//! Functions that add and clear faults while a device is served.

use super::Model;
use crate::served_fault::ServedFault;
use nacre_crash::Fault;
use nacre_kernel::{Bytes, Time};
use nacre_machine::{Problems, faults};
use std::time::Instant;

impl Model {
    /// Adds the fault that `settings` describes. Its times are relative to the current time. Returns the
    /// number of the fault, or the errors in `settings`.
    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    pub(crate) fn add_fault(&self, settings: &str) -> Result<usize, Problems> {
        self.add_fault_at(self.simulated(Instant::now()), settings)
    }

    /// Adds the fault that `settings` describes at the simulated time `at`.
    pub(crate) fn add_fault_at(&self, at: Time, settings: &str) -> Result<usize, Problems> {
        let mut state = self.state();
        state.run_to(at);
        let (number, device) = (state.settings.len(), &state.under.device);
        let on = faults::Target { capacity: Bytes(device.capacity()), has_zones: device.zone(0).is_some() };
        let fault = faults::read(&self.checked, settings, (number, state.now), on)?;
        state.layer.add(fault);
        state.settings.push(settings.into());
        Ok(number)
    }

    /// Clears fault `number`, or all faults if `number` is `None`. Returns the numbers of the cleared faults
    /// that had not ended before.
    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    pub(crate) fn clear_faults(&self, number: Option<usize>) -> Vec<usize> {
        self.clear_faults_at(self.simulated(Instant::now()), number)
    }

    /// Clears fault `number`, or all faults if `number` is `None`, at the simulated time `at`.
    pub(crate) fn clear_faults_at(&self, at: Time, number: Option<usize>) -> Vec<usize> {
        let mut state = self.state();
        state.run_to(at);
        let now = state.now;
        let is_wanted = |index: &usize| number.is_none_or(|number| number == *index);
        let all = state.layer.faults().iter().enumerate().filter(|(_, fault)| !fault.is_over());
        let wanted: Vec<usize> = all.map(|(index, _)| index).filter(is_wanted).collect();
        wanted.iter().for_each(|&index| state.layer.end(now, index));
        wanted
    }

    /// Injects `fault` into operations of the medium, with a random stream from the given seed. `None`
    /// removes the current fault. Returns the number of operations that were affected since the last call.
    pub(crate) fn medium_fault(&self, fault: Option<(Fault, u64)>) -> u64 {
        let mut state = self.state();
        let medium = state.under.device.medium_faults().clone();
        let struck = medium.struck() + state.lies.unwrap_or(0);
        state.lies = fault.filter(|(fault, _)| *fault == Fault::LyingFlush).map(|_| 0);
        medium.set(fault.and_then(|(fault, seed)| fault.injected(seed)));
        struck
    }

    /// Returns the faults that were added.
    pub(crate) fn faults(&self) -> Vec<ServedFault> {
        let state = self.state();
        let told = state.layer.faults().iter().zip(&state.settings).enumerate();
        told.map(|(number, (fault, settings))| {
            ServedFault::of(number, settings, (fault.is_active(state.now), fault.is_over()), &fault.report())
        })
        .collect()
    }
}
