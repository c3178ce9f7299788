//! Tests that a new device requires only a folder and one line in the table of devices. CONTRIBUTING.md
//! shows both.

mod battery_ram;

use nacre_config::{Descriptor, Table};
use nacre_device::DeviceFamily;
use nacre_kernel::Time;
use nacre_testkit::workbench::Models;
use nacre_testkit::{Workbench, conformance, keeps_its_bytes};

static DEVICES: &Table<DeviceFamily> = &[battery_ram::MODEL];

static TABLES: [&Table<DeviceFamily>; 1] = [DEVICES];

fn no_others(_family: &str) -> Vec<&'static Descriptor> {
    Vec::new()
}

fn workbench() -> Workbench {
    Workbench::new(Models { devices: &TABLES, others: no_others }, 1)
}

const SETTINGS: &str = "kind = \"battery_ram\"\ncapacity = \"4 MiB\"\naccess = \"2 us\"";

#[test]
fn a_room_of_one_folder_and_one_line_keeps_the_contract_of_every_device() {
    for pause in [Time::from_us(1), Time::from_us(10)] {
        conformance(pause, || workbench().build(SETTINGS).expect("the settings are legal"));
        conformance(pause, || workbench().with_bytes().build(SETTINGS).expect("the settings are legal"));
    }
}

#[test]
fn its_bytes_survive_losses_of_power_with_nothing_more() {
    let crashes = keeps_its_bytes(workbench(), SETTINGS, 200);
    assert!(crashes.points() >= 200 && crashes.restarts > 1, "{crashes:?}");
}

#[test]
fn its_mistakes_are_told_with_nothing_more() {
    let problems =
        workbench().build("kind = \"battery_ram\"\naccess = \"2 parsecs\"").err().expect("refused");
    let text = problems.to_string();
    assert!(text.contains("device.access") && text.contains("device.capacity"), "{text}");
}
