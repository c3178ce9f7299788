//! Pages that have codes: the time and energy of the decoders, what a power loss cancels of them, and the message
//! about a page with more errors than its code corrects.

use nacre_controller::ecc::{Verdict, Work};
use nacre_kernel::event::FirstCome;
use nacre_kernel::state::State;
use nacre_kernel::{Activity, Energy, Ledger, Resource, Time};
use std::collections::VecDeque;

/// An encoder, and decoders that each correct one page at a time, in the order of the reads.
#[derive(Debug, State)]
pub(crate) struct Coder {
    decoders: FirstCome<Energy>,
    /// What it was charged.
    pub(crate) ledger: Ledger,
    /// Pages whose encoding may not have ended: begin, end, and energy.
    #[state(varies)]
    encoding: VecDeque<(Time, Time, Energy)>,
}

impl Coder {
    /// Free, with at least one decoder.
    pub(crate) fn new(decoders: u32) -> Coder {
        Coder { decoders: FirstCome::new(decoders), ledger: Ledger::default(), encoding: VecDeque::new() }
    }

    /// Decodes a page that is asked for at `now` and there at `sensed`; when that is done.
    #[inline]
    pub(crate) fn decode(&mut self, now: Time, sensed: Time, work: Work) -> Time {
        let energy = self.charge_energy(work);
        self.ledger.charge(Activity::Correct, work.time);
        self.decoders.take(now, sensed, work.time, energy) + work.time
    }

    /// Encodes a page from `now` on: a page waits for no other, and its time is in no ledger.
    #[inline]
    pub(crate) fn encode(&mut self, now: Time, work: Work) -> Time {
        let energy = self.charge_energy(work);
        while self.encoding.front().is_some_and(|&(_, end, _)| end <= now) {
            self.encoding.pop_front();
        }
        let end = now + work.time;
        if work.energy.is_some() && end > now {
            self.encoding.push_back((now, end, energy));
        }
        end
    }

    #[inline]
    fn charge_energy(&mut self, work: Work) -> Energy {
        let Some(energy) = work.energy else { return Energy::default() };
        self.ledger.charge_energy(Activity::Correct, energy);
        energy
    }

    /// The power fails at `at`: of what is in progress, the part that is done by then stays charged.
    pub(crate) fn power_fail(&mut self, at: Time) {
        for cut in self.decoders.power_fail(at) {
            self.ledger.give_back(Activity::Correct, cut.left);
            give_back(&mut self.ledger, cut.what, (cut.left, cut.whole));
        }
        for (begin, end, energy) in self.encoding.drain(..).filter(|&(_, end, _)| end > at) {
            give_back(&mut self.ledger, energy, (end - begin.max(at), end - begin));
        }
    }

    pub(crate) fn restart_ledger(&mut self) {
        self.ledger = Ledger::default();
        self.decoders.restart_ledger();
        self.encoding.clear();
    }

    /// The decoders, for reports.
    pub(crate) fn resource(&self) -> Resource {
        Resource { name: "decoder", servers: self.decoders.count(), ledger: self.ledger.clone() }
    }
}

/// Of what took `energy`, this much of its time was not done.
fn give_back(ledger: &mut Ledger, energy: Energy, (left, whole): (Time, Time)) {
    let share = if left < whole { left.as_secs_f64() / whole.as_secs_f64() } else { 1.0 };
    ledger.give_back_energy(Activity::Correct, Energy(energy.0 * share));
}

/// The verdict on a page whose decoder said `found`, where by the number of its bit errors it is `expected`: a page beyond its
/// code that the decoder took for another codeword, or whose code notices nothing, is not good, unless it `is_as_stored` all
/// the same.
#[inline]
pub(crate) fn verdict(expected: Verdict, found: Verdict, is_as_stored: impl FnOnce() -> bool) -> Verdict {
    let is_beyond = matches!(expected, Verdict::Uncorrectable | Verdict::Unnoticed);
    if is_beyond && found != Verdict::Uncorrectable && !is_as_stored() { expected } else { found }
}
