//! Error correction of pages: the time and energy of encoders and decoders, the effect of a power loss on
//! work in progress, and the result of reading a page with more bit errors than its code corrects.

use nacre_controller::ecc::{Verdict, Work};
use nacre_kernel::event::FirstCome;
use nacre_kernel::state::State;
use nacre_kernel::{Activity, Energy, Ledger, Resource, Time};
use std::collections::VecDeque;

/// An encoder and several decoders. Each decoder corrects one page at a time, in the order in which the pages
/// were read.
#[derive(Debug, State)]
pub(crate) struct Coder {
    decoders: FirstCome<Energy>,
    /// Time and energy charged so far.
    pub(crate) ledger: Ledger,
    /// Start, end, and energy of page encodings that may still be in progress.
    #[state(varies)]
    encoding: VecDeque<(Time, Time, Energy)>,
}

impl Coder {
    /// Creates an idle coder with at least one decoder.
    pub(crate) fn new(decoders: u32) -> Coder {
        Coder { decoders: FirstCome::new(decoders), ledger: Ledger::default(), encoding: VecDeque::new() }
    }

    /// Decodes a page that was requested at `now` and whose read from the cells ends at `sensed`. Returns the
    /// end time of decoding.
    #[inline]
    pub(crate) fn decode(&mut self, now: Time, sensed: Time, work: Work) -> Time {
        let energy = self.charge_energy(work);
        self.ledger.charge(Activity::Correct, work.time);
        self.decoders.take(now, sensed, work.time, energy) + work.time
    }

    /// Encodes a page, starting at `now`. Returns the end time. Pages do not wait for each other, and the
    /// ledger does not contain their encoding time.
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

    /// Handles a power loss at `at`. Only the completed portion of operations in progress stays charged.
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

    /// The decoders as a resource, for reports.
    pub(crate) fn resource(&self) -> Resource {
        Resource { name: "decoder", servers: self.decoders.count(), ledger: self.ledger.clone() }
    }
}

/// Refunds the energy of an operation in proportion to the share of its time that is left.
fn give_back(ledger: &mut Ledger, energy: Energy, (left, whole): (Time, Time)) {
    let share = if left < whole { left.as_secs_f64() / whole.as_secs_f64() } else { 1.0 };
    ledger.give_back_energy(Activity::Correct, Energy(energy.0 * share));
}

/// Result of reading a page for which the decoder returned `found`. `expected` follows from the number of bit
/// errors of the page. If the page has more bit errors than its code corrects, and the decoder miscorrects
/// them or does not detect them, the result is `expected`. The exception is data that still `is_as_stored`.
#[inline]
pub(crate) fn verdict(expected: Verdict, found: Verdict, is_as_stored: impl FnOnce() -> bool) -> Verdict {
    let is_beyond = matches!(expected, Verdict::Uncorrectable | Verdict::Unnoticed);
    if is_beyond && found != Verdict::Uncorrectable && !is_as_stored() { expected } else { found }
}
