//! Tests of bit errors: fraction of reads with read retries, latencies, aging, and lost data.

use super::driven::driven_with_bytes;
use super::*;
use nacre_controller::ecc::binomial_tail;
use nacre_kernel::Status;

/// A day in microseconds.
const DAY: u64 = 86_400_000_000;
/// Number of bits of a codeword of the default LDPC code: 2 KiB of data and 256 B of parity.
const CODEWORD: u64 = 8 * (2048 + 256);

/// Returns settings with the constant bit error rate `rate`, unless `law` sets another rate.
fn errors(rate: f64, law: &str) -> String {
    format!("errors = {{ ecc = {{ kind = \"ldpc\" }}, bit_error_rate = {rate}, cycles = 1000, {law} }}")
}

/// Settings of every allocation. The results of a test must not depend on the allocation, but only on
/// pages, blocks, and reads.
const ALLOCATIONS: [&str; 3] = ["", "allocation = \"static\"\n", "allocation = \"dynamic\"\n"];

/// Creates a drive whose first `count` units were written without simulated time.
fn filled(settings: &str, count: u64) -> Driven {
    let mut device = driven(settings);
    device.precondition(count, |number| number);
    device
}

/// Reads units one at a time, at intervals of one millisecond, starting `at` microseconds after time zero.
/// Returns the mean latency in seconds.
fn mean_latency(device: &mut Driven, at: u64, units: std::ops::Range<u64>) -> f64 {
    let count = units.end - units.start;
    let mut sum = 0.0;
    for (step, number) in (0..).zip(units) {
        sum += device.ask(Time::from_us(at + 1000 * step), &unit(Op::Read, number)).latency_s();
    }
    sum / count as f64
}

fn corrected_bits(device: &mut Driven, at: u64, units: std::ops::Range<u64>) -> f64 {
    let before = counter(&device.report(), "corrected_bits");
    let count = units.end - units.start;
    mean_latency(device, at, units);
    (counter(&device.report(), "corrected_bits") - before) as f64 / (2 * count) as f64
}

#[test]
fn reads_are_sensed_again_as_often_as_the_tail_of_the_binomial_says() {
    const READS: u64 = 20_000;
    for (rate, allocation) in [(0.0036, ""), (0.0045, ""), (0.0036, ALLOCATIONS[1]), (0.0045, ALLOCATIONS[2])]
    {
        let settings = format!("{allocation}{}", errors(rate, "error_exponent = 0"));
        let mut device = filled(&settings, READS);
        let mean = mean_latency(&mut device, 10_000, 0..READS);
        // The limits increase from 0.4 to 1.1 % in six steps.
        let limit = |senses: u32| (CODEWORD as f64 * (0.004 + 0.007 * f64::from(senses) / 6.0)) as u64;
        let beyond: Vec<f64> = (0..6).map(|senses| binomial_tail(CODEWORD, rate, limit(senses))).collect();
        let of_two = |p: f64| 1.0 - (1.0 - p) * (1.0 - p);
        let senses: f64 = beyond.iter().map(|&p| of_two(p)).sum();
        let decoding = 2.0 * (2e-6 + 10e-6 * beyond.iter().sum::<f64>());
        let base = mean_latency(&mut filled("", READS), 10_000, 0..1);
        let again = 50e-6 + 300e-9 + 4096.0 / 400e6;
        assert_close("latency", mean, base + decoding + senses * again, 0.01);
        let found = device.report();
        assert_close(
            "read retries",
            counter(&found, "retried_units") as f64 / READS as f64,
            of_two(beyond[0]),
            0.02,
        );
        let retries = counter(&found, "read_retries");
        assert_close("senses", retries as f64 / READS as f64, senses, 0.02);
        // Every retry is a read of the flash and consumes its energy.
        assert_eq!(counter(&found, "flash_reads"), READS + retries);
        assert_eq!(counter(&found, "uncorrectable_units"), 0);
        device.check_invariants();
    }
}

#[test]
fn wrong_bits_grow_with_erases_and_days() {
    let bits = |law: &str, at: u64| {
        let mut device = filled(&errors(0.001, law), 4_000);
        corrected_bits(&mut device, at, 0..4_000)
    };
    let rated = 0.001 * CODEWORD as f64;
    assert_close("at its cycles", bits("erases_before = 1000", 0), rated, 0.01);
    assert_close("at half of them", bits("erases_before = 500", 0), rated / 8.0, 0.02);
    assert_close("linear", bits("erases_before = 500, error_exponent = 1", 0), rated / 2.0, 0.01);
    assert_eq!(bits("erases_before = 0", 0), 0.0, "a new drive has none");
    let lying = "erases_before = 1000, retention = \"50 %\"";
    assert_close("after three days", bits(lying, 3 * DAY), rated * 2.5, 0.01);
}

#[test]
fn wrong_bits_of_a_published_law_add_up() {
    // The rates are those of kim-2019 for TLC with 72 layers at 1,000 cycles: 1.48e-3, 3.90e-10 cycles^2.05,
    // and 6.28e-5 cycles^0.14 days^0.54.
    let law = "ecc = { kind = \"ldpc\" }, fresh_bit_error_rate = 1.48e-3, bit_error_rate = 5.509e-4, cycles = 1000, \
               error_exponent = 2.05, retention = \"29.98 %\", retention_exponent = 0.54, \
               retention_cycles_exponent = 0.14";
    for (erases, days) in [(0.0, 0_u64), (3000.0, 0), (3000.0, 1), (3000.0, 8)] {
        let settings = format!("errors = {{ {law}, erases_before = {erases} }}");
        let mut device = filled(&settings, 4_000);
        let found = corrected_bits(&mut device, days * DAY, 0..4_000) / CODEWORD as f64;
        let lain = if erases > 0.0 { libm::pow(erases, 0.14) * libm::pow(days as f64, 0.54) } else { 0.0 };
        let expected = 1.48e-3 + 3.90e-10 * libm::pow(erases, 2.05) + 6.28e-5 * lain;
        assert_close("share of bit errors", found, expected, 0.01);
    }
}

#[test]
fn retention_starts_at_the_program() {
    let law = errors(0.001, "error_exponent = 0, retention = \"100 %\"");
    let mut device = filled(&law, 2_048);
    let count = 2_048;
    let mut at = Time::from_us(3 * DAY);
    for number in 0..count {
        at = device.ask(at, &unit(Op::Write, number)).done;
    }
    let found = corrected_bits(&mut device, 3 * DAY + 1_000_000_000, 0..1_024);
    assert_close("fresh", found, 0.001 * CODEWORD as f64, 0.02);
    let found = corrected_bits(&mut device, 5 * DAY, 0..1_024);
    assert_close("two days old", found, 0.003 * CODEWORD as f64, 0.02);
}

#[test]
fn reads_disturb_their_block_and_no_other() {
    ALLOCATIONS.iter().for_each(|allocation| disturbs_its_block(allocation));
}

fn disturbs_its_block(allocation: &str) {
    let law = "erases_before = 1000, read_disturb = 1e-7";
    let mut device = filled(&format!("{allocation}{}", errors(0.0, law)), 4 * 64 * 4);
    // Die 0 has every fourth page of the superblock.
    for step in 0..2_000 {
        device.ask(Time::from_us(1000 * step), &unit(Op::Read, 0));
    }
    let bits = |device: &mut Driven, at: u64, die: u64| {
        let before = counter(&device.report(), "corrected_bits");
        for page in 1..64 {
            let read = unit(Op::Read, 4 * page + die);
            device.ask(Time::from_us(at + 1000 * page), &read);
        }
        (counter(&device.report(), "corrected_bits") - before) as f64 / (2.0 * 63.0)
    };
    let other = bits(&mut device, 3_000_000, 1);
    assert!(other < 0.2, "{other}");
    let expected = 2_000.0 * 1e-7 * CODEWORD as f64;
    assert_close("2,000 reads", bits(&mut device, 4_000_000, 0), expected, 0.15);
}

#[test]
fn a_superblock_is_refreshed_after_refresh_reads_of_a_block() {
    // Refreshed data is corrected, even if garbage collection copies inside a die.
    for (others, lanes) in [
        ("", 4),
        ("planes = 2\nmulti_plane = false\n", 8),
        ("allocation = \"static\"\n", 1),
        ("allocation = \"dynamic\"\nplanes = 2\n", 1),
        ("allocation = { kind = \"static\", copyback = true }\n", 1),
    ] {
        let law = "erases_before = 1000, read_disturb = 1e-6, refresh_reads = 100";
        let settings = format!("{others}{}", errors(0.0, law));
        let mut device = filled(&settings, 4 * 64 * 5);
        for step in 0..1_000 {
            let at = Time::from_us(200_000 * step);
            device.ask(at, &unit(Op::Read, 0));
        }
        device.rest();
        device.check_invariants();
        let found = device.report();
        assert_eq!(counter(&found, "refreshes"), 10, "{others}");
        assert_eq!(counter(&found, "flash_reads"), 1_000);
        assert_eq!(counter(&found, "flash_erases"), 10 * lanes);
        // Reads encounter the errors of 0 to 99 earlier reads. Copies of the 64 pages of the block encounter
        // those of 100.
        let expected = (2_000.0 * 49.5 + 10.0 * 128.0 * 100.0) * 1e-6 * CODEWORD as f64;
        assert_close("bit errors", counter(&found, "corrected_bits") as f64, expected, 0.2);
    }
}

#[test]
fn uncorrectable_units_are_never_returned_and_stay_lost_until_they_are_written() {
    let copyback = "allocation = { kind = \"static\", copyback = true }\n";
    ALLOCATIONS.into_iter().chain([copyback]).for_each(never_gives_what_is_lost);
}

fn never_gives_what_is_lost(others: &str) {
    let settings = format!(
        "{others}blocks = 32\nover_provisioning = \"60 %\"\nerrors = {{ ecc = {{ kind = \"bch\", t = 4 }}, \
         bit_error_rate = 0.00005, cycles = 1, error_exponent = 0 }}"
    );
    let mut device = driven_with_bytes(&settings);
    let count = device.unit_count();
    let mut random = random("lost");
    let mut values = vec![0_u8; count as usize];
    let mut lost = vec![false; count as usize];
    let mut failures = 0;
    for step in 0..6 * count {
        let number = if step < count { step } else { random.below(count) };
        let value = 1 + random.below(255) as u8;
        device.write_bytes(device.now, number, value);
        (values[number as usize], lost[number as usize]) = (value, false);
        let number = random.below(count.min(step + 1));
        let read = device.ask(device.now, &unit(Op::Read, number));
        let bytes = read.data.bytes().expect("a read returns bytes");
        let number = number as usize;
        match read.status {
            Status::Done => {
                assert!(!lost[number], "unit {number} was lost");
                assert!(bytes.iter().all(|&byte| byte == values[number]), "unit {number}");
            }
            _ => {
                assert!(bytes.iter().all(|&byte| byte == 0), "unit {number} is given");
                lost[number] = true;
                failures += 1;
            }
        }
    }
    let found = device.report();
    assert!(failures > 100 && counter(&found, "lost_pages") > 100, "{failures} reads failed");
    assert!(counter(&found, "cleanings") > 10);
    device.check_invariants();
}

#[test]
fn the_share_of_units_that_are_lost_is_that_of_the_code() {
    let settings = "errors = { ecc = { kind = \"bch\", t = 4, codeword = \"2 KiB\" }, bit_error_rate = 0.0001, \
                    cycles = 1, error_exponent = 0 }";
    let expected = crate::tests::workbench::ecc("kind = \"bch\"\nt = 4\ncodeword = \"2 KiB\"", 4096);
    for allocation in &ALLOCATIONS[..2] {
        let mut device = filled(&format!("{allocation}{settings}"), 40_000);
        mean_latency(&mut device, 0, 0..40_000);
        let found = device.counter("lost_pages") as f64 / 40_000.0;
        assert_close("lost", found, expected.page_failure(1e-4), 0.05);
        let uncorrectable = device.counter("uncorrectable_units");
        assert_eq!(device.counter("lost_pages"), uncorrectable);
    }
}

/// Number of units of a die with two planes and with copies inside the die. Two of every four units of a
/// plane are written repeatedly.
const UNITS: u64 = 1 << 16;

/// Returns the cold units that garbage collection moves `times` times. The other cold units are trimmed after
/// the first move.
fn cold(times: u64) -> impl Iterator<Item = u64> {
    (0..UNITS).filter(move |number| (number / 2) % 4 < 3 - times)
}

/// Returns a drive with one die after garbage collection moved the units of `cold(times)`, each `times`
/// times. Also returns a time from which the drive is idle.
fn moved(settings: &str, times: u64) -> (Driven, u64) {
    let mut device = driven(&format!(
        "channels = 1\nways = 1\nplanes = 2\npages = 256\nblocks = 160\nover_provisioning = \"20 %\"\n\
         allocation = {{ kind = \"static\", copyback = true }}\ngarbage_collection.policy = \"fifo\"\n{settings}"
    ));
    let ask = |device: &mut Driven, op, number| {
        device.ask(device.now, &unit(op, number));
    };
    (0..UNITS).for_each(|number| ask(&mut device, Op::Write, number));
    let mut hot = (0..UNITS).filter(|number| (number / 2) % 4 >= 2).cycle();
    // Blocks of hot units have no valid pages when they become victims, and blocks without invalid pages are
    // skipped. Garbage collection therefore copies every cold unit once.
    let mut wanted = 0;
    for round in 1..=times {
        let dead = cold(1).filter(|number| (number / 2) % 4 == 1 && round == 2);
        dead.for_each(|number| ask(&mut device, Op::Trim, number));
        wanted += cold(round).count() as u64;
        for _ in 0..UNITS / 8 {
            if device.counter("units_cleaned") >= wanted {
                break;
            }
            hot.by_ref().take(32).for_each(|number| ask(&mut device, Op::Write, number));
        }
        assert_eq!(device.counter("units_cleaned"), wanted, "round {round}");
    }
    let end = device.rest();
    (device, end.as_ps() / 1_000_000 + 1)
}

/// Reads the units that were moved `times` times. Returns the number of these units.
fn read_cold(device: &mut Driven, at: u64, times: u64) -> f64 {
    for (step, number) in (0..).zip(cold(times)) {
        let now = Time::from_us(at + 1000 * step);
        device.ask(now, &unit(Op::Read, number));
    }
    device.check_invariants();
    cold(times).count() as f64
}

#[test]
fn copies_inside_a_die_keep_their_bit_errors() {
    for (times, rate) in [(1, 0.0019), (2, 0.0013)] {
        let (mut device, at) = moved(&errors(rate, "error_exponent = 0"), times);
        let units = read_cold(&mut device, at, times);
        let found = device.report();
        let share = |name| counter(&found, name) as f64 / units;
        // Every page that held the unit adds the same number of bit errors.
        let wrong = rate * (times + 1) as f64;
        assert_close("bit errors", share("corrected_bits"), 2.0 * wrong * CODEWORD as f64, 0.01);
        let beyond = binomial_tail(CODEWORD, wrong, (CODEWORD as f64 * 0.004) as u64);
        assert_close("read retries", share("retried_units"), 1.0 - (1.0 - beyond) * (1.0 - beyond), 0.02);
        assert_eq!(counter(&found, "copy_reads"), counter(&found, "units_cleaned"), "copies are sensed once");
    }
}

#[test]
fn losses_in_copies_inside_a_die_are_reported_by_reads() {
    let rate = 7e-5;
    let settings = format!(
        "errors = {{ ecc = {{ kind = \"bch\", t = 4, codeword = \"2 KiB\" }}, bit_error_rate = {rate}, cycles = 1, \
         error_exponent = 0 }}"
    );
    let (mut device, at) = moved(&settings, 2);
    assert_eq!(device.counter("lost_pages"), 0, "copies are not decoded");
    let units = read_cold(&mut device, at, 2);
    let code = crate::tests::workbench::ecc("kind = \"bch\"\nt = 4\ncodeword = \"2 KiB\"", 4096);
    let lost = device.counter("lost_pages") as f64 / units;
    assert_close("lost", lost, code.page_failure(3.0 * rate), 0.05);
}

#[test]
fn a_flush_reports_a_loss_once_and_partial_writes_of_it_fail() {
    for is_protected in [false, true] {
        let settings = format!(
            "power_protected = {is_protected}\nerrors = {{ ecc = {{ kind = \"crc32\" }}, bit_error_rate = 0.1, \
             cycles = 1, error_exponent = 0 }}"
        );
        let mut device = filled(&settings, 8);
        let flush = Request { bytes: 0, ..unit(Op::Flush, 0) };
        let part = |number| Request { bytes: 512, ..unit(Op::Write, number) };
        let mut ask = |now: u64, request: &Request| {
            let arrival = Time::from_us(now);
            device.ask(arrival, &Request { arrival, ..*request }).status
        };
        assert_eq!(ask(0, &flush), Status::Done);
        assert_eq!(ask(10_000, &unit(Op::Read, 0)), Status::MediaError);
        assert_eq!(ask(20_000, &flush), Status::MediaError);
        assert_eq!(ask(20_000, &flush), Status::Done, "in response to the report, at the same instant");
        assert_eq!(ask(30_000, &flush), Status::Done);
        assert_eq!(ask(40_000, &part(0)), Status::MediaError, "the rest of the unit is lost");
        assert_eq!(ask(50_000, &flush), Status::Done, "nothing was lost that was done");
        assert_eq!(ask(60_000, &unit(Op::Read, 0)), Status::MediaError);
        assert_eq!(ask(70_000, &unit(Op::Write, 0)), Status::Done);
        assert_eq!(ask(70_100, &part(0)), Status::Done, "all of it was written");
        // The rest of the unit is read after the write completes, and its data is lost.
        assert_eq!(ask(80_000, &part(1)), Status::Done);
        assert_eq!(ask(90_000, &flush), Status::MediaError);
        assert_eq!(ask(100_000, &unit(Op::Read, 1)), Status::MediaError);
    }
}

#[test]
fn contradictions_are_refused_in_words() {
    for (settings, expected) in [
        (
            "errors = { ecc = { kind = \"none\" }, bit_error_rate = 0.001, cycles = 1 }",
            "it cannot detect bit errors",
        ),
        (
            "errors = { ecc = { kind = \"ldpc\" }, bit_error_rate = 0.001, cycles = 1, spare = \"256 B\" }",
            "the code needs 512 B next to a page",
        ),
        (
            "errors = { ecc = { kind = \"ldpc\", codeword = \"8 KiB\" }, bit_error_rate = 0.001, cycles = 1 }",
            "is not a whole number of codewords",
        ),
        ("errors = { ecc = { kind = \"ldpc\" }, bit_error_rate = 0.5, cycles = 1 }", "0.1"),
    ] {
        let found = problems(settings);
        assert!(found.contains(expected), "{expected} is not in\n{found}");
    }
}
