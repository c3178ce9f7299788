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
#[cfg(test)]
mod workbench;

use nacre_config::{Families, Family, Problems, Slot};
use nacre_kernel::{ComponentId, Device, Random};

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
pub static DEVICES: &nacre_config::Table<DeviceFamily> = &[measured::ROOM, hdd::ROOM, envy::ROOM];
