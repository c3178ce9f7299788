//! Writes whose data is not in the buffer yet: a loss of power takes them, and the write pointer goes back.

use super::table::Entry;
use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};

/// A write.
#[derive(Clone, Copy, Debug, Value)]
struct Write {
    zone: u32,
    /// Where the write pointer was before it.
    from: u32,
    /// When its data is in the buffer.
    taken: Time,
}

/// Writes that may not be in the buffer, in the order of their submission.
#[derive(Debug, Default, State)]
pub(super) struct Incoming {
    #[state(varies)]
    writes: Vec<Write>,
}

impl Incoming {
    /// One more write of `zone`, whose write pointer was at `from`, is in the buffer at `taken`.
    pub(super) fn add(&mut self, zone: u32, from: u32, taken: Time) {
        self.writes.push(Write { zone, from, taken });
    }

    /// `zone` was reset or finished.
    pub(super) fn forget(&mut self, zone: u32) {
        self.writes.retain(|write| write.zone != zone);
    }

    /// No loss of power comes before `to`.
    pub(super) fn settle(&mut self, to: Time) {
        self.writes.retain(|write| write.taken > to);
    }

    /// The power fails at `at`: zones whose write pointers go back, and to where.
    pub(super) fn fail(&mut self, at: Time) -> Vec<(u32, u32)> {
        let mut back: Vec<(u32, u32)> = Vec::new();
        for Write { zone, from, .. } in self.writes.drain(..).filter(|write| write.taken > at) {
            // The writes of a zone are taken in one after the other: the first that is lost takes those behind it.
            if back.iter().all(|&(other, _)| other != zone) {
                back.push((zone, from));
            }
        }
        back
    }

    /// Errors: they are not of these zones.
    pub(super) fn check(&self, zones: &[Entry]) -> Result<(), String> {
        let is_wrong =
            |write: &&Write| zones.get(write.zone as usize).is_none_or(|zone| write.from > zone.written);
        match self.writes.iter().find(is_wrong) {
            None => Ok(()),
            Some(write) => Err(format!("{write:?} of a zone that does not hold it")),
        }
    }
}
