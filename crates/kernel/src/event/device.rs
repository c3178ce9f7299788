//! The interface of every storage component, from a single disk to a stack of caches.

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

/// A simulated storage component. It is a pure state machine without clock, I/O, threads, or globals.
///
/// # Time
/// No time passed as `now` or `until` may be before the time of an earlier call. Before `submit(now, ...)`,
/// the caller processes all events before `now` with [`Device::run`]. Simultaneous events have this order:
/// completions, then the submissions that follow from them, then decisions (e.g. the selection of a waiting
/// request by a free server). A request that arrives at the time of a decision therefore takes part in the
/// decision.
///
/// # Bytes
/// A device that stores data ([`Capabilities::carries_bytes`]) receives the data of a write with the request
/// and returns the data of a read with the completion. A read returns the content of the device at the
/// completion of the read. This content includes the data of all requests that completed before the read was
/// submitted. If writes overlap the read in time, each byte of the read has either its old or its new value.
/// Bytes that were never written read as zero. A trimmed byte reads as zero or keeps its content.
///
/// # Power loss
/// `power_fail(at)` follows `run(at)`. Events at `at` and later do not happen, and work in progress is torn
/// as documented by the device.
pub trait Device: State + Send {
    /// Accepts `request` at `now`. [`Device::run`] returns its completion, which is at `now` or later.
    ///
    /// The request must be within [`Device::capacity`].
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload);

    /// Cancels an outstanding request at `now`, if this is still possible. Returns [`Canceled::TooLate`] if
    /// the device has no queue or has started the request.
    fn cancel(&mut self, _now: Time, _id: RequestId) -> Canceled {
        Canceled::TooLate
    }

    /// Time of the next event if no request is submitted; [`Time::MAX`] if no event is pending. The result is
    /// never earlier than the last time passed to the device. A device without requests becomes idle:
    /// periodic background work that no request waits for is not an event.
    fn next_event(&self) -> Time;

    /// Processes events before `until` in time order, up to and including the first time at which a request
    /// completes.
    ///
    /// Appends the completions at that time to `completions`. If none are appended, all events before `until`
    /// have been processed.
    fn run(&mut self, until: Time, completions: &mut Completions);

    /// Capacity of the device, or `None` if the model has no limit.
    fn capacity(&self) -> Option<Bytes>;

    /// Features and guarantees of the device, which never change.
    fn capabilities(&self) -> Capabilities;

    /// Restarts measurement at `now`: clears counters, busy time, and energy, including those of children.
    /// Work that is in progress at `now` counts in the measurement in which it started.
    fn restart_ledger(&mut self, now: Time);

    /// Returns the results for the simulated time `elapsed` since the device was built or measurement
    /// restarted, including children.
    fn report(&self, elapsed: Time) -> ComponentReport;

    /// Panics if the accounting of the device is inconsistent. Tests call this; simulations do not.
    fn check_invariants(&self);

    /// Handles a power loss at `at`, after `run(at)`. Outstanding requests never complete, and volatile state
    /// is lost. `chance` is the source of random outcomes. No request may be submitted before
    /// [`Device::recover`].
    fn power_fail(&mut self, at: Time, chance: &mut Random);

    /// Handles the return of power at `at`. The device repairs interrupted operations and returns the time
    /// from which it is ready. Power may fail again before that time. Requests that are submitted before
    /// that time wait.
    fn recover(&mut self, at: Time) -> Recovery;

    /// Prefetches the memory that the next requests will access. This does not change results.
    fn prefetch(&self, _requests: &[Request]) {}

    /// Sets whether breakdowns include the stages of a request, if the device supports this. The default is
    /// off.
    fn detail(&mut self, _is_detailed: bool) {}

    /// Interface to the zones of the device, if it has zones.
    fn zones(&self) -> Option<&dyn Zones> {
        None
    }

    /// Interface for zone commands, if the device supports them.
    fn zone_commands(&mut self) -> Option<&mut dyn ZoneCommands> {
        None
    }

    /// Interface for transactions, if the device supports them.
    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        None
    }

    /// Interface for preconditioning, if the behavior of the device depends on earlier writes.
    fn preconditioning(&mut self) -> Option<&mut dyn Preconditioning> {
        None
    }

    /// Interface for wear-out without simulating time, if the device supports it.
    fn endurance(&mut self) -> Option<&mut dyn Endurance> {
        None
    }
}
