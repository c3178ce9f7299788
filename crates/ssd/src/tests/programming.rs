//! Tests of limits on the number of dies that program simultaneously.

use super::*;
use nacre_testkit::conformance;

/// Creates four dies on separate channels that program 4 KiB in 500 us and erase a block of 256 pages in 3
/// ms.
fn limited(settings: &str) -> Driven {
    driven(&format!(
        "channels = 4\nways = 1\npages = 256\nblocks = 128\nbus = \"4 GB/s\"\ncommand = \"0 s\"\n\
         link = \"40 GB/s\"\n{settings}"
    ))
}

/// Checks that programs run in rounds if the number of simultaneous programs is limited. Twelve pages
/// arrive together, three per die. A page crosses the link in 0.1024 us and its channel in 1.024 us.
/// Without cached commands, the page is transferred before each program of a die, unless the die must wait
/// for the limit anyway.
#[test]
fn a_limited_number_of_programs_runs_in_rounds() {
    for (most, rounds, registers, crossings) in [
        (1, 12, 2, 1),
        (2, 6, 2, 1),
        (3, 4, 2, 1),
        (4, 3, 2, 1),
        (9, 3, 2, 1),
        (1, 12, 1, 1),
        (2, 6, 1, 1),
        (4, 3, 1, 3),
        (9, 3, 1, 3),
    ] {
        let mut device = limited(&format!("programs_at_once = {most}\nregisters = {registers}"));
        device.write_all(Time::ZERO, 0..12);
        // The last page of each round waits for the last page of the first round.
        let link = Time::from_ps(102_400) * most.min(4);
        let expected = link + Time::from_ns(1_024) * crossings + Time::from_us(500) * rounds;
        assert_eq!(device.rest(), expected, "{most} at once, {registers} registers");
        device.check_invariants();
    }
}

/// Checks the rate of programs if the number of simultaneous programs is limited. The expected rate is the
/// limit divided by the program time, or the rate at which all dies do all work including erases, whichever
/// is lower.
#[test]
fn saturated_writes_are_programmed_by_as_many_dies_as_may() {
    for settings in
        ["", "allocation = \"static\"", "allocation = \"dynamic\"", "registers = 1", "unit = \"2 KiB\""]
    {
        for most in [1, 2, 3, 4] {
            let settings = format!("buffer = \"1 MiB\"\nprograms_at_once = {most}\n{settings}");
            let mut device = limited(&settings);
            let count = device.unit_count();
            device.precondition(2 * count, |number| number % count);
            device.restart_ledger();
            let seen = device.closed_loop(64, 20_000, |number| unit(Op::Write, number % count));
            device.check_invariants();
            let of_dies = 4.0 / (500e-6 + 3e-3 / 256.0);
            let expected = (f64::from(most) / 500e-6).min(of_dies);
            assert_close(&format!("writes a second, {settings}"), seen.per_second(), expected, 0.02);
            let (end, report) = (device.rest(), device.report());
            let dies = resource(&report, "dies");
            let programming = dies.ledger.busy_s(Activity::Drain) / end.as_secs_f64();
            assert!(programming < f64::from(most) + 0.02, "{programming} dies program, {settings}");
        }
    }
}

/// Checks that programs of garbage collection count towards the limit: each host unit then takes additional
/// programs for copies.
#[test]
fn copies_take_their_turns_among_writes_of_the_host() {
    let settings = "programs_at_once = 2\nover_provisioning = \"28 %\"\nbuffer = \"1 MiB\"";
    let mut device = limited(settings);
    let count = device.unit_count();
    let mut random = random("copies");
    device.precondition(3 * count, |_| random.below(count));
    device.restart_ledger();
    let seen = device.closed_loop(64, count / 2, |_| unit(Op::Write, random.below(count)));
    let amplification = device.amplification();
    assert!(amplification > 2.0, "{amplification}");
    assert_close("writes a second", seen.per_second(), 2.0 / 500e-6 / amplification, 0.02);
}

#[test]
fn reads_do_not_wait_for_a_turn_to_program() {
    let mut device = limited("programs_at_once = 1");
    device.precondition(64, |number| number);
    // The second program waits for the first, and its die reads in the meantime.
    device.write_all(Time::ZERO, 100..102);
    let reads = [0, 1, 2, 3].map(|number| device.submit(Time::from_us(10), &unit(Op::Read, number)));
    let waits = reads.map(|read| device.answer(read).latency_s() * 1e6);
    let idle = 50.0 + 1.024 + 0.1024;
    let (busy, free): (Vec<f64>, Vec<f64>) = waits.into_iter().partition(|&wait| wait > 2.0 * idle);
    assert_eq!((busy.len(), free.len()), (1, 3), "{waits:?}");
    free.iter().for_each(|&wait| assert_close("a read of a die that waits", wait, idle, 0.005));
}

#[test]
fn the_contract_of_devices_is_kept() {
    for settings in [
        "blocks = 64\nprograms_at_once = 1",
        "blocks = 64\nprograms_at_once = 3\nplanes = 2\nscheduling = { kind = \"suspension\", suspend = \"20 us\" }\npower_protected = false",
        "blocks = 64\nprograms_at_once = 2\nallocation = \"dynamic\"\nplanes = 2\nregisters = 1",
        "blocks = 64\nprograms_at_once = 2\nerases_at_once = 1\nallocation = \"static\"\nplanes = 2\nmapping = { kind = \"cached_pages\", size = \"8 KiB\" }",
    ] {
        conformance(Time::from_us(200), || drive(settings));
    }
}
