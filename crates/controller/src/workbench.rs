//! The workbench of this crate's tests.

use crate::DEVICES;
use crate::cleaning::{self, CleaningFamily};
use crate::ecc::{self, Ecc, EccFamily, Page};
use crate::host_interface::{self, HostInterfaceFamily};
use crate::latency::{LATENCIES, LatencyFamily};
use crate::memory_scheduling::{self, MemorySchedulingFamily};
use crate::wear_levelling::{self, WearLevellingFamily};
use nacre_config::{Configuration, Descriptor, Family, Problems, Slot};
use nacre_kernel::Bytes;
pub(crate) use nacre_testkit::Workbench;
use nacre_testkit::workbench::Rooms;

/// The document around the code under test.
#[derive(Debug, Configuration)]
struct Coded {
    /// The code.
    ecc: Slot<EccFamily>,
}

static TABLES: [&nacre_config::Table<nacre_device::DeviceFamily>; 1] = [DEVICES];

static ROOMS: Rooms = Rooms { devices: &TABLES, events: &[crate::EVENTS], others };

/// The rooms of this crate.
pub(crate) fn rooms() -> &'static dyn nacre_config::Families {
    &ROOMS
}

/// The rooms of this crate, and one seed.
pub(crate) fn workbench(seed: u64) -> Workbench {
    Workbench::new(ROOMS, seed)
}

/// The code that the inside of a TOML table describes, for pages of so many bytes.
pub(crate) fn ecc(toml: &str, page: u64) -> Result<Box<dyn Ecc>, Problems> {
    let slot = workbench(1).read::<Coded>(&format!("[ecc]\n{toml}"))?.ecc;
    ecc::build(&slot, Page { families: &ROOMS, bytes: Bytes(page) })
}

fn others(family: &str) -> Vec<&'static Descriptor> {
    match family {
        LatencyFamily::NAME => LATENCIES.iter().map(|room| &room.descriptor).collect(),
        CleaningFamily::NAME => cleaning::ROOMS.iter().map(|room| &room.descriptor).collect(),
        EccFamily::NAME => ecc::ROOMS.iter().map(|room| &room.descriptor).collect(),
        HostInterfaceFamily::NAME => host_interface::ROOMS.iter().map(|room| &room.descriptor).collect(),
        MemorySchedulingFamily::NAME => {
            memory_scheduling::ROOMS.iter().map(|room| &room.descriptor).collect()
        }
        WearLevellingFamily::NAME => wear_levelling::ROOMS.iter().map(|room| &room.descriptor).collect(),
        _ => Vec::new(),
    }
}
