//! The kernel: types shared by all components of a storage model, without side effects.
//!
//! | module | holds |
//! |---|---|
//! | [`time`] | simulated time, integer picoseconds |
//! | [`units`] | bytes, ratios, rates, energy, prices, and parsing them from strings with units |
//! | [`random`] | named random streams under one seed, with distributions that never change |
//! | [`pcie`] | effective bandwidth of PCI Express links |
//! | [`histogram`] | mergeable latency distributions |
//! | [`ranges`] | sets of numbers, as ranges |
//! | [`statistics`] | means with confidence intervals, time series of bounded size |
//! | [`activity`] | activities of components |
//! | [`ledger`] | time and energy of a component's resources by activity |
//! | [`loss_report`] | reports of lost data by failed flushes |
//! | [`host_counts`] | counts of host requests and bytes |
//! | [`request`] | block requests of a host |
//! | [`completion`] | completions of requests |
//! | [`event`] | the contract of storage components, and building blocks of devices |
//! | [`error_code`] | error codes, for programs |
//! | [`breakdown`] | latency breakdown of a request |
//! | [`stage`] | stages of a request within a device |
//! | [`capabilities`] | features and durability guarantees of devices |
//! | [`power`] | recovery of a device after a power loss |
//! | [`transactions`] | atomic groups of writes |
//! | [`zone`] | zones, which are written sequentially |
//! | [`identity`] | comparing devices by their settings |
//! | [`state`] | saving and restoring the state of a device |
//!
//! This crate reads no clock, file, environment variable or global, and equal calls give equal results on
//! every platform.

// Code from the derive macros refers to this crate by its name.
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
pub mod loss_report;
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
pub use loss_report::LossReport;
pub use pcie::Pcie;
pub use power::Recovery;
pub use random::{Random, Streams};
pub use ranges::Ranges;
pub use request::{Op, Request};
pub use stage::Stage;
pub use time::Time;
pub use transactions::{Refused, Transactions};
pub use units::{Area, Bandwidth, BitArea, Bytes, Energy, Power, Price, Rate, Ratio, UnitError};
pub use zone::{Zone, ZoneAnswer, ZoneCommand, ZoneRefusal, ZoneState};
