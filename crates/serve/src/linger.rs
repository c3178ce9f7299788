//! Polling for the next request of a client before the client's thread sleeps.
//!
//! Waking a sleeping thread takes longer than most requests. A client that waits for each reply sends its
//! next request immediately. If the last requests of a client arrived soon after the replies, the server
//! therefore polls for the next request before it sleeps, for at most [`LONGEST`]. The number of polling
//! connections is limited so that one processor is left for the clients. Between two polls, the thread
//! yields, because the client may need this processor on a busy machine.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Maximum time for which a thread polls before it sleeps.
const LONGEST: Duration = Duration::from_micros(50);
/// Maximum value of `trust`, which increases when polling finds a request and decreases otherwise. A thread
/// polls only if the value is not zero.
const TRUST_MAX: u32 = 16;

/// Limits the number of connections that poll at the same time.
pub(crate) struct PollingSlots(AtomicUsize);

impl PollingSlots {
    /// Creates one slot for each processor except one.
    pub(crate) fn new() -> PollingSlots {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        PollingSlots(AtomicUsize::new(processors - 1))
    }

    fn take(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| free.checked_sub(1)).is_ok()
    }

    fn give_back(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Polling state of a client.
pub(crate) struct Linger<'a> {
    places: &'a PollingSlots,
    trust: u32,
    asleep_since: Option<Instant>,
}

impl<'a> Linger<'a> {
    pub(crate) fn new(places: &'a PollingSlots) -> Linger<'a> {
        Linger { places, trust: 0, asleep_since: None }
    }

    /// Polls for a request by calling `look` until it returns a value. Returns `None` if no request arrived
    /// in time or if polling is not worthwhile. The caller then sleeps.
    pub(crate) fn look<T, E>(
        &mut self,
        mut look: impl FnMut() -> Result<Option<T>, E>,
    ) -> Result<Option<T>, E> {
        let began = now();
        if self.trust > 0 && self.places.take() {
            let found = loop {
                match look() {
                    Ok(None) if now() - began < LONGEST => std::thread::yield_now(),
                    found => break found,
                }
            };
            self.places.give_back();
            if !matches!(found, Ok(None)) {
                self.trust = TRUST_MAX.min(self.trust + 1);
                return found;
            }
            self.trust /= 2;
        }
        self.asleep_since = Some(now());
        Ok(None)
    }

    /// Records that the thread has woken up because a request arrived.
    pub(crate) fn woken(&mut self) {
        if self.asleep_since.take().is_some_and(|since| now() - since < 2 * LONGEST) {
            self.trust = TRUST_MAX.min(self.trust + 1);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "how long a client is waited for is wall time")]
fn now() -> Instant {
    Instant::now()
}
