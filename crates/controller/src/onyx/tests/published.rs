//! Compares the catalog entries with published numbers of Onyx (akel-2011).

use super::{cataloged, random, request};
use nacre_kernel::{Activity, Op, Time};
use nacre_testkit::assert_close;
use nacre_testkit::closed_loop;

const ONYX: &str = include_str!("../../../../../catalog/devices/onyx.toml");
const MONETA: &str = include_str!("../../../../../catalog/devices/moneta.toml");
const LATE: &str = "completion = \"late\"\n";
/// XDD writes zeros by default.
const XDD: &str = "zero_words = \"100 %\"\n";

/// Throughput in bytes per second of sixteen threads with random requests of `bytes` bytes.
fn bandwidth(entry: &str, settings: &str, op: Op, bytes: u32) -> f64 {
    let count = (20_000_000 / u64::from(bytes)).clamp(400, 5_000);
    random(&mut *cataloged(entry, &format!("{XDD}{settings}")), 16, count, op, bytes).per_second()
        * f64::from(bytes)
}

#[test]
fn a_4_kb_read_takes_38_us_and_191_thousand_are_served_a_second() {
    let alone = random(&mut *cataloged(ONYX, ""), 1, 500, Op::Read, 4096);
    assert_close("a read alone, us", alone.mean_s() * 1e6, 38.0, 0.02);
    let seen = random(&mut *cataloged(ONYX, ""), 16, 10_000, Op::Read, 4096);
    assert_close("4 KB reads a second", seen.per_second(), 191e3, 0.1);
    let seen = random(&mut *cataloged(ONYX, ""), 16, 10_000, Op::Read, 512);
    assert_close("512 B reads a second", seen.per_second(), 478e3, 0.02);
}

#[test]
fn large_requests_run_at_1_1_gb_reading_and_470_mb_writing() {
    assert_close("large reads", bandwidth(ONYX, "", Op::Read, 1 << 20), 1.1e9, 0.1);
    assert_close("large writes", bandwidth(ONYX, "", Op::Write, 1 << 20), 470e6, 0.1);
}

/// Section 3.1: early completion increases the write bandwidth by 174 % for small requests and by 32 % for
/// large requests.
#[test]
fn early_completion_gains_most_for_small_writes() {
    let gains: Vec<f64> = [512, 1024, 4096, 16384, 1 << 20]
        .map(|bytes| bandwidth(ONYX, "", Op::Write, bytes) / bandwidth(ONYX, LATE, Op::Write, bytes))
        .into();
    assert_close("early over late at 512 B", gains[0], 2.74, 0.2);
    assert_close("early over late at 1 MiB", gains[4], 1.32, 0.2);
    assert!(gains.iter().all(|&gain| gain > 1.0), "late completion is never better: {gains:?}");
}

/// Section 2.3 gives 156 MB/s for reads of a DIMM pair. For writes, the 120 us of the data sheet give 33.2
/// MB/s for sixteen ranks, including the time to fill the chip buffers. The 47.1 MB/s in the paper cannot be
/// derived from the times in the paper. Neither value includes rows that wear leveling moves; `oracle` tests
/// their cost.
#[test]
fn a_controller_reads_at_156_mb() {
    for (settings, op, expected) in [
        ("row_setup = \"0 s\"", Op::Read, 64.0 / 410.3e-9),
        ("program = \"120 us\"\nrow_setup = \"0 s\"", Op::Write, 16.0 * 256.0 / 123.2e-6),
    ] {
        let mut drive = super::drive(&format!("controllers = 1\nwear_leveling = \"none\"\n{settings}"));
        let seen = closed_loop(&mut *drive, 4, 500, |number| request(op, number << 16, 1 << 16));
        assert_close("one controller", seen.per_second() * 65536.0, expected, 0.02);
    }
    assert_close("one controller reads", 64.0 / 410.3e-9, 156e6, 0.001);
}

/// Section 3.1 about Moneta, compared with Onyx: "roughly double read performance and increase write
/// performance by between 5 and 6 times".
#[test]
fn moneta_reads_twice_and_writes_five_times_as_fast() {
    let gain = |op, bytes| bandwidth(MONETA, "", op, bytes) / bandwidth(ONYX, "", op, bytes);
    assert_close("large reads", gain(Op::Read, 1 << 20), 2.0, 0.2);
    assert_close("writes of 4 KB", gain(Op::Write, 4096), 5.5, 0.2);
    let alone = random(&mut *cataloged(MONETA, ""), 1, 500, Op::Read, 4096);
    assert_close("a read alone, us", alone.mean_s() * 1e6, 7.9, 0.05);
    let small = random(&mut *cataloged(MONETA, ""), 16, 10_000, Op::Read, 512);
    assert_close("512 B reads a second", small.per_second(), 1.1e6, 0.02);
}

/// Section 3.3, figure 6. If rows move more often, bandwidth falls by a larger factor than latency rises.
#[test]
fn moving_rows_often_costs_more_bandwidth_than_latency() {
    let seen = |interval: u32, depth| {
        let settings = format!("wear_leveling = {{ kind = \"start_gap\", interval = {interval} }}\n");
        random(&mut *cataloged(ONYX, &format!("{LATE}{XDD}{settings}")), depth, 3_000, Op::Write, 4096)
    };
    let bandwidths = [1, 2, 8, 32, 128].map(|interval| seen(interval, 64).per_second());
    assert!(bandwidths.windows(2).all(|pair| pair[0] < pair[1]), "{bandwidths:?}");
    assert!(bandwidths[0] < 0.6 * bandwidths[4], "one more row for each: {bandwidths:?}");
    let (often, seldom) = (seen(1, 1).mean_s(), seen(128, 1).mean_s());
    assert!(often / seldom < bandwidths[4] / bandwidths[0], "{often} s and {seldom} s");
}

#[test]
fn the_driver_takes_its_cpu_time_for_every_request() {
    let mut drive = cataloged(ONYX, "");
    let seen = random(&mut *drive, 16, 1000, Op::Read, 512);
    let report = drive.report(seen.end);
    let cpus = report.resources.iter().find(|resource| resource.name == "cpus").expect("it has CPUs");
    assert_close(
        "CPU time",
        cpus.ledger.busy_s(Activity::Software),
        Time::from_ns(3_600_000).as_secs_f64(),
        1e-9,
    );
}
