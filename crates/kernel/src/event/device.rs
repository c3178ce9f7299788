//! The contract of every storage component, from a single disk to a stack of caches.

use super::completions::Completions;
use super::facets::{Endurance, Preconditioning, ZoneCommands, Zones};
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
/// `submit(now, ...)` the caller has processed all events before `now` with [`Device::run`]. Events of one
/// instant come in this order: completions, then the submissions that follow from them, then decisions (such
/// as which waiting request a free server takes). So a request that arrives at the instant at which a
/// decision is due takes part in it.
///
/// # Bytes
/// A device that carries bytes ([`Capabilities::carries_bytes`]) gets those of a write with the request and
/// returns those of a read with the completion. A read returns, for every byte, what the device holds when
/// the read completes: everything written by requests that completed before the read was submitted, and old
/// or new bytes of writes that overlap it in time. Bytes never written read as zero; a trimmed byte reads as
/// zero or as it was.
///
/// # Power loss
/// `power_fail(at)` follows `run(at)`: events at `at` and later do not happen, and work in progress is torn
/// as the device describes it.
pub trait Device: State + Send {
    /// Accepts `request` at `now`. [`Device::run`] returns its completion, at `now` or later.
    ///
    /// The request lies within [`Device::capacity`].
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload);

    /// Cancels an outstanding request at `now`, if that is still possible. A device without a queue, or one
    /// that has started the request, returns [`Canceled::TooLate`].
    fn cancel(&mut self, _now: Time, _id: RequestId) -> Canceled {
        Canceled::TooLate
    }

    /// Time of the next event if nothing else is submitted; [`Time::MAX`] if nothing is pending. Never before
    /// the time of the last call. A device without requests comes to rest: periodic background work that no
    /// request waits for is not an event.
    fn next_event(&self) -> Time;

    /// Processes events before `until` in time order, but none after the first instant at which a request
    /// completes.
    ///
    /// The completions of that instant are appended to `completions`. If there are none, all events before
    /// `until` have been processed.
    fn run(&mut self, until: Time, completions: &mut Completions);

    /// Capacity, or `None` if the model sets no limit.
    fn capacity(&self) -> Option<Bytes>;

    /// Its features and guarantees, which never change.
    fn capabilities(&self) -> Capabilities;

    /// Restarts measurement at `now`: clears counts, busy time and energy, including those of children. Work
    /// in progress stays in the ledger in which it started.
    fn restart_ledger(&mut self, now: Time);

    /// Results for the simulated time `elapsed` since it was built or measurement restarted, including
    /// children.
    fn report(&self, elapsed: Time) -> ComponentReport;

    /// Panics if the device's accounting does not balance. Called by tests, never on the hot path.
    fn check_invariants(&self);

    /// Power fails at `at`, after `run(at)`. Outstanding requests never complete, and volatile state is lost.
    /// `chance` is the source of random outcomes. No request is submitted before [`Device::recover`].
    fn power_fail(&mut self, at: Time, chance: &mut Random);

    /// Power is back at `at`: the device repairs interrupted operations and returns the time at which it is
    /// ready. Power may fail again before that. Requests submitted earlier wait.
    fn recover(&mut self, at: Time) -> Recovery;

    /// Prefetches the memory that the next requests will need. Does not change results.
    fn prefetch(&self, _requests: &[Request]) {}

    /// Sets whether breakdowns name the stages of a request, if the device supports this. Off by default.
    fn detail(&mut self, _is_detailed: bool) {}

    /// Its zones, if it is written in zones.
    fn zones(&self) -> Option<&dyn Zones> {
        None
    }

    /// Its zone commands, if it has them.
    fn zone_commands(&mut self) -> Option<&mut dyn ZoneCommands> {
        None
    }

    /// Its transactions, if it has them.
    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        None
    }

    /// Its preconditioning, if its behavior depends on earlier writes.
    fn preconditioning(&mut self) -> Option<&mut dyn Preconditioning> {
        None
    }

    /// Its wear-out without simulating time, if supported.
    fn endurance(&mut self) -> Option<&mut dyn Endurance> {
        None
    }
}
