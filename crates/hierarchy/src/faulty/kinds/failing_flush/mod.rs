//! Failing flush: a flush returns an error.
//!
//! # Model
//! A flush fails immediately with a media error. The device does not receive the flush, so no data becomes
//! durable. With `lasting = "once"`, one flush fails each time the fault starts, and later flushes succeed.
//! With `lasting = "for_good"`, all flushes fail while the fault is active.
//!
//! # Not modeled
//! A real system may discard the written data after a failed flush. In this model, the device keeps the data,
//! and the next successful flush makes it durable.
//!
//! # Sources
//! Rebello et al., "Can applications recover from fsync failures?", ATC 2020.
//!
//! # Checks
//! With `once`, exactly one of many flushes fails. With `for_good`, all flushes fail. A failed flush does not
//! guarantee that any data is durable.

#[cfg(test)]
mod tests;

use super::{Built, Decision, DecisionPoint, Fault, FaultFamily};
use crate::faulty::when::When;
use nacre_config::{Choice, Configuration, Descriptor, Model, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Op, Request, Status, Time};

/// A flush fails.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Number of flushes that fail.
    #[config(default = "once", source = "paper: rebello-2020: Linux reports a failed fsync once")]
    pub lasting: Lasting,
    /// Selects the affected requests and times.
    #[config(flatten)]
    pub when: When,
}

/// Operations that the fault can affect.
const FLUSHES: &[Op] = &[Op::Flush];

/// Number of flushes that fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Lasting {
    /// One flush fails each time the fault starts.
    Once,
    /// All flushes fail while the fault is active.
    ForGood,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    config.when.check(reader, FLUSHES);
}

/// The component's descriptor and constructor.
pub const MODEL: Model<FaultFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "failing_flush",
        "flushes fail, once or permanently",
        &["rebello-2020"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let fault = FailingFlush { lasting: config.lasting, failed_until: None };
        Ok(Built {
            when: config.when,
            touchable: FLUSHES,
            decision_point: DecisionPoint::OnArrival,
            fault: Box::new(fault),
        })
    },
};

#[derive(State)]
struct FailingFlush {
    #[state(skip = "from the configuration")]
    lasting: Lasting,
    /// End of the latest active period in which a flush failed; `None` before the first failure.
    #[state(varies)]
    failed_until: Option<Time>,
}

impl Fault for FailingFlush {
    fn arrives(&mut self, _now: Time, until: Time, _request: &Request) -> Decision {
        if self.lasting == Lasting::Once && self.failed_until == Some(until) {
            return Decision::None;
        }
        self.failed_until = Some(until);
        Decision::Instead { after: Time::ZERO, status: Status::MediaError }
    }
}
