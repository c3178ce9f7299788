//! The card: moves the data of requests between the host and the memory. Every wait is an event.

use super::backup::Backup;
use super::config::{Config, Written};
use super::map::Map;
use super::piece::Piece;
use super::scheduler::{Moved, Scheduler};
use crate::host_interface::{Arrival, Cpus, HostPort, Lap, Leg, Part, Spent, stage_spans};
use nacre_kernel::event::{Agenda, Barriers, Completions, Payload, RequestId, Slab, Ticket};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, ComponentId, HostCounts, Op, Ranges, Recovery, Request, Stage, Status, Time};
use nacre_media::persistence::Landed;
use nacre_media::store::Store;

/// An NVRAM card and its data.
#[derive(State)]
#[state(bound = "S: Store")]
pub(super) struct Card<S> {
    #[state(skip = "from the configuration")]
    pub(super) id: ComponentId,
    #[state(skip = "from the configuration")]
    pub(super) path: String,
    #[state(skip = "from the configuration")]
    pub(super) config: Config,
    #[state(same)]
    pub(super) capacity: u64,
    #[state(skip = "from the configuration")]
    map: Map,
    pub(super) port: Box<dyn HostPort>,
    pub(super) processors: Cpus<u32>,
    pub(super) channels: Vec<Scheduler>,
    pub(super) agenda: Agenda<Event>,
    pub(super) active: Slab<Active>,
    pub(super) pieces: Slab<Piece>,
    /// The writes that are not durable yet. Flushes wait for these writes.
    pub(super) writes: Barriers<u32>,
    /// Pieces in the memory that are not durable yet, in the order of arrival.
    #[state(varies)]
    pub(super) unlanded: Vec<u32>,
    pub(super) backup: Backup,
    /// Host data, followed by the previous content of the flash if a dump may be incomplete.
    #[state(skip = "the owner of the bytes keeps them next to the state")]
    pub(super) bytes: Landed<S>,
    /// Addresses whose data was unreadable in the flash and has not been rewritten.
    pub(super) unreadable: Ranges,
    /// Total number of unreadable pages.
    pub(super) lost_pages: u64,
    /// Time at which the card is ready after the latest power loss.
    pub(super) ready: Time,
    /// End of the last dump.
    pub(super) dumped: Time,
    /// Result of the latest power loss.
    pub(super) interrupted: Recovery,
    pub(super) host: HostCounts,
    #[state(skip = "set by `detail`")]
    pub(super) is_detailed: bool,
}

/// A request in progress.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Active {
    id: RequestId,
    arrived: Time,
    request: Request,
    data: Payload,
    /// Number of pieces whose reply has not reached the host.
    left: u32,
    /// Number of pieces of a write that are not durable.
    unlanded: u32,
    ticket: Ticket,
    /// Latency breakdown, up to the latest completed piece.
    spent: Spent,
    /// Time that the request spent in the memory.
    medium: Time,
    /// Whether the host was notified of the completion. The data may not be durable yet.
    is_complete: bool,
}

/// Events other than transfers of the host port, processor work, and memory commands.
#[derive(Clone, Copy, Debug, Value)]
pub(super) enum Event {
    /// The card is ready for a request that arrived earlier.
    Ready(u32),
    /// A piece is served.
    Served(u32),
    /// The data of a piece is durable.
    Landed(u32),
    /// All writes that a flush waits for are durable.
    Flushed(u32),
    /// The request is complete, and the host is notified now.
    Over(u32),
}

impl<S: Store> Card<S> {
    pub(super) fn new(
        id: ComponentId,
        path: String,
        config: Config,
        port: Box<dyn HostPort>,
        channels: Vec<Scheduler>,
        backup: Backup,
        store: S,
    ) -> Card<S> {
        Card {
            id,
            path,
            capacity: config.capacity(),
            map: Map::new(&config),
            port,
            processors: Cpus::new(config.processors),
            channels,
            agenda: Agenda::new(),
            active: Slab::new(),
            pieces: Slab::new(),
            writes: Barriers::new(),
            unlanded: Vec::new(),
            backup,
            bytes: Landed::new(store, config.burst_bytes() as u32),
            unreadable: Ranges::default(),
            lost_pages: 0,
            ready: Time::ZERO,
            dumped: Time::ZERO,
            interrupted: Recovery::default(),
            host: HostCounts::default(),
            is_detailed: false,
            config,
        }
    }

    pub(super) fn accept(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        self.host.record(request);
        let (number, active) = self.active.take();
        *active = Active { id, arrived: now, request: *request, ..Active::default() };
        if S::CARRIES_BYTES && request.op == Op::Write {
            active.data = data;
        }
        if now < self.ready {
            self.agenda.schedule(self.ready, Event::Ready(number));
        } else {
            self.begin(now, number);
        }
    }

    fn begin(&mut self, now: Time, number: u32) {
        let request = self.active[number].request;
        if let Some(spent) = self.port.submit(now, number, &request, Time::ZERO) {
            self.begun(now, number, &spent);
        }
    }

    /// Receives a request. A command is first handled by a processor of the card.
    fn begun(&mut self, now: Time, number: u32, spent: &Spent) {
        self.active[number].spent.add(spent);
        let processing = self.config.processing;
        if processing.is_zero() || !self.port.has_commands() {
            return self.serve(now, number);
        }
        self.processors.arrive(now, number, processing);
    }

    /// Continues a request that a processor has handled.
    pub(super) fn processed(&mut self, now: Time, number: u32, time: Time) {
        let spent = &mut self.active[number].spent;
        spent.software += time;
        if self.is_detailed {
            let (stage, activity) = (Stage::Controller, Activity::Software);
            spent.laps.push(Lap { stage, activity, end: now, alone: time });
        }
        self.serve(now, number);
    }

    fn serve(&mut self, now: Time, number: u32) {
        let request = self.active[number].request;
        match request.op {
            Op::Read => self.bring_pieces(now, number, &request),
            Op::Write => {
                // A flush waits only for writes that the card has received, because other writes may wait for
                // the queue slot of the flush.
                self.active[number].ticket = self.writes.begin();
                self.bring_pieces(now, number, &request);
            }
            Op::Trim => {
                let range = request.address..request.address + u64::from(request.bytes);
                self.bytes.trim(&request);
                self.backup.change(request.address, u64::from(request.bytes));
                self.unreadable.remove(range);
                self.end(now, number);
            }
            // A dump saves volatile memory in any state. A flush therefore waits only if data becomes durable
            // when rows are closed.
            Op::Flush if !self.config.volatile => {
                if self.writes.wait(number).is_some() {
                    self.end(now, number);
                }
            }
            Op::Flush => self.end(now, number),
        }
    }

    fn bring_pieces(&mut self, now: Time, number: u32, request: &Request) {
        let size = self.port.piece();
        let (mut address, end) = (request.address, request.address + u64::from(request.bytes));
        // The numbers of parts are set before the first part is served.
        let count = (end - 1) / size - address / size + 1;
        let active = &mut self.active[number];
        (active.left, active.unlanded) = (count as u32, count as u32);
        while address < end {
            let bytes = (size - address % size).min(end - address);
            let (piece, entry) = self.pieces.take();
            *entry = Piece::new(number, address, bytes, request.op == Op::Write);
            let part = Part { request: number, piece };
            if let Some(spent) = self.port.bring(now, part, request.op, bytes) {
                self.brought(now, piece, spent);
            }
            address += bytes;
        }
    }

    /// Starts a piece. The accesses of the piece join the queues of their channels.
    fn brought(&mut self, now: Time, piece: u32, spent: Spent) {
        let entry = &mut self.pieces[piece];
        (entry.brought, entry.spent) = (now, spent);
        let (address, bytes, is_write) = (entry.address, entry.bytes, entry.is_write);
        let channels = &mut self.channels;
        self.map.split(address, bytes, |channel, access| {
            channels[channel].arrive(now, access, is_write, piece);
            entry.accesses += 1;
            entry.channels |= 1 << channel;
        });
        let mut reached = entry.channels;
        while reached != 0 {
            self.channels[reached.trailing_zeros() as usize].choose(now);
            reached &= reached - 1;
        }
    }

    /// Ends an access. The last access of a piece determines the end time of the piece.
    pub(super) fn moved(&mut self, moved: &Moved) {
        let piece = &mut self.pieces[moved.piece];
        if !piece.add(moved) {
            return;
        }
        let (done, closed) = (piece.done, piece.closed);
        let is_write = piece.is_write;
        let served = if is_write && self.config.written == Written::Closed { closed } else { done };
        piece.served = served;
        if is_write && !self.config.volatile && served < closed {
            self.agenda.schedule(closed, Event::Landed(moved.piece));
        }
        self.agenda.schedule(served, Event::Served(moved.piece));
    }

    /// Ends the memory access of a piece, and replies to the host.
    fn served(&mut self, now: Time, number: u32) {
        let piece = &mut self.pieces[number];
        let (op, bytes) = (if piece.is_write { Op::Write } else { Op::Read }, piece.bytes);
        let part = Part { request: piece.request, piece: number };
        piece.has_data = true;
        let (is_write, closed) = (piece.is_write, piece.closed);
        if self.is_detailed {
            let laps = piece.laps();
            piece.spent.laps.extend_from_slice(&laps);
            self.port.note(part, &laps);
        }
        if is_write && !self.config.volatile && now < closed {
            self.unlanded.push(number);
        } else if is_write && let Some(at) = self.lands_after(number) {
            self.unlanded.push(number);
            self.land_at(number, at);
        } else if is_write {
            self.land(now, number);
        }
        if let Some(spent) = self.port.answer(now, part, op, bytes) {
            self.answered(now, part, &spent);
        }
    }

    /// Latest time at which a pending earlier write to the same addresses becomes durable, if there is such
    /// a write. A later write must not become durable first, because the earlier write would then overwrite
    /// its data.
    fn lands_after(&self, number: u32) -> Option<Time> {
        let Piece { address, bytes, .. } = self.pieces[number];
        let earlier = self.unlanded.iter().take_while(|&&other| other != number);
        let overlapping = earlier
            .map(|&other| &self.pieces[other])
            .filter(|other| other.address < address + bytes && address < other.address + other.bytes);
        overlapping.map(|other| other.closed).max()
    }

    fn land_at(&mut self, number: u32, at: Time) {
        self.pieces[number].closed = at;
        self.agenda.schedule(at, Event::Landed(number));
    }

    /// Marks the data of a piece as durable.
    fn land(&mut self, now: Time, number: u32) {
        self.change(number);
        let piece = &mut self.pieces[number];
        piece.has_landed = true;
        let (request, is_answered) = (piece.request, piece.is_answered);
        self.unlanded.retain(|&other| other != number);
        if is_answered {
            self.pieces.give_back(number);
        }
        let active = &mut self.active[request];
        active.unlanded -= 1;
        if active.unlanded == 0 {
            let (ticket, agenda) = (active.ticket, &mut self.agenda);
            self.writes.end(ticket, |flush| agenda.schedule(now, Event::Flushed(flush)));
            self.give_back_if_over(request);
        }
    }

    /// Writes the data of a piece to the memory.
    fn change(&mut self, number: u32) {
        let Piece { address, bytes, .. } = self.pieces[number];
        self.backup.change(address, bytes);
        if !self.unreadable.is_empty() {
            self.unreadable.remove(address..address + bytes);
        }
        if S::CARRIES_BYTES {
            let data = self.data_of(number);
            self.bytes.write(address, &data);
        }
    }

    /// The bytes that a piece writes.
    pub(super) fn data_of(&self, number: u32) -> Payload {
        let Piece { request, address, bytes, .. } = self.pieces[number];
        let Active { request, data, .. } = &self.active[request];
        let first = (address - request.address) as usize;
        data.slice(first, first + bytes as usize)
    }

    /// Handles the end of the reply to a piece. The reply to the last piece of a request completes the
    /// latency breakdown.
    fn answered(&mut self, now: Time, part: Part, spent: &Spent) {
        let piece = &mut self.pieces[part.piece];
        piece.is_answered = true;
        let is_over = !piece.is_write || piece.has_landed;
        let active = &mut self.active[part.request];
        active.left -= 1;
        if active.left == 0 {
            active.medium = piece.medium();
            active.spent.add(&piece.spent);
            active.spent.add(spent);
        }
        if is_over {
            self.pieces.give_back(part.piece);
        }
        if self.active[part.request].left == 0 {
            self.end_served(now, part.request);
        }
    }

    fn end(&mut self, now: Time, number: u32) {
        self.active[number].unlanded = 0;
        self.end_served(now, number);
    }

    fn end_served(&mut self, now: Time, number: u32) {
        let op = self.active[number].request.op;
        if let Some(spent) = self.port.end(now, number, op) {
            // Only `run` returns completions, but `submit` may also call this function.
            self.active[number].spent.add(&spent);
            self.agenda.schedule(now, Event::Over(number));
        }
    }

    /// Notifies the host of a completed request.
    fn complete(&mut self, now: Time, number: u32, completions: &mut Completions) {
        let active = &mut self.active[number];
        active.is_complete = true;
        let (id, arrived, request, medium) = (active.id, active.arrived, active.request, active.medium);
        let spent = std::mem::take(&mut active.spent);
        let range = request.address..request.address + u64::from(request.bytes);
        let is_lost =
            request.op == Op::Read && !self.unreadable.is_empty() && self.unreadable.overlaps(&range);
        let status = if is_lost { Status::MediaError } else { Status::Done };
        let completed = if self.is_detailed {
            completions.push_spans(id, now, status, &stage_spans(self.id, &spent.laps, arrived, now))
        } else {
            let medium = medium + spent.device;
            let activity = if request.op == Op::Read { Activity::Read } else { Activity::Write };
            let queued = now - arrived - spent.software - spent.link - medium;
            let spans = [
                (Activity::Software, spent.software),
                (Activity::Queue, queued),
                (Activity::Link, spent.link),
                (activity, medium),
            ];
            completions.push(id, now, status, self.id, spans)
        };
        if S::CARRIES_BYTES && request.op == Op::Read && !is_lost {
            completed.data = self.read(&request);
        }
        self.give_back_if_over(number);
    }

    fn give_back_if_over(&mut self, number: u32) {
        let active = &mut self.active[number];
        if active.is_complete && active.unlanded == 0 {
            active.data = Payload::NONE;
            self.active.give_back(number);
        }
    }

    /// Returns the data of a read. The data may not be durable yet.
    fn read(&self, request: &Request) -> Payload {
        let read = self.bytes.read(request);
        let (start, end) = (request.address, request.address + u64::from(request.bytes));
        let overlaps = |&&number: &&u32| {
            let Piece { address, bytes, .. } = self.pieces[number];
            address < end && start < address + bytes
        };
        let mut newer = None;
        for &number in self.unlanded.iter().filter(overlaps) {
            let (address, data) = (self.pieces[number].address, self.data_of(number));
            let Some(data) = data.bytes() else { continue };
            let into: &mut Vec<u8> =
                newer.get_or_insert_with(|| read.bytes().expect("a read has bytes").to_vec());
            let (from, to) = (address.max(start), (address + data.len() as u64).min(end));
            into[(from - start) as usize..(to - start) as usize]
                .copy_from_slice(&data[(from - address) as usize..(to - address) as usize]);
        }
        newer.map_or(read, Payload::from)
    }

    pub(super) fn happen(&mut self, at: Time, event: Event, completions: &mut Completions) {
        match event {
            Event::Ready(number) => self.begin(at, number),
            Event::Served(piece) => self.served(at, piece),
            Event::Landed(piece) => match self.lands_after(piece) {
                Some(later) => self.land_at(piece, later.max(at)),
                None => self.land(at, piece),
            },
            Event::Flushed(number) => self.end(at, number),
            Event::Over(number) => self.complete(at, number, completions),
        }
    }

    pub(super) fn arrived(&mut self, arrival: Arrival, completions: &mut Completions) {
        let Arrival { at, part, leg, spent } = arrival;
        match leg {
            Leg::Begun => self.begun(at, part.request, &spent),
            Leg::Brought => self.brought(at, part.piece, spent),
            Leg::Answered => self.answered(at, part, &spent),
            Leg::Ended => {
                self.active[part.request].spent.add(&spent);
                self.complete(at, part.request, completions);
            }
        }
    }

    /// Whether the host was notified that `request` is complete. `request` has a piece that is not durable.
    pub(super) fn has_completed(&self, request: u32) -> bool {
        self.active[request].is_complete
    }
}
