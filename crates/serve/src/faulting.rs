//! Commands that add faults to a served device, list the faults, and clear them.

use crate::control::Refusal;
use crate::served_fault::ServedFault;
use crate::serving::{Body, Disk};
use nacre_crash::Fault;
use nacre_kernel::ErrorCode;

impl Disk {
    /// Adds the fault that `settings` describes. Its times are relative to the current time. Returns the
    /// number of the fault.
    pub(crate) fn add_fault(&self, settings: &str) -> Result<usize, Refusal> {
        match &self.body {
            Body::Device(model) => {
                let number = model.add_fault(settings).map_err(|problems| {
                    let code = problems.0.first().map_or(ErrorCode::InvalidValue, |problem| problem.code);
                    Refusal::new(code, problems.to_string())
                })?;
                self.recorder.note_fault(number, Some(settings));
                Ok(number)
            }
            Body::Raw(_) => Err(not_modeled()),
        }
    }

    /// Injects the fault `name`, one of the faults of power-loss tests, into operations of the medium. `None`
    /// removes the current fault. Returns the number of operations that were affected since the last call.
    /// Returns an error if the fault is unknown or no device is modeled.
    pub(crate) fn medium_fault(&self, name: Option<&str>, seed: u64) -> Result<u64, Refusal> {
        let Body::Device(model) = &self.body else { return Err(not_modeled()) };
        let known = Fault::INJECTED.map(Fault::name);
        let fault = match name {
            None => None,
            Some(name) if known.contains(&name) => Fault::named(name).map(|fault| (fault, seed)),
            Some(name) => {
                let message = format!("there is no medium fault {name:?}; known: {}", known.join(", "));
                let data = vec![("known", known.as_slice().into())];
                return Err(Refusal { data, ..Refusal::new(ErrorCode::UnknownName, message) });
            }
        };
        Ok(model.medium_fault(fault))
    }

    /// Returns the faults that were added, in the order of their numbers.
    pub(crate) fn faults(&self) -> Vec<ServedFault> {
        match &self.body {
            Body::Device(model) => model.faults(),
            Body::Raw(_) => Vec::new(),
        }
    }

    /// Clears fault `number`, or all faults if `number` is `None`. Requests that these faults delay continue.
    /// Returns the number of cleared faults.
    pub(crate) fn clear_faults(&self, number: Option<usize>) -> Result<usize, Refusal> {
        let Body::Device(model) = &self.body else { return Err(not_modeled()) };
        let cleared = model.clear_faults(number);
        cleared.iter().for_each(|&number| self.recorder.note_fault(number, None));
        match (cleared.len(), number) {
            (0, Some(number)) => {
                let known: Vec<String> =
                    model.faults().iter().filter(|of| !of.cleared).map(|of| of.number.to_string()).collect();
                let there = if known.is_empty() { "none".into() } else { known.join(", ") };
                let message = format!("there is no fault {number} to clear; there is {there}");
                Err(Refusal::new(ErrorCode::UnknownName, message))
            }
            (cleared, _) => Ok(cleared),
        }
    }
}

fn not_modeled() -> Refusal {
    let message = "--timing none has no modeled device, so faults have no effect";
    Refusal::new(ErrorCode::NotSupported, message)
}
