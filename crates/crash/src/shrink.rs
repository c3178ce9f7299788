//! Shortening of the steps that reproduce a violation.

use crate::auditor::Violation;
use crate::device_run::{DeviceRun, Stack};
use crate::fault::Fault;
use crate::media::Media;
use crate::sequence::{Action, PowerLoss, Sequence, Step};
use nacre_kernel::Time;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Default maximum number of replays to shorten a sequence.
pub(crate) const REPLAYS_MAX: u32 = 4_000;

/// Performs `sequence` on a new device. Returns an error if the device violates a guarantee.
pub fn replay(stack: &mut dyn Stack, sequence: &Sequence, fault: Fault, seed: u64) -> Result<(), Violation> {
    let work = AssertUnwindSafe(|| {
        let media = Media::new();
        let mut run = DeviceRun::new(stack, media.clone(), sequence);
        run.set_lying_flushes(fault);
        media.inject(fault.injected(seed));
        let result = follow(&mut run, sequence);
        // Corruption that was injected is not a violation.
        if result.is_err() && run.made().silent_bytes > 0 { Ok(()) } else { result }
    });
    catch_unwind(work).unwrap_or_else(|panic| Err(Violation(failure_of(&*panic))))
}

/// Performs all steps of `sequence`.
fn follow(run: &mut DeviceRun<'_>, sequence: &Sequence) -> Result<(), Violation> {
    let end = sequence.steps.len().saturating_sub(1);
    for (number, step) in sequence.steps.iter().enumerate() {
        match step.action {
            Action::PowerLoss(loss) if number == end => {
                run.run_to(run.now + step.pause)?;
                run.cut_power_and_check(&loss)?;
            }
            _ => {
                run.step(step)?;
            }
        }
    }
    run.wait_for_all()?;
    run.check_invariants();
    Ok(())
}

/// Message of a failed assertion.
pub(crate) fn failure_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("an assertion of the device failed: {}", text.unwrap_or("no message"))
}

/// Returns a shorter sequence with a violation, and the description of the violation; `None` if `sequence`
/// has no violation.
pub(crate) fn shrink(
    stack: &mut dyn Stack,
    sequence: Sequence,
    (fault, seed): (Fault, u64),
    replays: u32,
) -> (Sequence, Option<String>) {
    let Err(Violation(problem)) = replay(stack, &sequence, fault, seed) else { return (sequence, None) };
    let mut search = Search { stack, fault, seed, best: sequence, problem, replays };
    if search.best.preconditioned > 0 {
        let fresh = Sequence { preconditioned: 0, ..search.best.clone() };
        search.take(fresh);
    }
    loop {
        let before = search.best.clone();
        search.remove();
        search.simplify();
        if search.best == before || search.replays == 0 {
            return (search.best, Some(search.problem));
        }
    }
}

struct Search<'a> {
    stack: &'a mut dyn Stack,
    fault: Fault,
    seed: u64,
    best: Sequence,
    problem: String,
    /// Number of remaining replays.
    replays: u32,
}

impl Search<'_> {
    /// Replays `sequence`. If a guarantee is violated, `sequence` becomes the best sequence. Returns whether
    /// a guarantee is violated.
    fn take(&mut self, sequence: Sequence) -> bool {
        if self.replays == 0 {
            return false;
        }
        self.replays -= 1;
        let result = replay(self.stack, &sequence, self.fault, self.seed);
        let Err(Violation(problem)) = result else { return false };
        (self.best, self.problem) = (sequence, problem);
        true
    }

    /// Removes parts of the sequence that the violation does not need, starting with halves and ending with
    /// single steps.
    fn remove(&mut self) {
        let mut size = self.best.steps.len() / 2;
        while size > 0 {
            let mut start = 0;
            while start < self.best.steps.len() {
                let mut steps = self.best.steps.clone();
                steps.drain(start..steps.len().min(start + size));
                if !self.take(Sequence { steps, ..self.best }) {
                    start += size;
                }
            }
            size /= 2;
        }
    }

    /// Simplifies the remaining steps.
    fn simplify(&mut self) {
        for number in 0..self.best.steps.len() {
            for simpler in simpler(&self.best.steps[number]) {
                let mut steps = self.best.steps.clone();
                steps[number] = simpler;
                self.take(Sequence { steps, ..self.best });
            }
        }
    }
}

fn simpler(step: &Step) -> Vec<Step> {
    let mut found = Vec::new();
    if !step.pause.is_zero() {
        found.push(Step { pause: Time::ZERO, ..*step });
    }
    let mut action = |action| found.push(Step { action, ..*step });
    match step.action {
        Action::Write(first, count) if count > 1 => action(Action::Write(first, 1)),
        Action::Read(first, count) if count > 1 => action(Action::Read(first, 1)),
        Action::Trim(first, count) if count > 1 => action(Action::Trim(first, 1)),
        Action::Append(zone, count) if count > 1 => action(Action::Append(zone, 1)),
        Action::PowerLoss(loss) => {
            let plain = PowerLoss { again: None, is_early: false, off: Time::ZERO, ..loss };
            let simpler = [
                plain,
                PowerLoss { again: None, ..loss },
                PowerLoss { is_early: false, ..loss },
                PowerLoss { off: Time::ZERO, ..loss },
                PowerLoss { after: Time::ZERO, ..loss },
                PowerLoss { seed: 1, ..loss },
            ];
            simpler
                .into_iter()
                .filter(|simpler| *simpler != loss)
                .for_each(|loss| action(Action::PowerLoss(loss)));
        }
        _ => {}
    }
    found
}
