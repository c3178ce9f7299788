//! The model of a host: waiting requests, and attempts that are outstanding at the device.

use super::waiting::Waiting;
use super::zone_order::ZoneOrder;
use super::{HostConfig, HostScheduler, ZoneWrites};
use nacre_kernel::event::{Canceled, Completions, Device, RequestId, Slab};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, ComponentId, ComponentReport, Request, Status, Time};
use std::collections::BTreeSet;

/// Kind of the host, and its path in reports. The host has no cost, energy, or lifetime.
pub(crate) const KIND: &str = "host";

/// A host between the workload and the device.
#[derive(State)]
pub(crate) struct Host {
    #[state(skip = "from the configuration")]
    pub(super) id: ComponentId,
    #[state(skip = "from the configuration")]
    pub(super) config: HostConfig,
    pub(super) requests: Slab<PendingRequest>,
    /// Attempts at the device. Each has the number of its request, or `None` if the host has given up the
    /// attempt.
    tries: Slab<Option<u32>>,
    /// Times at which requests time out or are sent again, each with the request number.
    due: BTreeSet<(Time, u32)>,
    /// Queues of waiting requests, one per tenant. Without tenants, there is one queue.
    queues: Vec<Queue>,
    /// Time at which waiting requests get free slots, or [`Time::MAX`] if there is no waiting request or no
    /// free slot.
    decides_at: Time,
    pub(super) order: ZoneOrder,
    pub(super) counts: Counts,
    #[state(skip = "scratch")]
    answered: Completions,
}

/// Requests of one tenant.
#[derive(Debug, State)]
struct Queue {
    waiting: Waiting,
    outstanding: u32,
}

/// A request that the host has not answered.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct PendingRequest {
    id: RequestId,
    pub(super) request: Request,
    arrived: Time,
    /// Time at which the request left the host queue.
    started: Time,
    /// Time at which the current attempt was sent.
    sent: Time,
    /// Number of the current attempt, or `None` between attempts.
    current: Option<u32>,
    /// Time at which the request times out or is sent again.
    due: Option<Time>,
    retries: u32,
    /// First byte of the zone that the request writes, if the writes of a zone are serialized.
    pub(super) zone: Option<u64>,
}

/// Counters since measurement started.
#[derive(Clone, Debug, Default, State)]
pub(super) struct Counts {
    requests: u64,
    waited: u64,
    timeouts: u64,
    canceled: u64,
    retries: u64,
    failed: u64,
    late_answers: u64,
    expired: u64,
    pub(super) appends: u64,
    pub(super) appends_elsewhere: u64,
}

impl Host {
    /// Creates a host without requests for `tenants` tenants. Zero tenants count as one.
    pub(crate) fn new(id: ComponentId, config: HostConfig, tenants: usize) -> Host {
        let queue = || Queue { waiting: Waiting::new(&config.scheduler), outstanding: 0 };
        let queues = std::iter::repeat_with(queue).take(tenants.max(1)).collect();
        Host {
            id,
            config,
            requests: Slab::new(),
            tries: Slab::new(),
            due: BTreeSet::new(),
            queues,
            decides_at: Time::MAX,
            order: ZoneOrder::default(),
            counts: Counts::default(),
            answered: Completions::new(),
        }
    }

    /// Submits a request through the host to `device`, like [`Device::submit`]. The request has no data.
    pub(crate) fn submit(&mut self, device: &mut dyn Device, now: Time, id: RequestId, request: &Request) {
        let (number, pending) = self.requests.take();
        *pending = PendingRequest { id, request: *request, arrived: now, ..PendingRequest::default() };
        self.counts.requests += 1;
        if self.enters_zone(device, number) {
            self.arrive(device, now, number);
        }
    }

    /// Assigns a slot to request `number`, or queues it.
    pub(super) fn arrive(&mut self, device: &mut dyn Device, now: Time, number: u32) {
        let queue = self.queue_of(number);
        let has_slot = self.has_slot(queue);
        if has_slot && !self.schedules() {
            return self.start(device, now, number);
        }
        self.queues[queue].waiting.push(now, number, &self.requests[number].request);
        if has_slot {
            self.decides_at = now;
        }
    }

    fn has_slot(&self, queue: usize) -> bool {
        self.queues[queue].outstanding < self.config.queue_depth.unwrap_or(u32::MAX)
    }

    /// Returns whether the order of waiting requests depends on requests that arrive later at the same
    /// instant.
    fn schedules(&self) -> bool {
        !matches!(self.config.scheduler, HostScheduler::FirstCome)
    }

    fn queue_of(&self, number: u32) -> usize {
        // Without tenants, volumes are those of a trace.
        let volume = self.requests[number].request.volume as usize;
        if self.queues.len() > 1 { volume } else { 0 }
    }

    /// Assigns a slot to a request and sends its first attempt.
    fn start(&mut self, device: &mut dyn Device, now: Time, number: u32) {
        let queue = self.queue_of(number);
        self.queues[queue].outstanding += 1;
        self.requests[number].started = now;
        self.counts.waited += u64::from(now > self.requests[number].arrived);
        self.send(device, now, number);
    }

    fn send(&mut self, device: &mut dyn Device, now: Time, number: u32) {
        let (of_try, asking) = self.tries.take();
        *asking = Some(number);
        let pending = &mut self.requests[number];
        (pending.sent, pending.current, pending.due) = (now, Some(of_try), None);
        if let Some(timeout) = &self.config.timeout {
            pending.due = Some(now + timeout.after);
            self.due.insert((now + timeout.after, number));
        }
        let request = pending.request;
        self.submit_try(device, now, RequestId(of_try), &request);
    }

    /// Assigns free slots to waiting requests at `now`.
    fn decide(&mut self, device: &mut dyn Device, now: Time) {
        self.decides_at = Time::MAX;
        for queue in 0..self.queues.len() {
            while self.has_slot(queue)
                && let Some(next) = self.next_waiting(queue, now)
            {
                self.start(device, now, next);
            }
        }
    }

    /// Removes and returns the waiting request that gets a free slot at `now`, or `None` if no request waits.
    fn next_waiting(&mut self, queue: usize, now: Time) -> Option<u32> {
        let (number, has_expired) = self.queues[queue].waiting.pop(now)?;
        self.counts.expired += u64::from(has_expired);
        Some(number)
    }

    /// Returns the time of the next event of the host or of its device, like [`Device::next_event`].
    pub(crate) fn next_event(&self, device: &dyn Device) -> Time {
        device.next_event().min(self.next_due()).min(self.decides_at)
    }

    fn next_due(&self) -> Time {
        self.due.first().map_or(Time::MAX, |&(at, _)| at)
    }

    /// Processes events of the host and its device before `until`, like [`Device::run`].
    pub(crate) fn run(&mut self, device: &mut dyn Device, until: Time, completions: &mut Completions) {
        let before = completions.len();
        while completions.len() == before {
            if self.decides_at < until {
                self.decide(device, self.decides_at);
            }
            let due = self.next_due();
            let mut answered = std::mem::take(&mut self.answered);
            device.run(until.min(due), &mut answered);
            if answered.is_empty() {
                self.answered = answered;
                if due >= until {
                    return;
                }
                self.process(device, due, completions);
                continue;
            }
            for index in 0..answered.len() {
                self.answer(device, &answered, index, completions);
            }
            answered.clear();
            self.answered = answered;
        }
    }

    /// Handles the completion of an attempt.
    fn answer(
        &mut self,
        device: &mut dyn Device,
        answered: &Completions,
        index: usize,
        completions: &mut Completions,
    ) {
        let (of, spans) = answered.get(index);
        let number = self.tries[of.id.0];
        self.tries.give_back(of.id.0);
        let Some(number) = number else {
            self.counts.late_answers += 1;
            return;
        };
        self.note_address(number, of);
        let own = self.own_time(number, self.requests[number].sent);
        completions.push_behind(self.requests[number].id, of.at, of.status, self.id, own, spans);
        self.finish(device, of.at, number);
    }

    /// Returns the times that a request spent in the host queue and then on earlier attempts, before its
    /// last attempt was sent at `until`.
    fn own_time(&self, number: u32, until: Time) -> [(Activity, Time); 2] {
        let pending = &self.requests[number];
        [(Activity::Queue, pending.started - pending.arrived), (Activity::Retry, until - pending.started)]
    }

    /// Handles the requests that time out or are sent again at `at`.
    fn process(&mut self, device: &mut dyn Device, at: Time, completions: &mut Completions) {
        while let Some(&(due, number)) = self.due.first()
            && due == at
        {
            self.due.pop_first();
            self.requests[number].due = None;
            match self.requests[number].current.take() {
                None => self.send_again(device, at, number),
                Some(of_try) => self.time_out(device, at, (number, of_try), completions),
            }
        }
    }

    fn send_again(&mut self, device: &mut dyn Device, now: Time, number: u32) {
        self.counts.retries += 1;
        self.requests[number].retries += 1;
        self.send(device, now, number);
    }

    fn time_out(
        &mut self,
        device: &mut dyn Device,
        now: Time,
        (number, of_try): (u32, u32),
        completions: &mut Completions,
    ) {
        self.counts.timeouts += 1;
        match device.cancel(now, RequestId(of_try)) {
            Canceled::Yes => {
                self.counts.canceled += 1;
                self.tries.give_back(of_try);
            }
            Canceled::TooLate => self.tries[of_try] = None,
        }
        let timeout = self.config.timeout.as_ref().expect("only a host with a timeout times out");
        if self.requests[number].retries == timeout.retries {
            self.counts.failed += 1;
            let own = self.own_time(number, now);
            completions.push(self.requests[number].id, now, Status::TransportError, self.id, own);
            self.finish(device, now, number);
        } else if timeout.backoff.is_zero() {
            self.send_again(device, now, number);
        } else {
            let due = now + timeout.backoff;
            self.requests[number].due = Some(due);
            self.due.insert((due, number));
        }
    }

    /// Frees the slot of a request that is answered or failed.
    fn finish(&mut self, device: &mut dyn Device, now: Time, number: u32) {
        let queue = self.queue_of(number);
        if let Some(due) = self.requests[number].due {
            self.due.remove(&(due, number));
        }
        let zone = self.requests[number].zone;
        self.requests.give_back(number);
        self.queues[queue].outstanding -= 1;
        if self.schedules() {
            self.decides_at = if self.queues[queue].waiting.len() > 0 { now } else { self.decides_at };
        } else if let Some(next) = self.next_waiting(queue, now) {
            self.start(device, now, next);
        }
        if let Some(zone) = zone {
            self.leaves_zone(device, now, zone);
        }
    }

    /// Returns the number of attempts that are outstanding at the device, including those that the host has
    /// given up.
    pub(crate) fn outstanding(&self) -> usize {
        self.tries.len()
    }

    /// Resets the counters of the host, like [`Device::restart_ledger`]. Does not affect the device.
    pub(crate) fn restart_ledger(&mut self) {
        self.counts = Counts::default();
    }

    /// Returns the report of the host, like [`Device::report`]. Does not include the device.
    pub(crate) fn report(&self) -> ComponentReport {
        let Counts { requests, waited, timeouts, canceled, retries, failed, late_answers, expired, .. } =
            self.counts;
        let mut counters = vec![
            ("requests", requests),
            ("waited", waited),
            ("timeouts", timeouts),
            ("canceled", canceled),
            ("retries", retries),
            ("failed", failed),
            ("late_answers", late_answers),
            ("expired", expired),
        ];
        if self.config.zone_writes == Some(ZoneWrites::Append) {
            let Counts { appends, appends_elsewhere, .. } = self.counts;
            counters.extend([("appends", appends), ("appends_elsewhere", appends_elsewhere)]);
        }
        ComponentReport {
            id: self.id,
            kind: KIND,
            path: KIND.into(),
            resources: Vec::new(),
            is_energy_modeled: false,
            idle_energy: None,
            counters,
            cost: None,
            area_mm2: None,
            lifetime_days: None,
            wear: None,
            columns: Vec::new(),
            drive_share: None,
            faults: Vec::new(),
            children: Vec::new(),
        }
    }

    /// Panics if the host has lost track of a request or an attempt.
    pub(crate) fn check_invariants(&self) {
        let waiting: usize = self.queues.iter().map(|queue| queue.waiting.len()).sum();
        let outstanding: u32 = self.queues.iter().map(|queue| queue.outstanding).sum();
        let of_zones = self.order.held();
        assert_eq!(waiting + outstanding as usize + of_zones, self.requests.len(), "a request is lost");
        let asking = self.tries.iter().filter(|(_, number)| number.is_some()).count();
        let current = self.requests.iter().filter(|(_, pending)| pending.current.is_some()).count();
        assert_eq!(asking, current, "a try is lost");
        let due = self.requests.iter().filter(|(_, pending)| pending.due.is_some()).count();
        assert_eq!(due, self.due.len(), "a timer is lost");
        let idles = |queue: usize| self.has_slot(queue) && self.queues[queue].waiting.len() > 0;
        let idle = (0..self.queues.len()).any(idles);
        assert_eq!(idle, self.decides_at < Time::MAX, "a request waits for nothing");
    }
}
