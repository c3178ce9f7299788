//! Conversion of the times of a format, which may be relative to 1601 or 1970, to arrivals near zero.

use super::error::Fault;
use nacre_kernel::Time;

/// Maximum time by which a record may precede the first record of its source, in picoseconds: one day.
pub const LOOK_BACK: u64 = 86_400 * 1_000_000_000_000;

/// Maximum time between the first record and another record, in picoseconds: 120 days, four times the longest
/// published block trace. The limit ensures that arrivals stay below [`Time::MAX`] when the start time of
/// another input and service times are added.
pub const LONGEST: u64 = 120 * 86_400 * 1_000_000_000_000;

/// Converts absolute timestamps to a timeline that starts up to [`LOOK_BACK`] before the first timestamp.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    origin: Option<u128>,
    /// Latest accepted provisional arrival.
    limit: u64,
}

impl Clock {
    /// Provisional arrival of a record with a time of `ps` picoseconds since the epoch of the format.
    #[inline]
    pub fn place(&mut self, ps: u128) -> Result<Time, Fault> {
        let origin = match self.origin {
            Some(origin) => origin,
            None => self.begin(ps),
        };
        let since = ps.saturating_sub(origin);
        if since > u128::from(self.limit) {
            return Err(Fault::TOO_LATE);
        }
        Ok(Time::from_ps(since as u64))
    }

    #[cold]
    fn begin(&mut self, ps: u128) -> u128 {
        let look_back = ps.min(u128::from(LOOK_BACK));
        self.limit = LONGEST + look_back as u64;
        *self.origin.insert(ps - look_back)
    }

    /// Time of provisional arrival zero, in picoseconds since the epoch of the format.
    pub fn origin(&self) -> u128 {
        self.origin.unwrap_or(0)
    }
}
