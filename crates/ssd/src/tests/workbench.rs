//! Test environment for this crate.

use crate::DEVICES;
use nacre_config::{Configuration, Descriptor, Family, Slot};
use nacre_controller::cleaning::{self, CleaningFamily};
use nacre_controller::ecc::{self, Ecc, EccFamily, Page};
use nacre_controller::host_interface::{self, HostInterfaceFamily};
use nacre_kernel::Bytes;
pub(crate) use nacre_testkit::Workbench;
use nacre_testkit::workbench::Models;

/// Test document that contains the error-correcting code under test.
#[derive(Debug, Configuration)]
struct Coded {
    /// Error-correcting code.
    ecc: Slot<EccFamily>,
}

static MODELS: Models = Models { devices: &[DEVICES], others };

/// Creates an environment with the components of this crate and a random seed.
pub(crate) fn workbench(seed: u64) -> Workbench {
    Workbench::new(MODELS, seed)
}

/// Creates the error-correcting code that the TOML table `toml` describes, for pages of `page` bytes.
pub(crate) fn ecc(toml: &str, page: u64) -> Box<dyn Ecc> {
    let coded: Coded = workbench(1).read(&format!("[ecc]\n{toml}")).expect("a legal code");
    ecc::build(&coded.ecc, Page { families: &MODELS, bytes: Bytes(page) }).expect("a legal code")
}

fn others(family: &str) -> Vec<&'static Descriptor> {
    match family {
        CleaningFamily::NAME => cleaning::MODELS.iter().map(|model| &model.descriptor).collect(),
        EccFamily::NAME => ecc::MODELS.iter().map(|model| &model.descriptor).collect(),
        HostInterfaceFamily::NAME => host_interface::MODELS.iter().map(|model| &model.descriptor).collect(),
        _ => Vec::new(),
    }
}
