//! Pages that have codes: the time and energy of the decoders, what a loss of power takes back of them, and what is said of a
//! page that is beyond its code.

use nacre_controller::ecc::{Verdict, Work};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Energy, Ledger, Pool, Resource, Time};
use std::collections::VecDeque;

/// An encoder, and decoders that put right one page at a time each.
#[derive(Debug, State)]
pub(crate) struct Coder {
    decoders: Pool,
    /// What it was charged.
    pub(crate) ledger: Ledger,
    /// What may not have ended, in the order in which it was asked for: kept where the power may fail.
    #[state(varies)]
    under_way: VecDeque<Piece>,
}

#[derive(Clone, Copy, Debug, Value)]
struct Piece {
    begin: Time,
    end: Time,
    energy: Energy,
}

impl Coder {
    /// Free, with at least one decoder.
    pub(crate) fn new(decoders: u32) -> Coder {
        Coder { decoders: Pool::new(decoders), ledger: Ledger::default(), under_way: VecDeque::new() }
    }

    /// Decodes a page that is there at `sensed`; when that is done.
    #[inline]
    pub(crate) fn decode(&mut self, sensed: Time, work: Work, may_fail: bool) -> Time {
        let begin = self.decoders.reserve(sensed, work.time);
        self.ledger.charge(Activity::Correct, work.time);
        self.charge_energy(begin, work, may_fail);
        begin + work.time
    }

    /// Encodes a page from `begin` on: a page waits for no other, and its time is in no books.
    #[inline]
    pub(crate) fn encode(&mut self, begin: Time, work: Work, may_fail: bool) -> Time {
        self.charge_energy(begin, work, may_fail);
        begin + work.time
    }

    #[inline]
    fn charge_energy(&mut self, begin: Time, work: Work, may_fail: bool) {
        let Some(energy) = work.energy else { return };
        self.ledger.charge_energy(Activity::Correct, energy);
        if may_fail {
            self.under_way.push_back(Piece { begin, end: begin + work.time, energy });
        }
    }

    pub(crate) fn forget_before(&mut self, to: Time) {
        self.decoders.forget_before(to);
        while self.under_way.front().is_some_and(|piece| piece.end <= to) {
            self.under_way.pop_front();
        }
    }

    /// The power fails at `at`: of what is under way, the part that is done by then stays charged.
    pub(crate) fn power_fail(&mut self, at: Time) {
        self.ledger.give_back(Activity::Correct, self.decoders.busy_after(at));
        self.decoders = Pool::new(self.decoders.len());
        for Piece { begin, end, energy } in self.under_way.drain(..).filter(|piece| piece.end > at) {
            let left = if begin < at { (end - at).as_secs_f64() / (end - begin).as_secs_f64() } else { 1.0 };
            self.ledger.give_back_energy(Activity::Correct, Energy(energy.0 * left));
        }
    }

    pub(crate) fn restart_ledger(&mut self) {
        self.ledger = Ledger::default();
        self.under_way.clear();
    }

    /// The decoders, for reports.
    pub(crate) fn resource(&self) -> Resource {
        Resource { name: "decoder", servers: self.decoders.len(), ledger: self.ledger.clone() }
    }

    pub(crate) fn check_invariants(&self) {
        self.decoders.check_invariants();
    }
}

/// The verdict on a page whose decoder said `found`, where by the number of its wrong bits it is `expected`: a page beyond its
/// code that the decoder took for another codeword, or whose code notices nothing, is not good, unless it `is_as_stored` all
/// the same.
#[inline]
pub(crate) fn verdict(expected: Verdict, found: Verdict, is_as_stored: impl FnOnce() -> bool) -> Verdict {
    let is_beyond = matches!(expected, Verdict::Uncorrectable | Verdict::Unnoticed);
    if is_beyond && found != Verdict::Uncorrectable && !is_as_stored() { expected } else { found }
}
