//! Runs: from a checked scenario to what was measured, and from one state to another.

use crate::drive::{Beside, Driver};
use crate::progress::Progress;
use crate::record::{Ending, Findings, Outcome, outcome};
use crate::saved::{self, Preparations, SavedRun};
use crate::scenario::Checked;
use crate::stack::{Files, build_watched};
use nacre_config::Problems;
use std::ops::ControlFlow;

/// Runs `checked` and returns its record and columns.
///
/// `watch` is called every few dozen requests; when it breaks, the run stops and the record says
/// that it is not complete. Errors are the user's: the scenario or its input is wrong.
pub fn run(
    checked: &Checked,
    files: &dyn Files,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, Problems> {
    Ok(run_span(checked, files, &Span::default(), watch)?.outcome)
}

/// Where a run begins, and what is kept of it.
#[derive(Clone, Copy, Default)]
pub struct Span<'a> {
    /// The state it continues from, where it does not begin with a new stack.
    pub from: Option<&'a SavedRun<'a>>,
    /// Whether the state is wanted in which the last request leaves everything.
    pub saves: bool,
    /// Who keeps the states that preconditioning leads to.
    pub preparations: Option<&'a dyn Preparations>,
    /// Who draws requests and sums up next to the simulation, where that may use a processor more. It changes no result of a
    /// run that comes to its end.
    pub beside: Option<&'a dyn Beside>,
}

/// What came of a run.
#[derive(Debug)]
pub struct Ran {
    /// What it measured.
    pub outcome: Outcome,
    /// The state behind its last request, where it was wanted and the run came to its end: a file.
    pub state: Option<Vec<u8>>,
}

/// Like [`run`], from one state to another. Errors: those of `run`; a state is of another stack, or cannot be
/// saved.
pub fn run_span(
    checked: &Checked,
    files: &dyn Files,
    span: &Span<'_>,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Ran, Problems> {
    let (findings, state) = findings(checked, files, span, watch)?;
    Ok(Ran { outcome: outcome(checked, &findings), state })
}

/// As [`run_span`], up to what the record is made of.
pub(crate) fn findings(
    checked: &Checked,
    files: &dyn Files,
    span: &Span<'_>,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(Findings, Option<Vec<u8>>), Problems> {
    let mut built = build_watched(checked, files, watch)?;
    let preconditioning = built.preconditioning.take();
    let mut driver = Driver::new(checked, built);
    driver.check_end()?;
    if span.saves {
        // Who cannot be saved is to say so before the run and not behind it.
        saved::save(&driver)?;
    }
    let prepared = match span.from {
        Some(from) => from.restore(&mut driver).map(ControlFlow::Continue)?,
        None => driver.prepare(preconditioning, span.preparations, watch)?,
    };
    let mut ending = if prepared.is_break() { Ending::Stopped } else { driver.drive(span.beside, watch)? };
    driver.serving.check_invariants();
    let state = (span.saves && ending == Ending::Complete).then(|| saved::save(&driver)).transpose()?;
    driver.drain()?;
    driver.serving.check_invariants();
    driver.meter.finish(&mut driver.serving.noted);
    if checked.run.wear_out && ending == Ending::Complete {
        ending = driver.wear_out(watch)?;
    }
    Ok((driver.found(ending), state))
}
