//! Discrete events. A device makes each scheduling decision when the decision is due, not when a request
//! arrives.
//!
//! A [`Device`] accepts requests, returns the time of its next event, and processes events in time order.
//! Time only moves forward. The caller is a driver or the next higher device. The caller merges its events
//! with those of the device, and never advances the device past a time at which it may submit a request.
//!
//! | type | purpose |
//! |---|---|
//! | [`Device`] | interface of every storage component |
//! | [`Completions`] | completed requests with their breakdowns and the data of reads |
//! | [`Agenda`] | pending events in time order, with simultaneous events in scheduling order |
//! | [`Arbiter`] | selection of the queue that gets a free slot, by priority class or weighted round robin |
//! | [`Barriers`] | flushes, which wait for earlier writes |
//! | [`FirstCome`] | identical servers with one first-come, first-served queue, for jobs of known duration |
//! | [`Link`] | sequential transfers over a link |
//! | [`Servers`] | identical servers with one first-come, first-served queue |
//! | [`Slab`] | requests in progress, indexed by number |
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
