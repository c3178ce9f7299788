//! Size of each part of a trace. Nacre determines the sizes before it runs any part.

use super::part::{By, Part};
use super::trace::Config;
use crate::{WorkloadBuilder, WorkloadError, WorkloadFamily};
use nacre_config::{ErrorCode, Problem, Problems, Slot};
use nacre_kernel::{Bytes, Op, Request};
use std::ops::ControlFlow;

/// Number of records read at a time.
const BATCH: usize = 4096;

/// Size of a part of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Number of requests or request fragments.
    pub requests: u64,
    /// Number of requests of the part among the first [`First::requests`] requests of the whole trace.
    pub first: u64,
    /// Number of writes of the part among the first [`First::writes`] writes of the whole trace.
    pub first_writes: u64,
}

/// Sizes of all parts of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Number of volumes that have requests.
    pub volumes: u32,
    /// Size of each part.
    pub parts: Vec<Share>,
}

/// Numbers of requests and writes at the start of the whole trace. [`Share::first`] and
/// [`Share::first_writes`] are the numbers of these requests and writes that are in one part.
#[derive(Clone, Copy, Debug, Default)]
pub struct First {
    /// Number of requests.
    pub requests: u64,
    /// Number of writes.
    pub writes: u64,
}

/// Reads the trace in `slot` once and counts the requests of each part. There are `parts` parts. If `parts`
/// is absent, a split by volume has one part per volume. `watch` is called with the number of records read,
/// and may cancel the count. The result is then `None`.
///
/// All errors are user errors: the slot does not contain a trace, or the trace is unreadable.
pub fn shares(
    slot: &Slot<WorkloadFamily>,
    builder: &mut dyn WorkloadBuilder,
    by: By,
    parts: Option<u32>,
    first: First,
    watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Option<Shares>, Problems> {
    if slot.kind() != super::TRACE.descriptor.kind {
        let problem = Problem::new(ErrorCode::NotSupported, slot.path(), None, "only a trace can be split");
        return Err(problem.given(slot.kind()).remedy("use a workload of kind \"trace\"").into());
    }
    let config: Config = slot.config(builder.families());
    let (path, mut reader) = config.open(slot.path(), builder)?;
    // Volumes are counted separately and combined when all volumes are known.
    let dealt = if by == By::Volume { u32::MAX } else { parts.unwrap_or(1) };
    let extent = config.part.as_ref().map_or(Bytes(1 << 20), |part| part.extent);
    let mut counting = Counting {
        part: Part { by, parts: dealt, number: 0, extent },
        first,
        shares: vec![Share::default(); if by == By::Hash { dealt as usize } else { 0 }],
        records: 0,
        writes: 0,
    };
    let mut left = config.limit.unwrap_or(u64::MAX);
    let mut batch = Vec::with_capacity(BATCH);
    while left > 0 {
        batch.clear();
        let want = usize::try_from(left).map_or(BATCH, |left| left.min(BATCH));
        let problem = |error| {
            let error = WorkloadError::Trace { path: path.clone(), error };
            Problem::new(error.code(), error.path(), None, error.problem())
                .all_data(error.data())
                .remedy(error.remedy())
        };
        let count = reader.read(&mut batch, want).map_err(problem)? as u64;
        if count == 0 {
            break;
        }
        left -= count;
        batch.iter().for_each(|record| counting.count(record));
        if watch(counting.records).is_break() {
            return Ok(None);
        }
    }
    let volumes = reader.tally().volumes.len() as u32;
    let shares = match (by, parts) {
        (By::Volume, Some(parts)) => folded(&counting.shares, parts),
        _ => counting.shares,
    };
    Ok(Some(Shares { volumes, parts: shares }))
}

struct Counting {
    part: Part,
    first: First,
    shares: Vec<Share>,
    records: u64,
    writes: u64,
}

impl Counting {
    fn count(&mut self, record: &Request) {
        self.records += 1;
        self.writes += u64::from(record.op == Op::Write);
        let is_first = self.records <= self.first.requests;
        let is_first_write = self.writes <= self.first.writes;
        let shares = &mut self.shares;
        self.part.deal(record, |part, op| {
            if shares.len() <= part as usize {
                shares.resize(part as usize + 1, Share::default());
            }
            let share = &mut shares[part as usize];
            share.requests += 1;
            share.first += u64::from(is_first);
            share.first_writes += u64::from(is_first_write && op == Op::Write);
        });
    }
}

/// Combines the sizes of `volumes` into the sizes of `parts` parts. Volume k belongs to part k modulo
/// `parts`.
fn folded(volumes: &[Share], parts: u32) -> Vec<Share> {
    let mut folded = vec![Share::default(); parts as usize];
    for (volume, share) in volumes.iter().enumerate() {
        let into = &mut folded[volume % parts as usize];
        into.requests += share.requests;
        into.first += share.first;
        into.first_writes += share.first_writes;
    }
    folded
}
