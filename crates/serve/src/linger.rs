//! Polls briefly for a client's next request before sleeping.
//!
//! Waking a sleeping thread takes longer than most requests. A client that waits for each reply sends its
//! next request at once. If its last requests came soon, the server therefore polls for the next one before
//! it sleeps, for at most [`LONGEST`]. The number of polling connections leaves one processor to the clients.
//! Between two polls the thread yields: on a busy machine the client may need this processor.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Maximum polling time before sleeping.
const LONGEST: Duration = Duration::from_micros(50);
/// Maximum credit of a client for requests that arrive soon.
const TRUST_MAX: u32 = 16;

/// Slots for polling connections.
pub(crate) struct PollingSlots(AtomicUsize);

impl PollingSlots {
    /// One slot less than there are processors.
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

/// Polling state of one client.
pub(crate) struct Linger<'a> {
    places: &'a PollingSlots,
    trust: u32,
    asleep_since: Option<Instant>,
}

impl<'a> Linger<'a> {
    pub(crate) fn new(places: &'a PollingSlots) -> Linger<'a> {
        Linger { places, trust: 0, asleep_since: None }
    }

    /// Calls `look` until it finds something, or polling is not worthwhile: then returns `None`, and the
    /// caller sleeps.
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

    /// Notes that the sleep has ended with a request.
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
