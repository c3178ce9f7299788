//! The way between host and flash: driver, link, places for requests, processors.

use super::config::{Config, Translator};
use crate::host_interface::{self, HostInterface as _, PiecewiseRead, Places, Plain, Processors, Step};
use nacre_kernel::state::State;
use nacre_kernel::{Activity, Breakdown, ComponentId, Op, Request, Resource, Time};

/// What a request takes of processors, and each unit of it.
#[derive(Clone, Copy, Debug)]
struct Costs {
    request: Time,
    unit: Time,
    /// Whether that is nothing.
    are_none: bool,
}

impl Costs {
    fn new(request: Time, unit: Time) -> Costs {
        Costs { request, unit, are_none: request.is_zero() && unit.is_zero() }
    }

    /// One of `processors` works on a request of so many units from `at` on; gives when it is done.
    #[inline(always)]
    fn work(
        self,
        processors: &mut Processors,
        at: Time,
        units: u64,
        id: ComponentId,
        breakdown: &mut Breakdown,
    ) -> Time {
        if self.are_none { at } else { self.work_on(processors, at, units, id, breakdown) }
    }

    #[inline(never)]
    fn work_on(
        self,
        processors: &mut Processors,
        at: Time,
        units: u64,
        id: ComponentId,
        breakdown: &mut Breakdown,
    ) -> Time {
        let step = processors.work(at, self.request + self.unit * units);
        breakdown.add(id, Activity::Queue, step.there - at - step.software);
        breakdown.add(id, Activity::Software, step.software);
        step.there
    }
}

/// Bytes that go to the host: how long they wait, what software and the link take, and when they are there.
pub(super) struct Crossing {
    pub(super) waits: Time,
    pub(super) software: Time,
    pub(super) takes: Time,
    pub(super) there: Time,
}

/// The host and the drive's interface end.
#[derive(State)]
pub(super) struct HostInterface {
    #[state(skip = "from the configuration")]
    id: ComponentId,
    /// Driver, CPUs and link of its own.
    plain: Plain,
    #[state(skip = "from the configuration")]
    at_host: Costs,
    device: Processors,
    #[state(skip = "from the configuration")]
    at_device: Costs,
    /// What stands before the drive in place of driver and link.
    front: Option<Box<dyn host_interface::HostInterface>>,
    /// What the request is that entered last.
    #[state(skip = "of no meaning between two requests")]
    op: Op,
    /// How it was asked for, where it is a read.
    #[state(skip = "of no meaning between two requests")]
    asked: PiecewiseRead,
    /// When the requests under way end, where there may be so many only: of all tenants together, or of each.
    under_way: Vec<UnderWay>,
    /// Whose places the request takes that entered last.
    #[state(skip = "of no meaning between two requests")]
    queue: usize,
}

/// Requests under way, of which there may be so many.
#[derive(State)]
struct UnderWay {
    places: Places,
    /// When the latest of them came.
    latest: Time,
    /// Whether the request being served has a place. One that came before others that were served already
    /// needs none: who waits for whom is known only in the order of time.
    has_place: bool,
}

/// The places of each queue: one queue, or one for each tenant. What rounding leaves goes to the first queues.
fn places(config: &Config) -> Vec<u32> {
    let Some(depth) = config.queue_depth else { return Vec::new() };
    let mut places = tenants_places(depth, config.queue_shares.as_deref().unwrap_or(&[1]));
    let left = depth - places.iter().sum::<u32>();
    places.iter_mut().take(left as usize).for_each(|places| *places += 1);
    places
}

/// The share of each tenant in `depth` places, rounded down, and one at least.
pub(super) fn tenants_places(depth: u32, shares: &[u32]) -> Vec<u32> {
    let sum: u64 = shares.iter().map(|&share| u64::from(share)).sum();
    let part = |&share: &u32| ((u64::from(depth) * u64::from(share) / sum) as u32).max(1);
    shares.iter().map(part).collect()
}

impl UnderWay {
    fn new(places: u32) -> UnderWay {
        UnderWay { places: Places::new(places), latest: Time::ZERO, has_place: false }
    }

    #[inline]
    fn enter(&mut self, at: Time) -> Time {
        self.has_place = at >= self.latest;
        if !self.has_place {
            return at;
        }
        self.latest = at;
        self.places.admit(at)
    }

    #[inline]
    fn leave(&mut self, end: Time) {
        if self.has_place {
            self.places.hold(end);
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
            plain: Plain::new(driver, config.cpus, config.link, ["link_in", "link_out"]),
            at_host: Costs::new(driver + at_host.0, at_host.1),
            device: Processors::new(config.processors),
            at_device: Costs::new(config.firmware + at_device.0, at_device.1),
            front,
            op: Op::Read,
            asked: PiecewiseRead::default(),
            under_way: places(config).into_iter().map(UnderWay::new).collect(),
            queue: 0,
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
        let mut at = self.at_host.work(&mut self.plain.processors, now, units, self.id, breakdown);
        at = self.take_place(at, request.volume, breakdown);
        if bytes > 0 {
            let takes = self.plain.from_host.time_for(bytes);
            let there = self.plain.from_host.cross(at, takes);
            breakdown.add_all(self.id, [(Activity::Queue, there - at - takes), (Activity::Link, takes)]);
            at = there;
        }
        self.at_device.work(&mut self.device, at, units, self.id, breakdown)
    }

    /// When a request of `volume` that is there at `at` gets a place among those under way.
    #[inline(always)]
    fn take_place(&mut self, at: Time, volume: u32, breakdown: &mut Breakdown) -> Time {
        if self.under_way.is_empty() { at } else { self.wait_for_place(at, volume, breakdown) }
    }

    #[inline(never)]
    fn wait_for_place(&mut self, at: Time, volume: u32, breakdown: &mut Breakdown) -> Time {
        self.queue = volume as usize % self.under_way.len();
        let begin = self.under_way[self.queue].enter(at);
        breakdown.add(self.id, Activity::Queue, begin - at);
        begin
    }

    /// So many `bytes` go to the host from `at` on.
    #[inline(always)]
    pub(super) fn answer(&mut self, at: Time, bytes: u64) -> Crossing {
        if let Some(front) = &mut self.front {
            let Step { there, software, link, .. } =
                host_interface::answer_all(&mut **front, self.asked, true, at, bytes);
            return Crossing { waits: there - at - software - link, software, takes: link, there };
        }
        let takes = self.plain.to_host.time_for(bytes);
        // Reads end in another order than they came in.
        let there = self.plain.to_host.cross(at, takes);
        Crossing { waits: there - at - takes, software: Time::ZERO, takes, there }
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
        let bytes = u64::from(request.bytes);
        match request.op {
            Op::Write => step = step.then(host_interface::bring_all(&mut **front, step.there, bytes)),
            Op::Read => {
                self.asked = host_interface::ask(&mut **front, step.there, bytes);
                step = step.then(self.asked.first);
            }
            Op::Trim | Op::Flush => {}
        }
        step.tell(self.id, now, breakdown);
        let at = self.take_place(step.there, request.volume, breakdown);
        let at = self.at_host.work(&mut self.plain.processors, at, units, self.id, breakdown);
        self.at_device.work(&mut self.device, at, units, self.id, breakdown)
    }

    /// A request that entered is done at `end`; gives when the host knows.
    #[inline(always)]
    pub(super) fn leave(&mut self, end: Time, breakdown: &mut Breakdown) -> Time {
        let is_plain = self.front.is_none() && self.under_way.is_empty();
        if is_plain { end } else { self.leave_place(end, breakdown) }
    }

    #[inline(never)]
    fn leave_place(&mut self, end: Time, breakdown: &mut Breakdown) -> Time {
        let mut known = end;
        if let Some(front) = &mut self.front {
            let step = front.end(end, self.op);
            step.tell(self.id, end, breakdown);
            known = step.there;
        }
        if let Some(under_way) = self.under_way.get_mut(self.queue) {
            under_way.leave(end);
        }
        known
    }

    /// The power fails at `at`: nothing is under way any more.
    pub(super) fn power_fail(&mut self, at: Time) {
        self.plain.power_fail(at);
        self.device.power_fail(at);
        if let Some(front) = &mut self.front {
            front.power_fail(at);
        }
        for under_way in &mut self.under_way {
            under_way.places.clear();
            under_way.latest = Time::ZERO;
        }
    }

    pub(super) fn forget_before(&mut self, now: Time) {
        self.plain.advance(now);
        self.device.advance(now);
        if let Some(front) = &mut self.front {
            front.advance(now);
        }
    }

    pub(super) fn busy_until(&self) -> Time {
        let front = self.front.as_ref().map_or(Time::ZERO, |front| front.busy_until());
        self.plain.busy_until().max(self.device.busy_until()).max(front)
    }

    pub(super) fn restart_ledger(&mut self) {
        self.plain.restart_ledger();
        self.device.restart_ledger();
        if let Some(front) = &mut self.front {
            front.restart_ledger();
        }
    }

    pub(super) fn resources(&self) -> Vec<Resource> {
        let device = self.device.named("processors");
        match &self.front {
            // Translation by the host is its own.
            Some(front) => {
                let translating = self.plain.processors.named("translating_cpus");
                front.resources().into_iter().chain([translating, device]).collect()
            }
            None => self.plain.resources().into_iter().chain([device]).collect(),
        }
    }

    pub(super) fn check_invariants(&self) {
        self.plain.check_invariants();
        self.device.check_invariants();
        if let Some(front) = &self.front {
            front.check_invariants();
        }
    }
}
