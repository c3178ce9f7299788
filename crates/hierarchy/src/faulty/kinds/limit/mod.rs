//! Limit: the device serves a limited number of requests or bytes per second.
//!
//! # Model
//! The fault sends requests to the device in the order of their arrival. The interval between consecutive
//! requests is at least `1 / iops`. It is also at least the time to transfer the data of the earlier
//! request at `bandwidth`. The first request after a pause is sent immediately. When the fault ends, all
//! waiting requests are sent immediately.
//!
//! # Not modeled
//! Burst credits.
//!
//! # Sources
//! Linux cgroup v2 io.max: riops, wiops, rbps, wbps.
//!
//! # Checks
//! If a closed loop would exceed the limit without the fault, its throughput with the fault equals the
//! limit exactly.

#[cfg(test)]
mod tests;

use super::{ALL, Built, Decision, DecisionPoint, Fault, FaultFamily};
use crate::faulty::when::When;
use nacre_config::{Configuration, Descriptor, Model, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Bandwidth, Op, Rate, Request, Time};

/// The device serves a limited number of requests or bytes per second.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Requests per second; by default, there is no limit.
    #[config(min = "1 /s")]
    pub iops: Option<Rate>,
    /// Bytes per second of reads and writes together; by default, there is no limit.
    #[config(min = "1 B/s")]
    pub bandwidth: Option<Bandwidth>,
    /// Selects the affected requests and times.
    #[config(flatten)]
    pub when: When,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    config.when.check(reader, ALL);
    if config.iops.is_none() && config.bandwidth.is_none() {
        reader.conflict("iops", "none", "there is nothing that is limited", "give iops, bandwidth or both");
    }
}

/// The component's descriptor and constructor.
pub const MODEL: Model<FaultFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "limit",
        "requests or bytes per second are limited",
        &["linux-cgroup-v2"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let distance = config.iops.map_or(Time::ZERO, |iops| Time::from_secs_f64(1.0 / iops.0));
        let fault = Limit { distance, bandwidth: config.bandwidth, next: Time::ZERO };
        Ok(Built {
            when: config.when,
            touchable: ALL,
            decision_point: DecisionPoint::OnArrival,
            fault: Box::new(fault),
        })
    },
};

#[derive(State)]
struct Limit {
    /// Minimum time between the starts of two requests.
    #[state(skip = "from the configuration")]
    distance: Time,
    #[state(skip = "from the configuration")]
    bandwidth: Option<Bandwidth>,
    /// Earliest start of the next request.
    next: Time,
}

impl Fault for Limit {
    fn arrives(&mut self, now: Time, until: Time, request: &Request) -> Decision {
        let goes = now.max(self.next).min(until);
        let carried = if matches!(request.op, Op::Read | Op::Write) { u64::from(request.bytes) } else { 0 };
        let transfer = self.bandwidth.map_or(Time::ZERO, |bandwidth| bandwidth.time_for(carried));
        self.next = goes + self.distance.max(transfer);
        Decision::Hold(goes)
    }

    fn power_failed(&mut self) {
        self.next = Time::ZERO;
    }
}
