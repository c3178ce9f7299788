//! Tests of the drive behind host interfaces.

use super::{drive, random, request};
use crate::host_interface::tests::{Issued, built, served_at_once};
use crate::workbench::ask;
use nacre_kernel::event::{Device, Payload};
use nacre_kernel::{Activity, Op, Span, Time};

/// The drive's built-in driver and link match the `direct` host interface to the picosecond, also under load.
#[test]
fn its_own_driver_and_link_are_those_of_the_family() {
    let direct = "[device.host]\nkind = \"direct\"\ndriver = \"3.6 us\"\ncpus = 16\nlink = \"2 GB/s\"\n";
    for (op, bytes) in [(Op::Read, 4096), (Op::Write, 4096), (Op::Read, 512), (Op::Write, 65536)] {
        let (mut own, mut family) = (drive(""), drive(direct));
        let (own, family) =
            (random(&mut *own, 48, 3000, op, bytes), random(&mut *family, 48, 3000, op, bytes));
        assert_eq!((own.end, own.queued), (family.end, family.queued), "{op:?} of {bytes} B");
    }
}

fn latency(device: &mut dyn Device, op: Op) -> (Time, Vec<Span>) {
    let answer = ask(device, Time::ZERO, &request(op, 4096, 4096), Payload::NONE);
    device.check_invariants();
    (answer.done, answer.spans)
}

/// Latency of a host interface in front of a device that serves requests in zero time.
fn alone(host: &str, op: Op, bytes: u64) -> Time {
    let issued = Issued { at: Time::ZERO, op, bytes };
    served_at_once(&mut *built(host), &[issued], Some(4096))[0].0
}

/// Other tests cover the latency of NVMe. This test checks that the total latency is the NVMe latency plus
/// the latency of the drive without driver and link.
#[test]
fn behind_nvme_it_takes_driver_queues_and_link_on_top() {
    let bare = "driver = \"0 s\"\nlink = \"100000 GB/s\"\n";
    for op in [Op::Read, Op::Write, Op::Flush] {
        let front = alone("kind = \"nvme\"", op, if op == Op::Flush { 0 } else { 4096 });
        let (without, before) = latency(&mut *drive(bare), op);
        let (found, spans) = latency(&mut *drive(&format!("{bare}[device.host]\nkind = \"nvme\"\n")), op);
        let off = found.as_ns_f64() - without.as_ns_f64() - front.as_ns_f64();
        assert!(off.abs() < 1.0, "{op:?}: {found}, of which {without} and {front}");
        let software = |spans: &[Span]| {
            let spans = spans.iter().filter(|span| span.activity == Activity::Software);
            spans.fold(Time::ZERO, |sum, span| sum + span.time)
        };
        assert_eq!(
            software(&spans),
            software(&before) + Time::from_us(3),
            "driver, interrupt and completion"
        );
    }
}

/// Tests that the total latency is at most the latency of the drive plus the latency of the host interface,
/// because both can overlap. Lines of a read after the first cross the link while the drive reads. The load
/// after the last store of a write crosses the link while the drive writes.
#[test]
fn behind_loads_and_stores_it_takes_their_way_on_top() {
    let bare = "driver = \"0 s\"\nlink = \"100000 GB/s\"\n";
    for (host, beside_ns) in [
        ("kind = \"memory_window\"", 4.0),
        ("kind = \"cxl_mem\"\nlines = 1", 0.0),
        ("kind = \"cxl_mem\"", 45.0),
    ] {
        for op in [Op::Read, Op::Write] {
            let front = alone(host, op, 4096);
            let (without, _) = latency(&mut *drive(bare), op);
            let (found, _) = latency(&mut *drive(&format!("{bare}[device.host]\n{host}\n")), op);
            let off = found.as_ns_f64() - without.as_ns_f64() - front.as_ns_f64();
            assert!(
                off > -beside_ns - 1.0 && off < 1.0,
                "{host}, {op:?}: {found}, of which {without} and {front}"
            );
        }
    }
}

#[test]
fn behind_nvme_it_keeps_the_contract() {
    let nvme = "ranks = 8\nchip = \"64 KiB\"\n[device.host]\nkind = \"nvme\"\nqueue_depth = 8\n";
    nacre_testkit::conformance(Time::from_ms(1), || drive(nvme));
}
