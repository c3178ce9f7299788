//! Implements `Device` for the cache.

use super::Memory;
use super::cache::{Arrival, Event, FrameCache};
use super::counts::Counts;
use super::modes::ModeCounts;
use super::operation::{NONE, Purpose};
use super::report;
use nacre_kernel::event::{Completions, Device, Payload, Preconditioning, RequestId};
use nacre_kernel::{
    Bytes, Capabilities, ComponentReport, HostCounts, Op, Persistence, Random, Recovery, Request, Time,
};
use prefetch_index::prefetch_index;

/// The smallest time step.
const INSTANT: Time = Time::from_ps(1);

impl<M: Memory> FrameCache<M> {
    /// Serves a request after its look-up has ended.
    #[inline]
    fn serve(&mut self, now: Time, came: Time, id: RequestId, request: &Request, data: &Payload) {
        let looked_up = now - came;
        match request.op {
            Op::Read => self.read(now, id, request, looked_up),
            Op::Write => self.write(now, id, request, data, looked_up),
            Op::Trim => self.trim(now, id, request, looked_up),
            Op::Flush => self.flush(now, id, request, looked_up),
        }
    }

    #[inline]
    fn next_own(&self) -> Time {
        let arrival = self.arrivals.front().map_or(Time::MAX, |arrival| arrival.begins);
        self.visits.next().min(self.agenda.next()).min(arrival)
    }

    /// Processes events of the cache at `now`.
    #[inline]
    fn step_own(&mut self, now: Time, completions: &mut Completions) {
        if self.visits.next() == now {
            return self.visits.complete(now, completions);
        }
        if self.arrivals.front().is_some_and(|arrival| arrival.begins == now)
            && let Some(Arrival { came, id, request, data, .. }) = self.arrivals.pop_front()
        {
            self.serve(now, came, id, &request, &data);
        } else if let Some((_, event)) = self.agenda.pop_before(now + INSTANT) {
            match event {
                Event::Encoded(number) => self.program(now, number),
                Event::Frame(number) => self.frame_ended(now, number),
                Event::Operation(number) => self.count_down(now, number),
                Event::Copied => {}
            }
        }
        self.look_again(now);
    }

    #[inline]
    fn look_again(&mut self, now: Time) {
        if !self.without_frame.is_empty() {
            self.serve_without_frame(now);
        }
    }

    /// Handles operations that the backing completed at the same time.
    fn handle(&mut self) {
        let mut completed = std::mem::take(&mut self.completed);
        for index in 0..completed.len() {
            let data = completed.take_data(index);
            let (of, spans) = completed.get(index);
            let (number, now, status) = (of.id.0, of.at, of.status);
            match self.operations[number].purpose {
                Purpose::Fetch => {
                    let fetch = self.operations[number].owner;
                    self.end_operation(now, number);
                    self.fetched(now, fetch, status, spans, &data);
                }
                Purpose::Back | Purpose::Safe => self.sent(now, number, status),
                Purpose::Trim | Purpose::Flush => self.passed(now, number, status, spans),
            }
            self.look_again(now);
        }
        completed.clear();
        self.completed = completed;
    }
}

impl<M: Memory> Device for FrameCache<M> {
    #[inline]
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        self.host.record(request);
        let begins = self.memory.look_up(now.max(self.ready));
        if begins == now && self.arrivals.is_empty() {
            self.serve(now, now, id, request, &data);
            return self.look_again(now);
        }
        self.arrivals.push_back(Arrival { begins, came: now, id, request: *request, data });
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.next_own().min(self.next)
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        let (mut limit, before) = (until, completions.len());
        loop {
            let own = self.next_own();
            if own.min(self.next) >= limit {
                return;
            }
            if own <= self.next {
                self.step_own(own, completions);
            } else {
                // The backing runs up to the next time at which the cache may submit a request.
                let to = limit.min(own).max(self.next + INSTANT);
                self.backing.run(to, &mut self.completed);
                self.next = self.backing.next_event();
                self.handle();
            }
            if completions.len() > before {
                limit = limit.min(completions.get(before).0.at + INSTANT);
            }
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        self.backing.capacity().map(|capacity| Bytes(capacity.0 >> self.shift << self.shift))
    }

    fn capabilities(&self) -> Capabilities {
        let own = Capabilities {
            carries_bytes: self.memory.carries_bytes(),
            persistence: if M::IS_VOLATILE { Persistence::OnFlush } else { Persistence::OnAcknowledgement },
            // Pages are written back one at a time.
            atomic_unit: M::ATOMIC_UNIT.min(self.settings.page.0 as u32),
            transactions: false,
            preconditions: false,
            uses_addresses: true,
            wears_out_ahead: false,
        };
        // Not every write reaches the backing, because the cache holds data back. The wear of the backing
        // therefore depends on simulated time.
        Capabilities { wears_out_ahead: false, ..own.and(self.backing.capabilities()) }
    }

    fn restart_ledger(&mut self, now: Time) {
        self.counts = Counts { held_before: self.held(), ..Counts::default() };
        self.host = HostCounts::default();
        self.modes.counts = ModeCounts::default();
        self.memory.restart_ledger();
        self.backing.restart_ledger(now);
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        report::of(self, elapsed)
    }

    fn check_invariants(&self) {
        self.index.check_invariants();
        let without = self.free.len() + self.modes.withdrawn as usize;
        assert_eq!(self.index.len() + without, self.frames.len(), "frames with and without a page");
        self.check_modes();
        self.counts.check_pages(self.held());
        assert_eq!(self.used.oldest_first(0).count(), self.index.len(), "pages by use");
        assert_eq!(self.dirty.oldest_first(0).count(), self.dirty_count as usize, "dirty pages");
        for frame in self.used.oldest_first(0) {
            assert_eq!(self.find(self.frames[frame as usize].key), Some(frame), "the page of frame {frame}");
        }
        for (number, busy) in self.busy.iter() {
            assert_eq!(self.busy_of(busy.frame), Some(number), "a busy frame");
            assert_eq!(self.frames[busy.frame as usize].key, busy.key, "the page of a busy frame");
        }
        let busy = self.frames.iter().filter(|frame| frame.busy != NONE).count();
        assert_eq!(busy, self.busy.len(), "busy frames");
        let under_way = self.operations.iter().filter(|(_, of)| of.back.is_under_way).count();
        let is_back = |purpose: Purpose| matches!(purpose, Purpose::Back | Purpose::Safe);
        let back = self.operations.iter().filter(|(_, of)| is_back(of.purpose)).count();
        assert_eq!(under_way, self.on_their_way as usize, "write-backs on their way");
        assert_eq!(back, under_way + self.leaving.len(), "write-backs");
        assert_eq!(back, self.flushing.open() as usize, "write-backs that flushes wait for");
        let can_be_served = self.without_frame.front().is_some_and(|of| self.find(of.key).is_some());
        assert!(!can_be_served || self.visits.len() == 0, "a page waits for a frame and has one");
        assert_eq!(self.backing.next_event(), self.next, "the next event of the backing");
        self.backing.check_invariants();
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.lose_power(at, chance);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.come_back(at)
    }

    fn prefetch(&self, requests: &[Request]) {
        requests.iter().for_each(|request| self.index.prefetch(request.address >> self.shift));
        for request in requests {
            let frame = self.index.glance(request.address >> self.shift);
            prefetch_index(&self.frames, frame as usize);
        }
        self.backing.prefetch(requests);
    }

    fn detail(&mut self, is_detailed: bool) {
        self.backing.detail(is_detailed);
    }

    fn preconditioning(&mut self) -> Option<&mut dyn Preconditioning> {
        self.backing.preconditioning()
    }
}
