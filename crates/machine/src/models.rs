//! The table of all component families and components.

use crate::host::HostConfig;
use nacre_config::{Configuration, Descriptor, Families, Family, Field, Kind, Model, kinds_within};
use nacre_controller::cleaning::CleaningFamily;
use nacre_controller::ecc::EccFamily;
use nacre_controller::host_interface::HostInterfaceFamily;
use nacre_controller::latency::{LATENCIES, LatencyFamily};
use nacre_controller::memory_scheduling::MemorySchedulingFamily;
use nacre_controller::wear_leveling::WearLevelingFamily;
use nacre_device::DeviceFamily;
use nacre_hierarchy::faulty::kinds::FaultFamily;
use nacre_hierarchy::placement::PlacementFamily;
use nacre_hierarchy::replacement::ReplacementFamily;
use nacre_workload::{ArrivalFamily, PatternFamily, WorkloadFamily};

/// A family of components.
#[derive(Clone, Debug)]
pub struct FamilyDescriptor {
    /// Name of the family in messages, schemas, and documents.
    pub name: &'static str,
    /// Purpose of the components in the family, in one line.
    pub summary: &'static str,
    /// Components of the family, in documentation order.
    pub descriptors: Vec<&'static Descriptor>,
}

/// Returns every family with its components. A new family needs one more line in this function.
pub fn families() -> Vec<FamilyDescriptor> {
    vec![
        family::<WorkloadFamily>("workloads", &[nacre_workload::WORKLOADS]),
        family::<PatternFamily>("address patterns of synthetic workloads", &[nacre_workload::PATTERNS]),
        family::<ArrivalFamily>("arrival processes", &[nacre_workload::ARRIVALS]),
        family::<DeviceFamily>("devices and composites", &devices()),
        family::<ReplacementFamily>(
            "replacement policies of caches",
            &[nacre_hierarchy::replacement::MODELS],
        ),
        family::<PlacementFamily>("placement of extents in tiers", &[nacre_hierarchy::placement::MODELS]),
        family::<FaultFamily>("injected faults", &[nacre_hierarchy::faulty::kinds::MODELS]),
        family::<CleaningFamily>("garbage collection policies", &[nacre_controller::cleaning::MODELS]),
        family::<WearLevelingFamily>(
            "wear leveling of in-place memory",
            &[nacre_controller::wear_leveling::MODELS],
        ),
        family::<EccFamily>("error-correcting codes", &[nacre_controller::ecc::MODELS]),
        family::<HostInterfaceFamily>("host interfaces", &[nacre_controller::host_interface::MODELS]),
        family::<MemorySchedulingFamily>(
            "memory scheduling policies",
            &[nacre_controller::memory_scheduling::MODELS],
        ),
        family::<LatencyFamily>("latency distributions", &[LATENCIES]),
    ]
}

/// Returns the settings that have several kinds, of all components and of the host. Each entry is a schema
/// name with a list of kinds.
pub fn kinds() -> Vec<(&'static str, &'static [Kind])> {
    let models = families().into_iter().flat_map(|family| family.descriptors);
    let fields: Vec<Field> = models.flat_map(|model| (model.fields)()).chain(HostConfig::fields()).collect();
    kinds_within(&fields)
}

/// Returns the tables of device components, in documentation order.
fn devices() -> [&'static [Model<DeviceFamily>]; 3] {
    [nacre_hierarchy::DEVICES, nacre_controller::DEVICES, nacre_ssd::DEVICES]
}

fn family<F: Family>(summary: &'static str, tables: &[&'static [Model<F>]]) -> FamilyDescriptor {
    let descriptors = tables.iter().copied().flatten().map(|model| &model.descriptor).collect();
    FamilyDescriptor { name: F::NAME, summary, descriptors }
}

/// Returns the device component with this `kind`.
pub(crate) fn device(kind: &str) -> &'static Model<DeviceFamily> {
    let mut models = devices().into_iter().flatten();
    models.find(|model| model.descriptor.kind == kind).expect("the slot was checked against the same tables")
}

/// All components of Nacre, used to read and check documents.
#[derive(Clone, Debug)]
pub struct Models {
    families: Vec<FamilyDescriptor>,
}

impl Default for Models {
    fn default() -> Models {
        Models::new()
    }
}

impl Models {
    /// Creates the list of all components.
    pub fn new() -> Models {
        Models { families: families() }
    }

    fn descriptors(&self, family: &str) -> &[&'static Descriptor] {
        let found = self.families.iter().find(|known| known.name == family);
        &found.unwrap_or_else(|| panic!("the family {family} is not listed in machine::models")).descriptors
    }
}

impl Families for Models {
    fn descriptor(&self, family: &str, kind: &str) -> Option<&'static Descriptor> {
        self.descriptors(family).iter().find(|descriptor| descriptor.kind == kind).copied()
    }

    fn kinds(&self, family: &str) -> Vec<&'static str> {
        self.descriptors(family).iter().map(|descriptor| descriptor.kind).collect()
    }
}
