//! Implementation of the device contract, including power losses.

use super::card::Card;
use super::config::Written;
use super::piece::Piece;
use super::report::Figures;
use super::scheduler::Scheduler;
use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::{
    Bytes, Capabilities, ComponentReport, HostCounts, Op, Persistence, Random, Recovery, Request, Time,
};
use nacre_media::store::Store;

impl<S: Store> Card<S> {
    /// Earliest time of the next command of any channel, and the index of this channel.
    #[inline]
    fn next_command(&self) -> (Time, usize) {
        let nexts = self.channels.iter().map(Scheduler::next_event).zip(0..);
        nexts.min().expect("there is a channel")
    }

    fn figures(&self) -> Figures<'_> {
        Figures {
            id: self.id,
            path: &self.path,
            config: &self.config,
            capacity: self.capacity,
            interface: self.port.resources(),
            processors: self.processors.resource("processors"),
            channels: self.channels.iter().map(|channel| (&channel.counts, channel.commands())).collect(),
            host: &self.host,
            backup: &self.backup,
            lost_pages: self.lost_pages,
        }
    }

    /// Handles a power loss at `at`. Pieces that have not fully reached the memory are torn or dropped.
    /// Returns the number of acknowledged bytes that are lost.
    fn tear(&mut self, at: Time, chance: &mut Random) -> u64 {
        let mut writes: Vec<(Time, u32)> = Vec::new();
        for (number, piece) in self.pieces.iter() {
            if let Some(begun) = piece.begun.filter(|_| piece.is_write && !piece.has_landed) {
                writes.push((begun, number));
            }
        }
        writes.sort_unstable();
        let mut lost = 0;
        for (begun, number) in writes {
            let Piece { request, address, bytes, .. } = self.pieces[number];
            let mut landed = 0;
            if begun < at {
                self.backup.change(address, bytes);
                let data = self.data_of(number);
                landed = self.bytes.tear(address, &data, chance);
            }
            if self.has_completed(request) {
                lost += bytes - landed;
            }
        }
        lost
    }

    /// Selects the unreadable pages after a dump that saved the pages before `end`. Returns the number of
    /// bytes lost in these pages. Bytes that were not saved are not included.
    fn misread(&mut self, end: u64, chance: &mut Random) -> u64 {
        let shift = self.backup.plan().page_shift;
        let mut lost = 0;
        for page in self.backup.misread(chance) {
            let range = page << shift..(page + 1) << shift;
            let was_saved = page < end || !self.backup.is_changed(page);
            if was_saved {
                lost += self.unreadable.gaps(range.clone()).map(|gap| gap.end - gap.start).sum::<u64>();
            }
            self.unreadable.insert(range);
            self.lost_pages += 1;
        }
        lost
    }

    /// Makes the memory and the flash equal after a dump. Pages before `end` are copied from the memory to
    /// the flash. The other pages are copied from the flash to the memory.
    fn copy_pages(&mut self, end: u64) {
        let plan = *self.backup.plan();
        let page_bytes = 1_u64 << plan.page_shift;
        for page in (0..plan.pages).filter(|&page| self.backup.is_changed(page)) {
            let in_memory = page * page_bytes;
            let in_flash = self.capacity + in_memory;
            let (from, to) = if page < end { (in_memory, in_flash) } else { (in_flash, in_memory) };
            let bytes = page_bytes as u32;
            let whole = Request { arrival: Time::ZERO, address: from, bytes, volume: 0, op: Op::Read };
            let page = self.bytes.read(&whole);
            self.bytes.write(to, &page);
        }
    }
}

impl<S: Store> Device for Card<S> {
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        self.accept(now, id, request, data);
    }

    fn next_event(&self) -> Time {
        let others = self.port.next().min(self.processors.next()).min(self.agenda.next());
        others.min(self.next_command().0)
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        let before = completions.len();
        let mut until = until;
        loop {
            let (port, processors, agenda) = (self.port.next(), self.processors.next(), self.agenda.next());
            let (command, channel) = self.next_command();
            let next = port.min(processors).min(agenda);
            if next.min(command) >= until {
                return;
            }
            if command < next {
                if completions.len() > before {
                    // Clients that wait for a completion may submit requests before the next command is
                    // issued.
                    return;
                }
                if let Some(moved) = self.channels[channel].step() {
                    self.moved(&moved);
                }
            } else if agenda == next {
                let (at, event) = self.agenda.pop_before(until).expect("it is due");
                self.happen(at, event, completions);
            } else if port == next {
                if let Some(arrival) = self.port.pop_before(next + Time::from_ps(1)) {
                    self.arrived(arrival, completions);
                }
            } else {
                let (at, number, time) = self.processors.end_before(until).expect("it is due");
                self.processed(at, number, time);
            }
            if completions.len() > before {
                let (completed, _) = completions.get(before);
                until = until.min(completed.at + Time::from_ps(1));
            }
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(Bytes(self.capacity))
    }

    fn capabilities(&self) -> Capabilities {
        let persistence = match (self.config.volatile, self.config.written) {
            (true, _) if self.backup.loses() || self.backup.misreads() => Persistence::WithStoredEnergy,
            (true, _) | (false, Written::Closed) => Persistence::OnAcknowledgement,
            (false, Written::InRow) => Persistence::OnFlush,
        };
        // The sizes are powers of two, and each unit lies within one burst and within one piece of a request.
        let burst = 1 << self.config.burst_bytes().trailing_zeros();
        Capabilities {
            carries_bytes: S::CARRIES_BYTES,
            persistence,
            atomic_unit: self.port.piece().min(burst) as u32,
            transactions: false,
            preconditions: false,
            uses_addresses: true,
            wears_out_ahead: false,
        }
    }

    fn restart_ledger(&mut self, _now: Time) {
        self.host = HostCounts::default();
        self.port.restart_ledger();
        self.processors.restart_ledger();
        self.channels.iter_mut().for_each(Scheduler::restart);
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        self.figures().report(elapsed)
    }

    fn check_invariants(&self) {
        self.port.check_invariants();
        self.processors.check_invariants();
        self.channels.iter().for_each(Scheduler::check_invariants);
        let is_of = |&(_, piece): &(u32, &Piece)| piece.is_write && piece.has_data && !piece.has_landed;
        assert_eq!(self.pieces.iter().filter(is_of).count(), self.unlanded.len(), "a write is lost");
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.port.power_fail(at);
        self.processors.power_fail(at);
        self.channels.iter_mut().for_each(|channel| channel.power_fail(at));
        let mut lost = self.tear(at, chance);
        self.agenda.clear();
        self.active.clear();
        self.pieces.clear();
        self.writes.clear();
        self.unlanded.clear();
        // A dump in progress continues.
        let at = at.max(self.dumped);
        let dumped = self.backup.dump(at);
        self.dumped = at + dumped.time;
        if S::CARRIES_BYTES && self.backup.loses() {
            self.copy_pages(dumped.end);
        }
        lost += self.misread(dumped.end, chance);
        self.backup.dumped(at, &dumped);
        lost += dumped.lost << self.backup.plan().page_shift;
        self.interrupted = Recovery {
            done: self.dumped,
            programs_finished: dumped.saved,
            programs_lost: dumped.lost,
            bytes_lost: lost,
            ..Recovery::default()
        };
    }

    fn recover(&mut self, at: Time) -> Recovery {
        let mut recovery = std::mem::take(&mut self.interrupted);
        let start = at.max(recovery.done);
        let plan = self.backup.plan();
        let restored = start + self.config.boot + plan.loading();
        recovery.pages_scanned = if self.config.volatile { plan.pages } else { 0 };
        recovery.done = restored.max(self.backup.recharge(start));
        self.channels.iter_mut().for_each(|channel| channel.clear(recovery.done));
        self.ready = recovery.done;
        recovery
    }

    fn detail(&mut self, is_detailed: bool) {
        self.is_detailed = is_detailed;
        self.port.detail(is_detailed);
    }
}
