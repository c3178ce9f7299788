//! Devices stacked on devices, and what they decide by: caches, tiers, replacement policies.

#[cfg(test)]
mod crashes;
pub mod network;
mod parts;
pub mod placement;
pub mod replacement;
pub mod server_cache;
pub mod tiers;
#[cfg(test)]
mod workbench;

/// The devices of this crate, in the order users see them.
pub static DEVICES: &nacre_config::Table<nacre_device::DeviceFamily> =
    &[network::ROOM, server_cache::ROOM, tiers::ROOM];
