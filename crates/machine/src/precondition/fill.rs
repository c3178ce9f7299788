//! A drive filled from its first byte on, once.

use crate::drive::Driver;
use crate::progress::{BATCH, Progress};
use crate::scenario::Fill;
use nacre_config::Problems;
use nacre_kernel::{Bytes, Op, Request, Time};
use std::ops::ControlFlow;

impl Driver<'_> {
    /// Writes as much of the stack as `fill` says. Breaks when `watch` does.
    pub(super) fn fill_in_order(
        &mut self,
        fill: &Fill,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Problems> {
        let capacity =
            self.serving.device.capacity().filter(|_| self.serving.device.capabilities().preconditions);
        let Some(Bytes(capacity)) = capacity else { return Err(self.no_such_state("run.fill")) };
        // A whole number of sectors, so that the last write is one that a host could make.
        let end = (capacity as f64 * fill.share.0) as u64 / SECTOR * SECTOR;
        let expected = Some(end.div_ceil(fill.request.0));
        let mut batch = Vec::with_capacity(BATCH);
        let (mut address, mut done) = (0, 0);
        while address < end {
            batch.clear();
            while address < end && batch.len() < BATCH {
                let bytes = fill.request.0.min(end - address);
                let bytes = u32::try_from(bytes).expect("a request has 1 GiB at most");
                batch.push(Request { arrival: Time::ZERO, op: Op::Write, volume: 0, address, bytes });
                address += u64::from(bytes);
            }
            let preconditioning = self.serving.device.preconditioning().expect("it was asked for before");
            preconditioning.precondition(&batch);
            done += batch.len() as u64;
            let progress = Progress { preconditioning: true, done, expected, simulated: Time::ZERO };
            if watch(progress).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Bytes of the smallest sector.
const SECTOR: u64 = 512;
