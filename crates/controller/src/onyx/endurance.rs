//! Wear without time: what many writes do to rows and to the mapping.

use super::model::Onyx;
use nacre_kernel::{Burst, Endured, Request, Time};
use nacre_media::store::Store;

impl<S: Store> Onyx<S> {
    /// One write.
    pub(super) fn wear_once(&mut self, request: &Request) {
        let (mut address, mut left) = (request.address, u64::from(request.bytes));
        while left > 0 {
            let (number, part) = self.part(address, left);
            let controller = &mut self.controllers[number];
            let physical = controller.leveller.physical(part.row);
            let moved = controller.wear(part.row, physical);
            if controller.rows.worn_out() > 0 && self.worn_out_at.is_none() {
                self.worn_out_at = Some(Time::ZERO);
            }
            if S::CARRIES_BYTES
                && let Some(moved) = moved
            {
                self.carry_moved(number, moved, Time::ZERO);
            }
            (address, left) = (address + part.bytes, left - part.bytes);
        }
    }

    /// Bursts one after the other until a row is worn out. There are no bytes, which would have to move too.
    pub(super) fn endure(&mut self, bursts: &[Burst]) -> Endured {
        assert!(!S::CARRIES_BYTES, "a drive with bytes is not worn out in no time, and says so");
        let books: Vec<_> = self.controllers.iter().map(|controller| controller.book.clone()).collect();
        let endured = self.endure_all(bursts);
        // What was counted since measuring began is of the run.
        self.controllers.iter_mut().zip(books).for_each(|(controller, book)| controller.book = book);
        endured
    }

    fn endure_all(&mut self, bursts: &[Burst]) -> Endured {
        let mut before = 0;
        for burst in bursts {
            if self.worn_out_at.is_some() {
                return Endured::WornOut { writes: before };
            }
            if let Some(writes) = self.endure_burst(burst) {
                self.worn_out_at = Some(Time::ZERO);
                return Endured::WornOut { writes: before + writes };
            }
            before += burst.times;
        }
        Endured::All
    }

    /// The writes of `burst` up to and with the first that wears a row out.
    fn endure_burst(&mut self, burst: &Burst) -> Option<u64> {
        let Burst { request, times } = burst;
        let (number, part) = self.part(request.address, u64::from(request.bytes));
        if part.bytes == u64::from(request.bytes) {
            return self.controllers[number].endure(part.row, *times);
        }
        (1..=*times).find(|_| {
            self.wear_once(request);
            self.worn_out_at.is_some()
        })
    }
}
