//! The workbench of this crate's tests.

use crate::DEVICES;
use crate::cleaning::{self, CleaningFamily};
use crate::latency::{LATENCIES, LatencyFamily};
use crate::wear_levelling::{self, WearLevellingFamily};
use nacre_config::{Descriptor, Family};
pub(crate) use nacre_testkit::Workbench;
use nacre_testkit::workbench::Rooms;

static TABLES: [&nacre_config::Table<nacre_device::DeviceFamily>; 1] = [DEVICES];

/// The rooms of this crate, and one seed.
pub(crate) fn workbench(seed: u64) -> Workbench {
    Workbench::new(Rooms { devices: &TABLES, others }, seed)
}

fn others(family: &str) -> Vec<&'static Descriptor> {
    match family {
        LatencyFamily::NAME => LATENCIES.iter().map(|room| &room.descriptor).collect(),
        CleaningFamily::NAME => cleaning::ROOMS.iter().map(|room| &room.descriptor).collect(),
        WearLevellingFamily::NAME => wear_levelling::ROOMS.iter().map(|room| &room.descriptor).collect(),
        _ => Vec::new(),
    }
}
