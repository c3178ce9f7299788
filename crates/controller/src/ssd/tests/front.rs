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

/// A drive without time over loads and stores takes what these take, line by line, and one with time that on top. Of lines
/// that are under way beside the first the drive has them all when it has the data: they need not be issued then.
#[test]
fn a_drive_behind_loads_and_stores_takes_their_way_on_top() {
    for (host, issue_ns, beside) in [
        ("kind = \"memory_window\"", 10, 0),
        ("kind = \"memory_window\"\nwrite_combining = false", 10, 0),
        ("kind = \"cxl_mem\"\nlines = 1", 5, 0),
        ("kind = \"cxl_mem\"", 5, 9),
    ] {
        for op in [Op::Read, Op::Write] {
            let mut interface = crate::host_interface::tests::built(host);
            let front = crate::host_interface::tests::served_at_once(&mut *interface, Time::ZERO, op, 4096);
            let (bare, _) = latency(DRIVE, op);
            let (found, breakdown) = latency(&format!("{DRIVE}[device.host]\n{host}\n"), op);
            let off = found.as_ns_f64() - front.as_ns_f64() - bare.as_ns_f64();
            let before_ns = if op == Op::Read { f64::from(issue_ns * beside) } else { 0.0 };
            assert!(
                off > -before_ns - 1.0 && off < 1.0,
                "{host}, {op:?}: {found}, of which {bare} and {front}"
            );
            if beside == 0 && op == Op::Read {
                let lines = 4096 / interface.piece();
                let software = |of: &&nacre_kernel::Span| of.activity == Activity::Software;
                let sum =
                    breakdown.spans().iter().filter(software).fold(Time::ZERO, |sum, span| sum + span.time);
                assert_eq!(sum, Time::from_ns(lines * issue_ns as u64), "{host}");
            }
        }
    }
}

#[test]
fn a_drive_behind_nvme_keeps_the_contract() {
    let nvme = format!("{DRIVE}[device.host]\nkind = \"nvme\"\nqueue_depth = 8\n");
    let window = format!("{DRIVE}[device.host]\nkind = \"memory_window\"\nloads = 4\n");
    // So many lines are more than a link remembers gaps between.
    nacre_testkit::conformance_in_order(|| {
        crate::workbench::workbench(1).build(&window).expect("it is legal")
    });
    nacre_testkit::conformance(|| crate::workbench::workbench(1).build(&nvme).expect("it is legal"));
}
