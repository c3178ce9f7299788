//! Compares every completion time and every counter of a flash disk cache with a naive event simulation of
//! its rules.

use super::naive::{Event, Naive};
use super::shape::{DECODE, ERASE, PAGE, PROGRAM, READ, SENSE, Shape, WRITE};
use crate::workbench::MODELS;
use nacre_kernel::{Op, Request, Time};
use nacre_testkit::Host;
use nacre_testkit::Workbench;
use proptest::prelude::*;

fn host(shape: Shape) -> Host {
    let Shape { blocks, slots, dies, decoders, encode, lookup, servers, .. } = shape;
    let ([sense, fine], [program, long], [erase, late]) = (SENSE, PROGRAM, ERASE);
    let toml = format!(
        "kind = \"flash_disk_cache\"\nblocks = {blocks}\nslots = {slots}\ndensity = \"{}\"\ndies = {dies}\n\
         write_region = \"{} %\"\ncollects_above = \"{} %\"\ndecoders = {decoders}\nlookup = \"{lookup} ns\"\n\
         bit_error_rate = 0\nraises_strength = false\nlowers_density = false\npromotes = false\n\
         wear_gap = 4294967294\nslc_read = \"{sense} ns\"\nmlc_read = \"{fine} ns\"\n\
         slc_program = \"{program} ns\"\nmlc_program = \"{long} ns\"\nslc_erase = \"{erase} ns\"\n\
         mlc_erase = \"{late} ns\"\n\
         ecc = {{ kind = \"bch\", t = 1, decode = \"{DECODE} ns\", encode = \"{encode} ns\" }}\n\
         [device.backing]\nkind = \"measured\"\nread = \"{READ} ns\"\nwrite = \"{WRITE} ns\"\nunit = \"1 MiB\"\n\
         parallelism = {servers}\ncapacity = \"1 MiB\"\n",
        if shape.is_mlc { "mlc" } else { "slc" },
        shape.writes as f64 / blocks as f64 * 100.0,
        shape.collects_above * 100.0,
    );
    let built = Workbench::new(MODELS, 1).build(&toml);
    Host::new(built.unwrap_or_else(|problems| panic!("{problems}")))
}

fn shape() -> impl Strategy<Value = Shape> {
    let flash = (prop_oneof![Just(8usize), Just(16), Just(32)], prop_oneof![Just(1usize), Just(2), Just(8)]);
    let ways = (any::<bool>(), 1..5usize, prop_oneof![Just(0usize), Just(4), Just(8)]);
    let rest = (prop_oneof![Just(0.125), Just(0.5), Just(1.0)], 1..3usize, any::<bool>(), any::<bool>());
    let servers = prop_oneof![Just(1usize), Just(4), Just(64)];
    (flash, ways, rest, servers).prop_map(|((blocks, slots), (is_mlc, dies, writes), rest, servers)| {
        let (collects_above, decoders, encodes, looks_up) = rest;
        let writes = if writes + 4 > blocks { 4 } else { writes };
        let (encode, lookup) = (if encodes { 3_083 } else { 0 }, if looks_up { 1_087 } else { 0 });
        Shape { blocks, slots, is_mlc, dies, writes, collects_above, decoders, encode, lookup, servers }
    })
}

fn step() -> impl Strategy<Value = (u64, Request)> {
    let gap = prop_oneof![Just(0), 1..100_000u64, 1_000..6_000_000u64];
    let op = prop_oneof![Just(Op::Read), Just(Op::Write)];
    let page = prop_oneof![0..40u64, 0..500u64];
    let whole = (page.clone(), 1..6u64).prop_map(|(first, count)| (first * PAGE, count * PAGE));
    let part = (page, 0..4u64, 1..9u64).prop_map(|(page, at, count)| (page * PAGE + at * 512, count * 512));
    (gap, op, prop_oneof![whole, part]).prop_map(|(gap, op, (address, bytes))| {
        (gap, Request { arrival: Time::ZERO, address, bytes: bytes as u32, volume: 0, op })
    })
}

const COMPARED: [&str; 14] = [
    "read_hits",
    "read_misses",
    "read_merged",
    "write_hits",
    "write_misses",
    "write_allocations",
    "fills",
    "collections",
    "evictions",
    "pages_evicted",
    "pages_sent_back",
    "host_programs",
    "collected_programs",
    "erases",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn completion_times_and_counts_equal_those_of_a_naive_model(
        shape in shape(),
        steps in prop::collection::vec(step(), 1..200),
    ) {
        let (mut naive, mut host) = (Naive::new(shape), host(shape));
        let (mut now, mut arrivals) = (0, Vec::new());
        for (gap, request) in &steps {
            now += gap;
            naive.requests.push(*request);
            naive.ends.push((0, now));
            naive.schedule(now + shape.lookup, Event::Arrives(arrivals.len()));
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
