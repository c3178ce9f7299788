//! Devices of the older contract, behind the adapter, keep the contract of events.

use crate::workbench::ROOMS;
use nacre_kernel::Time;
use nacre_kernel::event::Adapted;
use nacre_testkit::Workbench;
use nacre_testkit::events::conformance;

#[test]
fn an_adapted_device_keeps_the_contract_of_events() {
    let toml =
        "kind = \"measured\"\nread = \"7 us\"\nwrite = \"30 us\"\nparallelism = 4\ncapacity = \"1 MiB\"\n";
    for pause in [Time::from_us(5), Time::from_us(100)] {
        conformance(pause, || Adapted::boxed(Workbench::new(ROOMS, 1).build(toml).unwrap()));
        conformance(pause, || Adapted::boxed(Workbench::new(ROOMS, 1).with_bytes().build(toml).unwrap()));
    }
}
