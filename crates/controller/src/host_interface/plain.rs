//! A driver, its CPUs, and a link: what a device has of its own that says nothing else of its host.

use super::processors::Processors;
use super::{HostInterface, Laps, Step};
use nacre_kernel::state::State;
use nacre_kernel::{Activity, Bandwidth, Link, Op, Request, Resource, Stage, Time};

/// A driver, its CPUs, and a link that carries data and nothing else.
#[derive(State)]
pub(crate) struct Plain {
    #[state(skip = "from the configuration")]
    driver: Time,
    pub(crate) processors: Processors,
    pub(crate) from_host: Link,
    pub(crate) to_host: Link,
    #[state(skip = "from the configuration")]
    piece: u64,
    /// What the links are called, from the host and to it.
    #[state(skip = "names")]
    links: [&'static str; 2],
    #[state(skip = "of no meaning between two requests")]
    laps: Laps,
}

impl Plain {
    /// A driver that takes so long for a request on one of so many CPUs, and a link of so much each way. What a request
    /// carries crosses it as a whole.
    pub(crate) fn new(driver: Time, cpus: u32, link: Bandwidth, links: [&'static str; 2]) -> Plain {
        Plain {
            driver,
            processors: Processors::new(cpus),
            from_host: Link::out_of_order(link),
            to_host: Link::out_of_order(link),
            piece: u64::MAX,
            links,
            laps: Laps::default(),
        }
    }

    /// The same, with data that crosses in pieces of so many bytes.
    pub(crate) fn in_pieces(self, piece: u64) -> Plain {
        Plain { piece, ..self }
    }
}

fn cross(link: &mut Link, at: Time, bytes: u64) -> Step {
    let time = link.time_for(bytes);
    Step { there: link.cross(at, time), link: time, ..Step::default() }
}

impl HostInterface for Plain {
    fn piece(&self) -> u64 {
        self.piece
    }

    fn has_commands(&self) -> bool {
        true
    }

    fn begin(&mut self, now: Time, _request: &Request) -> Step {
        let worked = self.processors.work(now, self.driver);
        self.laps.note(Stage::Driver, Activity::Software, worked.there, worked.software);
        worked
    }

    fn bring(&mut self, at: Time, op: Op, bytes: u64) -> Step {
        if op != Op::Write {
            return Step::none(at);
        }
        let crossed = cross(&mut self.from_host, at, bytes);
        self.laps.note(Stage::LinkDown, Activity::Link, crossed.there, crossed.link);
        crossed
    }

    fn answer(&mut self, at: Time, op: Op, bytes: u64) -> Step {
        if op != Op::Read {
            return Step::none(at);
        }
        let crossed = cross(&mut self.to_host, at, bytes);
        self.laps.note(Stage::LinkUp, Activity::Link, crossed.there, crossed.link);
        crossed
    }

    fn end(&mut self, at: Time, _op: Op) -> Step {
        Step::none(at)
    }

    fn laps(&mut self) -> Option<&mut Laps> {
        Some(&mut self.laps)
    }

    fn advance(&mut self, to: Time) {
        self.processors.advance(to);
        self.from_host.forget_before(to);
        self.to_host.forget_before(to);
    }

    fn power_fail(&mut self, at: Time) {
        self.processors.power_fail(at);
        self.from_host.power_fail(at);
        self.to_host.power_fail(at);
    }

    fn busy_until(&self) -> Time {
        self.processors.busy_until().max(self.from_host.free_from()).max(self.to_host.free_from())
    }

    fn restart_ledger(&mut self) {
        self.processors.restart_ledger();
        self.from_host.restart_ledger();
        self.to_host.restart_ledger();
    }

    fn resources(&self) -> Vec<Resource> {
        vec![
            self.processors.resource(),
            self.from_host.resource(self.links[0]),
            self.to_host.resource(self.links[1]),
        ]
    }

    fn check_invariants(&self) {
        self.processors.check_invariants();
        self.from_host.check_invariants();
        self.to_host.check_invariants();
    }
}
