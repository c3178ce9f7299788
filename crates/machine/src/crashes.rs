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

/// `toml`, and a flash drive with fewer blocks and pages: whole ones take gigabytes for their tables alone.
fn smaller(toml: &str) -> String {
    toml.lines().fold(String::new(), |text, line| {
        let line = match line.split(' ').next() {
            Some("blocks") => "blocks = 192",
            Some("pages") => "pages = 4",
            _ => line,
        };
        text + line + "\n"
    })
}

#[test]
fn every_device_of_the_catalogue_keeps_its_bytes() {
    let mut tried = 0;
    for (name, text) in crate::catalog::device_texts() {
        let workbench = Workbench::new(Rooms { devices: &TABLES, others }, 1);
        let toml = smaller(&Workbench::catalogued(text));
        let crashes = keeps_its_bytes(workbench, &toml, 1);
        assert!(crashes.losses > 5 && crashes.restarts > 5, "{name}: {crashes:?}");
        tried += 1;
    }
    assert!(tried >= 11, "{tried} devices");
}
