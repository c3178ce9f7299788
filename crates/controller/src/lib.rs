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
pub mod onyx;
pub mod ssd;
pub mod wear_levelling;
#[cfg(test)]
mod workbench;

use nacre_config::{Families, Family, Problem, Problems, Slot};
use nacre_kernel::{Breakdown, Bytes, ComponentId, Device, MemoryDevice, Op, Random, Request, Time};
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

    /// What one access of `bytes` to an idle device of its own, as `slot` describes it, takes.
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
    fn take_memory(&mut self, _path: &str, _bytes: u64) -> Result<(), Problems> {
        Ok(())
    }

    /// The cleaning policy that the caller of the run brought under `name`. Errors: there is none.
    fn external_cleaner(&mut self, path: &str, name: &str) -> Result<Box<dyn cleaning::Cleaner>, Problems>;
}

/// Mean latencies of an idle device, for single requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Idle {
    /// Of a read.
    pub read: Time,
    /// Of a write.
    pub write: Time,
}

impl Idle {
    /// Latencies of `device`, which did nothing before, over requests of `bytes` at addresses drawn from
    /// `random`, multiples of 4 KiB.
    pub fn of(device: &mut dyn Device, bytes: u32, random: &mut Random) -> Idle {
        let bytes = device.capacity().map_or(bytes, |capacity| capacity.0.min(u64::from(bytes)) as u32);
        let places = device.capacity().map_or(1 << 20, |capacity| (capacity.0 - u64::from(bytes)) / UNIT + 1);
        let mut now = Time::ZERO;
        let mut mean = |op: Op| {
            let mut total = Time::ZERO;
            for _ in 0..SAMPLES {
                let address = random.below(places) * UNIT;
                let request = Request { arrival: now, address, bytes, volume: 0, op };
                let done = device.submit(now, &request, &mut Breakdown::new()).done;
                total += done - now;
                now = device.busy_until().max(done);
                device.advance(now);
            }
            Time::from_ps(total.as_ps() / SAMPLES)
        };
        Idle { read: mean(Op::Read), write: mean(Op::Write) }
    }
}

/// What addresses of requests to idle devices are multiples of.
const UNIT: u64 = 4096;
/// Requests of each kind; an eighth of the standard deviation remains in the mean of a distribution.
const SAMPLES: u64 = 64;

/// How often something is read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Accesses {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}

/// How often something is read and written in requests of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SizedAccesses {
    /// Bytes of each request, or of the part of it that is here.
    pub bytes: u32,
    /// How many there are.
    pub of: Accesses,
}

/// The devices of this crate, in the order users see them.
pub static DEVICES: &nacre_config::Table<DeviceFamily> =
    &[measured::ROOM, hdd::ROOM, envy::ROOM, onyx::ROOM, ssd::ROOM];

/// The kinds of [`DEVICES`] that carry bytes: [`memory_device`] builds them.
pub const MEMORY_DEVICES: &[&str] = &["envy", "onyx"];

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
        "onyx" => onyx::store_layout(slot, families),
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
        "onyx" => onyx::open(slot, builder, store),
        _ => Err(carries_no_bytes(slot)),
    }
}

fn carries_no_bytes(slot: &Slot<DeviceFamily>) -> Problems {
    Problem::new(slot.path(), None, "this device is simulated without bytes")
        .given(slot.kind())
        .remedy(format!("those that carry bytes: {}", MEMORY_DEVICES.join(", ")))
        .into()
}
