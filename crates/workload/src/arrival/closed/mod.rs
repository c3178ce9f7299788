//! A closed loop: a fixed number of outstanding requests.
//!
//! # Model
//! The workload has `queue_depth` clients. Each client issues a request, waits for its completion, waits for
//! the think time, and issues the next request. All clients take their requests from one sequence, and the
//! device determines the request rate. Most database benchmarks, and fio with `iodepth`, generate load in
//! this way.
//!
//! # Not modeled
//! The model omits batched submission and completion (`iodepth_batch` of fio), and random think times.
//!
//! # Sources
//! fio: the fio manual, `iodepth`.
//!
//! # Checks
//! All arrival times of the workload are zero. The simulation driver receives the queue depth and the think
//! time, and limits the outstanding requests. The tests of the driver compare simulated closed loops with
//! closed-form results.

use super::{Arrival, ArrivalFamily, Pacing};
use crate::error::WorkloadError;
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::state::State;
use nacre_kernel::{Request, Time};

/// A closed loop with a fixed number of outstanding requests.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Number of outstanding requests.
    #[config(default = 1, min = 1, max = 65536, source = "assumed: the default of fio's iodepth")]
    pub queue_depth: u32,
    /// Time between a completion and the next request of the same client.
    #[config(default = "0 s", max = "1 d", source = "assumed: benchmarks have no think time")]
    pub think: Time,
}

/// Descriptor and constructor of the component.
pub const MODEL: Model<ArrivalFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "closed",
        "a fixed number of outstanding requests; each completion issues the next",
        &["fio"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| Ok(Box::new(Closed { config: slot.config(builder.families()) })),
};

#[derive(State)]
struct Closed {
    #[state(skip = "from the configuration")]
    config: Config,
}

impl Arrival for Closed {
    fn stamp(&mut self, requests: &mut [Request]) -> Result<(), WorkloadError> {
        for request in requests {
            request.arrival = Time::ZERO;
        }
        Ok(())
    }

    fn pacing(&self) -> Pacing {
        Pacing::Closed { queue_depth: self.config.queue_depth, think: self.config.think }
    }
}

#[cfg(test)]
mod tests;
