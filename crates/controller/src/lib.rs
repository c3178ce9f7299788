//! Controllers: what turns media into devices.
//!
//! Every device is a room of [`DeviceFamily`]; composite devices (caches, tiers) belong to the same
//! family and live in `nacre-hierarchy`.

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
pub mod wear_levelling;
#[cfg(test)]
mod workbench;

use nacre_config::{ErrorCode, Problem, Problems, Slot};
use nacre_device::{DeviceFamily, EventRoom};

/// The devices of this crate, in the order users see them.
pub static DEVICES: &nacre_config::Table<DeviceFamily> =
    &[measured::ROOM, hdd::ROOM, envy::ROOM, onyx::ROOM, nvram_card::ROOM];

/// Of these, the devices that have been converted to discrete events.
pub static EVENTS: &[EventRoom] = &[measured::EVENTS, hdd::EVENTS, onyx::EVENTS, nvram_card::EVENTS];

/// What is said of a device below one that asks for completion times in advance.
fn below_the_older_contract(slot: &Slot<DeviceFamily>) -> Problems {
    let text =
        "it decides while it runs, and the device above it wants to know in advance when a request completes";
    let problem = Problem::new(ErrorCode::ConflictingSettings, slot.path(), None, text);
    problem.given(slot.kind()).remedy("use `hdd`, `measured` or `network` below a `flash_disk_cache`").into()
}
