//! Workbench of this crate's tests.

use crate::DEVICES;
use nacre_config::{Configuration, Descriptor, Family, Slot};
use nacre_controller::cleaning::{self, CleaningFamily};
use nacre_controller::ecc::{self, Ecc, EccFamily, Page};
use nacre_controller::host_interface::{self, HostInterfaceFamily};
use nacre_kernel::Bytes;
pub(crate) use nacre_testkit::Workbench;
use nacre_testkit::workbench::Rooms;

/// Document around the code under test.
#[derive(Debug, Configuration)]
struct Coded {
    /// Error-correcting code.
    ecc: Slot<EccFamily>,
}

static ROOMS: Rooms = Rooms { devices: &[DEVICES], others };

/// The components of this crate, with a random seed.
pub(crate) fn workbench(seed: u64) -> Workbench {
    Workbench::new(ROOMS, seed)
}

/// The code that these settings of a TOML table describe, for pages of this many bytes.
pub(crate) fn ecc(toml: &str, page: u64) -> Box<dyn Ecc> {
    let coded: Coded = workbench(1).read(&format!("[ecc]\n{toml}")).expect("a legal code");
    ecc::build(&coded.ecc, Page { families: &ROOMS, bytes: Bytes(page) }).expect("a legal code")
}

fn others(family: &str) -> Vec<&'static Descriptor> {
    match family {
        CleaningFamily::NAME => cleaning::ROOMS.iter().map(|room| &room.descriptor).collect(),
        EccFamily::NAME => ecc::ROOMS.iter().map(|room| &room.descriptor).collect(),
        HostInterfaceFamily::NAME => host_interface::ROOMS.iter().map(|room| &room.descriptor).collect(),
        _ => Vec::new(),
    }
}
