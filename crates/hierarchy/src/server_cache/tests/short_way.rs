//! Reads of one cached block take a short way. It does what the way of all requests does.

use super::{us, workbench};
use crate::replacement;
use crate::server_cache::cache::{Behaviour, ServerCache};
use crate::server_cache::levels::{Level, Levels};
use crate::server_cache::write_back::Settings;
use crate::server_cache::{FillMode, Inclusion};
use nacre_kernel::{Breakdown, Bytes, Completion, ComponentId, Data, Device, Op, Request, Time, state};
use nacre_testkit::Workbench;
use proptest::prelude::*;

const BLOCK: u64 = 4096;
/// Blocks that are asked for.
const BLOCKS: u64 = 24;

type Way = fn(&mut ServerCache, Time, &Request, Data<'_>, &mut Breakdown) -> Completion;

#[derive(Clone, Copy, Debug)]
struct Shape {
    policy: &'static str,
    /// Blocks of each level.
    capacities: (usize, Option<usize>),
    inclusion: Inclusion,
    /// Whether what is written stays, and whether that outlives a loss of power.
    write_back: Option<bool>,
    carries_bytes: bool,
}

impl Shape {
    fn cache(&self) -> ServerCache {
        let (upper, lower) = self.capacities;
        let outlives = self.write_back == Some(true);
        let capacities: Vec<usize> = [upper].into_iter().chain(lower.filter(|_| !outlives)).collect();
        let level = |(at, &blocks): (usize, &usize)| {
            let device = self.device(5 + 20 * at, 9, &format!("capacity = \"{} KiB\"", 4 * blocks));
            Level::new(workbench::policy(self.policy, blocks), device, self.write_back.is_some())
        };
        let levels = capacities.iter().enumerate().map(level).collect();
        let behaviour = Behaviour {
            block: Bytes(BLOCK),
            lookup: Time::ZERO,
            write_allocate: true,
            fill: FillMode::Background,
            write_back: self.write_back.map(|outlives| {
                let settings = Settings { most: upper as u64 / 2, clean_above: 1, batch: 2 };
                (settings, outlives)
            }),
        };
        let backing = self.device(300, 130, "capacity = \"1 MiB\"");
        let levels = Levels::new(levels, self.inclusion);
        ServerCache::new(ComponentId(0), "stack".into(), behaviour, levels, backing)
    }

    /// With few servers, so that what is on its way is met.
    fn device(&self, read_us: usize, write_us: usize, settings: &str) -> Box<dyn Device> {
        let workbench = Workbench::new(crate::workbench::ROOMS, 1);
        let mut workbench = if self.carries_bytes { workbench.with_bytes() } else { workbench };
        let toml = format!(
            "kind = \"measured\"\nread = \"{read_us} us\"\nwrite = \"{write_us} us\"\nparallelism = 2\n{settings}"
        );
        workbench.build(&toml).expect("the test's device is legal")
    }
}

/// As a request is served, but that reads take the way of all.
fn general(
    cache: &mut ServerCache,
    now: Time,
    request: &Request,
    data: Data<'_>,
    into: &mut Breakdown,
) -> Completion {
    if request.op != Op::Read {
        return cache.submit(now, request, data, into);
    }
    cache.clean_until(now);
    cache.read_parts(now, request, data, None, into)
}

/// A gap in us and a request, mostly of one block or a part of it.
fn step() -> impl Strategy<Value = (u64, Request)> {
    let gap = prop_oneof![Just(0), 1..40u64, 100..700u64];
    let op =
        prop_oneof![8 => Just(Op::Read), 4 => Just(Op::Write), 1 => Just(Op::Trim), 1 => Just(Op::Flush)];
    let whole = (0..BLOCKS, 1..3u64).prop_map(|(first, count)| (first * BLOCK, count * BLOCK));
    let part = (0..BLOCKS, 0..8u64).prop_map(|(block, sector)| (block * BLOCK + sector * 512, 512));
    (gap, op, prop_oneof![whole, part]).prop_map(|(gap, op, (address, bytes))| {
        let bytes = if op == Op::Flush { 0 } else { bytes as u32 };
        (gap, Request { arrival: Time::ZERO, address, bytes, volume: 0, op })
    })
}

fn shape() -> impl Strategy<Value = Shape> {
    let policies: Vec<&str> = replacement::ROOMS
        .iter()
        .map(|room| room.descriptor.kind)
        .filter(|&kind| kind != "external")
        .collect();
    let capacities = (2..12usize, prop::option::of(0..8usize));
    let inclusion = prop_oneof![Just(Inclusion::Exclusive), Just(Inclusion::Inclusive)];
    let write_back = prop_oneof![Just(None), Just(Some(false)), Just(Some(true))];
    let parts = (prop::sample::select(policies), capacities, inclusion, write_back, any::<bool>());
    parts.prop_map(|(policy, (upper, more), inclusion, write_back, carries_bytes)| Shape {
        policy,
        capacities: (upper, more.map(|more| upper + more)),
        inclusion,
        write_back,
        carries_bytes,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_short_way_is_the_way_of_all_reads(
        shape in shape(),
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let (mut short, mut all) = (shape.cache(), shape.cache());
        let mut now = 0;
        for (number, (gap, request)) in steps.iter().enumerate() {
            now += gap;
            let ways: [Way; 2] = [ServerCache::submit, general];
            let answers = [&mut short, &mut all].into_iter().zip(ways).map(|(cache, way)| {
                if number % 3 == 0 {
                    cache.advance(us(now));
                }
                let (mut breakdown, mut bytes) = (Breakdown::new(), vec![number as u8; request.bytes as usize]);
                let data = match request.op {
                    Op::Read if shape.carries_bytes => Data::Read(&mut bytes),
                    Op::Write if shape.carries_bytes => Data::Write(&bytes),
                    _ => Data::None,
                };
                let completion = way(cache, us(now), request, data, &mut breakdown);
                (completion, breakdown.spans().to_vec(), bytes)
            });
            let answers: Vec<_> = answers.collect();
            prop_assert_eq!(&answers[0], &answers[1], "step {} at {} us: {:?}", number, now, request);
        }
        let states = [&short, &all].map(|cache| state::saved(cache).expect("it can be saved"));
        prop_assert!(states[0] == states[1], "the states differ");
    }
}
