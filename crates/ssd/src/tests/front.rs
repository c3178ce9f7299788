//! Tests of a drive with a host interface: times that driver, queues, and link add.

use super::*;
use nacre_config::{Configuration, Slot};
use nacre_controller::host_interface::{self, HostInterfaceFamily, HostPort, Part, Spent};
use nacre_testkit::conformance;

/// A die that reads in 50 us. All other operations take no time.
const DRIVE: &str = "channels = 1\nways = 1\nblocks = 64\nbus = \"100000 GB/s\"\ncommand = \"0 s\"\n\
    buffer = \"64 KiB\"\nlink = \"100000 GB/s\"\n";

/// Test document that contains the interface under test.
#[derive(Debug, Configuration)]
struct Document {
    /// Host interface.
    host: Slot<HostInterfaceFamily>,
}

/// Returns the completion time of a request of `bytes` bytes through the host interface `host`, in front of
/// a device that serves requests immediately. Also returns the maximum number of bytes per transfer of the
/// interface.
fn served_at_once(host: &str, op: Op, bytes: u64) -> (Time, u64) {
    let workbench = workbench(1);
    let document: Document = workbench.read(&format!("[host]\n{host}")).expect("it is legal");
    let families = nacre_device::Builder::families(&workbench);
    let mut port = host_interface::build(&document.host, families).expect("it can be built");
    let request = Request { bytes: bytes as u32, ..unit(op, 0) };
    // Returns the end time of a stage that started at `now`.
    let over = |port: &mut dyn HostPort, now: Time, spent: Option<Spent>| match spent {
        Some(_) => now,
        None => port.pop_before(Time::MAX).expect("it is under way").at,
    };
    let spent = port.submit(Time::ZERO, 0, &request, Time::ZERO);
    let mut now = over(&mut *port, Time::ZERO, spent);
    if bytes > 0 {
        let spent = port.bring(now, Part::whole(0), op, bytes);
        now = over(&mut *port, now, spent);
        let spent = port.answer(now, Part::whole(0), op, bytes);
        now = over(&mut *port, now, spent);
    }
    let spent = port.end(now, 0, op);
    (over(&mut *port, now, spent), port.piece())
}

/// Returns the result of a request of 4 KiB to the drive with `host`, or without a host interface.
fn alone(host: &str, op: Op) -> driven::Answer {
    let host = if host.is_empty() { String::new() } else { format!("[device.host]\n{host}\n") };
    let mut device = driven(&format!("{DRIVE}{host}"));
    let bytes = if op == Op::Flush { 0 } else { 4096 };
    let answer = device.ask(Time::ZERO, &Request { bytes, ..unit(op, 1) });
    device.check_invariants();
    answer
}

/// Checks that the latency of a drive behind a host interface is the latency of the drive plus the latency
/// of the interface in front of an instant device. Other tests check the latency of the interface.
#[test]
fn a_drive_behind_an_interface_takes_its_way_on_top() {
    for host in [
        "kind = \"direct\"\nlink = \"2 GB/s\"",
        "kind = \"nvme\"",
        "kind = \"memory_window\"",
        "kind = \"memory_window\"\nwrite_combining = false",
        "kind = \"cxl_mem\"\nlines = 1",
        "kind = \"cxl_mem\"",
    ] {
        for op in [Op::Read, Op::Write, Op::Flush] {
            let bytes = if op == Op::Flush { 0 } else { 4096 };
            let (front, _) = served_at_once(host, op, bytes);
            let (bare, found) = (alone("", op).done, alone(host, op).done);
            let off = found.as_ns_f64() - bare.as_ns_f64() - front.as_ns_f64();
            assert!(off.abs() < 1.0, "{host}, {op:?}: {found}, of which {bare} and {front}");
        }
    }
}

#[test]
fn the_software_of_the_host_is_reported() {
    for op in [Op::Read, Op::Write, Op::Flush] {
        let software = alone("kind = \"nvme\"", op).spent(Activity::Software);
        assert_eq!(software, Time::from_us(3), "driver, interrupt and completion of {op:?}");
    }
    // Loads are issued sequentially.
    let host = "kind = \"memory_window\"";
    let (_, piece) = served_at_once(host, Op::Read, 4096);
    let software = alone(host, Op::Read).spent(Activity::Software);
    assert_eq!(software, Time::from_ns(4096 / piece * 10), "loads of {piece} bytes");
}

#[test]
fn a_drive_behind_an_interface_keeps_the_contract() {
    for host in
        ["kind = \"nvme\"\nqueue_depth = 8", "kind = \"memory_window\"\nloads = 4", "kind = \"cxl_mem\""]
    {
        conformance(Time::from_us(200), || drive(&format!("{DRIVE}[device.host]\n{host}\n")));
    }
}
