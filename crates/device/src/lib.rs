//! The family of devices, and the context for their construction.
//!
//! Devices that turn a medium into storage are in `nacre-controller`, and composite devices are in
//! `nacre-hierarchy`. Both belong to the same family. A component is built from its slot through a
//! [`Builder`], so that no component refers to another one by name.

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
    /// Returns all component families, which are needed to read the configuration of a slot.
    fn families(&self) -> &dyn Families;

    /// Returns the next component number. A device takes its number before it builds its children.
    fn component(&mut self) -> ComponentId;

    /// Builds the device in `slot` as a child.
    fn device(&mut self, slot: &Slot<DeviceFamily>) -> Result<Box<dyn event::Device>, Problems>;

    /// Returns the store for the medium of the device at `path`, or `None` if the stack is simulated without
    /// data. A device calls this at most once.
    fn store(&mut self, path: &str, layout: Layout) -> Option<Box<dyn Pages>>;

    /// Returns the random stream with this name. Use the path of the slot, so that every device has a
    /// separate stream.
    fn random(&self, name: &str) -> Random;

    /// Returns the text of a file that the scenario names at `path`, e.g. a latency log. `file` is relative
    /// to the scenario. Returns an error if the file does not exist or is not text.
    fn text_file(&mut self, path: &str, file: &str) -> Result<String, Problems>;

    /// Returns the latencies of one access of `bytes` on an idle device that is configured like the device in
    /// `slot`.
    fn idle(&mut self, slot: &Slot<DeviceFamily>, bytes: u32) -> Result<Idle, Problems>;

    /// Returns the numbers of reads and writes in each of the first `extents` extents over the whole
    /// workload, by request size in ascending order. Error messages contain `path`, the setting that needs
    /// these numbers. Returns an error if the workload is unreadable, never ends, or extends beyond the last
    /// extent.
    fn accesses(
        &mut self,
        path: &str,
        extent: Bytes,
        extents: u32,
    ) -> Result<Vec<Vec<SizedAccesses>>, Problems>;

    /// Reserves `bytes` of memory for the device at `path`. Returns an error if the reservation would exceed
    /// the caller's memory limit.
    fn take_memory(&mut self, path: &str, bytes: u64) -> Result<(), Problems>;

    /// Like [`Builder::take_memory`], for tables that grow as they are accessed.
    fn take_memory_as_touched(&mut self, path: &str, tables: TableMemory) -> Result<(), Problems>;

    /// Returns upper bounds of the number of units that the host accesses in the run, if the device at `path`
    /// serves the host directly. A unit has `unit` bytes, and the device has `capacity` bytes. Returns `None`
    /// if no bounds are known.
    fn units_in_run(&self, path: &str, unit: Bytes, capacity: Bytes) -> Option<UnitsInRun>;

    /// Returns the user's policy of `family` with this name. Returns an error if no policy has this name.
    fn external_policy(&mut self, family: &str, path: &str, name: &str) -> Result<Box<dyn Any>, Problems>;
}

/// Memory of tables that grow as they are accessed, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableMemory {
    /// Memory at the start.
    pub at_once: u64,
    /// Memory after every address has been accessed.
    pub in_all: u64,
    /// Upper bound of the memory during the run; equals `in_all` if no smaller bound is known.
    pub in_run: u64,
}

/// Upper bounds of the number of units that a run accesses. Repeated accesses count repeatedly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitsInRun {
    /// Number of consecutive units, starting at the first address, that are each written once before the run.
    pub filled: u64,
    /// Number of units that requests access before or during the run, at any address.
    pub requested: u64,
}

/// Numbers of reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Accesses {
    /// Number of reads.
    pub reads: u64,
    /// Number of writes.
    pub writes: u64,
}

/// Numbers of reads and writes of one request size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SizedAccesses {
    /// Size of each request, or of its portion in this extent, in bytes.
    pub bytes: u32,
    /// Number of accesses with this size.
    pub of: Accesses,
}
