//! Exhaustive test of all sequences of a few actions up to a maximum length, with power losses after every
//! step.

use crate::auditor::Violation;
use crate::device_run::{DeviceRun, Stack};
use crate::fault::Fault;
use crate::media::Media;
use crate::report::{Finding, Report};
use crate::sequence::{Action, PowerLoss, Sequence, Step};
use crate::shrink::{REPLAYS_MAX, failure_of, shrink};
use nacre_kernel::Time;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Totals of an exhaustive test.
#[derive(Clone, Debug)]
pub struct Exhausted {
    /// Number of sequences.
    pub sequences: u64,
    /// Report of all power losses.
    pub report: Report,
}

/// Runs every sequence of `actions` with up to `length` steps, and cuts power after every step. The power
/// losses are at each start or end of an operation, 1 ps before it, and half-way to the next start or end.
/// Each power loss is also repeated with a second power loss in the middle of the recovery.
pub fn exhaust(stack: &mut dyn Stack, block_bytes: usize, actions: &[Action], length: usize) -> Exhausted {
    let report = Report::new(&*stack.build(&Media::new()));
    let mut exhausted = Exhausted { sequences: 0, report };
    let (mut digits, mut fresh) = (vec![0; length], 0);
    loop {
        exhausted.sequences += 1;
        let chosen: Vec<Action> = digits.iter().map(|&digit| actions[digit]).collect();
        if let Some(finding) = try_all(stack, block_bytes, &chosen, fresh, &mut exhausted.report) {
            exhausted.report.finding = Some(finding);
            return exhausted;
        }
        // Earlier sequences with this prefix were already tested.
        let Some(position) = digits.iter().rposition(|&digit| digit + 1 < actions.len()) else {
            return exhausted;
        };
        digits[position] += 1;
        digits[position + 1..].fill(0);
        fresh = position;
    }
}

/// Cuts power after each step of `actions`, starting with the step at index `fresh`. The caller has already
/// tested the earlier steps. Returns the first violation, if any.
fn try_all(
    stack: &mut dyn Stack,
    block_bytes: usize,
    actions: &[Action],
    fresh: usize,
    report: &mut Report,
) -> Option<Finding> {
    let mut trail = Sequence { block_bytes, ..Sequence::default() };
    report.device_runs += 1;
    let work = AssertUnwindSafe(|| {
        let mut run = DeviceRun::new(stack, Media::new(), &trail);
        for (number, &action) in actions.iter().enumerate() {
            let before = run.now;
            run.wait_for_all()?;
            // Completions at a time follow requests at that time.
            let behind = Time::from_ps(u64::from(number > 0));
            trail.steps.push(Step { pause: run.now - before + behind, action });
            run.step(&Step { pause: behind, action })?;
            if number >= fresh {
                run.check_invariants();
                cut_power_everywhere(&mut run, &mut trail, report)?;
            }
        }
        report.requests += run.requests;
        Ok(())
    });
    let result = catch_unwind(work).unwrap_or_else(|panic| Err(Violation(failure_of(&*panic))));
    let Err(Violation(problem)) = result else { return None };
    let steps_generated = trail.steps.len();
    let (sequence, shorter) = shrink(stack, trail, (Fault::PowerLoss, 0), REPLAYS_MAX);
    let (is_reproducible, problem) = (shorter.is_some(), shorter.unwrap_or(problem));
    Some(Finding { problem, fault: Fault::PowerLoss, sequence, steps_generated, is_reproducible })
}

fn cut_power_everywhere(
    run: &mut DeviceRun<'_>,
    trail: &mut Sequence,
    report: &mut Report,
) -> Result<(), Violation> {
    let now = run.now;
    run.mark()?;
    run.look_ahead()?;
    let mut times: Vec<Time> = run.event_times.iter().copied().chain([now]).collect();
    times.sort_unstable();
    times.dedup();
    let between: Vec<Time> =
        times.windows(2).map(|pair| Time::from_ps(u64::midpoint(pair[0].as_ps(), pair[1].as_ps()))).collect();
    let before = times.iter().map(|time| Time::from_ps(time.as_ps().saturating_sub(1).max(now.as_ps())));
    let mut times: Vec<Time> = before.chain(between).chain(times.iter().copied()).collect();
    times.sort_unstable();
    times.dedup();
    for (number, time) in times.into_iter().enumerate() {
        for again in [None, Some((1 << 15, Time::ZERO))] {
            // Torn data is random, so it differs between power losses at different times.
            let seed = 8 * number as u64 + u64::from(again.is_some());
            let loss = PowerLoss { after: time - now, seed, off: Time::ZERO, again, is_early: false };
            trail.steps.push(Step { pause: Time::ZERO, action: Action::PowerLoss(loss) });
            let survived = run.branch(&loss)?;
            trail.steps.pop();
            report.survived(Fault::PowerLoss, &survived, false);
        }
    }
    run.forget_mark();
    Ok(())
}
