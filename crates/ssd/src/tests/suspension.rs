//! Tests of reads that suspend programs and erases.

use crate::tests::driven::{Driven, driven};
use crate::tests::{random, resource, unit};
use nacre_kernel::{Activity, Op, Time};
use nacre_testkit::assert_close;

/// Creates a drive of one die that programs a page in 10 ms.
fn one_die(settings: &str) -> Driven {
    driven(&format!(
        "channels = 1\nways = 1\npages = 128\nprogram = [\"10 ms\"]\nbus = \"4 GB/s\"\ncommand = \"0 s\"\nlink = \"4000 GB/s\"\n{settings}"
    ))
}

/// Returns the latency in seconds of a read at `at` during a program of 10 ms, and the drive.
fn read_during_a_program(settings: &str, at: Time) -> (f64, Driven) {
    let mut device = one_die(settings);
    device.submit(Time::ZERO, &unit(Op::Write, 1));
    (device.ask(at, &unit(Op::Read, 2)).latency_s(), device)
}

#[test]
fn a_read_waits_for_the_end_of_a_program_that_cannot_be_suspended() {
    let (time, _) = read_during_a_program("", Time::from_ms(4));
    assert_close("waits", time, 6e-3 + 51e-6, 0.001);
}

#[test]
fn a_read_suspends_a_program_which_ends_so_much_later() {
    let settings = "scheduling = { kind = \"suspension\", suspend = \"100 us\", resume = \"30 us\" }";
    let (time, mut device) = read_during_a_program(settings, Time::from_ms(4));
    assert_close("suspends", time, 100e-6 + 51e-6, 0.001);
    // The program takes 10 ms, plus suspension, read, and resumption.
    assert_close("the program ends", device.rest().as_secs_f64(), 10e-3 + 180e-6, 0.001);
    assert_eq!(device.counter("suspensions"), 1);
}

#[test]
fn a_second_read_finds_the_die_suspended() {
    let settings = "scheduling = { kind = \"suspension\", suspend = \"100 us\", resume = \"30 us\" }";
    let mut device = one_die(settings);
    device.submit(Time::ZERO, &unit(Op::Write, 1));
    device.submit(Time::from_ms(4), &unit(Op::Read, 2));
    let second = device.ask(Time::from_us(4_050), &unit(Op::Read, 3));
    assert_close("continues", second.latency_s(), (150.0 - 50.0 + 51.0) * 1e-6, 0.001);
    assert_eq!(device.counter("suspensions"), 1);
}

#[test]
fn a_program_is_suspended_up_to_the_limit_and_then_ends() {
    let settings = "scheduling = { kind = \"suspension\", suspend = \"100 us\", suspensions = 3 }";
    let (_, mut device) = read_during_a_program(settings, Time::from_ms(1));
    let reads = [2, 3, 4, 5, 6_u64];
    let numbers = reads.map(|read| device.submit(Time::from_ms(read), &unit(Op::Read, read)));
    for (read, number) in reads.into_iter().zip(numbers) {
        let time = device.answer(number).latency_s();
        if read <= 3 {
            assert_close("suspends", time, 151e-6, 0.001);
        } else {
            assert!(time > 4e-3 - 450e-6, "read {read} waits for the program, but took {time}");
        }
    }
    assert_eq!(device.counter("suspensions"), 3);
}

#[test]
fn reads_of_a_busy_die_meet_the_law_of_residual_time() {
    // The die programs all the time. A read at a random time waits for half a program on average, or for the
    // suspension.
    for (settings, wait) in [
        ("", 0.5 * 2e-3),
        ("scheduling = { kind = \"suspension\", suspend = \"50 us\", suspensions = 1000 }", 50e-6),
    ] {
        let mut device = driven(&format!(
            "channels = 1\nways = 1\npages = 128\nprogram = [\"2 ms\"]\nbus = \"40 GB/s\"\ncommand = \"0 s\"\nlink = \"4000 GB/s\"\n{settings}"
        ));
        let (mut random, mut sum, mut number) = (random("residual"), 0.0, 0_u64);
        let rounds = 2_000;
        for round in 0..rounds {
            // There are enough programs for the whole round, so the die is never idle during the round.
            let now = Time::from_ms(40 * round);
            device.write_all(now, (number..number + 19).map(|number| number % 1000));
            number += 19;
            let at = now + Time::from_us(10_000 + random.below(20_000));
            sum += device.ask(at, &unit(Op::Read, 5_000)).latency_s() - 50e-6;
        }
        assert_close(settings, sum / rounds as f64, wait, 0.05);
    }
}

/// Checks the time that is charged for a suspension if power fails while a program is being suspended, is
/// suspended, or is being resumed. Only the part of each phase before the power loss is charged.
#[test]
fn a_power_loss_ends_a_suspension() {
    let settings = "scheduling = { kind = \"suspension\", suspend = \"100 us\", resume = \"300 us\" }\npower_protected = false";
    // The program is suspended from 4 ms, the read takes until 4.15 ms, and the resumption takes until 4.45
    // ms.
    for (lost_us, suspending_us) in [(4_040, 40), (4_120, 100), (4_250, 200), (5_000, 400)] {
        let mut device = one_die(settings);
        device.submit(Time::ZERO, &unit(Op::Write, 1));
        device.submit(Time::from_ms(4), &unit(Op::Read, 2));
        device.fail(Time::from_us(lost_us));
        let report = device.report();
        let ledger = &resource(&report, "dies").ledger;
        let found = ledger.busy_s(Activity::Suspend) * 1e6;
        assert!((found - f64::from(suspending_us)).abs() < 1e-6, "{found} us of suspending at {lost_us} us");
        // The data crosses the channel in 1.024 us and the link in 0.001 us. After that, the die is never
        // idle.
        let busy = ledger.total_busy_s() * 1e6;
        assert!((busy - (lost_us as f64 - 1.025)).abs() < 0.1, "busy for {busy} of {lost_us} us");
    }
}
