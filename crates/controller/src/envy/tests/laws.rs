//! Compares the device with closed forms and exact times.

use super::{FewestLive, TINY, answer_to, device};
use crate::workbench::{ask, workbench};
use nacre_kernel::event::{Completions, Device, Payload, Preconditioning};
use nacre_kernel::{Activity, Op, Request, Span, Streams, Time, Wear};
use nacre_media::store::Nothing;
use nacre_testkit::{conformance, durability};

/// 128 segments of 1024 pages. A segment is the same share of the array as in the paper.
const ARRAY: &str = "kind = \"envy\"\nsegment = \"256 KiB\"\nbuffer = \"4 KiB\"\nwear_swap_gap = 0\n";
const PAGE: u64 = 256;

fn write(page: u64) -> Request {
    Request { arrival: Time::ZERO, address: page * PAGE, bytes: 4, volume: 0, op: Op::Write }
}

/// Tests that the energy of each word access, program, and erase is charged exactly once, to the activity
/// that caused it. Operations before the start of measurement are not charged.
#[test]
fn energy_follows_from_counts() {
    let settings = "kind = \"envy\"\nsegment = \"16 KiB\"\nsegments = 16\nbuffer = \"4 KiB\"\nwear_swap_gap = 3\ncleaning = \"greedy\"\n\
         access_energy = \"1 nJ\"\nprogram_energy = \"2 uJ\"\nerase_energy = \"3 mJ\"\nconcurrency = 2\n";
    let mut device = workbench(1).build(settings).unwrap();
    let pages = device.capacity().unwrap().0 / PAGE;
    let mut random = Streams::new(7).stream("uniform");
    let mut now = Time::ZERO;
    for round in 0..2 {
        if round == 1 {
            device.restart_ledger(now);
        }
        for number in 0..6000 {
            // Three words are read for each word written, and most writes hit a few pages.
            let page = if number % 50 == 0 { random.below(pages) } else { random.below(40) };
            now = ask(&mut *device, now, &write(page), Payload::NONE).done;
            let read = Request { op: Op::Read, bytes: 10, ..write(page) };
            now = ask(&mut *device, now, &read, Payload::NONE).done + Time::from_us(30);
        }
    }
    let report = device.report(now);
    let wear = report.wear.as_ref().expect("flash wears");
    assert!(wear.cleaned > 0 && wear.leveled > 0 && wear.erases > 0, "{wear:?}");
    for (activity, count, each) in [
        (Activity::Read, 18_000, 1e-9),
        (Activity::Write, 6000, 1e-9),
        (Activity::Drain, wear.host, 2e-6),
        (Activity::Clean, wear.cleaned, 2e-6),
        (Activity::LevelWear, wear.leveled, 2e-6),
        (Activity::Erase, wear.erases, 3e-3),
    ] {
        assert_close(report.energy(activity).0, count as f64 * each, 1e-12, &format!("{activity:?}"));
    }
}

/// Returns the wear caused by page writes. The number of writes is `turnovers` times the number of logical
/// pages. An equal number of writes precedes the measurement. `page` returns the page of the next write,
/// given the number of pages.
fn worn(settings: &str, turnovers: u64, mut page: impl FnMut(u64) -> u64) -> Wear {
    let mut device = workbench(1).build(&format!("{ARRAY}{settings}")).unwrap();
    let pages = device.capacity().unwrap().0 / PAGE;
    for _ in 0..2 {
        let mut left = turnovers * pages;
        device.restart_ledger(Time::ZERO);
        while left > 0 {
            let requests: Vec<Request> = (0..left.min(4096)).map(|_| write(page(pages))).collect();
            device.preconditioning().expect("it has it").precondition(&requests);
            left -= requests.len() as u64;
        }
        device.check_invariants();
    }
    device.report(Time::from_s(1)).wear.expect("flash wears")
}

fn uniform(settings: &str, turnovers: u64) -> f64 {
    let mut random = Streams::new(7).stream("uniform");
    worn(settings, turnovers, |pages| random.below(pages)).cleaning_cost().unwrap()
}

fn assert_close(value: f64, law: f64, tolerance: f64, what: &str) {
    let error = (value / law - 1.0).abs();
    assert!(error <= tolerance, "{what}: {value:e}, the law gives {law:e}");
}

/// If every segment is a partition, segments are always cleaned at the utilization of the array, u. Cleaning
/// then copies u / (1 - u) pages per reclaimed page (wu-1994, figure 6).
#[test]
fn a_segment_cleaned_at_utilization_u_costs_u_over_1_minus_u() {
    for u in [0.3, 0.5, 0.7, 0.8, 0.9] {
        let settings =
            ARRAY.replace("kind = \"envy\"\n", "") + &format!("utilization = \"{} %\"\n", u * 100.0);
        let mut envy = device(&settings, Nothing, FewestLive(Some(1)));
        let pages = envy.array.geometry.logical_pages;
        let mut random = Streams::new(11).stream("uniform");
        let mut turn = |turnovers: u64| {
            let writes: Vec<Request> = (0..turnovers * pages).map(|_| write(random.below(pages))).collect();
            envy.precondition(&writes);
            envy.array.programs
        };
        let (before, now) = (turn(8), turn(16));
        let cost = (now.cleaned - before.cleaned) as f64 / (now.drained - before.drained) as f64;
        assert_close(cost, u / (1.0 - u), 0.02, &format!("u = {u}"));
        envy.check_invariants();
    }
}

/// Cleaning cost v / (1 - v) of FIFO, which cleans segments at the utilization v = exp(-(1 - v) / u) under
/// uniform writes (Desnoyers 2012). Greedy has the same cost in the limit of large segments.
fn fifo_law(u: f64) -> f64 {
    let v = (0..500).fold(0.5, |v, _| libm::exp(-(1.0 - v) / u));
    v / (1.0 - v)
}

#[test]
fn fifo_and_greedy_cost_what_the_closed_form_says() {
    for (u, turnovers) in [(0.5, 6), (0.6, 6), (0.7, 6), (0.8, 6), (0.9, 5), (0.95, 4)] {
        for policy in ["fifo", "greedy"] {
            let settings = format!("cleaning = \"{policy}\"\nutilization = \"{} %\"\n", u * 100.0);
            let cost = uniform(&settings, turnovers);
            assert_close(cost, fifo_law(u), 0.02, &format!("{policy} at u = {u}"));
        }
    }
}

/// Closed form of the cleaning cost of FIFO if hot and cold data are mixed: c = sum r_i / (exp(a_i) - 1) with
/// a_i = (1 - v) r_i / (f_i u) and v = c / (1 + c).
fn mixed_law(u: f64, hot_data: f64, hot_writes: f64) -> f64 {
    let classes = [(hot_data, hot_writes), (1.0 - hot_data, 1.0 - hot_writes)];
    (0..2000).fold(1.0, |c, _| {
        let free = 1.0 - c / (1.0 + c);
        let next: f64 = classes.iter().map(|&(f, r)| r / libm::expm1(free * r / (f * u))).sum();
        0.5 * (c + next)
    })
}

#[test]
fn hot_and_cold_data_mixed_in_fifo_cost_what_the_closed_form_says() {
    for (hot_data, hot_writes, law) in [(0.2, 0.8, 2.034), (0.1, 0.9, 2.533), (0.05, 0.95, 3.074)] {
        let mut random = Streams::new(3).stream("hot and cold");
        let wear = worn("cleaning = \"fifo\"\n", 12, |pages| {
            // Hot pages are evenly spaced, `step` pages apart.
            let step = (1.0_f64 / hot_data).round() as u64;
            let hot = random.below(pages / step) * step;
            if random.chance(hot_writes) {
                return hot;
            }
            loop {
                let page = random.below(pages);
                if !page.is_multiple_of(step) {
                    return page;
                }
            }
        });
        let exact = mixed_law(0.8, hot_data, hot_writes);
        assert!((exact / law - 1.0).abs() < 0.001, "the law, {exact}, as published by checks: {law}");
        assert_close(wear.cleaning_cost().unwrap(), exact, 0.02, &format!("{hot_data}/{hot_writes}"));
    }
}

#[test]
fn it_keeps_the_contract_of_devices() {
    let settings = "kind = \"envy\"\nsegments = 16\nsegment = \"64 KiB\"\nbuffer = \"4 KiB\"\nbanks = 4\n\
        erase = \"100 us\"\n";
    for more in ["cleaning = \"greedy\"\n", "cleaning = { kind = \"hybrid\", segments_per_partition = 4 }\n"]
    {
        for concurrency in [1, 4] {
            let settings = format!("{settings}{more}concurrency = {concurrency}\n");
            conformance(Time::from_us(40), || workbench(1).build(&settings).unwrap());
            let build = || workbench(1).with_bytes().build(&settings).unwrap();
            conformance(Time::from_us(40), build);
            durability(Time::from_us(40), build);
        }
    }
}

fn on(spans: &[Span], activity: Activity) -> Time {
    let of = spans.iter().filter(|span| span.activity == activity);
    of.fold(Time::ZERO, |sum, span| sum + span.time)
}

#[test]
fn accesses_take_the_times_of_the_parts_they_use() {
    let mut envy = device("", Nothing, FewestLive(None));
    let ns = Time::from_ns;
    let mut now = Time::ZERO;
    // Reads of one page cause one miss in the memory management unit, then hits. A long read consists of many
    // words.
    for (op, bytes, takes) in [
        (Op::Read, 4, ns(320)),
        (Op::Read, 4, ns(160)),
        (Op::Read, 100, ns(25 * 160)),
        (Op::Write, 4, ns(260)),
        (Op::Write, 4, ns(160)),
    ] {
        let done = answer_to(&mut envy, now, op, 512, bytes).done;
        assert_eq!(done - now, takes, "{op:?} of {bytes} bytes");
        now = done;
    }
    // The request touches two pages, and both miss.
    assert_eq!(answer_to(&mut envy, now, Op::Read, PAGE * 40 - 4, 8).done - now, ns(640));
}

/// If the buffer has two pages, a write to a third page waits until the controller resumes programs and the
/// first page is drained.
#[test]
fn a_write_that_finds_the_buffer_full_waits_for_one_program() {
    let settings = TINY.replace("buffer = \"32 B\"", "buffer = \"16 B\"").replace("50 %", "100 %");
    let mut envy = device(&settings, Nothing, FewestLive(None));
    let mut now = Time::ZERO;
    for page in 0..2 {
        now = answer_to(&mut envy, now, Op::Write, page * 8, 4).done;
    }
    let spans = answer_to(&mut envy, now, Op::Write, 16, 4).spans;
    assert_eq!(on(&spans, Activity::Drain), Time::from_us(4));
    assert_eq!(on(&spans, Activity::Suspend), envy.config.resume_after);
    assert_eq!(on(&spans, Activity::Erase), Time::ZERO, "segments have room at the start");
}

/// A page of four transfers takes 4 x 100 ns to copy and 4 x 4 us to program.
#[test]
fn a_page_of_several_transfers_takes_as_many_cycles_and_programs() {
    let settings = TINY.replace("buffer = \"32 B\"", "buffer = \"16 B\"").replace("50 %", "100 %");
    let mut envy = device(&format!("{settings}transfer = \"2 B\"\n"), Nothing, FewestLive(None));
    let spans = answer_to(&mut envy, Time::ZERO, Op::Write, 0, 4).spans;
    assert_eq!(on(&spans, Activity::CopyOnWrite), Time::from_ns(400));
    let now = answer_to(&mut envy, Time::from_us(1), Op::Write, 8, 4).done;
    let spans = answer_to(&mut envy, now, Op::Write, 16, 4).spans;
    assert_eq!(on(&spans, Activity::Drain), Time::from_us(16));
}

/// A suspended program resumes only after the host has been idle for the time `resume_after`.
#[test]
fn a_program_that_is_suspended_takes_its_time_of_quiet() {
    let settings = format!("{}resume_after = \"2 us\"\n", TINY.replace("50 %", "0 %"));
    let mut envy = device(&settings, Nothing, FewestLive(None));
    let mut now = answer_to(&mut envy, Time::ZERO, Op::Write, 0, 4).done;
    // One of each 3 us of idle time is used, so the page is drained after the fourth period.
    for time in 1..=4 {
        assert_eq!(envy.report(now).wear.unwrap().host, 0, "before pause {time}");
        now += Time::from_us(3);
        now = answer_to(&mut envy, now, Op::Read, 64, 4).done;
    }
    assert_eq!(envy.report(now).wear.unwrap().host, 1);
}

/// Without cleaning, k concurrent programs drain one page every 4 us / k (wu-1994, section 6).
#[test]
fn concurrent_programs_drain_in_proportion() {
    for (concurrency, most_us, least_us) in [(1, 4.04, 3.96), (4, 1.1, 0.96), (8, 0.7, 0.48)] {
        let settings = ARRAY.replace("kind = \"envy\"\n", "").replace("4 KiB", "256 KiB")
            + &format!("preload = \"0 B\"\nconcurrency = {concurrency}\nresume_after = \"0 s\"\n");
        let mut envy = device(&settings, Nothing, FewestLive(Some(16)));
        let pages = envy.array.geometry.logical_pages;
        let mut random = Streams::new(1).stream("drain");
        let mut now = Time::ZERO;
        for _ in 0..20_000 {
            now = answer_to(&mut envy, now, Op::Write, random.below(pages) * PAGE, 4).done;
        }
        let (before, start) = (envy.array.programs.drained, now);
        envy.run(now + Time::from_us(500), &mut Completions::new());
        let each =
            (envy.worked_until - start).as_secs_f64() * 1e6 / (envy.array.programs.drained - before) as f64;
        assert!((least_us..=most_us).contains(&each), "{concurrency} at a time: {each:.3} us for a page");
    }
}

/// If 1 % of a 1 TiB array is written, its tables occupy host memory only for the written part.
#[test]
fn memory_follows_what_was_touched_and_not_the_capacity() {
    let settings = "segments = 65536\npage = \"4 KiB\"\npreload = \"0 B\"\nbanks = 64\n";
    let mut envy = device(settings, Nothing, FewestLive(Some(65536)));
    assert!(envy.capacity().unwrap().0 > 800 << 30, "nearly four fifths of a tebibyte");
    let touched = envy.array.geometry.logical_pages / 100;
    for first in (0..touched).step_by(1 << 16) {
        let writes: Vec<Request> = (first..touched.min(first + (1 << 16)))
            .map(|page| Request { address: page << 12, ..write(0) })
            .collect();
        envy.precondition(&writes);
    }
    envy.check_invariants();
    let per_page = envy.array.table_bytes() as f64 / touched as f64;
    // A page takes four bytes in the page table and slightly more than four for the owner. Positions and
    // segments take another 2 MiB.
    assert!(per_page < 16.0, "{per_page:.2} bytes for each page that was touched");
}

/// With wear swaps, the erase counts of segments differ little, even if only part of the data is written.
#[test]
fn wear_swaps_bound_the_spread_of_erases() {
    let spread = |gap: u32| {
        let settings = TINY.replace("segments = 4", "segments = 16") + &format!("wear_swap_gap = {gap}\n");
        let mut envy = device(&settings, Nothing, FewestLive(Some(4)));
        let mut random = Streams::new(5).stream("hot");
        for _ in 0..40_000 {
            // All writes go to the first eighth of the pages, so most segments would never be erased without
            // swaps.
            let page = random.below(envy.array.geometry.logical_pages / 8);
            envy.precondition(&[Request { address: page * 8, ..write(0) }]);
        }
        envy.check_invariants();
        let erases = envy.array.flash.blocks().iter().map(|block| block.erases);
        (erases.clone().max().unwrap() - erases.min().unwrap(), envy.array.programs.leveled)
    };
    let (without, none) = spread(0);
    let (with, leveled) = spread(20);
    assert_eq!(none, 0);
    assert!(leveled > 0, "data was exchanged");
    // The bound is twice the gap, because a segment that has caught up is not swapped until it is ahead by
    // the gap again.
    assert!(with <= 60, "a spread of {with} erases");
    assert!(without > 10 * with, "a spread of {without} without swaps, {with} with them");
}
