//! A driver, its CPUs, and a link per direction that carries only data.

use super::{Arrival, Cpus, HostPort, Lap, Leg, Part, Spent};
use nacre_kernel::event::Link;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Bandwidth, Op, Request, Resource, Stage, Time};
use std::collections::VecDeque;

/// A driver with its CPUs, and links that carry only data. The end of a request takes no time. A request has
/// at most two events: the end of the driver's work, and the end of the data transfer.
#[derive(State)]
pub struct Plain {
    #[state(skip = "from the configuration")]
    driver: Time,
    cpus: Cpus<u32>,
    from_host: Link,
    to_host: Link,
    #[state(skip = "from the configuration")]
    piece: u64,
    /// Names of the links from and to the host.
    #[state(skip = "names")]
    links: [&'static str; 2],
    /// Transfers in progress from and to the host, in the order of their end times.
    #[state(varies)]
    transfers: [VecDeque<Transfer>; 2],
    #[state(skip = "set by `detail`")]
    is_detailed: bool,
}

/// A transfer of data on a link.
#[derive(Clone, Copy, Debug, Value)]
struct Transfer {
    /// Arrival of the last byte.
    at: Time,
    part: Part,
    /// Transfer time on the link.
    time: Time,
}

impl Plain {
    /// A driver that takes the time `driver` per request on one of `cpus`, and a link with the bandwidth
    /// `link` in each direction. A part is transferred in one piece.
    pub fn new(driver: Time, cpus: u32, link: Bandwidth, links: [&'static str; 2]) -> Plain {
        Plain {
            driver,
            cpus: Cpus::new(cpus),
            from_host: Link::new(link),
            to_host: Link::new(link),
            piece: u64::MAX,
            links,
            transfers: [VecDeque::new(), VecDeque::new()],
            is_detailed: false,
        }
    }

    /// Limits transfers to at most `piece` bytes.
    pub(super) fn in_pieces(self, piece: u64) -> Plain {
        Plain { piece, ..self }
    }

    /// End time of the first transfer in `direction`, or `Time::MAX` if there is none.
    #[inline]
    fn next_across(&self, direction: usize) -> Time {
        self.transfers[direction].front().map_or(Time::MAX, |transfer| transfer.at)
    }

    fn laps(&self, stage: Stage, activity: Activity, end: Time, alone: Time) -> Vec<Lap> {
        if self.is_detailed { vec![Lap { stage, activity, end, alone }] } else { Vec::new() }
    }
}

impl HostPort for Plain {
    fn piece(&self) -> u64 {
        self.piece
    }

    fn has_commands(&self) -> bool {
        true
    }

    #[inline]
    fn submit(&mut self, now: Time, number: u32, _request: &Request, work: Time) -> Option<Spent> {
        let time = self.driver + work;
        if time.is_zero() {
            return Some(Spent::nothing());
        }
        self.cpus.arrive(now, number, time);
        None
    }

    #[inline]
    fn bring(&mut self, now: Time, part: Part, op: Op, bytes: u64) -> Option<Spent> {
        if op != Op::Write || bytes == 0 {
            return Some(Spent::nothing());
        }
        let time = self.from_host.time_for(bytes);
        let at = self.from_host.cross(now, time);
        if at == now {
            // A link without transfer time, as in tests of a device without an interface, needs no event.
            return Some(Spent::nothing());
        }
        self.transfers[0].push_back(Transfer { at, part, time });
        None
    }

    #[inline]
    fn answer(&mut self, now: Time, part: Part, op: Op, bytes: u64) -> Option<Spent> {
        if op != Op::Read || bytes == 0 {
            return Some(Spent::nothing());
        }
        let time = self.to_host.time_for(bytes);
        let at = self.to_host.cross(now, time);
        if at == now {
            // A link without transfer time, as in tests of a device without an interface, needs no event.
            return Some(Spent::nothing());
        }
        self.transfers[1].push_back(Transfer { at, part, time });
        None
    }

    #[inline]
    fn end(&mut self, _now: Time, _request: u32, _op: Op) -> Option<Spent> {
        Some(Spent::nothing())
    }

    fn detail(&mut self, is_detailed: bool) {
        self.is_detailed = is_detailed;
    }

    #[inline]
    fn next(&self) -> Time {
        self.cpus.next().min(self.next_across(0)).min(self.next_across(1))
    }

    #[inline]
    fn pop_before(&mut self, until: Time) -> Option<Arrival> {
        let across = [self.next_across(0), self.next_across(1)];
        if self.cpus.next() <= across[0].min(across[1]) {
            let (at, number, software) = self.cpus.end_before(until)?;
            let laps = self.laps(Stage::Driver, Activity::Software, at, software);
            let spent = Spent { software, laps, ..Spent::default() };
            return Some(Arrival { at, part: Part::whole(number), leg: Leg::Begun, spent });
        }
        let is_answer = across[1] < across[0];
        let transfers = &mut self.transfers[usize::from(is_answer)];
        let Transfer { at, part, time: link } = transfers.pop_front_if(|transfer| transfer.at < until)?;
        let (leg, stage) =
            if is_answer { (Leg::Answered, Stage::LinkUp) } else { (Leg::Brought, Stage::LinkDown) };
        let laps = self.laps(stage, Activity::Link, at, link);
        Some(Arrival { at, part, leg, spent: Spent { link, laps, ..Spent::default() } })
    }

    fn power_fail(&mut self, at: Time) {
        self.cpus.power_fail(at);
        self.from_host.power_fail(at);
        self.to_host.power_fail(at);
        self.transfers.iter_mut().for_each(VecDeque::clear);
    }

    fn restart_ledger(&mut self) {
        self.cpus.restart_ledger();
        self.from_host.restart_ledger();
        self.to_host.restart_ledger();
    }

    fn resources(&self) -> Vec<Resource> {
        vec![
            self.cpus.resource("cpus"),
            self.from_host.resource(self.links[0]),
            self.to_host.resource(self.links[1]),
        ]
    }

    fn check_invariants(&self) {
        self.cpus.check_invariants();
    }
}
