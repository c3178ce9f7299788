//! Tests of planes that read independently.

use super::*;

const INDEPENDENT: &str = "scheduling = { kind = \"read_priority\", independent_planes = true }";

/// Creates a die of two planes with programs of 500 us and reads of 50 us. All other operations take almost
/// no time.
fn one_die(settings: &str) -> Driven {
    driven(&format!(
        "channels = 1\nways = 1\nplanes = 2\nbus = \"400 GB/s\"\ncommand = \"0 s\"\nlink = \"40000 GB/s\"\n{settings}"
    ))
}

/// Returns the latencies of reads in microseconds. Each read has a time, a first unit, and a number of units.
fn latencies<const COUNT: usize>(device: &mut Driven, reads: [(u64, u64, u32); COUNT]) -> [f64; COUNT] {
    let reads = reads.map(|(at, number, count)| {
        device.submit(device.now.max(Time::from_us(at)), &units(Op::Read, number, count))
    });
    reads.map(|read| device.answer(read).latency_s() * 1e6)
}

fn assert_all<const COUNT: usize>(what: &str, found: [f64; COUNT], expected: [f64; COUNT]) {
    for (found, expected) in found.into_iter().zip(expected) {
        assert_close(what, found, expected, 0.005);
    }
}

#[test]
fn pages_of_two_planes_are_read_at_one_time() {
    // The reads access both planes at the same time, then one of them again, and then a page of each plane.
    let reads = [(0, 0, 1), (0, 1, 1), (0, 2, 1), (0, 4, 2)];
    let found = latencies(&mut one_die(INDEPENDENT), reads);
    assert_all("independent", found, [50.0, 50.0, 100.0, 150.0]);
    assert_all("the whole die", latencies(&mut one_die(""), reads), [50.0, 100.0, 150.0, 200.0]);
    // The test covers each allocation, and zones.
    for settings in ["allocation = \"static\"", "kind = \"zns_ssd\""] {
        let mut device = one_die(&format!("{INDEPENDENT}\n{settings}"));
        device.precondition(64, |number| number);
        let found = latencies(&mut device, [(0, 0, 1), (0, 1, 1), (0, 2, 1)]);
        assert_all(settings, found, [50.0, 50.0, 100.0]);
    }
}

#[test]
fn reads_of_two_planes_wait_for_one_program_and_suspend_it_once() {
    let mut device = one_die(INDEPENDENT);
    device.submit(Time::ZERO, &units(Op::Write, 8, 2));
    assert_all("both planes", latencies(&mut device, [(10, 0, 1), (20, 1, 1)]), [540.0, 530.0]);
    let mut device = one_die(
        "scheduling = { kind = \"suspension\", independent_planes = true, suspend = \"10 us\", resume = \"5 us\" }",
    );
    device.submit(Time::ZERO, &units(Op::Write, 8, 2));
    // The first read suspends the program, the second finds it suspended, and the third waits for the second.
    let found = latencies(&mut device, [(100, 0, 1), (120, 1, 1), (120, 3, 1)]);
    assert_all("suspended", found, [60.0, 50.0, 100.0]);
    // The program is suspended at 100 us. Reads take place from 110 to 220 us, and the program is then
    // resumed.
    assert_close("the program ends", device.rest().as_secs_f64() * 1e6, 625.0, 0.001);
    assert_eq!(device.counter("suspensions"), 1);
}
