//! A workload that consists of a pattern, a number of requests, and an arrival process.

use super::Pattern;
use crate::arrival::{ARRIVALS, Arrival, ArrivalFamily, Pacing, RECORDED_TIMES};
use crate::error::WorkloadError;
use crate::{Notes, Workload, WorkloadBuilder, WorkloadFamily, keep_writes, single_writes};
use nacre_config::{Configuration, Problems, Reader, Slot, both, model_of};
use nacre_kernel::state::State;
use nacre_kernel::{Burst, Ranges, Request};

/// Settings of a workload with one pattern: the settings of the pattern, the number of requests, and the
/// arrival process.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Timed<C: Configuration> {
    /// Total number of requests.
    #[config(min = 1)]
    pub requests: u64,
    /// Settings of the pattern.
    #[config(flatten)]
    pub pattern: C,
    /// Arrival process: an open loop at a rate, or a closed loop with a queue depth.
    #[config(default = "closed", source = "assumed: one outstanding request, as in benchmarks")]
    pub arrival: Slot<ArrivalFamily>,
}

fn check<C: Configuration>(timed: &Timed<C>, reader: &mut Reader<'_>) {
    if model_of(ARRIVALS, &timed.arrival).descriptor.needs != RECORDED_TIMES {
        return;
    }
    let others = ARRIVALS.iter().filter(|model| model.descriptor.needs != RECORDED_TIMES);
    let others: Vec<&str> = others.map(|model| model.descriptor.kind).collect();
    reader.conflict(
        "arrival.kind",
        &format!("{:?}", timed.arrival.kind()),
        "a synthetic workload has no recorded times",
        &format!("use one of {}", others.join(", ")),
    );
}

/// Builds a pattern from its settings and its path.
pub(crate) type Make<C> = fn(&C, &str, &mut dyn WorkloadBuilder) -> Result<Box<dyn Pattern>, Problems>;

/// Builds the workload in `slot` with the pattern that `pattern` builds.
pub(crate) fn build<C: Configuration>(
    slot: &Slot<WorkloadFamily>,
    builder: &mut dyn WorkloadBuilder,
    pattern: Make<C>,
) -> Result<Box<dyn Workload>, Problems> {
    let config: Timed<C> = slot.config(builder.families());
    let pattern = pattern(&config.pattern, slot.path(), builder);
    let (pattern, arrival) = both(pattern, builder.arrival(&config.arrival))?;
    Ok(Box::new(Synthetic { kind: slot.kind(), requests: config.requests, given: 0, pattern, arrival }))
}

#[derive(State)]
struct Synthetic {
    #[state(skip = "from the configuration")]
    kind: &'static str,
    #[state(same)]
    requests: u64,
    given: u64,
    pattern: Box<dyn Pattern>,
    arrival: Box<dyn Arrival>,
}

impl Workload for Synthetic {
    fn fill(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        let left = self.requests - self.given;
        let count = usize::try_from(left).unwrap_or(limit).min(limit);
        let from = batch.len();
        self.pattern.fill(batch, count);
        assert_eq!(batch.len(), from + count, "a pattern has no end");
        self.given += count as u64;
        self.arrival.stamp(&mut batch[from..])
    }

    fn fill_writes(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        keep_writes(batch, limit, |batch| {
            self.pattern.fill(batch, limit);
            Ok(())
        })
    }

    fn fill_bursts(&mut self, bursts: &mut Vec<Burst>, limit: u64) -> Result<(), WorkloadError> {
        match self.pattern.fill_bursts(bursts, limit) {
            true => Ok(()),
            false => single_writes(bursts, limit, |batch, count| self.fill_writes(batch, count)),
        }
    }

    fn pacing(&self) -> Pacing {
        self.arrival.pacing()
    }

    fn expected(&self) -> Option<u64> {
        Some(self.requests)
    }

    fn reach(&self) -> Option<u64> {
        Some(self.pattern.reach())
    }

    fn footprint(&self) -> Option<Ranges> {
        let mut bytes = Ranges::default();
        self.pattern.footprint(&mut bytes);
        Some(bytes)
    }

    fn units_per_request(&self, unit: u64) -> Option<u64> {
        self.pattern.units_per_request(unit)
    }

    fn notes(&self) -> Notes {
        Notes { kind: self.kind, records: self.given, bad_records: 0, notes: Vec::new() }
    }
}
