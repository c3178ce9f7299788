//! Tests of detailed latency breakdowns of requests.

use super::*;
use nacre_kernel::{Activity, Stage};
use nacre_testkit::assert_close;

/// The latency breakdown of a request to a new card.
fn spans_of(toml: &str, now: Time, request: (Op, u64, u32), is_detailed: bool) -> Vec<Span> {
    let (op, address, bytes) = request;
    let request = Request { arrival: now, address, bytes, volume: 0, op };
    let mut device = built(toml);
    device.detail(is_detailed);
    let answer = ask(&mut *device, now, &request, Payload::NONE);
    let total = answer.spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
    assert_eq!(total, answer.done - now);
    answer.spans
}

/// Time of each stage, including waits, in path order.
fn stages(spans: &[Span]) -> Vec<(Stage, f64)> {
    let mut found: Vec<(Stage, f64)> = Vec::new();
    for span in spans {
        match found.last_mut().filter(|(stage, _)| *stage == span.stage) {
            Some((_, ns)) => *ns += span.time.as_ns_f64(),
            None => found.push((span.stage, span.time.as_ns_f64())),
        }
    }
    found
}

/// Completion, latency, and spans of each request.
fn many(toml: &str, requests: &[Request], is_detailed: bool) -> Vec<(Time, Time, Vec<Span>)> {
    let mut device = built(toml);
    device.detail(is_detailed);
    let mut seen = vec![None; requests.len()];
    let mut completions = Completions::new();
    let mut run = |device: &mut dyn Device, until| {
        loop {
            completions.clear();
            device.run(until, &mut completions);
            if completions.is_empty() {
                return;
            }
            for completed in completions.iter() {
                let number = completed.id.0 as usize;
                let since = completed.at - requests[number].arrival;
                seen[number] = Some((completed.at, since, completions.spans(completed).to_vec()));
            }
        }
    };
    for (number, request) in (0..).zip(requests) {
        run(&mut *device, request.arrival);
        device.submit(request.arrival, RequestId(number), request, Payload::NONE);
    }
    run(&mut *device, Time::MAX);
    seen.into_iter().map(|seen| seen.expect("every request completes")).collect()
}

/// For concurrent requests of all sizes, the durations of the stages sum exactly to the latency. If stages
/// are enabled, completion times do not change.
#[test]
fn stages_add_up_to_the_latency_and_change_nothing() {
    let mut random = Streams::new(9).stream("stages");
    for toml in [
        DDR3.to_string(),
        format!("{DDR3}rows = \"open\"\nchannels = 2\nranks = 2\n"),
        format!("{MRAM}written = \"closed\"\n"),
        format!(
            "{DDR3}[device.host]\nkind = \"nvme\"\nqueue_depth = 3\ntags = 2\ncredits = \"4 KiB\"\nnotice = \"polling\"\n"
        ),
        format!("{DDR3}[device.host]\nkind = \"nvme\"\ncoalescing = \"8 us\"\n"),
        format!("{DDR3}[device.host]\nkind = \"memory_window\"\n"),
        format!("{MRAM}written = \"closed\"\n[device.host]\nkind = \"memory_window\"\nloads = 3\n"),
        format!("{DDR3}[device.host]\nkind = \"cxl_mem\"\ncpus = 1\n"),
        format!("{DDR3}[device.host]\nkind = \"direct\"\ndriver = \"1 us\"\nlink = \"2 GB/s\"\n"),
    ] {
        let mut now = Time::ZERO;
        let requests: Vec<Request> = (0..400)
            .map(|_| {
                now += Time::from_ns(random.below(3000));
                let op = [Op::Read, Op::Write, Op::Flush][random.below(3) as usize];
                let bytes = if op == Op::Flush { 0 } else { 64 << random.below(9) };
                Request { arrival: now, address: random.below(1 << 12) * 16384, bytes, volume: 0, op }
            })
            .collect();
        let (close, plain) = (many(&toml, &requests, true), many(&toml, &requests, false));
        for ((done, taken, stages), (same, _, spans)) in close.iter().zip(&plain) {
            let sum = |spans: &[Span]| spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
            assert_eq!(done, same, "{toml}");
            assert_eq!((sum(stages), sum(spans)), (*taken, *taken), "{toml}: {stages:?}");
            assert!(stages.iter().all(|span| span.stage != Stage::Untold), "{toml}: {stages:?}");
            assert!(spans.iter().all(|span| span.stage == Stage::Untold));
        }
    }
}

/// A single read or write reports all stages of the path. For each activity, the sum of its stages equals
/// its time in the plain breakdown.
#[test]
fn a_request_alone_goes_through_every_stage() {
    let host = "[device.host]\nkind = \"nvme\"\n";
    let front = [
        Stage::Driver,
        Stage::Doorbell,
        Stage::CommandFetch,
        Stage::HostMemory,
        Stage::CommandFetch,
        Stage::Controller,
    ];
    let memory = [Stage::Activate, Stage::Column, Stage::DataBus];
    let back = [Stage::Completion, Stage::Interrupt, Stage::Reap];
    for (op, bringing, answering) in [
        (Op::Read, &[][..], &[Stage::DmaOut][..]),
        (Op::Write, &[Stage::DmaIn, Stage::HostMemory, Stage::DmaIn][..], &[][..]),
    ] {
        let toml = format!("{}{host}", unrefreshed());
        let at = (op, 8192, 4096);
        let close = spans_of(&toml, Time::ZERO, at, true);
        let plain = spans_of(&toml, Time::ZERO, at, false);
        let found = stages(&close);
        let names: Vec<_> =
            found.iter().map(|(stage, _)| *stage).filter(|&stage| stage != Stage::Scheduler).collect();
        assert_eq!(names, [&front[..], bringing, &memory, answering, &back].concat());
        for activity in Activity::ALL {
            let of = |spans: &[Span]| {
                let spans = spans.iter().filter(|span| span.activity == activity);
                spans.fold(Time::ZERO, |sum, span| sum + span.time)
            };
            assert_eq!(of(&close), of(&plain), "{op:?}: {activity:?}");
        }
        // The expected times are tRCD of seven clocks, CL of seven or CWL of six, and 64 bursts of four
        // clocks.
        let ns = |stage| found.iter().find(|(other, _)| *other == stage).map_or(0.0, |(_, ns)| *ns);
        let latency = if op == Op::Read { 7.0 } else { 6.0 };
        assert_close("row activate", ns(Stage::Activate), 7.0 * 1.875, 1e-9);
        assert_close("column", ns(Stage::Column), latency * 1.875, 1e-9);
        assert_close("data bus", ns(Stage::DataBus), 256.0 * 1.875, 1e-9);
    }
}

/// The stages of a load or store include the transfer to the device, the memory, and the transfer back. 32
/// lines that wait for each other take 32 times as long as one line.
#[test]
fn loads_and_stores_tell_their_stages_too() {
    let memory = [Stage::Activate, Stage::Column, Stage::DataBus];
    for (host, op, back) in [
        ("\"memory_window\"", Op::Read, Stage::LinkUp),
        ("\"memory_window\"", Op::Write, Stage::Fence),
        ("\"cxl_mem\"\nlines = 1", Op::Read, Stage::LinkUp),
        ("\"cxl_mem\"\nlines = 1", Op::Write, Stage::LinkUp),
    ] {
        let toml = format!("{}[device.host]\nkind = {host}\n", unrefreshed());
        let of_bytes = |bytes, is_detailed| spans_of(&toml, Time::ZERO, (op, 8192, bytes), is_detailed);
        let line = of_bytes(64, true);
        let spans = |spans: &[Span]| -> Vec<(Stage, f64)> {
            stages(spans).into_iter().filter(|(stage, _)| *stage != Stage::Scheduler).collect()
        };
        let names: Vec<_> = spans(&line).into_iter().map(|(stage, _)| stage).collect();
        assert_eq!(names, [&[Stage::LoadStore, Stage::LinkDown][..], &memory, &[back]].concat(), "{toml}");
        let plain = of_bytes(64, false);
        for activity in Activity::ALL {
            let of = |spans: &[Span]| {
                let spans = spans.iter().filter(|span| span.activity == activity);
                spans.fold(Time::ZERO, |sum, span| sum + span.time)
            };
            assert_eq!(of(&line), of(&plain), "{toml}: {activity:?}");
        }
        if back == Stage::Fence {
            continue;
        }
        let sum = |of: &[Span], stage| -> f64 {
            spans(of).into_iter().filter(|(other, _)| *other == stage).map(|(_, ns)| ns).sum()
        };
        let many = of_bytes(2048, true);
        for stage in [Stage::LoadStore, Stage::LinkDown, Stage::DataBus, back] {
            assert_close(&format!("{toml}: {stage:?}"), sum(&many, stage), 32.0 * sum(&line, stage), 1e-6);
        }
    }
}

/// Tests the reported wait for a refresh. The first refresh is due at 7.8 us and takes 110 ns. A read that
/// arrives 40 ns after the start of the refresh waits for the remaining time.
#[test]
fn a_wait_for_a_refresh_is_told() {
    let at = (Op::Read, 8192, 4096);
    let all = stages(&spans_of(DDR3, Time::ZERO, at, true));
    let memory = all.iter().position(|(stage, _)| *stage == Stage::Activate).expect("it opens a row");
    let before: f64 = all[..memory].iter().map(|(_, ns)| ns).sum();
    let now = Time::from_ps(((7840.0 - before) * 1000.0) as u64);
    let found = stages(&spans_of(DDR3, now, at, true));
    let refresh = found.iter().find(|(stage, _)| *stage == Stage::Refresh).expect("it waits").1;
    assert!((refresh - 70.0).abs() < 3.0 * 1.875, "{refresh}");
}
