//! Fills the stack once in address order.

use crate::drive::Driver;
use crate::progress::{BATCH, Progress};
use crate::scenario::{Fill, FillOf};
use nacre_config::Problems;
use nacre_kernel::{Bytes, Op, Ranges, Request, Time};
use std::ops::{ControlFlow, Range};

/// Size of the smallest sector, in bytes.
const SECTOR: u64 = 512;

impl Driver<'_> {
    /// Fills the stack as the settings `fill` specify. Returns `Break` if `watch` stops the fill.
    pub(super) fn fill_in_order(
        &mut self,
        fill: &Fill,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Problems> {
        let capacity =
            self.serving.device.capacity().filter(|_| self.serving.device.capabilities().preconditions);
        let Some(Bytes(capacity)) = capacity else { return Err(self.no_such_state("run.fill")) };
        let footprint = self.footprint.take();
        let all = match (fill.of, &footprint) {
            (FillOf::Footprint, Some(bytes)) => within(bytes, capacity),
            _ => std::iter::once(0..capacity).collect(),
        };
        let extents = shared(all, fill.share.0);
        let count = |extent: &Range<u64>| (extent.end - extent.start).div_ceil(fill.request.0);
        let expected = Some(extents.iter().map(count).sum());
        let mut batch = Vec::with_capacity(BATCH);
        let mut done = 0;
        let mut writes = extents.into_iter().flat_map(|extent| cut(extent, fill.request.0)).peekable();
        while writes.peek().is_some() {
            batch.clear();
            batch.extend(writes.by_ref().take(BATCH));
            let preconditioning = self.serving.device.preconditioning().expect("it was requested before");
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

/// Returns the sector ranges that contain `bytes`, up to `capacity`. The run itself reports workload
/// addresses beyond `capacity`.
fn within(bytes: &Ranges, capacity: u64) -> Vec<Range<u64>> {
    let mut sectors = Ranges::default();
    for range in bytes.iter() {
        let end = range.end.min(capacity).next_multiple_of(SECTOR).min(capacity);
        sectors.insert(range.start / SECTOR * SECTOR..end);
    }
    sectors.iter().filter(|range| range.start < range.end).collect()
}

/// Returns the first `share` of `extents`, in whole sectors, so that the last write is a valid host write.
fn shared(extents: Vec<Range<u64>>, share: f64) -> Vec<Range<u64>> {
    let all: u64 = extents.iter().map(|extent| extent.end - extent.start).sum();
    let mut left = (all as f64 * share) as u64 / SECTOR * SECTOR;
    let mut first = Vec::new();
    for Range { start, end } in extents {
        let bytes = left.min(end - start);
        if bytes > 0 {
            first.push(start..start + bytes);
        }
        left -= bytes;
    }
    first
}

/// Returns writes that cover `extent`. Each has `bytes` bytes, except possibly the last.
fn cut(extent: Range<u64>, bytes: u64) -> impl Iterator<Item = Request> {
    let mut address = extent.start;
    std::iter::from_fn(move || {
        let bytes = bytes.min(extent.end - address);
        let request = Request {
            arrival: Time::ZERO,
            op: Op::Write,
            volume: 0,
            address,
            bytes: u32::try_from(bytes).expect("a request has 1 GiB at most"),
        };
        address += bytes;
        (bytes > 0).then_some(request)
    })
}
