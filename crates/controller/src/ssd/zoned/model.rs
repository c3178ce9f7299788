//! The device: what a request does to the zones, and what it waits for.

use super::super::book::Book;
use super::super::config::Config;
use super::super::flash_ops::Untimed;
use super::super::host::HostInterface;
use super::super::outage::Outage;
use super::super::schedule::Schedule;
use super::incoming::Incoming;
use super::refusal::Refusal;
use super::table::{Phase, ZoneTable};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Breakdown, Completion, ComponentId, Data, Op, Request, Status, Time};
use nacre_media::store::Store;

/// An SSD with zones.
#[derive(State)]
#[state(after = "Self::check_restored")]
#[state(bound = "S: Store")]
pub(in super::super) struct Zoned<S> {
    #[state(skip = "from the configuration")]
    pub(super) id: ComponentId,
    #[state(skip = "from the configuration")]
    pub(super) path: String,
    #[state(skip = "from the configuration")]
    pub(super) config: Config,
    pub(super) table: ZoneTable<S>,
    pub(super) schedule: Schedule,
    pub(super) interface: HostInterface,
    pub(super) book: Book,
    pub(super) tally: Tally,
    /// When the drive could be written no more, and how many bytes it had taken in by then.
    #[state(varies)]
    pub(super) end_of_life: Option<(Time, u64)>,
    /// Writes whose data may not be in the buffer yet; none where there are no bytes.
    pub(super) incoming: Incoming,
    pub(super) outage: Outage,
}

/// What was done with zones since measuring began.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct Tally {
    /// Of zones that held something.
    pub(super) resets: u64,
    pub(super) finishes: u64,
    /// Trims of parts of zones, which do nothing.
    pub(super) trims_of_parts: u64,
    pub(super) refused: [u64; Refusal::COUNT],
}

impl<S: Store> Zoned<S> {
    pub(in super::super) fn new(
        id: ComponentId,
        path: String,
        config: Config,
        table: ZoneTable<S>,
        interface: HostInterface,
    ) -> Zoned<S> {
        Zoned {
            id,
            path,
            schedule: Schedule::new(table.geometry, &config, S::CARRIES_BYTES),
            interface,
            book: Book::default(),
            tally: Tally::default(),
            end_of_life: None,
            incoming: Incoming::default(),
            outage: Outage::default(),
            table,
            config,
        }
    }

    /// Does what `request` asks for.
    pub(super) fn serve(
        &mut self,
        now: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        match request.op {
            Op::Read => {
                let completion = self.read(now, request, breakdown);
                self.give(request.address, data);
                completion
            }
            Op::Write => self.write(now, request, &data, breakdown),
            Op::Trim => self.trim(now, request, breakdown),
            // What is in the buffer survives.
            Op::Flush => {
                let at = self.enter(now, request, breakdown);
                Completion { done: self.interface.leave(at, breakdown), status: Status::Done }
            }
        }
    }

    fn enter(&mut self, now: Time, request: &Request, breakdown: &mut Breakdown) -> Time {
        let (first, last) = self.table.geometry.units_of(request);
        self.interface.enter(now, request, u64::from(last - first) + 1, breakdown)
    }

    /// Writes the bytes of `request` into the buffer.
    fn write(
        &mut self,
        now: Time,
        request: &Request,
        data: &Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let at = self.enter(now, request, breakdown);
        let zone = match self.zone_for(request) {
            Ok(zone) => zone,
            Err(refusal) => {
                self.refuse(at, refusal);
                let done = self.interface.leave(at, breakdown);
                return Completion { done, status: Status::WriteRefused };
            }
        };
        let (first, last) = self.table.geometry.units_of(request);
        self.table.begin_write(zone);
        let from = self.table.zones[zone as usize].written;
        // The writes of a zone are taken in one after the other.
        let mut taken = at.max(self.table.zones[zone as usize].taken);
        let mut unit = first;
        while unit <= last {
            taken = taken.max(self.schedule.filling_from);
            let run = self.table.until_complete(zone).min(last - unit + 1);
            let page = self.table.take(zone, run);
            if S::CARRIES_BYTES {
                self.fill(page, run, u64::from(unit - first), data);
            }
            self.table.issue_complete(zone, &mut self.schedule.from(at, taken));
            unit += run;
        }
        self.table.zones[zone as usize].taken = taken;
        if S::CARRIES_BYTES {
            self.incoming.add(zone, from, taken);
            self.schedule.issued.clear();
        }
        breakdown.add(self.id, Activity::Queue, taken - at);
        Completion { done: self.interface.leave(taken, breakdown), status: Status::Done }
    }

    /// Pages from `page` on hold what comes of a write behind so many `units`.
    fn fill(&mut self, page: u32, count: u32, units: u64, data: &Data<'_>) {
        let unit_bytes = self.table.geometry.unit_bytes as usize;
        let zeros = vec![0; unit_bytes];
        for number in 0..count {
            let begin = (units as usize + number as usize) * unit_bytes;
            let bytes = match data {
                Data::Write(bytes) => &bytes[begin..begin + unit_bytes],
                _ => &zeros[..],
            };
            self.table.flash.fill(page + number, bytes);
        }
    }

    /// The zone that takes the write `request`. Errors: none does.
    fn zone_for(&self, request: &Request) -> Result<u32, Refusal> {
        let unit_bytes = u64::from(self.table.geometry.unit_bytes);
        if !request.address.is_multiple_of(unit_bytes) || !u64::from(request.bytes).is_multiple_of(unit_bytes)
        {
            return Err(Refusal::NotWholeUnits);
        }
        let (first, last) = self.table.geometry.units_of(request);
        self.table.zone_for(first, last - first + 1)
    }

    #[cold]
    fn refuse(&mut self, at: Time, refusal: Refusal) {
        self.book.refused_writes += 1;
        self.tally.refused[refusal as usize] += 1;
        if refusal == Refusal::WornOut {
            let bytes = self.table.programs.host * u64::from(self.table.geometry.unit_bytes);
            self.end_of_life.get_or_insert((at, bytes));
        }
    }

    /// Zones that lie wholly in the request are reset; one of which it has all behind the write pointer is finished.
    fn trim(&mut self, now: Time, request: &Request, breakdown: &mut Breakdown) -> Completion {
        let at = self.enter(now, request, breakdown);
        let (first, last) = self.table.geometry.units_of(request);
        let (begin, end) = (request.address, request.address + u64::from(request.bytes));
        let mut done = at;
        for zone in self.table.zone_of(first).0..=self.table.zone_of(last).0 {
            let described = self.table.describe(zone);
            let phase = self.table.zones[zone as usize].phase;
            // What was asked for before comes first.
            let turn = at.max(self.table.zones[zone as usize].taken);
            if begin <= described.start && described.end <= end {
                self.tally.resets += u64::from(phase != Phase::Empty);
                self.book.trimmed += u64::from(self.table.reset(zone, &mut self.schedule.from(at, turn)));
                self.book.forget_taken_back(self.table.programs.host);
            } else if begin == described.write_pointer && end == described.end && phase.is_active() {
                self.tally.finishes += 1;
                let turn = turn.max(self.schedule.filling_from);
                self.table.finish(zone, &mut self.schedule.from(at, turn));
                done = done.max(turn);
            } else {
                self.tally.trims_of_parts += 1;
                continue;
            }
            done = done.max(turn);
            self.incoming.forget(zone);
        }
        self.schedule.issued.clear();
        breakdown.add(self.id, Activity::Queue, done - at);
        Completion { done: self.interface.leave(done, breakdown), status: Status::Done }
    }

    /// Does the write `request` in no time, as far as it has whole units; over the end of a zone it goes on in the next. At the
    /// beginning of a zone that holds something it resets that first: trims are not among what brings a drive into
    /// its state.
    pub(super) fn put_untimed(&mut self, request: &Request) {
        let whole = request.bytes - request.bytes % self.table.geometry.unit_bytes;
        let end = request.address + u64::from(whole);
        let mut address = request.address;
        while address < end {
            let (zone, index) = self.table.zone_of((address >> self.table.geometry.unit_shift) as u32);
            if index == 0 && self.table.zones[zone as usize].phase != Phase::Empty {
                self.table.reset(zone, &mut Untimed);
            }
            let to = end.min(self.table.describe(zone).end);
            let part = Request { address, bytes: (to - address) as u32, ..*request };
            match self.zone_for(&part) {
                Ok(zone) => self.put_in_zone(zone, part.bytes >> self.table.geometry.unit_shift),
                Err(refusal) => self.refuse(Time::ZERO, refusal),
            }
            address = to;
        }
    }

    fn put_in_zone(&mut self, zone: u32, units: u32) {
        self.table.begin_write(zone);
        let mut left = units;
        while left > 0 {
            let run = self.table.until_complete(zone).min(left);
            let page = self.table.take(zone, run);
            if S::CARRIES_BYTES {
                self.fill(page, run, 0, &Data::None);
            }
            self.table.issue_complete(zone, &mut Untimed);
            left -= run;
        }
    }

    /// Who carries no bytes knows nothing of what has not come to the buffer.
    fn check_restored(&mut self) -> Result<(), String> {
        if !S::CARRIES_BYTES {
            self.incoming = Incoming::default();
            self.schedule.issued.clear();
        }
        self.incoming.check(&self.table.zones)
    }
}
