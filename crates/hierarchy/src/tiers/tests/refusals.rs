//! Tests of tiers that reject a chunk or cannot return it.

use super::request;
use super::scripted::{CHUNK, EXTENT, Scripted, tiers};
use crate::placement::Exchange;
use crate::tiers::model::Tiers;
use nacre_kernel::event::{Agenda, Completions, Device, Payload, RequestId};
use nacre_kernel::state::State;
use nacre_kernel::{
    Bytes, Capabilities, ComponentId, ComponentReport, Op, Persistence, Random, Recovery, Request, Status,
    Streams, Time,
};

const LATENCY: Time = Time::from_us(10);
const EPOCH: Time = Time::from_ms(1);

/// A device that stores data and fails selected requests.
#[derive(State)]
struct Failing {
    #[state(skip = "no state is saved")]
    fails: fn(Op, u64) -> bool,
    #[state(skip = "no state is saved")]
    bytes: Vec<u8>,
    #[state(skip = "no state is saved")]
    due: Agenda<(u32, u64)>,
    #[state(skip = "no state is saved")]
    requests: Vec<(Request, Payload)>,
}

impl Failing {
    fn boxed(extents: u64, fails: fn(Op, u64) -> bool) -> Box<dyn Device> {
        let bytes = vec![0; (extents * EXTENT) as usize];
        Box::new(Failing { fails, bytes, due: Agenda::new(), requests: Vec::new() })
    }
}

impl Device for Failing {
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        self.due.schedule(now + LATENCY, (id.0, self.requests.len() as u64));
        self.requests.push((*request, data));
    }

    fn next_event(&self) -> Time {
        self.due.next()
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        let at = self.due.next();
        while at < until
            && let Some((at, (id, number))) = self.due.pop_before(at + Time::from_ps(1))
        {
            let (request, data) = self.requests[number as usize].clone();
            let range = request.address as usize..(request.address + u64::from(request.bytes)) as usize;
            let is_chunk = u64::from(request.bytes) == CHUNK;
            let fails = is_chunk && (self.fails)(request.op, request.address);
            let status = if fails { Status::MediaError } else { Status::Done };
            let mut found = Payload::NONE;
            match request.op {
                Op::Write if !fails => self.bytes[range].copy_from_slice(data.bytes().expect("bytes")),
                Op::Read => found = self.bytes[range].to_vec().into(),
                _ => {}
            }
            let component = ComponentId(1);
            let spans = [(nacre_kernel::Activity::Read, LATENCY)];
            completions.push(RequestId(id), at, status, component, spans).data = found;
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(Bytes(self.bytes.len() as u64))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            carries_bytes: true,
            persistence: Persistence::OnAcknowledgement,
            atomic_unit: 512,
            transactions: false,
            preconditions: false,
            uses_addresses: true,
            wears_out_ahead: false,
        }
    }

    fn restart_ledger(&mut self, _now: Time) {}

    fn report(&self, _elapsed: Time) -> ComponentReport {
        unreachable!("no test asks")
    }

    fn check_invariants(&self) {}

    fn power_fail(&mut self, _at: Time, _chance: &mut Random) {
        self.due.clear();
    }

    fn recover(&mut self, at: Time) -> Recovery {
        Recovery { done: at, ..Recovery::default() }
    }
}

/// Creates tiers in which extent 0 on the first device is exchanged with extent 1 on the second device.
fn exchanging(first: fn(Op, u64) -> bool, second: fn(Op, u64) -> bool) -> Tiers {
    let script = vec![vec![Exchange { extent: 0, partner: 1 }]];
    let placement = Scripted { homes: vec![0, 1], epoch: EPOCH, script, decided: 0 };
    tiers(vec![(Failing::boxed(1, first), 1), (Failing::boxed(1, second), 1)], placement, 1_000_000_000)
}

struct Host {
    tiers: Tiers,
    now: Time,
}

impl Host {
    /// Runs the tiers to `at`, submits a request, and waits for its completion. Returns the latency and the
    /// data of the request.
    fn ask(&mut self, at: Time, request: Request, data: Payload) -> (Time, Payload) {
        let mut completions = Completions::new();
        self.tiers.run(at, &mut completions);
        assert!(completions.is_empty());
        self.tiers.submit(at, RequestId(1), &request, data);
        while completions.is_empty() {
            self.tiers.run(Time::MAX, &mut completions);
        }
        self.now = completions.get(0).0.at;
        assert_eq!(completions.get(0).0.status, Status::Done);
        (self.now - at, completions.take_data(0))
    }

    fn fill(&mut self) {
        for extent in 0..2 {
            let bytes = vec![extent as u8 + 1; EXTENT as usize];
            self.ask(self.now, request(Op::Write, extent * EXTENT, EXTENT as u32), bytes.into());
        }
    }

    /// Checks that every byte of an extent has the given value. Returns the latency of the read.
    fn check(&mut self, at: Time, extent: u64, value: u8) -> Time {
        let (latency, data) = self.ask(at, request(Op::Read, extent * EXTENT, EXTENT as u32), Payload::NONE);
        assert!(data.bytes().expect("bytes").iter().all(|&byte| byte == value), "extent {extent}");
        latency
    }
}

const LATER: Time = Time::from_ms(20);

fn never(_: Op, _: u64) -> bool {
    false
}

#[test]
fn a_chunk_that_cannot_be_read_ends_the_exchange_and_moves_nothing() {
    let mut host = Host { tiers: exchanging(never, |op, at| op == Op::Read && at == CHUNK), now: Time::ZERO };
    host.fill();
    host.check(LATER, 0, 1);
    host.check(LATER + EPOCH, 1, 2);
    let migration = &host.tiers.migration;
    assert_eq!((migration.failed, migration.exchanges, migration.bytes), (1, 0, 2 * CHUNK));
    assert!(migration.rejected.is_empty() && !migration.is_over, "others may move");
}

#[test]
fn a_chunk_that_is_refused_is_kept_and_served_from_memory() {
    let mut host =
        Host { tiers: exchanging(never, |op, at| op == Op::Write && at == 2 * CHUNK), now: Time::ZERO };
    host.fill();
    host.check(LATER, 0, 1);
    host.check(LATER + EPOCH, 1, 2);
    assert_eq!(host.tiers.migration.rejected.bytes(), CHUNK);
    assert!(host.tiers.migration.is_over);
    // The second device rejected the third chunk of the first extent.
    let chunk = request(Op::Read, 2 * CHUNK, CHUNK as u32);
    assert_eq!(host.ask(LATER + EPOCH * 2, chunk, Payload::NONE).0, Time::ZERO);
    let bytes = vec![9; CHUNK as usize];
    let at = LATER + EPOCH * 3;
    assert_eq!(host.ask(at, Request { op: Op::Write, ..chunk }, bytes.clone().into()).0, Time::ZERO);
    host.tiers.power_fail(at + EPOCH, &mut Streams::new(1).stream("loss"));
    host.tiers.recover(at + EPOCH);
    let (latency, data) = host.ask(at + EPOCH * 2, chunk, Payload::NONE);
    assert_eq!((latency, data.bytes()), (Time::ZERO, Some(&bytes[..])), "it is battery-backed");
    host.tiers.check_invariants();
}

/// Tests a power failure during the writes of both chunks, which are still in memory. They are written
/// again after power is restored.
#[test]
fn a_chunk_in_memory_survives_a_power_loss_and_is_written_again() {
    let mut host = Host { tiers: exchanging(never, never), now: Time::ZERO };
    host.fill();
    // The chunks are read from 1 ms for 10 us, and then written.
    let at = EPOCH + LATENCY + Time::from_us(5);
    let mut completions = Completions::new();
    host.tiers.run(at, &mut completions);
    host.tiers.power_fail(at, &mut Streams::new(1).stream("loss"));
    let back = at + EPOCH;
    assert_eq!(host.tiers.recover(back).programs_repeated, 2);
    let chunk = request(Op::Read, 0, CHUNK as u32);
    let (latency, data) = host.ask(back, chunk, Payload::NONE);
    assert_eq!(latency, Time::ZERO, "it is in memory");
    assert!(data.bytes().expect("bytes").iter().all(|&byte| byte == 1));
    // A write waits until the chunk is at its location. The write of the chunk starts at `back`.
    let bytes = vec![1; CHUNK as usize];
    let write = Request { op: Op::Write, ..chunk };
    let later = Time::from_us(3);
    assert_eq!(host.ask(back + later, write, bytes.into()).0, LATENCY + LATENCY - later);
    host.check(LATER, 0, 1);
    host.check(LATER + EPOCH, 1, 2);
    assert_eq!(host.tiers.migration.exchanges, 1);
}
