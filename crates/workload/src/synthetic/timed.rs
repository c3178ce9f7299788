//! A pattern with a number of requests and an arrival process: a workload.

use super::Pattern;
use crate::arrival::{Arrival, ArrivalFamily, Pacing};
use crate::error::WorkloadError;
use crate::{Notes, Workload, WorkloadBuilder, WorkloadFamily};
use nacre_config::{Configuration, Field, Node, Problems, Reader, Slot, Value};
use nacre_kernel::Request;

/// The settings of a workload made of one pattern: those of the pattern `C`, and these two around them.
///
/// In a document they all stand in one table.
#[derive(Clone, Debug)]
pub struct Timed<C> {
    /// How many requests, and when.
    pub timing: Timing,
    /// The settings of the pattern.
    pub pattern: C,
}

/// How many requests there are and when they arrive.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Timing {
    /// How many requests there are in all.
    #[config(min = 1)]
    pub requests: u64,
    /// When they arrive: an open loop at a rate, or a closed loop with a queue depth.
    #[config(default = "closed", source = "assumed: as benchmarks do, one request after another")]
    pub arrival: Slot<ArrivalFamily>,
}

fn check(timing: &Timing, reader: &mut Reader<'_>) {
    if timing.arrival.kind() == "recorded" {
        reader.conflict(
            "arrival.kind",
            "\"recorded\"",
            "a synthetic workload has no recorded times",
            "use closed, poisson, periodic or bursts",
        );
    }
}

impl<C: Configuration> Configuration for Timed<C> {
    const DOC: &'static str = C::DOC;

    fn fields() -> Vec<Field> {
        let mut fields = Timing::fields();
        fields.splice(1..1, C::fields());
        fields
    }

    fn read(table: &Node, reader: &mut Reader<'_>) -> Option<Timed<C>> {
        reader.only_known(table, &Timed::<C>::fields())?;
        let pattern = C::read(&only(table, &C::fields()), reader);
        let timing = Timing::read(&only(table, &Timing::fields()), reader);
        Some(Timed { timing: timing?, pattern: pattern? })
    }
}

/// `table` with the entries of `fields` only.
fn only(table: &Node, fields: &[Field]) -> Node {
    let Value::Table(entries) = &table.value else { return table.clone() };
    let wanted = |key: &str| fields.iter().any(|field| field.name == key);
    let entries = entries.iter().filter(|(key, _)| wanted(key)).cloned().collect();
    Node { value: Value::Table(entries), origin: table.origin.clone() }
}

/// Builds a pattern from its settings and its path.
pub(crate) type Make<C> = fn(&C, &str, &mut dyn WorkloadBuilder) -> Result<Box<dyn Pattern>, Problems>;

/// Builds the workload in `slot` around the pattern that `pattern` builds.
pub(crate) fn build<C: Configuration>(
    slot: &Slot<WorkloadFamily>,
    builder: &mut dyn WorkloadBuilder,
    pattern: Make<C>,
) -> Result<Box<dyn Workload>, Problems> {
    let Timed { timing, pattern: settings } = slot.config::<Timed<C>>(builder.families());
    let pattern = pattern(&settings, slot.path(), builder)?;
    let arrival = builder.arrival(&timing.arrival)?;
    Ok(Box::new(Synthetic { kind: slot.kind(), requests: timing.requests, given: 0, pattern, arrival }))
}

struct Synthetic {
    kind: &'static str,
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

    fn pacing(&self) -> Pacing {
        self.arrival.pacing()
    }

    fn expected(&self) -> Option<u64> {
        Some(self.requests)
    }

    fn notes(&self) -> Notes {
        Notes { kind: self.kind, records: self.given, bad_records: 0, notes: Vec::new() }
    }
}
