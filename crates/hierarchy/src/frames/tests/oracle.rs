//! Compares every completion time and every counter of a cache in DRAM with a naive event simulation of its
//! rules.

use super::naive::{Event, FRAMES, LATENCY, Naive, PAGE, READ, Shape, WRITE};
use crate::workbench::MODELS;
use nacre_kernel::{Op, Request, Time};
use nacre_testkit::Host;
use nacre_testkit::Workbench;
use proptest::prelude::*;

fn host(shape: Shape) -> Host {
    let limit = shape.dirty as f64 / FRAMES as f64 * 100.0;
    let toml = format!(
        "kind = \"dram_disk_cache\"\ncapacity = \"64 KiB\"\npage = \"4 KiB\"\ndirty_limit = \"{limit} %\"\n\
         latency = \"{LATENCY} ns\"\nbandwidth = \"2 GB/s\"\n[device.backing]\nkind = \"measured\"\n\
         read = \"{READ} ns\"\nwrite = \"{WRITE} ns\"\nunit = \"1 MiB\"\nparallelism = {}\ncapacity = \"1 MiB\"\n",
        shape.servers
    );
    let built = Workbench::new(MODELS, 1).build(&toml);
    Host::new(built.unwrap_or_else(|problems| panic!("{problems}")))
}

fn step() -> impl Strategy<Value = (u64, Request)> {
    let gap = prop_oneof![Just(0), 1..3_000u64, 1_000..300_000u64];
    let op = prop_oneof![8 => Just(Op::Read), 8 => Just(Op::Write), 1 => Just(Op::Flush)];
    let whole = (0..40u64, 1..6u64).prop_map(|(first, count)| (first * PAGE, count * PAGE));
    let part = (0..40 * 8u64, 1..20u64).prop_map(|(first, count)| (first * 512, count * 512));
    (gap, op, prop_oneof![whole, part]).prop_map(|(gap, op, (address, bytes))| {
        let (address, bytes) = if op == Op::Flush { (0, 0) } else { (address, bytes) };
        (gap, Request { arrival: Time::ZERO, address, bytes: bytes as u32, volume: 0, op })
    })
}

const COMPARED: [&str; 8] = [
    "read_hits",
    "read_misses",
    "read_merged",
    "write_hits",
    "write_misses",
    "write_allocations",
    "fills",
    "written_back",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn completion_times_and_counts_equal_those_of_a_naive_model(
        dirty in prop_oneof![Just(0usize), Just(4), Just(16)],
        servers in prop_oneof![Just(1usize), Just(4), Just(64)],
        steps in prop::collection::vec(step(), 1..150),
    ) {
        let shape = Shape { dirty, servers };
        let (mut naive, mut host) = (Naive::new(shape), host(shape));
        let (mut now, mut arrivals) = (0, Vec::new());
        for (gap, request) in &steps {
            now += gap;
            naive.requests.push(*request);
            naive.ends.push((0, now));
            naive.schedule(now, Event::Arrives(arrivals.len()));
            arrivals.push(now);
        }
        naive.run();
        for (number, (_, request)) in steps.iter().enumerate() {
            host.submit(Time::from_ns(arrivals[number]), *request);
            if number % 16 == 0 {
                host.check();
            }
        }
        host.rest();
        host.check();
        for (number, &at) in arrivals.iter().enumerate() {
            let (left, end) = naive.ends[number];
            prop_assert_eq!(left, 0, "request {} ends in the naive model", number);
            let found = host.done[number].as_ref().map(|done| done.latency);
            prop_assert_eq!(found, Some(Time::from_ns(end - at)), "request {}: {:?}", number, steps[number]);
        }
        for name in COMPARED {
            let expected = naive.counts.get(name).copied().unwrap_or_default();
            prop_assert_eq!(host.count(name), expected, "{}", name);
        }
    }
}
