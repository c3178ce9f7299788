//! Implementation of the device contract.

use super::config::CompletionPoint;
use super::drive::{Counts, Drive};
use super::outage::powered_programs;
use super::report::{self, Figures, OfController};
use super::scoreboard::Scoreboard;
use nacre_kernel::event::{Completions, Device, Endurance, Payload, Preconditioning, RequestId};
use nacre_kernel::{Bytes, Capabilities, ComponentReport, Op, Persistence, Random, Recovery, Request, Time};
use nacre_media::store::Store;
use std::collections::VecDeque;

impl<S: Store> Drive<S> {
    /// Time of the next event other than the start of an operation.
    #[inline]
    fn next_other(&self) -> Time {
        let first = |queue: &VecDeque<(Time, u32)>| queue.front().map_or(Time::MAX, |&(at, _)| at);
        let queued = first(&self.crossing).min(first(&self.over));
        queued.min(self.port.next()).min(self.pipeline.next()).min(self.agenda.next())
    }

    /// Handles the event at `now`, other than the start of an operation.
    #[inline]
    fn step(&mut self, now: Time, completions: &mut Completions) {
        let until = now + Time::from_ps(1);
        if let Some((at, event)) = self.agenda.pop_before(until) {
            self.happen(at, event);
        } else if let Some((at, part)) = self.crossing.pop_front_if(|&mut (at, _)| at < until) {
            self.crossed(at, part);
        } else if self.port.next() < until {
            if let Some(arrival) = self.port.pop_before(until) {
                self.arrived(arrival, completions);
            }
        } else if let Some((at, number, _)) = self.pipeline.end_before(until) {
            self.processed(at, number);
        } else {
            let (at, number) = self.over.pop_front().expect("something is due");
            self.complete(at, number, completions);
        }
    }

    fn figures(&self) -> Figures<'_> {
        let controllers = self.controllers.iter().map(|controller| OfController {
            counters: &controller.counts,
            rows: &controller.rows,
            leveller: &*controller.leveller,
            decoder: &controller.decoder,
        });
        Figures {
            id: self.id,
            path: &self.path,
            config: &self.config,
            interface: self.port.resources(),
            pipeline: self.pipeline.resource("pipeline"),
            ring: self.ring.resource("ring"),
            controllers: controllers.collect(),
            host: &self.counts.host,
            tag_waits: self.counts.tag_waits,
            buffer_waits: self.counts.buffer_waits,
            worn_out_at: self.worn_out_at,
        }
    }
}

impl<S: Store> Device for Drive<S> {
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        self.accept(now, id, request, data);
    }

    fn next_event(&self) -> Time {
        self.next_other().min(self.operations.next())
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        let before = completions.len();
        let mut until = until;
        loop {
            let (next, operation) = (self.next_other(), self.operations.next());
            if next.min(operation) >= until {
                return;
            }
            if operation < next {
                if completions.len() > before {
                    // Clients that wait for a completion may submit requests before the next operation
                    // starts.
                    return;
                }
                self.operate();
                continue;
            }
            self.step(next, completions);
            if completions.len() > before {
                until = until.min(next + Time::from_ps(1));
            }
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(Bytes(self.capacity))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            carries_bytes: S::CARRIES_BYTES,
            persistence: match (self.config.completion, powered_programs(&self.config)) {
                (CompletionPoint::Early, Some(_)) => Persistence::WithStoredEnergy,
                _ => Persistence::OnAcknowledgement,
            },
            atomic_unit: 1,
            transactions: false,
            preconditions: true,
            uses_addresses: true,
            wears_out_ahead: !S::CARRIES_BYTES,
        }
    }

    fn restart_ledger(&mut self, _now: Time) {
        self.counts = Counts::default();
        self.port.restart_ledger();
        self.pipeline.restart_ledger();
        self.ring.restart_ledger();
        self.controllers.iter_mut().for_each(Scoreboard::restart);
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        report::of(&self.figures(), elapsed)
    }

    fn check_invariants(&self) {
        self.port.check_invariants();
        self.pipeline.check_invariants();
        self.controllers.iter().for_each(Scoreboard::check_invariants);
        for buffer in &self.buffers {
            let most = self.config.writes_at_a_time();
            assert!(buffer.free <= most, "{} of {most} slots are free", buffer.free);
        }
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.lose_power(at, chance);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.repair(at)
    }

    /// Prefetches the counters that writes will change.
    fn prefetch(&self, requests: &[Request]) {
        for request in requests.iter().filter(|request| request.op == Op::Write) {
            let part = self.row(request.address, u64::from(request.bytes));
            let controller = &self.controllers[part.controller as usize];
            controller.rows.prefetch(controller.leveller.physical(part.row));
        }
    }

    fn preconditioning(&mut self) -> Option<&mut dyn Preconditioning> {
        Some(self)
    }

    fn endurance(&mut self) -> Option<&mut dyn Endurance> {
        (!S::CARRIES_BYTES).then_some(self as &mut dyn Endurance)
    }
}
