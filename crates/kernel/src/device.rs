//! The contract every storage component keeps, from a single disk to a stack of caches.
//!
//! A device is a pure state machine. It has no clock, no I/O, no threads and no globals; a driver
//! calls it with simulated time. A composite device calls its children's [`Device::submit`], so a
//! hierarchy is a chain of function calls, not of events.
//!
//! The same device is simulated, opened as a memory, served and crashed: bytes, loss of power and
//! recovery are part of the contract, and what a device cannot do it says in its [`Capabilities`].

use crate::breakdown::Breakdown;
use crate::capabilities::Capabilities;
use crate::completion::Completion;
use crate::data::Data;
use crate::ledger::ComponentReport;
use crate::power::Recovery;
use crate::random::Random;
use crate::request::Request;
use crate::state::State;
use crate::time::Time;
use crate::transactions::Transactions;
use crate::units::Bytes;
use crate::zone::Zone;

/// A storage component under simulation.
///
/// The driver promises that the `now` of successive calls never decreases at the top of a stack.
/// A composite may call its children with a later `now` (after its own delay) and then again with an
/// earlier one, so a device reserves its resources on gap-filling timelines and not by a running clock.
/// Bytes change in the order of the calls.
pub trait Device: State + Send {
    /// Serves `request`, which reaches the device at `now`, and says when it is done and how it went.
    ///
    /// The device adds the time the request spent in it, and in its children, to `breakdown`; the added
    /// spans sum to `done - now`. The request lies within [`Device::capacity`]. Where the device carries
    /// bytes, `data` holds those of a write, or the place for those of a read; elsewhere it is [`Data::None`].
    /// What was never written reads as zero. A trimmed byte reads as zero or as it was, until it is written again.
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion;

    /// Forgets what lies before `to`; no later call has a `now` before it.
    ///
    /// It bounds memory and never changes a completion: with and without calls of it, the same requests
    /// are done at the same times. Only where a server has more to do ahead than a timeline remembers
    /// ([`INTERVALS_MAX`](crate::timeline::INTERVALS_MAX)) gaps close, and what is over counts, too, until it is
    /// forgotten.
    fn advance(&mut self, to: Time);

    /// The bytes it can hold, or `None` where the model sets no limit.
    fn capacity(&self) -> Option<Bytes>;

    /// The zone that `address` lies in, as it is now; `None` of a device that is written anywhere. A write that does not
    /// begin at the write pointer of its zone is refused.
    fn zone(&self, address: u64) -> Option<Zone>;

    /// What it can do and what it promises, as it was built; the same over its whole life.
    fn capabilities(&self) -> Capabilities;

    /// When the last of all its work so far ends, children included: work that no request waits for (a
    /// cache's fills, a drive's buffered writes) may outlive the last completion.
    fn busy_until(&self) -> Time;

    /// Measuring begins now: forgets every count, busy time and energy so far, children included.
    /// Its state (what is cached, where the arm stands, what is reserved) stays as it is.
    fn restart_ledger(&mut self);

    /// What it did during `elapsed` of simulated time, since it was built or
    /// [`Device::restart_ledger`] was called, children included. Idle energy and lifetime follow from
    /// `elapsed`, which reaches to [`Device::busy_until`] at least where they are to be exact.
    fn report(&self, elapsed: Time) -> ComponentReport;

    /// Panics if the device's books do not balance. Called by tests, never on the hot path.
    fn check_invariants(&self);

    /// The power fails at `at`, which is not before any call so far: at any moment, also between a request and
    /// its completion, and during a recovery. What is under way is interrupted: of the bytes of each write that
    /// is not persistent yet the old ones are there, the new ones, or a mixture at [`Capabilities::atomic_unit`],
    /// as `chance` chooses where the model does not say. What is volatile is lost. No request is submitted
    /// before [`Device::recover`]. The time and energy of interrupted work stay in the books.
    fn power_fail(&mut self, at: Time, chance: &mut Random);

    /// The power is back at `at`: the device repairs what was interrupted, and says when it is ready. The power
    /// may fail again before that; then the next recovery begins anew. Requests that come earlier wait.
    fn recover(&mut self, at: Time) -> Recovery;

    /// Brings the device into the state that the writes among `requests` leave behind, before time begins:
    /// no time passes. What is counted meanwhile is forgotten with [`Device::restart_ledger`]. A device without
    /// such a state (see [`Capabilities::preconditions`]) stays as it is.
    fn precondition(&mut self, requests: &[Request]);

    /// Goes on with these writes, each as often as it says and one after the other, until the first block or row
    /// of the medium is programmed more often than it is made for: only wear and mapping change, no time passes.
    ///
    /// # Panics
    /// If the device cannot do so: see [`Capabilities::wears_out_ahead`].
    fn wear_out(&mut self, bursts: &[Burst]) -> Endured;

    /// Its transactions; `None` where it has none.
    fn transactions(&mut self) -> Option<&mut dyn Transactions>;

    /// These requests come next. Asks for the memory they will need, all at once, so that serving them finds
    /// it in the processor's caches. Changes no result.
    fn prefetch(&self, requests: &[Request]);
}

/// A write that is made again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// What is written.
    pub request: Request,
    /// How often.
    pub times: u64,
}

/// How far a medium took writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endured {
    /// It took them all.
    All,
    /// The first block or row wore out.
    WornOut {
        /// The writes up to and with the one that did it.
        writes: u64,
    },
}
