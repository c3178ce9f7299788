//! Controllers: what turns media into devices.
//!
//! Every device is a room of [`DeviceFamily`]; composite devices (caches, tiers) belong to the same
//! family and live in `nacre-hierarchy`. A room is built from its slot through a [`Builder`], so that
//! no room ever names another.

pub mod cleaning;
pub mod envy;
pub mod hdd;
pub mod latency;
pub mod measured;
pub mod ssd;
#[cfg(test)]
mod workbench;

use nacre_config::{Families, Family, Problem, Problems, Slot};
use nacre_kernel::{ComponentId, Device, MemoryDevice, Random};
use nacre_media::store::Store;

/// The family of everything that serves block requests.
#[derive(Debug)]
pub struct DeviceFamily;

impl Family for DeviceFamily {
    const NAME: &'static str = "device";
    type Built = Box<dyn Device>;
    type Context<'a> = dyn Builder + 'a;
}

/// What a device may ask for while it is built.
pub trait Builder {
    /// All rooms, to read a slot's configuration with.
    fn families(&self) -> &dyn Families;

    /// The next component number. A device takes its own before it builds its children.
    fn component(&mut self) -> ComponentId;

    /// Builds the device in `slot`: a child.
    fn device(&mut self, slot: &Slot<DeviceFamily>) -> Result<Box<dyn Device>, Problems>;

    /// The random stream called `name`; use the slot's path, so that every device has its own.
    fn random(&self, name: &str) -> Random;

    /// The text of a file the scenario names at `path`, for example a latency log. `file` is relative
    /// to the scenario. Errors: the file is not there or is not text.
    fn text_file(&mut self, path: &str, file: &str) -> Result<String, Problems>;

    /// The cleaning policy that the caller of the run brought under `name`. Errors: there is none.
    fn external_cleaner(&mut self, path: &str, name: &str) -> Result<Box<dyn cleaning::Cleaner>, Problems>;
}

/// The devices of this crate, in the order users see them.
pub static DEVICES: &nacre_config::Table<DeviceFamily> = &[measured::ROOM, hdd::ROOM, envy::ROOM, ssd::ROOM];

/// The kinds of [`DEVICES`] that carry bytes: [`memory_device`] builds them.
pub const MEMORY_DEVICES: &[&str] = &["envy"];

/// What a store has to hold for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreLayout {
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Pages that are erased together.
    pub pages_per_extent: u64,
    /// Pages of the whole medium.
    pub pages: u64,
}

/// What a store for the device in `slot` has to hold. Errors: the device carries no bytes.
pub fn store_layout(slot: &Slot<DeviceFamily>, families: &dyn Families) -> Result<StoreLayout, Problems> {
    match slot.kind() {
        "envy" => Ok(envy::store_layout(slot, families)),
        _ => Err(carries_no_bytes(slot)),
    }
}

/// The device in `slot` with the bytes of `store`, in which nothing was written yet. Errors: the device
/// carries no bytes, or cannot be built.
pub fn memory_device<S: Store + 'static>(
    slot: &Slot<DeviceFamily>,
    builder: &mut dyn Builder,
    store: S,
) -> Result<Box<dyn MemoryDevice>, Problems> {
    match slot.kind() {
        "envy" => envy::open(slot, builder, store),
        _ => Err(carries_no_bytes(slot)),
    }
}

fn carries_no_bytes(slot: &Slot<DeviceFamily>) -> Problems {
    Problem::new(slot.path(), None, "this device is simulated without bytes")
        .given(slot.kind())
        .remedy(format!("those that carry bytes: {}", MEMORY_DEVICES.join(", ")))
        .into()
}
