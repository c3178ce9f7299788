//! The family of devices: what a room of it is built from, whatever stands above or below it.
//!
//! Devices that turn a medium into storage live in `nacre-controller`, those that stand over other devices
//! in `nacre-hierarchy`; both fill the same family. A room is built from its slot through a [`Builder`], so
//! that no room ever names another.

mod idle;

pub use idle::Idle;

use nacre_config::{Families, Family, Problems, Slot};
use nacre_kernel::state::Value;
use nacre_kernel::{Bytes, ComponentId, Random, event};
use nacre_media::store::{Layout, Pages};
use std::any::Any;

/// The family of everything that serves block requests.
#[derive(Debug)]
pub struct DeviceFamily;

impl Family for DeviceFamily {
    const NAME: &'static str = "device";
    type Built = Box<dyn event::Device>;
    type Context<'a> = dyn Builder + 'a;
}

/// Services for a device during construction.
pub trait Builder {
    /// All rooms, to read a slot's configuration with.
    fn families(&self) -> &dyn Families;

    /// The next component number. A device takes its own before it builds its children.
    fn component(&mut self) -> ComponentId;

    /// Builds the device in `slot`: a child.
    fn device(&mut self, slot: &Slot<DeviceFamily>) -> Result<Box<dyn event::Device>, Problems>;

    /// The bytes of the medium of the device at `path`; `None` if the stack is simulated without bytes. A
    /// device asks at most once.
    fn store(&mut self, path: &str, layout: Layout) -> Option<Box<dyn Pages>>;

    /// The random stream called `name`; use the slot's path, so that every device has its own.
    fn random(&self, name: &str) -> Random;

    /// The text of a file the scenario names at `path`, for example a latency log. `file` is relative
    /// to the scenario. Errors: the file is not there or is not text.
    fn text_file(&mut self, path: &str, file: &str) -> Result<String, Problems>;

    /// What one access of `bytes` to its own idle device, as `slot` describes it, takes.
    fn idle(&mut self, slot: &Slot<DeviceFamily>, bytes: u32) -> Result<Idle, Problems>;

    /// How often, and in what sizes, the whole workload, from its first request to its last, reads and writes
    /// each of the first `extents` extents; sizes ascend. `path` is the place in the scenario that asks, for
    /// problems. Errors: the workload cannot be read, never ends, or reaches beyond the last extent.
    fn accesses(
        &mut self,
        path: &str,
        extent: Bytes,
        extents: u32,
    ) -> Result<Vec<Vec<SizedAccesses>>, Problems>;

    /// Says that what is at `path` is about to take so many bytes of memory. Errors: there are not as many, which
    /// is known only where the caller says how many there are.
    fn take_memory(&mut self, path: &str, bytes: u64) -> Result<(), Problems>;

    /// The same of tables of which `at_once` bytes are taken now, and `in_all` when every part of the device has been
    /// touched.
    fn take_memory_as_touched(&mut self, path: &str, at_once: u64, in_all: u64) -> Result<(), Problems>;

    /// The policy of `family` that the caller of the run brought under `name`, as its family boxes it. Errors: there is
    /// none.
    fn external_policy(&mut self, family: &str, path: &str, name: &str) -> Result<Box<dyn Any>, Problems>;
}

/// Numbers of reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Accesses {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}

/// Numbers of reads and writes with requests of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SizedAccesses {
    /// Bytes of each request, or of its part in this extent.
    pub bytes: u32,
    /// Their numbers.
    pub of: Accesses,
}
