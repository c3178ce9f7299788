//! Discrete events. Devices make decisions at the time of the decision and not at the arrival of a request.
//!
//! A [`Device`] accepts requests, returns the time of its next event, and processes events in time order.
//! Time only moves forward. The caller is a driver or a device above. It merges its events with those of the
//! device, and never advances the device past a time at which it may submit a request.
//!
//! | part | holds |
//! |---|---|
//! | [`Device`] | the contract |
//! | [`Completions`] | requests that completed, each with its breakdown and, for a read, its bytes |
//! | [`Agenda`] | pending events in time order; simultaneous events keep the order in which they were scheduled |
//! | [`Arbiter`] | which of several queues gets a free slot, by priority class or weighted round robin |
//! | [`Barriers`] | flushes, which wait for earlier writes |
//! | [`FirstCome`] | equal servers behind one first-come, first-served queue, for jobs of known duration |
//! | [`Link`] | transfers over a link, one after the other |
//! | [`Servers`] | equal servers behind one first-come, first-served queue |
//! | [`Slab`] | requests in progress, by number |
//! | [`Timers`] | one pending event for each of many resources |

mod agenda;
mod arbiter;
mod barriers;
mod completions;
mod device;
mod facets;
mod first_come;
mod link;
mod outstanding;
mod payload;
mod servers;
mod slab;
mod timers;

pub use agenda::Agenda;
pub use arbiter::Arbiter;
pub use barriers::{Barriers, Ticket};
pub use completions::{Completed, Completions};
pub use device::Device;
pub use facets::{Burst, Endurance, Endured, Preconditioning, ZoneCommands, Zones};
pub use first_come::{Cut, FirstCome};
pub use link::Link;
pub use outstanding::{Canceled, RequestId};
pub use payload::Payload;
pub use servers::Servers;
pub use slab::Slab;
pub use timers::Timers;
