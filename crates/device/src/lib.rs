//! The family of devices: what a room of it is built from, whatever stands above or below it.
//!
//! Devices that turn a medium into storage live in `nacre-controller`, those that stand over other devices
//! in `nacre-hierarchy`; both fill the same family. A room is built from its slot through a [`Builder`], so
//! that no room ever names another.

mod idle;

pub use idle::Idle;

use nacre_config::{Families, Family, Problems, Slot};
use nacre_kernel::state::Value;
use nacre_kernel::{Bytes, ComponentId, Device, Random};
use nacre_media::store::{Layout, Pages};
use std::any::Any;

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

    /// The bytes of the medium of the device at `path`; `None` where the stack is simulated without bytes. A
    /// device asks at most once.
    fn store(&mut self, path: &str, layout: Layout) -> Option<Box<dyn Pages>>;

    /// The random stream called `name`; use the slot's path, so that every device has its own.
    fn random(&self, name: &str) -> Random;

    /// The text of a file the scenario names at `path`, for example a latency log. `file` is relative
    /// to the scenario. Errors: the file is not there or is not text.
    fn text_file(&mut self, path: &str, file: &str) -> Result<String, Problems>;

    /// What one access to an idle device of its own, as `slot` describes it, takes.
    fn idle(&mut self, slot: &Slot<DeviceFamily>) -> Result<Idle, Problems>;

    /// How often the whole workload, from its first request to its last, reads and writes each of the first
    /// `extents` extents. `path` is the place in the scenario that asks, for problems. Errors: the workload
    /// cannot be read, or never ends.
    fn accesses(&mut self, path: &str, extent: Bytes, extents: u32) -> Result<Vec<Accesses>, Problems>;

    /// The policy that the caller of the run brought under `name`, as its family boxes it. Errors: there is none.
    fn external_policy(&mut self, path: &str, name: &str) -> Result<Box<dyn Any>, Problems>;
}

/// How often something is read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub struct Accesses {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}
