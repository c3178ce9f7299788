//! What a whole workload asks of each extent, counted before time begins.

use crate::drive::{BATCH, Progress};
use crate::stack::Watch;
use nacre_config::{Problem, Problems};
use nacre_device::Accesses;
use nacre_kernel::{Bytes, Op, Time};
use nacre_workload::Workload;

/// Extents in which accesses are counted.
pub(crate) struct Space<'a> {
    /// The place that asks.
    pub(crate) path: &'a str,
    /// Size of an extent.
    pub(crate) extent: Bytes,
    /// How many there are.
    pub(crate) extents: u32,
}

/// Counts the reads and writes of `workload`, up to `limit` requests, in each extent of `space`. A request
/// that touches several counts in each. Where `watch` breaks, the counts are of what was read until then.
pub(crate) fn count(
    workload: &mut dyn Workload,
    limit: Option<u64>,
    space: &Space<'_>,
    watch: &mut Watch<'_>,
) -> Result<Vec<Accesses>, Problems> {
    let &Space { path, extent, extents } = space;
    let expected = workload.expected().map(|count| count.min(limit.unwrap_or(u64::MAX))).or(limit);
    if workload.expected() == Some(u64::MAX) && limit.is_none() {
        let problem = "it counts what the whole workload asks, and the workload never ends";
        return Err(Problem::new(path, None, problem).remedy("give run.requests").into());
    }
    let mut counts = vec![Accesses::default(); extents as usize];
    let (mut left, mut done) = (limit.unwrap_or(u64::MAX), 0);
    let mut batch = Vec::with_capacity(BATCH);
    while left > 0 {
        batch.clear();
        let want = usize::try_from(left).map_or(BATCH, |left| left.min(BATCH));
        let problem = |error: nacre_workload::WorkloadError| {
            Problem::new("workload", None, error.problem()).remedy(error.remedy())
        };
        workload.fill(&mut batch, want).map_err(problem)?;
        if batch.is_empty() {
            break;
        }
        left -= batch.len() as u64;
        done += batch.len() as u64;
        // Nothing is simulated yet: to who watches, this is preparation.
        if watch(Progress { preconditioning: true, done, expected, simulated: Time::ZERO }).is_break() {
            break;
        }
        for request in &batch {
            let (first, touched) = request.blocks(extent.0);
            // Requests beyond the stack are a mistake, of which the run itself tells.
            for extent in (first..first + touched).take_while(|&extent| extent < u64::from(extents)) {
                let of = &mut counts[extent as usize];
                of.reads += u64::from(request.op == Op::Read);
                of.writes += u64::from(request.op == Op::Write);
            }
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests;
