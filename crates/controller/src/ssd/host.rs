//! The way between host and flash: driver, link, places for requests, processors.

use super::config::{Config, Translator};
use crate::host_interface::{self, Step};
use nacre_kernel::state::State;
use nacre_kernel::{Activity, Breakdown, ComponentId, Ledger, Link, Op, Pool, Request, Resource, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Processors of one kind, and where their time went.
#[derive(State)]
struct Processors {
    pool: Pool,
    busy: Ledger,
    #[state(skip = "from the configuration")]
    request: Time,
    #[state(skip = "from the configuration")]
    unit: Time,
    /// Whether they take no time for anything.
    #[state(skip = "from the configuration")]
    are_free: bool,
}

impl Processors {
    fn new(count: u32, request: Time, unit: Time) -> Processors {
        let are_free = request.is_zero() && unit.is_zero();
        Processors { pool: Pool::new(count), busy: Ledger::default(), request, unit, are_free }
    }

    /// One of them works on a request of so many units from `at` on; gives when it is done.
    #[inline(always)]
    fn work(&mut self, at: Time, units: u64, id: ComponentId, breakdown: &mut Breakdown) -> Time {
        if self.are_free { at } else { self.work_on(at, units, id, breakdown) }
    }

    #[inline(never)]
    fn work_on(&mut self, at: Time, units: u64, id: ComponentId, breakdown: &mut Breakdown) -> Time {
        let time = self.request + self.unit * units;
        if time.is_zero() {
            return at;
        }
        let start = self.pool.reserve(at, time);
        self.busy.charge(Activity::Software, time);
        breakdown.add(id, Activity::Queue, start - at);
        breakdown.add(id, Activity::Software, time);
        start + time
    }

    fn resource(&self, name: &'static str) -> Resource {
        Resource { name, servers: self.pool.len(), ledger: self.busy.clone() }
    }
}

/// Bytes that go to the host: how long they wait, how long they take and when they are there.
pub(super) struct Crossing {
    pub(super) waits: Time,
    pub(super) takes: Time,
    pub(super) there: Time,
}

/// The host and the drive's interface end.
#[derive(State)]
pub(super) struct HostInterface {
    #[state(skip = "from the configuration")]
    id: ComponentId,
    host: Processors,
    device: Processors,
    into: Link,
    out: Link,
    /// What stands before the drive in place of driver and link.
    front: Option<Box<dyn host_interface::HostInterface>>,
    /// What the request is that entered last.
    #[state(skip = "of no meaning between two requests")]
    op: Op,
    /// When the requests under way end, where there may be so many only.
    under_way: Option<UnderWay>,
}

/// Requests under way, of which there may be so many.
#[derive(State)]
struct UnderWay {
    #[state(same)]
    most: usize,
    ends: BinaryHeap<Reverse<Time>>,
    /// When the latest of them came.
    latest: Time,
    /// Whether the request being served has a place. One that came before others that were served already
    /// needs none: who waits for whom is known only in the order of time.
    has_place: bool,
}

impl UnderWay {
    #[inline]
    fn enter(&mut self, at: Time) -> Time {
        self.has_place = at >= self.latest;
        if !self.has_place {
            return at;
        }
        self.latest = at;
        let first = if self.ends.len() == self.most { self.ends.pop() } else { None };
        first.map_or(at, |Reverse(first)| at.max(first))
    }

    #[inline]
    fn leave(&mut self, end: Time) {
        if self.has_place {
            self.ends.push(Reverse(end));
        }
    }
}

impl HostInterface {
    pub(super) fn new(
        id: ComponentId,
        config: &Config,
        front: Option<Box<dyn host_interface::HostInterface>>,
    ) -> HostInterface {
        // Its driver is the front's.
        let driver = if front.is_some() { Time::ZERO } else { config.driver };
        let (at_host, at_device) = match config.translator {
            Translator::Host => ((config.translation, config.translation_unit), (Time::ZERO, Time::ZERO)),
            Translator::Device => ((Time::ZERO, Time::ZERO), (config.translation, config.translation_unit)),
        };
        HostInterface {
            id,
            host: Processors::new(config.cpus, driver + at_host.0, at_host.1),
            device: Processors::new(config.processors, config.firmware + at_device.0, at_device.1),
            into: Link::new(config.link),
            out: Link::new(config.link),
            front,
            op: Op::Read,
            under_way: config.queue_depth.map(|depth| UnderWay {
                most: depth as usize,
                ends: BinaryHeap::new(),
                latest: Time::ZERO,
                has_place: false,
            }),
        }
    }

    /// A request of so many units comes at `now`: the driver works on it, it gets a place, `bytes` come with
    /// it, a processor of the drive works on it. Gives when the drive can begin.
    #[inline(always)]
    pub(super) fn enter(
        &mut self,
        now: Time,
        request: &Request,
        units: u64,
        breakdown: &mut Breakdown,
    ) -> Time {
        let bytes = if request.op == Op::Write { u64::from(request.bytes) } else { 0 };
        if self.front.is_some() {
            return self.enter_over_front(now, request, units, breakdown);
        }
        let mut at = self.host.work(now, units, self.id, breakdown);
        if let Some(under_way) = &mut self.under_way {
            let begin = under_way.enter(at);
            breakdown.add(self.id, Activity::Queue, begin - at);
            at = begin;
        }
        if bytes > 0 {
            let takes = self.into.time_for(bytes);
            let there = self.into.cross(at, takes);
            breakdown.add_all(self.id, [(Activity::Queue, there - at - takes), (Activity::Link, takes)]);
            at = there;
        }
        self.device.work(at, units, self.id, breakdown)
    }

    /// So many `bytes` go to the host from `at` on.
    #[inline(always)]
    pub(super) fn answer(&mut self, at: Time, bytes: u64) -> Crossing {
        if let Some(front) = &mut self.front {
            let step = all_pieces(&mut **front, bytes, |front, bytes| front.answer(at, Op::Read, bytes));
            return Crossing { waits: step.there - at - step.link, takes: step.link, there: step.there };
        }
        let takes = self.out.time_for(bytes);
        // Reads end in another order than they came in.
        let there = self.out.cross_unordered(at, takes);
        Crossing { waits: there - at - takes, takes, there }
    }

    /// A request that entered over a front: the host's software, its command, the data of a write.
    #[inline(never)]
    fn enter_over_front(
        &mut self,
        now: Time,
        request: &Request,
        units: u64,
        breakdown: &mut Breakdown,
    ) -> Time {
        let front = self.front.as_mut().expect("it has one");
        self.op = request.op;
        let mut step = front.begin(now, request);
        if request.op == Op::Write {
            let begun = step.there;
            let data = all_pieces(&mut **front, u64::from(request.bytes), |front, bytes| {
                let brought = front.bring(begun, Op::Write, bytes);
                let answered = front.answer(brought.there, Op::Write, bytes);
                brought.then(answered)
            });
            step = step.then(data);
        }
        let mut at = step.there;
        add(self.id, now, step, breakdown);
        if let Some(under_way) = &mut self.under_way {
            let begin = under_way.enter(at);
            breakdown.add(self.id, Activity::Queue, begin - at);
            at = begin;
        }
        let at = self.host.work(at, units, self.id, breakdown);
        self.device.work(at, units, self.id, breakdown)
    }

    /// A request that entered is done at `end`; gives when the host knows.
    #[inline]
    pub(super) fn leave(&mut self, end: Time, breakdown: &mut Breakdown) -> Time {
        let mut known = end;
        if let Some(front) = &mut self.front {
            let step = front.end(end, self.op);
            add(self.id, end, step, breakdown);
            known = step.there;
        }
        if let Some(under_way) = &mut self.under_way {
            under_way.leave(end);
        }
        known
    }

    /// Nothing is under way any more.
    pub(super) fn clear(&mut self) {
        self.host.pool = Pool::new(self.host.pool.len());
        self.device.pool = Pool::new(self.device.pool.len());
        self.into.clear();
        self.out.clear();
        if let Some(front) = &mut self.front {
            front.clear();
        }
        if let Some(under_way) = &mut self.under_way {
            under_way.ends.clear();
            under_way.latest = Time::ZERO;
        }
    }

    pub(super) fn forget_before(&mut self, now: Time) {
        self.host.pool.forget_before(now);
        self.device.pool.forget_before(now);
        self.into.forget_before(now);
        self.out.forget_before(now);
        if let Some(front) = &mut self.front {
            front.advance(now);
        }
    }

    pub(super) fn busy_until(&self) -> Time {
        let pools = self.host.pool.free_from().max(self.device.pool.free_from());
        let front = self.front.as_ref().map_or(Time::ZERO, |front| front.busy_until());
        pools.max(self.into.free_from()).max(self.out.free_from()).max(front)
    }

    pub(super) fn restart_ledger(&mut self) {
        self.host.busy = Ledger::default();
        self.device.busy = Ledger::default();
        self.into.restart_ledger();
        self.out.restart_ledger();
        if let Some(front) = &mut self.front {
            front.restart_ledger();
        }
    }

    pub(super) fn resources(&self) -> Vec<Resource> {
        let device = self.device.resource("processors");
        match &self.front {
            // Translation by the host is its own.
            Some(front) => {
                let translating = self.host.resource("translating_cpus");
                front.resources().into_iter().chain([translating, device]).collect()
            }
            None => vec![
                self.host.resource("cpus"),
                self.into.resource("link_in"),
                self.out.resource("link_out"),
                device,
            ],
        }
    }

    pub(super) fn check_invariants(&self) {
        self.host.pool.check_invariants();
        self.device.pool.check_invariants();
        self.into.check_invariants();
        self.out.check_invariants();
        if let Some(front) = &self.front {
            front.check_invariants();
        }
    }
}

/// All pieces of so many bytes, each as `of` does it: the one that is there last.
fn all_pieces(
    front: &mut dyn host_interface::HostInterface,
    bytes: u64,
    mut of: impl FnMut(&mut dyn host_interface::HostInterface, u64) -> Step,
) -> Step {
    let (piece, mut left) = (front.piece(), bytes);
    let mut last = Step::default();
    while left > 0 {
        let step = of(front, left.min(piece));
        if step.there >= last.there {
            last = step;
        }
        left -= left.min(piece);
    }
    last
}

/// Where the time of a step from `at` on went.
fn add(id: ComponentId, at: Time, step: Step, breakdown: &mut Breakdown) {
    let queue = step.there - at - step.software - step.link - step.device;
    breakdown.add_all(
        id,
        [
            (Activity::Software, step.software),
            (Activity::Queue, queue + step.device),
            (Activity::Link, step.link),
        ],
    );
}
