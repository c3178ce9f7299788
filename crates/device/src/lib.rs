//! The family of devices, and the context for building them.
//!
//! Devices that turn a medium into storage are in `nacre-controller`, composite devices in `nacre-hierarchy`;
//! both belong to the same family. A room is built from its slot through a [`Builder`], so that no room ever
//! names another.

mod idle;

pub use idle::Idle;

use nacre_config::{Families, Family, Problems, Slot};
use nacre_kernel::state::Value;
use nacre_kernel::{Bytes, ComponentId, Random, event};
use nacre_media::store::{Layout, Pages};
use std::any::Any;

/// The family of devices, which serve block requests.
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

    /// The store for the medium of the device at `path`; `None` if the stack is simulated without data. A
    /// device calls this at most once.
    fn store(&mut self, path: &str, layout: Layout) -> Option<Box<dyn Pages>>;

    /// The random stream with this name; use the slot's path, so that every device has its own.
    fn random(&self, name: &str) -> Random;

    /// The text of a file that the scenario names at `path`, for example a latency log. `file` is relative to
    /// the scenario. Errors: the file does not exist or is not text.
    fn text_file(&mut self, path: &str, file: &str) -> Result<String, Problems>;

    /// Latency of one access of `bytes` on an idle device like `slot`.
    fn idle(&mut self, slot: &Slot<DeviceFamily>, bytes: u32) -> Result<Idle, Problems>;

    /// Reads and writes of the first `extents` extents by the whole workload, with sizes in ascending order.
    /// `path` is the setting that needs them, for errors. Errors: the workload is unreadable, never ends, or
    /// extends beyond the last extent.
    fn accesses(
        &mut self,
        path: &str,
        extent: Bytes,
        extents: u32,
    ) -> Result<Vec<Vec<SizedAccesses>>, Problems>;

    /// Announces that the device at `path` will take this many bytes of memory. Errors: not enough memory, if
    /// the caller limits it.
    fn take_memory(&mut self, path: &str, bytes: u64) -> Result<(), Problems>;

    /// Like [`Builder::take_memory`], for tables that take `at_once` bytes now, and `in_all` after every part
    /// of the device was accessed.
    fn take_memory_as_touched(&mut self, path: &str, at_once: u64, in_all: u64) -> Result<(), Problems>;

    /// The user's policy of `family` with this name. Errors: there is none.
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
    /// Number of accesses.
    pub of: Accesses,
}
