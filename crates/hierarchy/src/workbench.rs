//! Test environment that builds the devices and policies of this crate.

use crate::faulty::{self, kinds::FaultFamily};
use crate::placement::{self, PlacementFamily};
use crate::replacement::{self, Replacement, ReplacementFamily};
use nacre_config::{Configuration, Descriptor, Family, Node, Problems, Reader, Slot, model_of};
use nacre_controller::cleaning::{self, CleaningFamily};
use nacre_controller::ecc::{self, EccFamily};
use nacre_controller::latency::{LATENCIES, LatencyFamily};
use nacre_controller::wear_leveling::{self, WearLevelingFamily};
use nacre_device::Builder;
use nacre_kernel::event::Device;
use nacre_testkit::workbench::Models;
use nacre_testkit::{Host, Workbench};

/// The components of this crate and of the crates below it.
pub(crate) static MODELS: Models = Models { devices: &TABLES, others };

static TABLES: [&nacre_config::Table<nacre_device::DeviceFamily>; 3] =
    [nacre_controller::DEVICES, nacre_ssd::DEVICES, crate::DEVICES];

fn others(family: &str) -> Vec<&'static Descriptor> {
    match family {
        LatencyFamily::NAME => LATENCIES.iter().map(|model| &model.descriptor).collect(),
        EccFamily::NAME => ecc::MODELS.iter().map(|model| &model.descriptor).collect(),
        ReplacementFamily::NAME => replacement::MODELS.iter().map(|model| &model.descriptor).collect(),
        CleaningFamily::NAME => cleaning::MODELS.iter().map(|model| &model.descriptor).collect(),
        WearLevelingFamily::NAME => wear_leveling::MODELS.iter().map(|model| &model.descriptor).collect(),
        FaultFamily::NAME => faulty::kinds::MODELS.iter().map(|model| &model.descriptor).collect(),
        PlacementFamily::NAME => placement::MODELS.iter().map(|model| &model.descriptor).collect(),
        _ => Vec::new(),
    }
}

/// A document with the device under test.
#[derive(Debug, Configuration)]
struct Document {
    /// The device.
    stack: Slot<nacre_device::DeviceFamily>,
}

/// Builds the device that the table `stack` of `toml` describes.
pub(crate) fn build(toml: &str, mut workbench: Workbench) -> Result<Box<dyn Device>, Problems> {
    let document: Document = workbench.read(toml)?;
    workbench.device(&document.stack)
}

/// Creates a test host for the device that the table `stack` of `toml` describes.
pub(crate) fn host(toml: &str) -> Host {
    let built = build(toml, Workbench::new(MODELS, 1));
    Host::new(built.unwrap_or_else(|problems| panic!("{toml}: {problems}")))
}

/// Builds the policy `kind` for `capacity` blocks, with its default settings.
pub(crate) fn policy(kind: &str, capacity: usize) -> Box<dyn Replacement> {
    let node = Node::parse_toml(&format!("policy = \"{kind}\""), "test.toml").expect("well formed");
    let mut reader = Reader::new(&MODELS);
    let slot = PolicyDocument::read(&node, &mut reader).expect("the policy needs no settings").policy;
    let model = model_of(replacement::MODELS, &slot);
    (model.build)(&slot, &mut replacement::Context { families: &MODELS, capacity }).expect("it can be built")
}

/// A document with a policy under test.
#[derive(Debug, Configuration)]
struct PolicyDocument {
    /// The policy.
    policy: Slot<ReplacementFamily>,
}
