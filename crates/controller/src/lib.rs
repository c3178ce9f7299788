//! Controllers: devices that are built from media.
//!
//! Every device is a model of the family [`DeviceFamily`]. Composite devices (caches and tiers) are in the
//! same family, but in the crate `nacre-hierarchy`.

pub mod cleaning;
#[cfg(test)]
mod crashes;
pub mod ecc;
pub mod envy;
pub mod hdd;
pub mod host_interface;
pub mod latency;
pub mod measured;
pub mod memory_scheduling;
pub mod nvram_card;
pub mod onyx;
pub mod wear_leveling;
#[cfg(test)]
mod workbench;

use nacre_device::DeviceFamily;

/// The devices of this crate, in documentation order.
pub static DEVICES: &nacre_config::Table<DeviceFamily> =
    &[measured::MODEL, hdd::MODEL, envy::MODEL, onyx::MODEL, nvram_card::MODEL];
