use crate::host_interface::tests::{built, served_at_once};
use nacre_kernel::{Op, Pcie, Time};

const LINK: Pcie = Pcie { generation: 3, lanes: 8, payload: 256, read_request: 512, long_addresses: true };

fn ns(bytes: u64) -> f64 {
    bytes as f64 / LINK.raw().0 * 1e9
}

/// Nanoseconds from a question to its answer.
fn round_trip_ns(bytes: u64) -> f64 {
    ns(LINK.read_request_bytes(bytes)) + ns(LINK.completion_bytes(bytes)) + 300.0
}

#[test]
fn loads_wait_for_each_other_and_stores_do_not() {
    for (settings, line, loads) in
        [("", 64, 1.0), ("write_combining = false", 8, 1.0), ("loads = 4", 64, 4.0)]
    {
        let found = |op, bytes| {
            let mut interface = built(&format!("kind = \"memory_window\"\n{settings}"));
            served_at_once(&mut *interface, Time::ZERO, op, bytes).as_ns_f64()
        };
        let lines = (256 / line) as f64;
        let read = lines / loads * (10.0 + round_trip_ns(line)) + (loads - 1.0) * 10.0;
        assert!(
            (found(Op::Read, 256) / read - 1.0).abs() < 0.03,
            "{settings}: {} and {read}",
            found(Op::Read, 256)
        );
        // The last store leaves when the CPU has issued all of them, or the link carried them.
        let store = ns(LINK.write_bytes(line));
        let stores = 10.0 + (lines - 1.0) * store.max(10.0) + store;
        let write = stores + round_trip_ns(line);
        assert!(
            (found(Op::Write, 256) / write - 1.0).abs() < 0.03,
            "{settings}: {} and {write}",
            found(Op::Write, 256)
        );
    }
}
