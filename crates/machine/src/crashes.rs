//! Every device of the catalogue keeps its bytes as it promises.

use nacre_config::{Descriptor, Table};
use nacre_device::DeviceFamily;
use nacre_testkit::workbench::Rooms;
use nacre_testkit::{Workbench, keeps_its_bytes};

static TABLES: [&Table<DeviceFamily>; 2] = [nacre_hierarchy::DEVICES, nacre_controller::DEVICES];

fn others(family: &str) -> Vec<&'static Descriptor> {
    let families = crate::rooms::families();
    families.into_iter().filter(|known| known.name == family).flat_map(|known| known.descriptors).collect()
}

#[test]
fn every_device_of_the_catalogue_keeps_its_bytes() {
    let (mut tried, mut without) = (0, Vec::new());
    for (name, text) in crate::catalog::device_texts() {
        let workbench = || Workbench::new(Rooms { devices: &TABLES, others }, 1);
        let toml = Workbench::catalogued(text);
        let device =
            workbench().with_bytes().build(&toml).unwrap_or_else(|problems| panic!("{name}: {problems}"));
        if !device.capabilities().carries_bytes {
            without.push(*name);
            continue;
        }
        let crashes = keeps_its_bytes(workbench(), &toml, 1);
        assert!(crashes.losses > 5 && crashes.restarts > 5, "{name}: {crashes:?}");
        tried += 1;
    }
    // Flash drives are simulated without bytes.
    assert_eq!(without, ["emlc_flash_ssd", "iodrive_80gb", "tlc_nvme"]);
    assert!(tried >= 8, "{tried} devices");
}
