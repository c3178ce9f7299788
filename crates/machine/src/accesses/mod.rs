//! What a whole workload asks of each extent, counted before time begins.

use crate::drive::BATCH;
use nacre_config::{Problem, Problems};
use nacre_controller::Accesses;
use nacre_kernel::{Bytes, Op};
use nacre_workload::Workload;

/// Counts the reads and writes of `workload`, up to `limit` requests, in each of the first `extents` extents.
/// A request that touches several counts in each. `path` is the place that asks.
pub(crate) fn count(
    workload: &mut dyn Workload,
    limit: Option<u64>,
    path: &str,
    extent: Bytes,
    extents: u32,
) -> Result<Vec<Accesses>, Problems> {
    if workload.expected() == Some(u64::MAX) && limit.is_none() {
        let problem = "it counts what the whole workload asks, and the workload never ends";
        return Err(Problem::new(path, None, problem).remedy("give run.requests").into());
    }
    let mut counts = vec![Accesses::default(); extents as usize];
    let mut left = limit.unwrap_or(u64::MAX);
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
