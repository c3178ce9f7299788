//! Counts of the accesses to each extent over the whole workload, determined before simulated time starts.

use crate::progress::{BATCH, Progress, Watch};
use nacre_config::{ErrorCode, Problem, Problems};
use nacre_device::{Accesses, SizedAccesses};
use nacre_kernel::{Bytes, Op, Ranges, Request, Time};
use nacre_workload::{Workload, WorkloadError};

/// Maximum number of address ranges in the footprint of a workload. They take a quarter of a GiB of memory.
const RANGES_MAX: usize = 1 << 22;

/// Returns the address ranges that `workload` reads and writes in up to `limit` requests. If `watch` stops
/// the search, returns the ranges of the requests read so far.
pub(crate) fn footprint(
    mut workload: Box<dyn Workload>,
    limit: Option<u64>,
    watch: &mut Watch<'_>,
) -> Result<Ranges, Problems> {
    let refused =
        |code, problem: &str, remedy: &str| Problem::new(code, "run.fill", None, problem).remedy(remedy);
    if workload.expected() == Some(u64::MAX) && limit.is_none() {
        let problem = "the workload never ends, so its footprint is unknown before the run";
        return Err(refused(ErrorCode::NeverEnds, problem, "set run.requests, or fill the capacity").into());
    }
    let expected = workload.expected().map(|count| count.min(limit.unwrap_or(u64::MAX))).or(limit);
    let mut bytes = Ranges::default();
    let (mut left, mut done) = (limit.unwrap_or(u64::MAX), 0);
    let mut batch = Vec::with_capacity(BATCH);
    while left > 0 {
        batch.clear();
        let want = usize::try_from(left).map_or(BATCH, |left| left.min(BATCH));
        workload.fill(&mut batch, want).map_err(|error| of_workload(&error))?;
        if batch.is_empty() {
            break;
        }
        for request in batch.iter().filter(|request| matches!(request.op, Op::Read | Op::Write)) {
            bytes.insert(request.address..request.address.saturating_add(u64::from(request.bytes)));
        }
        if bytes.len() > RANGES_MAX {
            let problem = format!("the workload touches more than {RANGES_MAX} separate ranges");
            return Err(refused(ErrorCode::OverLimit, &problem, "fill the capacity, or a share of it").into());
        }
        left -= batch.len() as u64;
        done += batch.len() as u64;
        if watch(Progress { preconditioning: true, done, expected, simulated: Time::ZERO }).is_break() {
            break;
        }
    }
    Ok(bytes)
}

fn of_workload(error: &WorkloadError) -> Problem {
    Problem::new(error.code(), "workload", None, error.problem())
        .all_data(error.data())
        .remedy(error.remedy())
}

/// Extents in which accesses are counted.
pub(crate) struct Space<'a> {
    /// Path of the setting that requires the counts.
    pub(crate) path: &'a str,
    /// Size of an extent.
    pub(crate) extent: Bytes,
    /// Number of extents.
    pub(crate) extents: u32,
}

/// Counts the reads and writes of `workload` by extent of `space` and request size, for up to `limit`
/// requests. If a request touches several extents, its part in each extent counts as one access. If `watch`
/// stops the count, the result covers only the requests that were read before.
pub(crate) fn count(
    workload: &mut dyn Workload,
    limit: Option<u64>,
    space: &Space<'_>,
    watch: &mut Watch<'_>,
) -> Result<Vec<Vec<SizedAccesses>>, Problems> {
    let expected = workload.expected().map(|count| count.min(limit.unwrap_or(u64::MAX))).or(limit);
    if workload.expected() == Some(u64::MAX) && limit.is_none() {
        let problem = "it depends on the whole workload, which never ends";
        return Err(Problem::new(ErrorCode::NeverEnds, space.path, None, problem)
            .remedy("give run.requests")
            .into());
    }
    let mut counts = vec![Vec::new(); space.extents as usize];
    let (mut left, mut done) = (limit.unwrap_or(u64::MAX), 0);
    let mut batch = Vec::with_capacity(BATCH);
    while left > 0 {
        batch.clear();
        let want = usize::try_from(left).map_or(BATCH, |left| left.min(BATCH));
        workload.fill(&mut batch, want).map_err(|error| of_workload(&error))?;
        if batch.is_empty() {
            break;
        }
        for (request, number) in batch.iter().zip(done + 1..) {
            space.count(request, &mut counts).map_err(|end| space.beyond(number, end))?;
        }
        left -= batch.len() as u64;
        done += batch.len() as u64;
        // The simulation has not started yet, so the progress is reported as preconditioning.
        if watch(Progress { preconditioning: true, done, expected, simulated: Time::ZERO }).is_break() {
            break;
        }
    }
    Ok(counts)
}

impl Space<'_> {
    fn bytes(&self) -> u64 {
        self.extent.0 * u64::from(self.extents)
    }

    /// Adds `request` to the counts of the extents that it touches. If the request ends past the last extent,
    /// returns the end of the request as the error.
    fn count(&self, request: &Request, counts: &mut [Vec<SizedAccesses>]) -> Result<(), u128> {
        let end = u128::from(request.address) + u128::from(request.bytes);
        if end > u128::from(self.bytes()) {
            return Err(end);
        }
        if !matches!(request.op, Op::Read | Op::Write) {
            return Ok(());
        }
        let (first, touched) = request.blocks(self.extent.0);
        let mut from = request.address;
        for extent in first..first + touched {
            let upto = (end as u64).min((extent + 1) * self.extent.0);
            let bytes = grade((upto - from) as u32);
            from = upto;
            let sizes = &mut counts[extent as usize];
            let place = sizes.partition_point(|size| size.bytes < bytes);
            if sizes.get(place).is_none_or(|size| size.bytes != bytes) {
                sizes.insert(place, SizedAccesses { bytes, of: Accesses::default() });
            }
            let of = &mut sizes[place].of;
            of.reads += u64::from(request.op == Op::Read);
            of.writes += u64::from(request.op == Op::Write);
        }
        Ok(())
    }

    fn beyond(&self, number: u64, end: u128) -> Problem {
        let ends = self.bytes();
        let problem = format!("request {number} reaches to byte {end}, but the stack ends at byte {ends}");
        Problem::new(ErrorCode::PastTheEnd, "workload", None, problem)
            .data("end", end)
            .data("capacity", ends)
            .remedy("use a larger device, or placement = \"compact\"")
    }
}

/// Rounds `bytes` up to a multiple of 1/16 of the largest power of two that is not greater than `bytes`. This
/// limits the number of distinct sizes. Multiples of 4 KiB up to 128 KiB do not change.
fn grade(bytes: u32) -> u32 {
    let step = 1 << (31 - bytes.max(512).leading_zeros()).saturating_sub(4);
    bytes.max(1).checked_next_multiple_of(step).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
