//! The drive: from a host's request to rows of its controllers and back.

use super::config::{CompletionPoint, Config};
use super::controller::{Controller, Part};
use super::outstanding::Outstanding;
use super::report;
use nacre_kernel::{
    Activity, Bytes, Completion, ComponentId, ComponentReport, Device, HostCounts, Ledger, Link, Op, Pool,
    Request, Status, Time, Timeline, Trail,
};

/// A PCM solid-state drive.
pub(super) struct Onyx {
    pub(super) id: ComponentId,
    pub(super) path: String,
    pub(super) config: Config,
    capacity: u64,
    row_shift: u32,
    cpus: Pool,
    tags: Outstanding,
    pipeline: Timeline,
    pub(super) ring: Link,
    pub(super) from_host: Link,
    pub(super) to_host: Link,
    pub(super) controllers: Vec<Controller>,
    /// The latest request's time: what comes before it waits for no place.
    latest: Time,
    pub(super) book: Book,
}

/// What was done since measuring began.
#[derive(Clone, Debug, Default)]
pub(super) struct Book {
    pub(super) host: HostCounts,
    /// Of the CPUs.
    pub(super) cpus: Ledger,
    pub(super) pipeline: Ledger,
    /// Parts of requests that found the write buffer of their controller full.
    pub(super) buffer_waits: u64,
    /// Requests that found all tags taken.
    pub(super) tag_waits: u64,
}

/// How one part of a request went.
#[derive(Clone, Copy, Default)]
struct Path {
    done: Time,
    /// On the medium, had nothing been in the way.
    medium: Time,
    /// On ring and link.
    carried: Time,
}

impl Onyx {
    pub(super) fn new(id: ComponentId, path: String, config: Config, controllers: Vec<Controller>) -> Onyx {
        Onyx {
            id,
            path,
            capacity: config.controller_bytes() * u64::from(config.controllers),
            row_shift: config.row.0.trailing_zeros(),
            cpus: Pool::new(config.cpus),
            tags: Outstanding::new(config.tags),
            pipeline: Timeline::new(),
            ring: Link::new(config.ring),
            from_host: Link::new(config.link),
            to_host: Link::new(config.link),
            controllers,
            latest: Time::ZERO,
            book: Book::default(),
            config,
        }
    }

    /// The controller of the part that begins at `address`, and the part of at most `left` bytes.
    #[inline]
    fn part(&self, address: u64, left: u64) -> (usize, Part) {
        let (stripe, offset) = (address >> self.row_shift, address & (self.config.row.0 - 1));
        let controllers = self.controllers.len() as u64;
        let bytes = left.min(self.config.row.0 - offset);
        ((stripe % controllers) as usize, Part { row: stripe / controllers, offset, bytes })
    }

    /// Every part of a read or write; the result is that of the part done last.
    #[inline]
    fn serve(&mut self, start: Time, request: &Request, in_order: bool) -> Path {
        let (mut address, mut left) = (request.address, u64::from(request.bytes));
        let mut last = Path { done: start, ..Path::default() };
        while left > 0 {
            let (controller, part) = self.part(address, left);
            let path = match request.op {
                Op::Read => self.read(start, controller, part),
                _ => self.write(start, controller, part, in_order),
            };
            if path.done > last.done {
                last = path;
            }
            (address, left) = (address + part.bytes, left - part.bytes);
        }
        last
    }

    #[inline]
    fn read(&mut self, start: Time, controller: usize, part: Part) -> Path {
        let worked = self.controllers[controller].read(start, part);
        let (ring, link) = (self.ring.time_for(part.bytes), self.to_host.time_for(part.bytes));
        let there = self.ring.cross(worked.done, ring);
        Path { done: self.to_host.cross(there, link), medium: worked.alone, carried: ring + link }
    }

    #[inline]
    fn write(&mut self, start: Time, controller: usize, part: Part, in_order: bool) -> Path {
        let (ring, link) = (self.ring.time_for(part.bytes), self.from_host.time_for(part.bytes));
        let there = self.from_host.cross(start, link);
        let there = self.ring.cross(there, ring);
        let controller = &mut self.controllers[controller];
        let buffered = if in_order { controller.buffer.admit(there) } else { there };
        self.book.buffer_waits += u64::from(buffered > there);
        let (worked, over) = controller.write(buffered, part);
        controller.buffer.hold(over);
        match self.config.completion {
            CompletionPoint::Early => Path { done: buffered, medium: Time::ZERO, carried: ring + link },
            CompletionPoint::Late => {
                // Chunks that overtake each other in gaps of the lines can be done a little earlier.
                let medium = worked.alone.min(worked.done - buffered);
                Path { done: worked.done, medium, carried: ring + link }
            }
        }
    }

    /// A read or write, from when its driver has issued it.
    #[inline]
    fn work(&mut self, issued: Time, request: &Request, in_order: bool) -> Path {
        let tagged = if in_order { self.tags.admit(issued) } else { issued };
        self.book.tag_waits += u64::from(tagged > issued);
        let pipeline = self.config.pipeline;
        let start = self.pipeline.reserve(tagged, pipeline) + pipeline;
        self.book.pipeline.charge(Activity::Software, pipeline);
        let path = self.serve(start, request, in_order);
        self.tags.hold(path.done);
        path
    }
}

impl Device for Onyx {
    #[inline]
    fn submit(&mut self, now: Time, request: &Request, trail: &mut Trail) -> Completion {
        let in_order = now >= self.latest;
        self.latest = self.latest.max(now);
        self.book.host.record(request);
        let driver = self.config.driver;
        let issued = self.cpus.reserve(now, driver) + driver;
        self.book.cpus.charge(Activity::Software, driver);
        let (path, software) = match request.op {
            Op::Read | Op::Write => (self.work(issued, request, in_order), driver + self.config.pipeline),
            Op::Trim | Op::Flush => (Path { done: issued, ..Path::default() }, driver),
        };
        let activity = if request.op == Op::Read { Activity::Read } else { Activity::Write };
        trail.add(self.id, Activity::Software, software);
        trail.add(self.id, Activity::Queue, path.done - now - software - path.medium - path.carried);
        trail.add(self.id, Activity::Link, path.carried);
        trail.add(self.id, activity, path.medium);
        Completion { done: path.done, status: Status::Done }
    }

    fn advance(&mut self, to: Time) {
        self.cpus.forget_before(to);
        self.pipeline.forget_before(to);
        for link in [&mut self.ring, &mut self.from_host, &mut self.to_host] {
            link.forget_before(to);
        }
        self.controllers.iter_mut().for_each(|controller| controller.forget_before(to));
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(Bytes(self.capacity))
    }

    fn busy_until(&self) -> Time {
        let links = [&self.ring, &self.from_host, &self.to_host].map(Link::free_from);
        let parts = self.controllers.iter().map(Controller::free_from).chain(links);
        parts.fold(self.cpus.free_from().max(self.pipeline.free_from()), Time::max)
    }

    fn restart_ledger(&mut self) {
        self.book = Book::default();
        for link in [&mut self.ring, &mut self.from_host, &mut self.to_host] {
            link.restart_ledger();
        }
        self.controllers.iter_mut().for_each(Controller::restart);
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        report::of(self, elapsed)
    }

    fn check_invariants(&self) {
        self.cpus.check_invariants();
        self.pipeline.check_invariants();
        [&self.ring, &self.from_host, &self.to_host].into_iter().for_each(Link::check_invariants);
        self.controllers.iter().for_each(Controller::check_invariants);
        report::check_rows(self);
    }

    fn precondition(&mut self, requests: &[Request]) -> bool {
        for request in requests.iter().filter(|request| request.op == Op::Write) {
            let (mut address, mut left) = (request.address, u64::from(request.bytes));
            while left > 0 {
                let (number, part) = self.part(address, left);
                let controller = &mut self.controllers[number];
                let physical = controller.leveller.physical(part.row);
                controller.wear(part.row, physical);
                (address, left) = (address + part.bytes, left - part.bytes);
            }
        }
        true
    }
}
