//! Reads behind programs.

use crate::tests::driven::driven;
use crate::tests::unit;
use nacre_kernel::{Op, Time};
use nacre_testkit::assert_close;

#[test]
fn without_priority_reads_go_in_their_turn() {
    for (settings, programs) in [("scheduling = \"in_order\"", 3.0), ("scheduling = \"read_priority\"", 1.0)]
    {
        let mut device =
            driven(&format!("channels = 1\nways = 1\npages = 128\nprogram = [\"10 ms\"]\n{settings}"));
        device.write_all(Time::ZERO, 0..3);
        let done = device.ask(Time::from_us(100), &unit(Op::Read, 9)).done;
        assert_close(settings, done.as_secs_f64(), programs * 10e-3, 0.02);
    }
}
