//! The path between host and drive: host interface, queues, and processors of the drive.
//!
//! A request passes through these stages in order: the host software, the notification of the drive, a slot
//! in its queue, the data transfer of a write, and a processor of the drive. Data that was read is then
//! transferred to the host.

mod queues;

use crate::config::Drive;
use nacre_config::Families;
use nacre_controller::host_interface::{self, Cpus, HostPort, Leg, Part, Plain, Spent};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Op, Request, Resource, Time};
use queues::Queues;
use std::collections::VecDeque;

/// The end of the path that a request has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(crate) enum Reached {
    /// The drive, which can start the request.
    Drive(u32),
    /// The host, so that the request is complete.
    Host(u32),
}

/// Times that a request has spent on the path.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(crate) struct Transit {
    bytes: u64,
    op: Op,
    volume: u32,
    /// Processing time on host CPUs and on drive processors.
    pub(crate) software: Time,
    /// Transfer time on the link.
    pub(crate) link: Time,
}

/// Interface between host and drive.
#[expect(
    clippy::large_enum_variant,
    reason = "a drive has one, and the plain one is asked for every request"
)]
enum Port {
    /// A driver and a link.
    Plain(Plain),
    /// A host interface, e.g. NVMe.
    Other(Box<dyn HostPort>),
}

impl Port {
    #[inline]
    fn get(&self) -> &dyn HostPort {
        match self {
            Port::Plain(plain) => plain,
            Port::Other(port) => &**port,
        }
    }

    #[inline]
    fn get_mut(&mut self) -> &mut dyn HostPort {
        match self {
            Port::Plain(plain) => plain,
            Port::Other(port) => &mut **port,
        }
    }
}

impl State for Port {
    fn save(&self, state: &mut nacre_kernel::state::StateWriter) {
        self.get().save(state);
    }

    fn restore(
        &mut self,
        state: &mut nacre_kernel::state::StateReader<'_>,
    ) -> Result<(), nacre_kernel::state::StateError> {
        self.get_mut().restore(state)
    }
}

/// The path between host and drive.
#[derive(State)]
pub(crate) struct Host {
    #[state(skip = "from the configuration")]
    at_host: Time,
    #[state(skip = "from the configuration")]
    at_device: Time,
    port: Port,
    queues: Queues,
    processors: Cpus<u32>,
    /// Requests on the path, indexed by their numbers.
    #[state(varies)]
    transits: Vec<Transit>,
    #[state(varies)]
    reached: VecDeque<Reached>,
}

impl Host {
    pub(crate) fn new(config: &Drive, families: &dyn Families) -> Host {
        Host {
            at_host: config.translation,
            at_device: config.firmware,
            port: match &config.host {
                Some(slot) => {
                    Port::Other(host_interface::build(slot, families).expect("every interface can be built"))
                }
                None => {
                    Port::Plain(Plain::new(config.driver, config.cpus, config.link, ["link_in", "link_out"]))
                }
            },
            queues: Queues::new(config),
            processors: Cpus::new(config.processors),
            transits: Vec::new(),
            reached: VecDeque::new(),
        }
    }

    /// Submits request `number` of the host.
    #[inline]
    pub(crate) fn submit(&mut self, now: Time, number: u32, request: &Request) {
        if self.transits.len() <= number as usize {
            self.transits.resize(number as usize + 1, Transit::default());
        }
        self.transits[number as usize] = Transit {
            bytes: u64::from(request.bytes),
            op: request.op,
            volume: request.volume,
            software: Time::ZERO,
            link: Time::ZERO,
        };
        let work = self.at_host;
        let begun = match &mut self.port {
            Port::Plain(plain) => plain.submit(now, number, request, work),
            Port::Other(port) => port.submit(now, number, request, work),
        };
        if let Some(spent) = begun {
            self.end_leg(now, number, Leg::Begun, &spent);
        }
    }

    /// Handles the end of stage `leg` of request `number`. The stage took `spent`.
    #[inline]
    fn end_leg(&mut self, now: Time, number: u32, leg: Leg, spent: &Spent) {
        let transit = &mut self.transits[number as usize];
        transit.software += spent.software;
        transit.link += spent.link;
        match leg {
            Leg::Begun => {
                let volume = transit.volume;
                if self.queues.enter(volume, number) {
                    self.bring(now, number);
                }
            }
            Leg::Brought => self.process(now, number),
            Leg::Answered => self.end(now, number),
            Leg::Ended => self.reached.push_back(Reached::Host(number)),
        }
    }

    /// Starts the second stage of the host interface, e.g. the transfer of the data of a write.
    #[inline]
    fn bring(&mut self, now: Time, number: u32) {
        let Transit { op, bytes, .. } = self.transits[number as usize];
        if !matches!(op, Op::Read | Op::Write) || bytes == 0 {
            return self.process(now, number);
        }
        let part = Part::whole(number);
        let brought = match &mut self.port {
            Port::Plain(plain) => plain.bring(now, part, op, bytes),
            Port::Other(port) => port.bring(now, part, op, bytes),
        };
        if let Some(spent) = brought {
            self.end_leg(now, number, Leg::Brought, &spent);
        }
    }

    /// Starts processing request `number` on a processor of the drive.
    #[inline]
    fn process(&mut self, now: Time, number: u32) {
        if self.at_device.is_zero() {
            return self.reached.push_back(Reached::Drive(number));
        }
        self.processors.arrive(now, number, self.at_device);
    }

    /// Sends the result of request `number` to the host.
    #[inline]
    pub(crate) fn answer(&mut self, now: Time, number: u32) {
        let Transit { op, bytes, .. } = self.transits[number as usize];
        if !matches!(op, Op::Read | Op::Write) || bytes == 0 {
            return self.end(now, number);
        }
        let part = Part::whole(number);
        let answered = match &mut self.port {
            Port::Plain(plain) => plain.answer(now, part, op, bytes),
            Port::Other(port) => port.answer(now, part, op, bytes),
        };
        if let Some(spent) = answered {
            self.end_leg(now, number, Leg::Answered, &spent);
        }
    }

    /// Returns whether a free slot can be assigned to a waiting request.
    #[inline]
    pub(crate) fn has_decisions(&self) -> bool {
        self.queues.has_decision()
    }

    /// Assigns free slots to waiting requests. Called after all requests of this instant have arrived.
    pub(crate) fn decide(&mut self, now: Time) {
        while let Some(number) = self.queues.fetch() {
            self.bring(now, number);
        }
    }

    /// Frees the slot of a request after its result was sent, and assigns the slot to a waiting request.
    #[inline]
    fn end(&mut self, now: Time, number: u32) {
        let Transit { op, volume, .. } = self.transits[number as usize];
        if let Some(next) = self.queues.leave(volume) {
            self.bring(now, next);
        }
        let ended = match &mut self.port {
            Port::Plain(_) => Some(Spent::nothing()),
            Port::Other(port) => port.end(now, number, op),
        };
        if let Some(spent) = ended {
            self.end_leg(now, number, Leg::Ended, &spent);
        }
    }

    /// Returns the times of request `number` on the path.
    #[inline]
    pub(crate) fn transit(&self, number: u32) -> &Transit {
        &self.transits[number as usize]
    }

    /// Returns the time of the next event, or [`Time::MAX`] if there is no event.
    #[inline]
    pub(crate) fn next_event(&self) -> Time {
        let port = match &self.port {
            Port::Plain(plain) => plain.next(),
            Port::Other(port) => port.next(),
        };
        port.min(self.processors.next())
    }

    /// Processes the next event, which is due at `at`.
    #[inline]
    pub(crate) fn happen(&mut self, at: Time) {
        let until = at + Time::from_ps(1);
        if self.processors.next() == at {
            if let Some((_, number, time)) = self.processors.end_before(until) {
                self.transits[number as usize].software += time;
                self.reached.push_back(Reached::Drive(number));
            }
            return;
        }
        let arrival = match &mut self.port {
            Port::Plain(plain) => plain.pop_before(until),
            Port::Other(port) => port.pop_before(until),
        };
        if let Some(arrival) = arrival {
            self.end_leg(at, arrival.part.request, arrival.leg, &arrival.spent);
        }
    }

    /// Returns whether a request has reached the drive or the host.
    #[inline]
    pub(crate) fn has_reached(&self) -> bool {
        !self.reached.is_empty()
    }

    /// Removes and returns a request that has reached the drive or the host, if any.
    #[inline]
    pub(crate) fn take_reached(&mut self) -> Option<Reached> {
        self.reached.pop_front()
    }

    /// Handles a power loss at `at`, which cancels all requests.
    pub(crate) fn power_fail(&mut self, at: Time) {
        self.port.get_mut().power_fail(at);
        self.processors.power_fail(at);
        self.queues.clear();
        self.reached.clear();
    }

    pub(crate) fn restart_ledger(&mut self) {
        self.port.get_mut().restart_ledger();
        self.processors.restart_ledger();
    }

    pub(crate) fn resources(&self) -> Vec<Resource> {
        let mut resources = self.port.get().resources();
        resources.push(self.processors.resource("processors"));
        resources
    }

    pub(crate) fn check_invariants(&self) {
        self.port.get().check_invariants();
        self.queues.check_invariants();
    }
}
