//! The kernel: what every component of a storage model shares, and nothing that touches the world.
//!
//! | module | holds |
//! |---|---|
//! | [`time`] | simulated time, integer picoseconds |
//! | [`units`] | bytes, ratios, rates, energy, prices, and how each is read from a string with its unit |
//! | [`random`] | named random streams under one seed, with distributions that never change |
//! | [`pcie`] | what packets, credits and round trips leave of a PCI Express link |
//! | [`histogram`] | mergeable latency distributions |
//! | [`ranges`] | sets of numbers, as ranges |
//! | [`statistics`] | means with confidence intervals, time series of bounded size |
//! | [`activity`] | what a component can be doing |
//! | [`ledger`] | where the time and energy of a component's resources went |
//! | [`host_counts`] | requests and bytes, counted |
//! | [`request`] | what a host asks for |
//! | [`completion`] | what it is answered |
//! | [`event`] | the contract every storage component keeps, and what devices are made of |
//! | [`error_code`] | what kind an error is, for programs |
//! | [`breakdown`] | where the time of one request went |
//! | [`stage`] | what a request is at within a device |
//! | [`capabilities`] | what a device can do, and what it promises |
//! | [`power`] | what becomes of a device when its power comes back |
//! | [`transactions`] | several writes that last as one |
//! | [`zone`] | parts of a device that are written in order |
//! | [`identity`] | which device it is, compared setting by setting |
//! | [`state`] | a device's state as bytes, for an image that outlives the process |
//!
//! Nothing here reads a clock, a file, the environment or a global, and the same calls give the
//! same results on every platform.

// What the derives write names this crate as others do.
extern crate self as nacre_kernel;

pub mod activity;
pub mod breakdown;
pub mod capabilities;
pub mod completion;
pub mod error_code;
pub mod event;
pub mod histogram;
pub mod host_counts;
pub mod identity;
pub mod ledger;
pub mod pcie;
pub mod power;
pub mod random;
pub mod ranges;
pub mod request;
pub mod stage;
pub mod state;
pub mod statistics;
pub mod time;
pub mod transactions;
pub mod units;
pub mod zone;

pub use activity::Activity;
pub use breakdown::{ComponentId, Span};
pub use capabilities::{Capabilities, Persistence};
pub use completion::{Completion, Status};
pub use error_code::{Datum, ErrorCode, ErrorData};
pub use event::{Burst, Endured};
pub use host_counts::HostCounts;
pub use ledger::{Column, ComponentReport, FaultCounts, FaultReport, Ledger, Resource, Spread, Wear};
pub use pcie::Pcie;
pub use power::Recovery;
pub use random::{Random, Streams};
pub use ranges::Ranges;
pub use request::{Op, Request};
pub use stage::Stage;
pub use time::Time;
pub use transactions::{Refused, Transactions};
pub use units::{Area, Bandwidth, BitArea, Bytes, Energy, Power, Price, Rate, Ratio, UnitError};
pub use zone::Zone;
