//! The drive: from a host's request to rows of its controllers and back.

use super::config::{CompletionPoint, Config};
use super::controller::{Controller, Part};
use crate::host_interface::{self, HostInterface, PiecewiseRead, Places, Step};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{
    Activity, Breakdown, Completion, ComponentId, HostCounts, Ledger, Link, Op, Recovery, Request, Status,
    Time, Timeline,
};
use nacre_media::persistence::{Pending, Write};
use nacre_media::store::{InPlace, Store};
use std::collections::VecDeque;

/// A PCM solid-state drive over the bytes of its rows.
#[derive(State)]
#[state(after = "Self::check_restored")]
#[state(bound = "S: Store")]
pub(super) struct Onyx<S> {
    #[state(skip = "from the configuration")]
    pub(super) id: ComponentId,
    #[state(skip = "from the configuration")]
    pub(super) path: String,
    #[state(skip = "from the configuration")]
    pub(super) config: Config,
    #[state(same)]
    pub(super) capacity: u64,
    #[state(skip = "from the configuration")]
    row_shift: u32,
    /// Where stripes go: a mask where controllers are a power of two.
    #[state(skip = "from the configuration")]
    controller_mask: Option<u64>,
    pub(super) host: Box<dyn HostInterface>,
    pub(super) tags: Places,
    pub(super) pipeline: Timeline,
    pub(super) ring: Link,
    /// By controller, the time of its way round the ring.
    #[state(skip = "from the configuration")]
    ring_delays: Vec<Time>,
    pub(super) controllers: Vec<Controller>,
    #[state(skip = "who carries the bytes keeps them beside the state")]
    pub(super) rows: InPlace<S>,
    /// Writes that may not be on the medium yet; only where bytes are carried.
    pub(super) pending: Pending<Write>,
    /// Rows that may still be copied, in the order in which they were asked for; only where bytes are carried.
    pub(super) moves: VecDeque<RowMove>,
    pub(super) has_failed: bool,
    /// Since when it is ready.
    pub(super) ready: Time,
    /// What the last power failure left to do and took away.
    pub(super) interrupted: Recovery,
    /// The latest request's time: what comes before it waits for no place.
    pub(super) latest: Time,
    /// When the first row was programmed more often than it is made for.
    #[state(varies)]
    pub(super) worn_out_at: Option<Time>,
    pub(super) book: Book,
}

/// Where a row is being copied.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct RowMove {
    pub(super) controller: usize,
    /// Physical rows.
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) end: Time,
}

/// What was done since measuring began.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Book {
    pub(super) host: HostCounts,
    pub(super) pipeline: Ledger,
    /// Parts of requests that found the write buffer of their controller full.
    pub(super) buffer_waits: u64,
    /// Requests that found all tags taken.
    pub(super) tag_waits: u64,
}

/// How one part of a request went.
#[derive(Clone, Copy, Default)]
pub(super) struct Path {
    pub(super) done: Time,
    /// On the medium, had nothing been in the way.
    medium: Time,
    /// On ring and link.
    carried: Time,
    /// Of the host, for pieces of its data after the first.
    software: Time,
}

/// A request on its way through the drive.
#[derive(Clone, Copy)]
pub(super) struct Visit {
    op: Op,
    now: Time,
    /// Whether it came after all before it, and so waits its turn.
    in_order: bool,
    /// When its parts may begin.
    pub(super) start: Time,
    /// What went before the pipeline between host and drive.
    begun: Step,
    /// How it was asked for, where it is a read, and whether its first piece was answered.
    asked: PiecewiseRead,
    is_answered: bool,
    /// Time of the driver and of the pipeline.
    software: Time,
    last: Path,
}

impl<S: Store> Onyx<S> {
    pub(super) fn new(
        id: ComponentId,
        path: String,
        config: Config,
        host: Box<dyn HostInterface>,
        controllers: Vec<Controller>,
        store: S,
    ) -> Onyx<S> {
        let count = u64::from(config.controllers);
        Onyx {
            id,
            path,
            capacity: config.controller_bytes() * count,
            row_shift: config.row.0.trailing_zeros(),
            controller_mask: count.is_power_of_two().then(|| count - 1),
            host,
            tags: Places::new(config.tags),
            pipeline: Timeline::new(),
            ring: Link::new(config.ring),
            ring_delays: (0..config.controllers).map(|number| config.ring_delay(number)).collect(),
            controllers,
            rows: InPlace::new(store),
            pending: Pending::default(),
            moves: VecDeque::new(),
            has_failed: false,
            ready: Time::ZERO,
            interrupted: Recovery::default(),
            latest: Time::ZERO,
            worn_out_at: None,
            book: Book::default(),
            config,
        }
    }

    /// The controller of the part that begins at `address`, and the part of at most `left` bytes.
    #[inline]
    pub(super) fn part(&self, address: u64, left: u64) -> (usize, Part) {
        let (stripe, offset) = (address >> self.row_shift, address & (self.config.row.0 - 1));
        let bytes = left.min(self.config.row.0 - offset);
        let (controller, row) = match self.controller_mask {
            Some(mask) => (stripe & mask, stripe >> mask.count_ones()),
            None => {
                let controllers = self.controllers.len() as u64;
                (stripe % controllers, stripe / controllers)
            }
        };
        (controller as usize, Part { row, offset, bytes })
    }

    /// The driver and the pipeline work on `request`, which is issued at `now`.
    #[inline]
    pub(super) fn enter(&mut self, now: Time, request: &Request) -> Visit {
        let op = request.op;
        let in_order = now >= self.latest;
        self.latest = self.latest.max(now);
        let mut begun = self.host.begin(now.max(self.ready), request);
        let mut asked = PiecewiseRead::default();
        if op == Op::Read {
            asked = host_interface::ask(&mut *self.host, begun.there, u64::from(request.bytes));
            begun = begun.then(asked.first);
        }
        let (issued, software) = (begun.there, begun.software);
        let (is_answered, last) = (false, Path::default());
        let mut visit = Visit { op, now, in_order, start: issued, begun, asked, is_answered, software, last };
        if matches!(op, Op::Read | Op::Write) {
            let tagged = if in_order { self.tags.admit(issued) } else { issued };
            self.book.tag_waits += u64::from(tagged > issued);
            let pipeline = self.config.pipeline;
            visit.start = self.pipeline.reserve(tagged, pipeline) + pipeline;
            visit.software += pipeline;
            self.book.pipeline.charge(Activity::Software, pipeline);
        }
        visit.last.done = visit.start;
        visit
    }

    /// One part of a read.
    #[inline]
    pub(super) fn read_part(&mut self, visit: &mut Visit, controller: usize, part: Part) {
        let delay = self.ring_delays[controller];
        let worked = self.controllers[controller].read(visit.start + delay, part);
        let ring = self.ring.time_for(part.bytes);
        let there = self.ring.cross(worked.done, ring) + delay;
        let is_first = !std::mem::replace(&mut visit.is_answered, true);
        let answered = host_interface::answer_all(&mut *self.host, visit.asked, is_first, there, part.bytes);
        let carried = ring + delay * 2 + answered.link;
        let software = answered.software;
        visit.part_done(Path { done: answered.there, medium: worked.alone, carried, software });
    }

    /// One part of a write, and what wear levelling moves for it, its bytes included.
    #[inline]
    pub(super) fn write_part(&mut self, visit: &mut Visit, number: usize, part: Part) {
        let ring = self.ring.time_for(part.bytes);
        let brought = host_interface::bring_all(&mut *self.host, visit.start, part.bytes);
        let delay = self.ring_delays[number];
        let there = self.ring.cross(brought.there, ring) + delay;
        let controller = &mut self.controllers[number];
        let buffered = if visit.in_order { controller.buffer.admit(there) } else { there };
        self.book.buffer_waits += u64::from(buffered > there);
        let (worked, over, moved) = controller.write(buffered, part);
        let refill = match self.config.completion {
            CompletionPoint::Early => Time::ZERO,
            CompletionPoint::Late => self.config.late_refill,
        };
        controller.buffer.hold(over + refill);
        if controller.rows.worn_out() > 0 && self.worn_out_at.is_none() {
            self.worn_out_at = Some(over);
        }
        if S::CARRIES_BYTES
            && let Some(moved) = moved
        {
            self.carry_moved(number, moved, over);
        }
        let carried = ring + delay * 2 + brought.link;
        visit.part_done(match self.config.completion {
            CompletionPoint::Early => Path { done: buffered + delay, carried, ..Path::default() },
            CompletionPoint::Late => {
                // Chunks that overtake each other in gaps of the lines can be done a little earlier.
                let medium = worked.alone.min(worked.done - buffered);
                Path { done: worked.done + delay, medium, carried, ..Path::default() }
            }
        });
    }

    /// All parts are on their way: when the last of them is done, and where the time went.
    #[inline]
    pub(super) fn leave(&mut self, visit: &Visit, breakdown: &mut Breakdown) -> Completion {
        let Visit { op, now, begun, software, last: path, .. } = *visit;
        if matches!(op, Op::Read | Op::Write) {
            self.tags.hold(path.done);
        }
        let activity = if op == Op::Read { Activity::Read } else { Activity::Write };
        let (carried, software) = (begun.link + path.carried, software + path.software);
        breakdown.add(self.id, Activity::Software, software);
        breakdown.add(self.id, Activity::Queue, path.done - now - software - path.medium - carried);
        breakdown.add(self.id, Activity::Link, carried);
        breakdown.add(self.id, activity, path.medium);
        let end = self.host.end(path.done, op);
        if end.there > path.done {
            end.tell(self.id, path.done, breakdown);
        }
        Completion { done: end.there, status: Status::Done }
    }
}

impl Visit {
    /// The result is that of the part done last.
    #[inline]
    fn part_done(&mut self, path: Path) {
        if path.done > self.last.done {
            self.last = path;
        }
    }
}
