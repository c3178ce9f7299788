//! Tests of configuration errors and failing devices.

use super::{Host, blocks, us};
use crate::server_cache::cache::ServerCache;
use crate::server_cache::config::Behavior;
use crate::server_cache::levels::{Level, Levels};
use crate::server_cache::{FillMode, Inclusion};
use crate::workbench::{self, MODELS};
use nacre_kernel::event::{Agenda, Completions, Device, Payload, RequestId};
use nacre_kernel::state::State;
use nacre_kernel::{
    Activity, Bytes, Capabilities, ComponentId, ComponentReport, Op, Persistence, Random, Recovery, Request,
    Status, Time,
};
use nacre_testkit::{Workbench, empty_report};

fn problems(level: &str, settings: &str) -> String {
    let toml = format!(
        "[stack]\nkind = \"server_cache\"\n{settings}\nlevel = [{level}]\n\
         backing = {{ kind = \"network\", read = \"919 us\", write = \"133 us\" }}"
    );
    workbench::build(&toml, Workbench::new(MODELS, 1)).err().expect("an invalid configuration").to_string()
}

fn device(capacity: &str) -> String {
    format!("{{ device = {{ kind = \"measured\", read = \"1 us\", write = \"1 us\"{capacity} }} }}")
}

#[test]
fn a_level_without_a_capacity_is_named() {
    let both = format!("{}, {}", device(""), device(", capacity = \"1 KiB\""));
    let found = problems(&both, "");
    let expected = "stack.level[0].device: a level of a cache needs a device with a capacity; \
                    give `capacity`, for example \"64 GiB\"\n\
                    stack.level[1].device: it is too small, given 1 KiB; the smallest allowed is one block, 4 KiB";
    assert_eq!(found, expected);
}

#[test]
fn a_block_is_a_power_of_two_and_levels_have_a_bound() {
    let level = device(", capacity = \"1 MiB\"");
    let found = problems(&vec![level; 5].join(", "), "block = \"5000 B\"");
    assert!(found.contains("stack.block (test.toml:3): it is not a power of two, given"), "{found}");
    assert!(found.contains("the next one is 8 KiB"), "{found}");
    assert!(found.contains("stack.level"), "{found}");
    assert!(found.contains("there are too many, given 5 levels; the most allowed is 4"), "{found}");
}

#[test]
fn an_inclusive_level_smaller_than_the_one_above_is_refused() {
    let levels = format!("{}, {}", device(", capacity = \"2 MiB\""), device(", capacity = \"1 MiB\""));
    let found = problems(&levels, "inclusion = \"inclusive\"");
    assert!(found.starts_with("stack.level[1].device: "), "{found}");
    assert!(found.contains("give at least 2 MiB, or use inclusion = \"exclusive\""), "{found}");
}

/// A device that takes 1 us for every request and fails one kind of operation.
#[derive(State)]
struct Faulty {
    #[state(skip = "from the configuration")]
    id: u8,
    #[state(skip = "from the configuration")]
    fails: Option<Op>,
    due: Agenda<(u32, bool)>,
}

impl Device for Faulty {
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, _data: Payload) {
        self.due.schedule(now + us(1), (id.0, self.fails == Some(request.op)));
    }

    fn next_event(&self) -> Time {
        self.due.next()
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        let at = self.due.next();
        while at < until
            && let Some((at, (id, fails))) = self.due.pop_before(at + Time::from_ps(1))
        {
            let status = if fails { Status::MediaError } else { Status::Done };
            completions.push(RequestId(id), at, status, ComponentId(self.id), [(Activity::Read, us(1))]);
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(Bytes(1 << 20))
    }

    fn restart_ledger(&mut self, _now: Time) {}

    fn report(&self, _elapsed: Time) -> ComponentReport {
        empty_report(self.id, "faulty", "")
    }

    fn check_invariants(&self) {}

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            carries_bytes: false,
            persistence: Persistence::OnAcknowledgement,
            atomic_unit: 512,
            transactions: false,
            preconditions: false,
            uses_addresses: true,
            wears_out_ahead: false,
        }
    }

    fn power_fail(&mut self, _at: Time, _chance: &mut Random) {
        self.due.clear();
    }

    fn recover(&mut self, at: Time) -> Recovery {
        Recovery { done: at, ..Recovery::default() }
    }
}

/// A cache of two exclusive levels with one and four blocks. Each device fails the given kind of operation,
/// if any.
fn faulty_cache(upper: Option<Op>, lower: Option<Op>, backing: Option<Op>) -> Host {
    let device = |id, fails| Box::new(Faulty { id, fails, due: Agenda::new() }) as Box<dyn Device>;
    let devices = vec![device(1, upper), device(2, lower), device(3, backing)];
    let level = |number: usize, blocks| {
        Level::new(workbench::policy("lru", blocks), devices[number].capabilities(), false)
    };
    let levels = Levels::new(vec![level(0, 1), level(1, 4)], Inclusion::Exclusive);
    let behavior = Behavior {
        block: Bytes(4096),
        lookup: Time::ZERO,
        write_allocate: true,
        fill: FillMode::Background,
        write_back: None,
        hedge_after: None,
    };
    Host::new(Box::new(ServerCache::new(ComponentId(0), "stack".into(), behavior, levels, devices)))
}

/// Submits a request and waits for all of its operations. Returns its status.
fn status(cache: &mut Host, now: Time, request: Request) -> Status {
    let number = cache.submit(now, request);
    let status = cache.wait(number).status;
    cache.rest();
    status
}

/// Submits a request and waits for all of its operations. Returns its latency.
fn submit(cache: &mut Host, now: Time, request: Request) -> Time {
    let number = cache.submit(now, request);
    cache.rest();
    cache.wait(number).latency
}

#[test]
fn a_block_that_a_level_cannot_return_is_read_from_the_backing_and_dropped() {
    let mut cache = faulty_cache(Some(Op::Read), None, None);
    submit(&mut cache, us(0), blocks(Op::Read, 0, 1));
    assert_eq!(submit(&mut cache, us(10), blocks(Op::Read, 0, 1)), us(2), "level, then backing");
    assert_eq!(status(&mut cache, us(20), blocks(Op::Read, 0, 1)), Status::Done);
    assert_eq!((cache.count("recovered"), cache.count("read_misses")), (1, 2));
    let mut cache = faulty_cache(None, Some(Op::Read), None);
    submit(&mut cache, us(0), blocks(Op::Read, 0, 1));
    submit(&mut cache, us(10), blocks(Op::Read, 1, 1));
    assert_eq!(submit(&mut cache, us(20), blocks(Op::Read, 0, 1)), us(2), "block 0 is in the lower level");
    assert_eq!(cache.count("recovered"), 1);
    cache.check();
}

#[test]
fn failed_fetches_are_errors_and_are_not_cached() {
    let mut cache = faulty_cache(None, None, Some(Op::Read));
    assert_eq!(status(&mut cache, us(0), blocks(Op::Read, 0, 3)), Status::MediaError);
    assert_eq!(status(&mut cache, us(10), blocks(Op::Read, 0, 1)), Status::MediaError);
    assert_eq!((cache.count("read_misses"), cache.count("fills")), (4, 0));
    let mut cache = faulty_cache(None, None, Some(Op::Write));
    assert_eq!(status(&mut cache, us(0), blocks(Op::Write, 0, 2)), Status::MediaError);
    submit(&mut cache, us(10), blocks(Op::Read, 0, 2));
    assert_eq!(cache.count("read_misses"), 2, "a write that failed leaves nothing behind");
    cache.check();
}

#[test]
fn a_copy_that_cannot_be_written_is_dropped_and_the_write_is_done() {
    let mut cache = faulty_cache(Some(Op::Write), None, None);
    assert_eq!(status(&mut cache, us(0), blocks(Op::Write, 0, 1)), Status::Done);
    assert_eq!(cache.count("recovered"), 1);
    submit(&mut cache, us(10), blocks(Op::Read, 0, 1));
    assert_eq!(
        (cache.count("recovered"), cache.count("read_misses")),
        (2, 1),
        "its fill cannot be written either"
    );
    submit(&mut cache, us(20), blocks(Op::Read, 0, 1));
    assert_eq!(cache.count("read_misses"), 2, "what could not be written is not found");
    cache.check();
}

#[test]
fn a_victim_that_cannot_be_read_or_written_is_dropped() {
    for (upper, lower) in [(Some(Op::Read), None), (None, Some(Op::Write))] {
        let mut cache = faulty_cache(upper, lower, None);
        submit(&mut cache, us(0), blocks(Op::Read, 0, 1));
        submit(&mut cache, us(10), blocks(Op::Read, 1, 1));
        assert_eq!(cache.count("recovered"), 1, "block 0 does not come down");
        submit(&mut cache, us(20), blocks(Op::Read, 0, 1));
        assert_eq!(cache.count("read_misses"), 3);
        cache.check();
    }
}

#[test]
fn a_block_that_could_not_be_fetched_and_is_a_victim_already_does_not_move() {
    let mut cache = faulty_cache(None, None, Some(Op::Read));
    submit(&mut cache, us(0), blocks(Op::Write, 1, 1));
    submit(&mut cache, us(10), blocks(Op::Write, 5, 1));
    submit(&mut cache, us(20), blocks(Op::Trim, 5, 1));
    // Block 0 is inserted and then evicted for block 1, which is in the lower level.
    assert_eq!(status(&mut cache, us(30), blocks(Op::Read, 0, 2)), Status::MediaError);
    assert_eq!(status(&mut cache, us(40), blocks(Op::Read, 1, 1)), Status::Done);
    assert_eq!(cache.count("read_misses"), 1);
    cache.check();
}
