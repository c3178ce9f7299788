//! Tests that reads precede waiting operations but wait for the operation in progress (non-preemptive
//! priority).
//!
//! Host reads (1) and programs (2) arrive at random with rates l1 and l2, and take fixed times s1 and s2, so
//! the loads are r = l s. The mean remaining time of the operation in progress at an arrival is
//! `R = (l1 s1^2 + l2 s2^2) / 2`. Reads wait for `R / (1 - r1)` (Cobham 1954; Kleinrock, *Queueing Systems*,
//! vol. 2, equation 3.31).

use crate::tests::driven::{Driven, driven};
use crate::tests::{random, unit};
use nacre_kernel::{Op, Time};
use nacre_testkit::assert_close;
use nacre_testkit::drive::poisson;
use nacre_testkit::queueing::priority_waits;

const READ: Time = Time::from_us(50);

/// Creates a die with programs of 500 us and reads of 50 us. All other operations take almost no time.
fn one_die(settings: &str) -> Driven {
    driven(&format!(
        "channels = 1\nways = 1\npages = 128\nbus = \"400 GB/s\"\ncommand = \"0 s\"\nlink = \"40000 GB/s\"\n\
         buffer = \"16 MiB\"\n{settings}"
    ))
}

/// Returns the latencies in seconds of reads that arrive at the times `at_us` in microseconds.
fn latencies<const COUNT: usize>(device: &mut Driven, at_us: [u64; COUNT]) -> [f64; COUNT] {
    let reads = at_us.map(|at| device.submit(Time::from_us(at), &unit(Op::Read, 2 + at)));
    reads.map(|read| device.answer(read).latency_s())
}

#[test]
fn every_read_waits_for_a_program_that_has_begun() {
    let mut device = one_die("");
    device.submit(Time::ZERO, &unit(Op::Write, 1));
    let [first, second, third] = latencies(&mut device, [10, 20, 610]);
    assert_close("the first", first, 540e-6, 0.001);
    assert_close("the second", second, 580e-6, 0.001);
    assert_close("the program is over", third, 50e-6, 0.005);
}

#[test]
fn every_read_waits_for_a_program_whose_suspensions_are_used_up() {
    let mut device = one_die("scheduling = { kind = \"suspension\", suspend = \"10 us\", suspensions = 1 }");
    device.submit(Time::ZERO, &unit(Op::Write, 1));
    let [suspends, first, second] = latencies(&mut device, [10, 100, 200]);
    assert_close("suspends", suspends, 60e-6, 0.005);
    // The program ends at 560 us.
    assert_close("the first", first, 510e-6, 0.001);
    assert_close("the second", second, 460e-6, 0.001);
}

#[test]
fn a_read_goes_before_operations_that_have_not_started() {
    let mut device = one_die("");
    device.write_all(Time::ZERO, 0..2);
    // One of two programs has started.
    let [read] = latencies(&mut device, [200]);
    assert_close("the read", read, 350e-6, 0.001);
    assert_close("both programs end", device.rest().as_secs_f64(), 1_050e-6, 0.001);
}

#[test]
fn reads_of_a_drive_beside_programs_wait_as_priority_without_preemption_says() {
    let mut device = one_die("");
    let (mut reads, mut writes) =
        (poisson(random("reads"), 8_000.0).peekable(), poisson(random("writes"), 800.0).peekable());
    let (mut counts, mut numbers, mut last) = ([0_u64; 2], Vec::new(), Time::ZERO);
    while counts[0] < 300_000 {
        if reads.peek() < writes.peek() {
            last = reads.next().expect("arrivals continue");
            numbers.push(device.submit(last, &unit(Op::Read, 51_000 - counts[0] % 1_000)));
            counts[0] += 1;
        } else {
            last = writes.next().expect("arrivals continue");
            device.submit(last, &unit(Op::Write, counts[1] % 50_000));
            counts[1] += 1;
        }
    }
    device.rest();
    let waits: f64 = numbers.iter().map(|&read| (device.seen(read).latency() - READ).as_secs_f64()).sum();
    let rates = counts.map(|count| count as f64 / last.as_secs_f64());
    let [expected, _] = priority_waits(rates, [READ.as_secs_f64(), 500e-6]);
    assert_close("reads", waits / counts[0] as f64, expected, 0.02);
}

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
