use crate::host_interface::tests::{LINK, alone};
use nacre_kernel::{Op, Pcie};

/// A read of a line takes one slot of 17 B to the device and five slots back. A write takes five slots to
/// the device and one slot back.
#[test]
fn a_line_takes_its_slots_and_many_are_under_way() {
    let link = Pcie { generation: 5, ..LINK };
    let line = 5.0 + 70.0 + (17.0 + 85.0) / link.raw().0 * 1e9;
    for op in [Op::Read, Op::Write] {
        let found =
            |settings: &str, bytes| alone(&format!("kind = \"cxl_mem\"\n{settings}"), op, bytes).as_ns_f64();
        assert!((found("", 64) - line).abs() < 0.01, "{op:?}: {}", found("", 64));
        assert!((found("lines = 1", 640) - 10.0 * line).abs() < 0.1, "{op:?}: {}", found("lines = 1", 640));
        // Ten lines are issued at the same time, one after the other by the CPU.
        assert!((found("", 640) - line - 45.0).abs() < 0.1, "{op:?}: {}", found("", 640));
    }
}
