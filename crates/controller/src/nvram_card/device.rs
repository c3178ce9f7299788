//! The card as the contract of devices has it.

use super::config::Written;
use super::model::{Book, NvramCard};
use super::report::Figures;
use nacre_kernel::{
    Activity, Breakdown, Burst, Bytes, Capabilities, Completion, ComponentReport, Data, Device, Endured, Op,
    Persistence, Pool, Random, Recovery, Request, Resource, Status, Time, Transactions, Zone,
};
use nacre_media::store::Store;

impl<S: Store> NvramCard<S> {
    fn figures(&self) -> Figures<'_> {
        let ledger = self.book.processors.clone();
        Figures {
            id: self.id,
            path: &self.path,
            config: &self.config,
            capacity: self.capacity,
            interface: self.interface.resources(),
            processors: Resource { name: "processors", servers: self.config.processors, ledger },
            channels: self
                .memory
                .channels
                .iter()
                .map(|channel| (&channel.book, channel.commands()))
                .collect(),
            host: &self.book.host,
            backup: &self.backup,
            lost_pages: self.lost_pages,
        }
    }

    /// Every byte that was read or written crossed the data lines.
    fn check_bursts(&self) {
        let sum = |kind: usize| -> u64 {
            self.memory.channels.iter().map(|channel| channel.commands()[kind]).sum()
        };
        let (reads, writes, burst) = (sum(1), sum(2), self.config.burst_bytes());
        let host = &self.book.host;
        assert!(writes * burst >= host.bytes_written(), "{writes} bursts were written");
        assert!(reads >= host.requests(Op::Read), "{reads} bursts were read");
    }
}

impl<S: Store> Device for NvramCard<S> {
    #[inline]
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        assert!(!self.has_failed, "nothing may be asked of a device without power");
        self.book.host.record(request);
        let mut way = self.begin(now, request, breakdown.is_close());
        match request.op {
            Op::Read | Op::Write => way = self.serve(way, request),
            Op::Trim => self.bytes.trim(request),
            // Volatile memory is saved as it is: only rows that are durable when they are closed are waited for.
            Op::Flush if !self.config.volatile => way.step.there = way.step.there.max(self.closed),
            Op::Flush => {}
        }
        if matches!(request.op, Op::Write | Op::Trim) {
            self.backup.change(request.address, u64::from(request.bytes));
        }
        let done = self.end(now, way, request.op, breakdown);
        if !self.is_readable(request, done) {
            return Completion { done, status: Status::MediaError };
        }
        if S::CARRIES_BYTES && matches!(request.op, Op::Read | Op::Write) {
            self.carry(request, data, done);
        }
        Completion { done, status: Status::Done }
    }

    fn advance(&mut self, to: Time) {
        self.interface.advance(to);
        self.processors.forget_before(to);
        self.bytes.settle(to);
        self.settle_rewritten(to);
        self.memory.channels.iter_mut().for_each(|channel| channel.settle(to));
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(Bytes(self.capacity))
    }

    fn zone(&self, _address: u64) -> Option<Zone> {
        None
    }

    fn capabilities(&self) -> Capabilities {
        let persistence = match (self.config.volatile, self.config.written) {
            (true, _) if self.backup.loses() || self.backup.misreads() => Persistence::WithStoredEnergy,
            (true, _) | (false, Written::Closed) => Persistence::OnAcknowledgement,
            (false, Written::InRow) => Persistence::OnFlush,
        };
        // Units of a power of two, each of which lies within one burst and within one piece of a request.
        let burst = 1 << self.config.burst_bytes().trailing_zeros();
        Capabilities {
            carries_bytes: S::CARRIES_BYTES,
            persistence,
            atomic_unit: self.interface.piece().min(burst) as u32,
            transactions: false,
            preconditions: false,
            uses_addresses: true,
            wears_out_ahead: false,
        }
    }

    fn busy_until(&self) -> Time {
        let memory = self.memory.channels.iter().map(|channel| channel.busy_until());
        let others = self.interface.busy_until().max(self.processors.free_from()).max(self.ready);
        memory.fold(others, Time::max)
    }

    fn restart_ledger(&mut self) {
        self.book = Book::default();
        self.interface.restart_ledger();
        self.memory.channels.iter_mut().for_each(|channel| channel.restart());
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        self.figures().report(elapsed)
    }

    fn check_invariants(&self) {
        self.interface.check_invariants();
        self.processors.check_invariants();
        self.check_bursts();
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.has_failed = true;
        self.memory.channels.iter_mut().for_each(|channel| channel.power_fail(at));
        self.interface.power_fail(at);
        self.book.processors.give_back(Activity::Software, self.processors.busy_after(at));
        self.processors = Pool::new(self.config.processors);
        let mut lost = self.bytes.power_fail(at, chance).bytes_lost;
        self.lose_rewritten(at);
        // A dump that is still under way goes on.
        let at = at.max(self.dumped);
        let dumped = self.backup.dump(at);
        self.dumped = at + dumped.time;
        if S::CARRIES_BYTES && self.backup.loses() {
            self.copy_pages(at, dumped.end);
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
        self.closed = Time::ZERO;
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.has_failed = false;
        let mut recovery = std::mem::take(&mut self.interrupted);
        let start = at.max(recovery.done);
        let plan = self.backup.plan();
        let restored = start + self.config.boot + plan.loading();
        recovery.pages_scanned = if self.config.volatile { plan.pages } else { 0 };
        recovery.done = restored.max(self.backup.recharge(start));
        self.memory.channels.iter_mut().for_each(|channel| channel.clear(recovery.done));
        self.ready = recovery.done;
        recovery
    }

    fn precondition(&mut self, _requests: &[Request]) {}

    fn wear_out(&mut self, _bursts: &[Burst]) -> Endured {
        unreachable!("it does not know what its memory is made for")
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        None
    }

    fn prefetch(&self, _requests: &[Request]) {}
}
