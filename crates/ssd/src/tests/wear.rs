//! Tests of wear: wear leveling, worn-out blocks, and end of life.

use super::*;
use nacre_kernel::Status;

/// Fills a drive, and then writes `turnovers` times its capacity to random units in one tenth of the
/// addresses. Returns the erase counts of the superblocks.
fn erases(settings: &str, turnovers: u64) -> Vec<f64> {
    let mut device = driven(&format!("blocks = 64\nover_provisioning = \"40 %\"\n{settings}"));
    let count = device.unit_count();
    let mut random = random("wear");
    device.precondition(count, |number| number);
    device.precondition(turnovers * count, |_| random.below(count / 10));
    device.check_invariants();
    let report = device.report();
    let column = report.columns.iter().find(|column| column.name == "superblocks.erases").unwrap();
    column.values.clone()
}

fn spread(erases: &[f64]) -> f64 {
    erases.iter().copied().fold(0.0, f64::max) - erases.iter().copied().fold(f64::MAX, f64::min)
}

#[test]
fn static_leveling_bounds_the_spread_that_cold_data_causes() {
    let without = spread(&erases("", 40));
    assert!(without > 60.0, "{without}");
    for limit in [5, 20] {
        let with = spread(&erases(&format!("garbage_collection.wear_spread = {limit}"), 40));
        // The superblock with the most erases may be erased a few more times while another superblock is
        // emptied.
        assert!(with <= f64::from(limit) + 10.0, "{with} with a limit of {limit}");
    }
}

#[test]
fn uniform_writes_wear_evenly() {
    let mut device =
        driven("blocks = 64\nover_provisioning = \"40 %\"\ngarbage_collection.policy = \"fifo\"");
    let count = device.unit_count();
    let mut random = random("even");
    device.precondition(60 * count, |_| random.below(count));
    let erases = device.report().wear.unwrap().block_erases;
    let mean = erases.iter().map(|&erases| f64::from(erases)).sum::<f64>() / erases.len() as f64;
    let variance = erases.iter().map(|&erases| libm::pow(f64::from(erases) - mean, 2.0)).sum::<f64>();
    let deviation = (variance / erases.len() as f64).sqrt();
    assert!(mean > 50.0 && deviation < 0.03 * mean, "mean {mean}, deviation {deviation}");
}

/// Writes up to `most` random units, one at a time, until a write is rejected. Returns the number of units
/// written, the time of the rejection (`None` if no write was rejected), and the device.
fn write_at_most(settings: &str, most: u64) -> (u64, Option<Time>, Driven) {
    let mut device = driven(&format!("blocks = 64\nover_provisioning = \"40 %\"\n{settings}"));
    let count = device.unit_count();
    let mut random = random("worn");
    for number in 0..most.min(200 * count) {
        let answer = device.ask(device.now, &unit(Op::Write, random.below(count)));
        if answer.status == Status::WriteRefused {
            return (number, Some(answer.done), device);
        }
    }
    (most, None, device)
}

/// Writes random units, one at a time, until a write is rejected. Returns the number of units written, the
/// time of the rejection, and the device.
fn wear_out(settings: &str) -> (u64, Time, Driven) {
    let (written, refused, device) = write_at_most(settings, u64::MAX);
    (written, refused.expect("the drive wears out"), device)
}

#[test]
fn life_ends_as_endurance_blocks_and_write_amplification_predict() {
    // Spare blocks replace other blocks when these are nearly worn out, so spare blocks add little lifetime.
    for (settings, blocks) in
        [("endurance = 50", 64), ("endurance = 50\nendurance_spread = \"5 %\"\nspare_blocks = 8", 56)]
    {
        let (written, end, mut device) = wear_out(settings);
        device.rest();
        let report = device.report();
        let wear = report.wear.as_ref().unwrap();
        let amplification = wear.write_amplification().unwrap();
        // Each of four dies has `blocks` blocks of 64 pages, all of which withstand 50 programs.
        let expected = 50.0 * f64::from(blocks * 64 * 4) / amplification;
        assert_close(settings, written as f64, expected, 0.1);
        let column = |name: &str| column(&report, name);
        assert_close("bytes", column("end_of_life.host_bytes"), written as f64 * 4096.0, 0.01);
        assert_close("time", column("end_of_life.time_s"), end.as_secs_f64(), 1e-9);
        assert!(column("blocks_by_state.worn_out") > 0.0);
        device.check_invariants();
    }
}

#[test]
fn a_worn_out_drive_still_reads() {
    let (written, _, mut device) = wear_out("endurance = 20");
    let now = device.rest();
    let read = device.ask(now, &unit(Op::Read, 3));
    assert_eq!(read.status, Status::Done);
    let write = device.ask(read.done, &unit(Op::Write, 3));
    assert_eq!(write.status, Status::WriteRefused);
    assert!(written > 0 && device.counter("refused_writes") == 2);
}

#[test]
fn bad_blocks_are_replaced_by_spare_ones_of_their_plane() {
    let device = driven("blocks = 1024\nspare_blocks = 64\nfactory_bad = \"2 %\"");
    let report = device.report();
    let column = |name: &str| column(&report, name);
    let bad = column("blocks_by_state.bad_from_start");
    assert!((50.0..120.0).contains(&bad), "2 % of 4096 are 82, not {bad}");
    assert_eq!(column("blocks_by_state.superblocks_usable"), 960.0);
    assert_eq!(column("blocks_by_state.spare"), 4.0 * 64.0 - bad);
}

#[test]
fn the_lifetime_that_is_reported_is_the_time_until_writes_are_refused() {
    for settings in [
        "endurance = 60",
        "endurance = 60\nendurance_spread = \"10 %\"",
        "endurance = 60\nendurance_spread = \"25 %\"",
        "endurance = 60\nendurance_spread = \"25 %\"\nspare_blocks = 6",
    ] {
        let (written, refused, mut device) = wear_out(settings);
        let end = device.rest();
        let days = |elapsed: Time| device.report_over(elapsed).lifetime_days.expect("it has an endurance");
        // The end of life is known exactly.
        assert_close(settings, days(end) * 86_400.0, refused.as_secs_f64(), 1e-3);
        let (_, _, mut younger) = write_at_most(settings, written * 3 / 4);
        let now = younger.rest();
        let expected = younger.report_over(now).lifetime_days.expect("it has an endurance");
        assert_close(settings, expected * 86_400.0, refused.as_secs_f64(), 0.1);
        // The time in which the drive rejects writes is not part of its lifetime.
        assert_close("later", days(end + end), days(end), 1e-6);
    }
}

#[test]
fn blocks_that_differ_last_shorter_than_equal_ones() {
    let days = |settings: &str| {
        let mut device =
            driven(&format!("blocks = 64\nover_provisioning = \"40 %\"\nendurance = 60\n{settings}"));
        let count = device.unit_count();
        device.precondition(count, |number| number);
        device.report_over(Time::from_us(1_000_000)).lifetime_days.expect("it has an endurance")
    };
    let even = days("");
    // The data and the reserve need 50 of 64 superblocks. The 50th strongest of 64 blocks withstands 60 (1 -
    // 0.77 x 25 %) = 48 erases, and the weakest of four dies about 47. The 14 weaker blocks withstand 37 on
    // average. This gives 2,870 erases of 3,840.
    let share = days("endurance_spread = \"25 %\"") / even;
    assert!((0.65..0.82).contains(&share), "{share}");
    // Spare blocks replace other blocks when these are worn out.
    assert_close("56 of 64", days("spare_blocks = 8") / even, 56.0 / 64.0, 1e-9);
}
