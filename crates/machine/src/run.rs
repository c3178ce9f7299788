//! Runs a checked scenario, from a new stack or a saved state.

use crate::drive::{Driver, Parallel};
use crate::progress::Progress;
use crate::record::{Ending, Findings, Outcome, outcome};
use crate::saved::{self, Preparations, SavedRun};
use crate::scenario::Checked;
use crate::stack::{Files, build_watched};
use nacre_config::Problems;
use std::ops::ControlFlow;

/// Runs `checked` and returns its record and columns.
///
/// `watch` is called every few dozen requests. If it returns `Break`, the run stops and the record is
/// marked as incomplete. Returns an error if the scenario or its input is invalid.
pub fn run(
    checked: &Checked,
    files: &dyn Files,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, Problems> {
    Ok(run_span(checked, files, &Span::default(), watch)?.outcome)
}

/// Options of a run: its initial state, whether its final state is saved, and optional resources.
#[derive(Clone, Copy, Default)]
pub struct Span<'a> {
    /// The state from which the run continues, or `None` for a new stack.
    pub from: Option<&'a SavedRun<'a>>,
    /// Whether to save the state after the last request.
    pub saves: bool,
    /// Cache of preconditioned states.
    pub preparations: Option<&'a dyn Preparations>,
    /// Executor for a second thread that generates requests and sums results, if another processor may be
    /// used. The results of a completed run do not depend on it.
    pub second_thread: Option<&'a dyn Parallel>,
}

/// Result of a run.
#[derive(Debug)]
pub struct RunOutput {
    /// Record and columns.
    pub outcome: Outcome,
    /// Content of the state file after the last request. `None` if saving was not requested or the run did
    /// not complete.
    pub state: Option<Vec<u8>>,
}

/// Like [`run`], with an optional initial state and an optional saved final state. Returns an error if
/// [`run`] would, if the initial state belongs to another stack, or if the final state cannot be saved.
pub fn run_span(
    checked: &Checked,
    files: &dyn Files,
    span: &Span<'_>,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<RunOutput, Problems> {
    let (findings, state) = findings(checked, files, span, watch)?;
    Ok(RunOutput { outcome: outcome(checked, &findings), state })
}

/// Like [`run_span`], but returns the results without assembling a record.
pub(crate) fn findings(
    checked: &Checked,
    files: &dyn Files,
    span: &Span<'_>,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(Findings, Option<Vec<u8>>), Problems> {
    let mut built = build_watched(checked, files, span.from.is_none(), watch)?;
    let preconditioning = built.preconditioning.take();
    let mut driver = Driver::new(checked, built);
    driver.check_end()?;
    if span.saves {
        // If the stack cannot be saved, the error is reported before the run.
        saved::save(&driver)?;
    }
    let prepared = match span.from {
        Some(from) => from.restore(&mut driver).map(ControlFlow::Continue)?,
        None => driver.prepare(preconditioning, span.preparations, watch)?,
    };
    let mut ending =
        if prepared.is_break() { Ending::Stopped } else { driver.drive(span.second_thread, watch)? };
    driver.serving.check_invariants();
    let state = (span.saves && ending == Ending::Complete).then(|| saved::save(&driver)).transpose()?;
    driver.drain()?;
    driver.serving.check_invariants();
    driver.meter.finish(&mut driver.serving.noted);
    if checked.run.wear_out && ending == Ending::Complete {
        ending = driver.wear_out(watch)?;
    }
    Ok((driver.findings(ending), state))
}
