//! The kernel: what every component of a storage model shares, and nothing that touches the world.
//!
//! | module | holds |
//! |---|---|
//! | [`time`] | simulated time, integer picoseconds |
//! | [`units`] | bytes, ratios, rates, energy, prices, and how each is read from a string with its unit |
//! | [`random`] | named random streams under one seed, with distributions that never change |
//! | [`timeline`] | reservations of a resource over time, with gaps that later calls may fill |
//! | [`link`] | a link that carries one transfer after the other |
//! | [`histogram`] | mergeable latency distributions |
//! | [`statistics`] | means with confidence intervals, time series of bounded size |
//! | [`ledger`] | where the time and energy of a component's resources went |
//! | [`host_counts`] | requests and bytes, counted |
//! | [`request`] | what a host asks for |
//! | [`device`] | the contract every storage component keeps |
//! | [`memory_device`] | what devices add that carry bytes: transactions, power failures, state |
//! | [`state`] | a device's state as bytes, for an image that outlives the process |
//!
//! Nothing here reads a clock, a file, the environment or a global, and the same calls give the
//! same results on every platform.

// What the derives write names this crate as others do.
extern crate self as nacre_kernel;

pub mod device;
pub mod histogram;
pub mod host_counts;
pub mod ledger;
pub mod link;
pub mod memory_device;
pub mod random;
pub mod request;
pub mod state;
pub mod statistics;
pub mod time;
pub mod timeline;
pub mod units;

pub use device::{Breakdown, Burst, Completion, ComponentId, Device, Endured, Segment, Status};
pub use host_counts::HostCounts;
pub use ledger::{Activity, Column, ComponentReport, Ledger, Resource, Spread, Wear};
pub use link::Link;
pub use memory_device::{MemoryDevice, Recovery, Refused};
pub use random::{Random, Streams};
pub use request::{Op, Request};
pub use time::Time;
pub use timeline::{Pool, Timeline};
pub use units::{Bandwidth, Bytes, Energy, Power, Price, Rate, Ratio, UnitError};
