//! The contract of every storage component, from a single disk to a stack of caches.

use super::completions::Completions;
use super::facets::{Endurance, Preconditioning, Zones};
use super::outstanding::{Canceled, RequestId};
use super::payload::Payload;
use crate::capabilities::Capabilities;
use crate::ledger::ComponentReport;
use crate::power::Recovery;
use crate::random::Random;
use crate::request::Request;
use crate::state::State;
use crate::time::Time;
use crate::transactions::Transactions;
use crate::units::Bytes;

/// A storage component under simulation: a pure state machine without clock, I/O, threads or globals.
///
/// # Time
/// Every call that takes `now` or `until` takes a time that is not before that of any earlier call. Before
/// `submit(now, ...)` the caller has processed all events before `now` with [`Device::run`]. Events of one instant come
/// in this order: completions, then the submissions that follow from them, then decisions (such as which waiting
/// request a free server takes). So a request that arrives at the instant at which a decision is due takes part in it.
///
/// # Bytes
/// A device that carries bytes ([`Capabilities::carries_bytes`]) gets those of a write with the request and returns
/// those of a read with the completion. A read returns, for every byte, what the device holds when the read completes:
/// everything written by requests that completed before the read was submitted, and old or new bytes of writes that
/// overlap it in time. Bytes never written read as zero; a trimmed byte reads as zero or as it was.
///
/// # Power loss
/// `power_fail(at)` follows `run(at)`: events at `at` and later do not happen, and work in progress is torn as the device
/// describes it.
pub trait Device: State + Send {
    /// Accepts `request` at `now`. Its completion comes out of [`Device::run`], at `now` or later.
    ///
    /// The request lies within [`Device::capacity`].
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload);

    /// Withdraws an outstanding request at `now`, if that is still possible. A device without its own queue, or one
    /// that has begun the request, returns [`Canceled::TooLate`].
    fn cancel(&mut self, _now: Time, _id: RequestId) -> Canceled {
        Canceled::TooLate
    }

    /// When something happens next if nothing else is submitted; [`Time::MAX`] if nothing is pending. Never before the
    /// time of the last call. A device without requests comes to rest: periodic background work that nobody waits for
    /// is not an event.
    fn next_event(&self) -> Time;

    /// Processes events before `until` in time order, but none after the first instant at which a request completes.
    ///
    /// The completions of that instant are appended to `completions`. If there are none, all events before `until` have
    /// been processed.
    fn run(&mut self, until: Time, completions: &mut Completions);

    /// The bytes it can hold, or `None` if the model sets no limit.
    fn capacity(&self) -> Option<Bytes>;

    /// What it can do and guarantees, as it was built; constant over its life.
    fn capabilities(&self) -> Capabilities;

    /// Measuring begins at `now`: forgets counts, busy time and energy so far, children included. Work in progress
    /// stays with the ledger in which it began.
    fn restart_ledger(&mut self, now: Time);

    /// What it did during `elapsed` of simulated time, since it was built or the ledger restarted, children included.
    fn report(&self, elapsed: Time) -> ComponentReport;

    /// Panics if the device's accounting does not balance. Called by tests, never on the hot path.
    fn check_invariants(&self);

    /// Power fails at `at`, after `run(at)`. Outstanding requests never complete; volatile state is lost;
    /// `chance` decides what the model leaves open. No request is submitted before [`Device::recover`].
    fn power_fail(&mut self, at: Time, chance: &mut Random);

    /// Power is back at `at`: the device repairs what was interrupted and returns when it is ready. Power may fail again
    /// before that. Requests submitted earlier wait.
    fn recover(&mut self, at: Time) -> Recovery;

    /// These requests come next: fetches the memory they will need. Changes no result.
    fn prefetch(&self, _requests: &[Request]) {}

    /// Whether breakdowns name the stages of a request, if the device tells them; they do not at first.
    fn detail(&mut self, _is_detailed: bool) {}

    /// Its zones, if it is written in zones.
    fn zones(&self) -> Option<&dyn Zones> {
        None
    }

    /// Its transactions, if it has them.
    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        None
    }

    /// How to bring it into the state that earlier writes leave behind, if its behavior depends on them.
    fn preconditioning(&mut self) -> Option<&mut dyn Preconditioning> {
        None
    }

    /// How to wear it out without simulating time, if that is possible.
    fn endurance(&mut self) -> Option<&mut dyn Endurance> {
        None
    }
}
