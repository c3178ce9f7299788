//! Independent discrete-event simulations, for comparison with schedulers.
//!
//! Each simulation is small enough to be verified by reading: it processes events in order, keeps waiting
//! requests in a list, and searches that list for the next request. It uses the same seek times and row
//! timings as the models, but none of their schedulers.
//!
//! | module | simulated system |
//! |---|---|
//! | [`deadline`] | Linux mq-deadline in front of a disk or of identical servers |
//! | [`disk`] | a disk arm: first come, first served; shortest seek; or shortest access |
//! | [`dram_channel`] | a memory controller with priority of row hits, simulated clock by clock |
//! | [`flash_channel`] | reads on the dies of one channel: commands, sensing, transfers, and registers |
//! | [`queue`] | servers with one queue, one server with priority classes, and servers that fetch from weighted queues |
//!
//! Common rules:
//! - A decision is made when a resource becomes free, among all requests that have arrived by then, including
//!   those that arrive at the time of the decision.
//! - The oldest request wins ties. Requests that arrive simultaneously keep the order of the list.
//! - In a closed loop, a client sends its next request when its last request completes, without a pause.
//!   The decision at this time considers the new request.

mod arrivals;
pub mod deadline;
pub mod disk;
pub mod dram_channel;
pub mod flash_channel;
pub mod queue;
mod single_server;
#[cfg(test)]
mod statistics;
mod summary;

pub use arrivals::Load;
pub use summary::Summary;

use nacre_kernel::Time;

/// Arrival and completion times of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visit {
    /// Arrival time.
    pub arrived: Time,
    /// Completion time.
    pub done: Time,
}

impl Visit {
    /// Returns the time from arrival to completion.
    #[must_use]
    pub fn latency(&self) -> Time {
        self.done - self.arrived
    }
}
