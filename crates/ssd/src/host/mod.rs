//! The way between host and drive: driver, queues, link, processors of the drive.
//!
//! A request passes, in this order: a CPU of the host, a place in its queue, the link if it brings data, and a
//! processor of the drive. What was read goes back over the link.

mod queues;
mod workers;

pub(crate) use queues::tenants_places;

use crate::config::{Config, Translator};
use nacre_kernel::event::Link;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Op, Request, Resource, Time};
use queues::Queues;
use std::collections::VecDeque;
use workers::Workers;

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(crate) enum Reached {
    /// The drive can begin with it.
    Drive(u32),
    /// What it read is at the host.
    Host(u32),
}

/// What the way needs to know of a request, and what it took so far.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(crate) struct Way {
    units: u64,
    bytes: u64,
    op: Op,
    volume: u32,
    /// Work of processors.
    pub(crate) software: Time,
    /// Transfers over the link.
    pub(crate) link: Time,
}

/// What a request takes of processors, and each unit of it.
#[derive(Clone, Copy, Debug)]
struct Costs {
    request: Time,
    unit: Time,
}

impl Costs {
    #[inline]
    fn of(&self, units: u64) -> Time {
        self.request + self.unit * units
    }
}

/// The way between host and drive.
#[derive(State)]
pub(crate) struct Host {
    #[state(skip = "from the configuration")]
    at_host: Costs,
    #[state(skip = "from the configuration")]
    at_device: Costs,
    cpus: Workers,
    queues: Queues,
    from_host: Link,
    to_host: Link,
    processors: Workers,
    /// Writes whose data crosses the link, and when it is across; first come, first served.
    #[state(varies)]
    arriving: VecDeque<(Time, u32)>,
    /// Reads whose data does.
    #[state(varies)]
    answering: VecDeque<(Time, u32)>,
    /// By number of the request.
    #[state(varies)]
    ways: Vec<Way>,
    #[state(varies)]
    reached: VecDeque<Reached>,
}

impl Host {
    pub(crate) fn new(config: &Config) -> Host {
        let translation = Costs { request: config.translation, unit: config.translation_unit };
        let none = Costs { request: Time::ZERO, unit: Time::ZERO };
        let (at_host, at_device) = match config.translator {
            Translator::Host => (translation, none),
            Translator::Device => (none, translation),
        };
        Host {
            at_host: Costs { request: config.driver + at_host.request, ..at_host },
            at_device: Costs { request: config.firmware + at_device.request, ..at_device },
            cpus: Workers::new(config.cpus),
            queues: Queues::new(config),
            from_host: Link::new(config.link),
            to_host: Link::new(config.link),
            processors: Workers::new(config.processors),
            arriving: VecDeque::new(),
            answering: VecDeque::new(),
            ways: Vec::new(),
            reached: VecDeque::new(),
        }
    }

    /// The host issues request `number`, of so many units.
    #[inline]
    pub(crate) fn submit(&mut self, now: Time, number: u32, request: &Request, units: u64) {
        if self.ways.len() <= number as usize {
            self.ways.resize(number as usize + 1, Way::default());
        }
        self.ways[number as usize] = Way {
            units,
            bytes: if request.op == Op::Write { u64::from(request.bytes) } else { 0 },
            op: request.op,
            volume: request.volume,
            software: Time::ZERO,
            link: Time::ZERO,
        };
        let time = self.at_host.of(units);
        if time.is_zero() {
            return self.enqueue(now, number);
        }
        self.ways[number as usize].software += time;
        self.cpus.arrive(now, number, time);
    }

    /// It takes a place in its queue, or waits for one.
    #[inline]
    fn enqueue(&mut self, now: Time, number: u32) {
        let volume = self.ways[number as usize].volume;
        if self.queues.enter(volume, number) {
            self.bring(now, number);
        }
    }

    /// Its data crosses the link.
    #[inline]
    fn bring(&mut self, now: Time, number: u32) {
        let way = &mut self.ways[number as usize];
        if way.bytes == 0 {
            return self.process(now, number);
        }
        let time = self.from_host.time_for(way.bytes);
        way.link += time;
        let there = self.from_host.cross(now, time);
        self.arriving.push_back((there, number));
    }

    /// A processor of the drive works on it.
    #[inline]
    fn process(&mut self, now: Time, number: u32) {
        let way = &mut self.ways[number as usize];
        let time = self.at_device.of(way.units);
        if time.is_zero() {
            return self.reached.push_back(Reached::Drive(number));
        }
        way.software += time;
        self.processors.arrive(now, number, time);
    }

    /// So many bytes go to the host for request `number`.
    #[inline]
    pub(crate) fn answer(&mut self, now: Time, number: u32, bytes: u64) {
        let time = self.to_host.time_for(bytes);
        self.ways[number as usize].link += time;
        let there = self.to_host.cross(now, time);
        self.answering.push_back((there, number));
    }

    /// Request `number` is over: whoever waits for its place takes it. Returns what its way took.
    #[inline]
    pub(crate) fn leave(&mut self, now: Time, number: u32) -> Way {
        let way = self.ways[number as usize];
        if let Some(next) = self.queues.leave(way.volume) {
            self.bring(now, next);
        }
        way
    }

    /// When something happens next; [`Time::MAX`] if nothing will.
    #[inline]
    pub(crate) fn next_event(&self) -> Time {
        let first = |queue: &VecDeque<(Time, u32)>| queue.front().map_or(Time::MAX, |(at, _)| *at);
        first(&self.answering).min(first(&self.arriving)).min(self.cpus.next()).min(self.processors.next())
    }

    /// Lets the next event happen, which is due at `at`.
    pub(crate) fn happen(&mut self, at: Time) {
        if self.cpus.next() <= at {
            let number = self.cpus.end(at);
            return self.enqueue(at, number);
        }
        if self.processors.next() <= at {
            let number = self.processors.end(at);
            return self.reached.push_back(Reached::Drive(number));
        }
        if let Some((_, number)) = self.arriving.pop_front_if(|(there, _)| *there == at) {
            return self.process(at, number);
        }
        if let Some((_, number)) = self.answering.pop_front_if(|(there, _)| *there == at) {
            self.reached.push_back(Reached::Host(number));
        }
    }

    /// Whether a request has come further.
    #[inline]
    pub(crate) fn has_reached(&self) -> bool {
        !self.reached.is_empty()
    }

    /// A request that has come further.
    #[inline]
    pub(crate) fn take_reached(&mut self) -> Option<Reached> {
        self.reached.pop_front()
    }

    /// Power is lost at `at`: nothing is under way any more.
    pub(crate) fn power_fail(&mut self, at: Time) {
        self.cpus.power_fail(at);
        self.processors.power_fail(at);
        self.from_host.power_fail(at);
        self.to_host.power_fail(at);
        self.queues.clear();
        self.arriving.clear();
        self.answering.clear();
        self.reached.clear();
    }

    pub(crate) fn restart_ledger(&mut self) {
        self.cpus.restart_ledger();
        self.processors.restart_ledger();
        self.from_host.restart_ledger();
        self.to_host.restart_ledger();
    }

    pub(crate) fn resources(&self) -> Vec<Resource> {
        vec![
            self.cpus.resource("cpus"),
            self.from_host.resource("link_in"),
            self.to_host.resource("link_out"),
            self.processors.resource("processors"),
        ]
    }

    pub(crate) fn check_invariants(&self) {
        self.queues.check_invariants();
    }
}
