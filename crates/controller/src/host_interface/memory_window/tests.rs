use crate::host_interface::tests::{LINK, alone, ns};
use nacre_kernel::Op;
use nacre_testkit::assert_close;

/// Time from a load to the arrival of its data, in nanoseconds.
fn round_trip_ns(bytes: u64) -> f64 {
    ns(LINK.read_request_bytes(bytes)) + ns(LINK.completion_bytes(bytes)) + 300.0
}

#[test]
fn loads_wait_for_each_other_and_stores_do_not() {
    for (settings, line, loads) in
        [("", 64, 1.0), ("write_combining = false", 8, 1.0), ("loads = 4", 64, 4.0)]
    {
        let found = |op| alone(&format!("kind = \"memory_window\"\n{settings}"), op, 256).as_ns_f64();
        let lines = (256 / line) as f64;
        let read = lines / loads * (10.0 + round_trip_ns(line)) + (loads - 1.0) * 10.0;
        assert_close(settings, found(Op::Read), read, 0.03);
        // The last store leaves when the CPU has issued all stores or the link has transferred the earlier
        // ones, whichever is later.
        let store = ns(LINK.write_bytes(line));
        let stores = 10.0 + (lines - 1.0) * store.max(10.0) + store;
        assert_close(settings, found(Op::Write), stores + round_trip_ns(line), 0.03);
    }
}
