//! Composite devices and their policies: caches, tiers, mirrors, and replacement policies.

mod coding;
#[cfg(test)]
mod crashes;
pub mod dram_disk_cache;
#[cfg(test)]
mod energies;
pub mod faulty;
pub mod flash_disk_cache;
mod frames;
mod map;
pub mod mirror;
pub mod network;
#[cfg(test)]
mod pages_held;
pub mod pcm_disk_cache;
pub mod placement;
mod programmable;
mod recency;
pub mod replacement;
pub mod server_cache;
pub mod tiers;
mod visit;
mod visits;
#[cfg(test)]
mod workbench;

/// The devices of this crate, in display order.
pub static DEVICES: &nacre_config::Table<nacre_device::DeviceFamily> = &[
    network::MODEL,
    server_cache::MODEL,
    dram_disk_cache::MODEL,
    flash_disk_cache::MODEL,
    pcm_disk_cache::MODEL,
    tiers::MODEL,
    mirror::MODEL,
    faulty::MODEL,
];
