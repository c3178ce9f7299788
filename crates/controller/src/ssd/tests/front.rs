//! A drive behind NVMe: what its driver, queues and link add.

use nacre_kernel::{Activity, Breakdown, Data, Op, Request, Time};

/// One die that reads in 50 us, and nothing else that takes time.
const DRIVE: &str = "kind = \"ssd\"\nchannels = 1\nways = 1\nblocks = 64\npages = 64\npage = \"4 KiB\"\n\
    read = [\"50 us\"]\nprogram = [\"500 us\"]\nerase = \"3 ms\"\nbus = \"100000 GB/s\"\ncommand = \"0 s\"\n\
    buffer = \"64 KiB\"\nlink = \"100000 GB/s\"\n";

fn latency(toml: &str, op: Op) -> (Time, Breakdown) {
    let mut device = crate::workbench::workbench(1).build(toml).expect("it is legal");
    let request = Request { arrival: Time::ZERO, address: 4096, bytes: 4096, volume: 0, op };
    let mut breakdown = Breakdown::new();
    let done = device.submit(Time::ZERO, &request, Data::None, &mut breakdown).done;
    device.check_invariants();
    (done, breakdown)
}

/// What NVMe takes is told by its own room's tests; here it is what a drive without time takes over it.
#[test]
fn a_drive_behind_nvme_takes_driver_queues_and_link_on_top() {
    let nvme = format!("{DRIVE}[device.host]\nkind = \"nvme\"\n");
    for op in [Op::Read, Op::Write, Op::Flush] {
        let mut interface = crate::host_interface::tests::built("kind = \"nvme\"");
        let bytes = if op == Op::Flush { 0 } else { 4096 };
        let front = crate::host_interface::tests::served_at_once(&mut *interface, Time::ZERO, op, bytes);
        let (bare, _) = latency(DRIVE, op);
        let (found, breakdown) = latency(&nvme, op);
        let off = found.as_ns_f64() - bare.as_ns_f64() - front.as_ns_f64();
        assert!(off.abs() < 1.0, "{op:?}: {found}, of which {bare} and {front}");
        let software: Time = breakdown
            .spans()
            .iter()
            .filter(|span| span.activity == Activity::Software)
            .fold(Time::ZERO, |sum, span| sum + span.time);
        assert_eq!(software, Time::from_us(3), "driver, interrupt and completion");
    }
}

#[test]
fn a_drive_behind_nvme_keeps_the_contract() {
    let nvme = format!("{DRIVE}[device.host]\nkind = \"nvme\"\nqueue_depth = 8\n");
    nacre_testkit::conformance(|| crate::workbench::workbench(1).build(&nvme).expect("it is legal"));
}
