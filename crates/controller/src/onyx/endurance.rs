//! Wear without simulated time: the effect of many writes on rows and on the mapping.

use super::drive::Drive;
use nacre_kernel::event::{Endurance, Preconditioning};
use nacre_kernel::{Burst, Endured, Op, Request, Time};
use nacre_media::store::Store;

impl<S: Store> Drive<S> {
    /// Applies the wear of one write. Simulated time does not advance.
    fn wear_once(&mut self, request: &Request) {
        let (mut address, mut left) = (request.address, u64::from(request.bytes));
        while left > 0 {
            let part = self.row(address, left);
            let controller = &mut self.controllers[part.controller as usize];
            let physical = controller.leveller.physical(part.row);
            let moved = controller.wear(part.row, physical);
            if controller.rows.worn_out() > 0 && self.worn_out_at.is_none() {
                self.worn_out_at = Some(Time::ZERO);
            }
            if let Some(moved) = moved {
                self.copy_bytes(part.controller, moved);
            }
            (address, left) = (address + part.bytes, left - part.bytes);
        }
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

    /// Applies the writes of `burst`, up to and including the first write that wears out a row. Returns the
    /// number of applied writes, or `None` if no row wears out.
    fn endure_burst(&mut self, burst: &Burst) -> Option<u64> {
        let Burst { request, times } = burst;
        let part = self.row(request.address, u64::from(request.bytes));
        if part.bytes == u64::from(request.bytes) {
            return self.controllers[part.controller as usize].endure(part.row, *times);
        }
        (1..=*times).find(|_| {
            self.wear_once(request);
            self.worn_out_at.is_some()
        })
    }
}

impl<S: Store> Preconditioning for Drive<S> {
    fn precondition(&mut self, requests: &[Request]) {
        requests.iter().filter(|request| request.op == Op::Write).for_each(|write| self.wear_once(write));
    }
}

impl<S: Store> Endurance for Drive<S> {
    fn wear_out(&mut self, bursts: &[Burst]) -> Endured {
        let counts: Vec<_> = self.controllers.iter().map(|controller| controller.counts.clone()).collect();
        let endured = self.endure_all(bursts);
        // Wear tests do not change the counts since measurement started, which belong to the run.
        self.controllers.iter_mut().zip(counts).for_each(|(controller, counts)| controller.counts = counts);
        endured
    }
}
