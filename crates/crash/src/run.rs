//! Random runs and their power losses.

use crate::auditor::Violation;
use crate::device_run::{CHECKED_ONE_IN, DeviceRun, Stack};
use crate::fault::{Fault, Guarantee};
use crate::generator::{Generator, block_bytes};
use crate::media::Media;
use crate::report::{Finding, Report};
use crate::sequence::{Action, PowerLoss, Sequence, Step};
use crate::shrink::{REPLAYS_MAX, failure_of, shrink};
use nacre_kernel::{FaultCounts, Streams};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Options of a power-loss test.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of power losses.
    pub points: u64,
    /// Random seed.
    pub seed: u64,
    /// Faults of the medium in addition to power losses. Every second run has one of them. A fault that did
    /// not occur in these runs is tested in additional runs.
    pub faults: Vec<Fault>,
    /// Maximum number of replays used to shorten a violating sequence.
    pub replays: u32,
}

impl Options {
    /// Creates options with power losses only. `seed` determines all random numbers.
    pub fn new(points: u64, seed: u64) -> Options {
        Options { points, seed, faults: Vec::new(), replays: REPLAYS_MAX }
    }
}

/// Size in bytes of the address range that a run uses if the device has no capacity limit.
const UNLIMITED: u64 = 1 << 40;
/// Minimum number of steps of a run.
const STEPS_MIN: u64 = 20;
const STEPS_MORE: u64 = 400;
/// Maximum number of writes before the first step. A smaller device has fewer writes, so that each location
/// is written twice on average.
const PRECONDITIONED_MAX: u64 = 4_000;
/// Number of steps between consistency checks of a device with a large state. Other devices are checked after
/// each step.
const LARGE_CHECKED_EVERY: u64 = 20;
/// Exclusive upper limit of the random number of power losses after a step.
const BRANCHES_MAX: u64 = 16;
/// Maximum number of steps from one power loss to the next.
const APART_MAX: u64 = 8;
/// State size in bytes above which a device is not saved at every step, because saving would take longer than
/// the tests. Power losses of such a device are not undone.
const STATE_MAX: usize = 1 << 20;
/// A device with a large state performs 1 in `LARGE_RESTARTS` restart steps, on average.
const LARGE_RESTARTS: u64 = 8;
/// Maximum number of additional runs for a fault that did not occur in the regular runs.
const RUNS_MORE: u64 = 64;
/// Maximum number of power losses in each additional run for a fault that did not occur in the regular runs.
const POINTS_MORE: u64 = 100;
/// On average, a run does not undo 1 in `STAYS` power losses, but continues from the state after the
/// recovery.
const STAYS: u64 = 16;

/// Tests the device of `stack`. Calls `watch` with the number of points tested so far. `watch` may stop the
/// test.
pub fn crash(
    stack: &mut dyn Stack,
    options: &Options,
    watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Report {
    let mut report = Report::new(&*stack.build(&Media::new()));
    let Options { points, faults, .. } = options;
    // With this share, the faults together use about half of the power losses.
    let share = points.div_ceil(2 * faults.len().max(1) as u64);
    let share = if faults.is_empty() { *points } else { share };
    let mut go_on = |report: &Report| report.finding.is_none() && watch(report.points()).is_continue();
    while report.points() < *points && go_on(&report) {
        let (number, count) = (report.device_runs, faults.len() as u64);
        let fault = match number % 2 {
            1 if count > 0 => faults[(number / 2 % count) as usize],
            _ => Fault::PowerLoss,
        };
        let until = (report.points() + share).min(*points);
        run_device(stack, (fault, until), options, &mut report);
    }
    for &fault in faults {
        let last = report.device_runs + RUNS_MORE;
        while report.injected(fault) == 0 && report.device_runs < last && go_on(&report) {
            let until = report.points() + share.min(POINTS_MORE);
            run_device(stack, (fault, until), options, &mut report);
        }
    }
    report
}

/// Performs one run with a number of power losses. If a guarantee is violated, adds the violation to the
/// report.
fn run_device(stack: &mut dyn Stack, (fault, until): (Fault, u64), options: &Options, report: &mut Report) {
    let number = report.device_runs;
    report.device_runs += 1;
    let seed = Streams::new(options.seed).stream(&format!("life {number}")).bits();
    report.finding = run_from(stack, seed, (fault, until), options.replays, report);
}

fn run_from(
    stack: &mut dyn Stack,
    seed: u64,
    (fault, points): (Fault, u64),
    replays: u32,
    report: &mut Report,
) -> Option<Finding> {
    let mut random = Streams::new(seed).stream("life");
    let media = Media::new();
    let probe = stack.build(&Media::new());
    let capacity = probe.capacity().map_or(UNLIMITED, |capacity| capacity.0);
    let block_bytes = block_bytes(&mut random, capacity, probe.capabilities().atomic_unit);
    let preconditioned = match probe.capabilities().preconditions && random.chance(0.5) {
        true => random.below(2 + (capacity / 2048).min(PRECONDITIONED_MAX)),
        false => 0,
    };
    drop(probe);
    let mut trail = Sequence { block_bytes, preconditioned, steps: Vec::new() };
    let (mut requests, mut restarts, mut refusals, mut ignored_flushes) = (0, 0, 0, 0);
    let (mut made, mut unread) = (FaultCounts::default(), 0);
    let work = AssertUnwindSafe(|| {
        let mut run = DeviceRun::new(stack, media.clone(), &trail);
        run.set_lying_flushes(fault);
        media.inject(fault.injected(seed));
        let most = 1 + random.below(STEPS_MORE);
        let steps = STEPS_MIN + random.below(most);
        let (quiet, apart) = (random.below(steps), 1 + random.below(APART_MAX));
        let has_transactions = run.capabilities.transactions;
        let generator = Generator::new(random, capacity / block_bytes as u64, has_transactions);
        let mut run = run;
        let is_large = run.mark()? > STATE_MAX;
        run.forget_mark();
        let mut random_run = RandomRun { run, generator, fault, points, report, trail: &mut trail, is_large };
        let result = (0..steps)
            .try_for_each(|number| random_run.step(number, number >= quiet && number % apart == 0))
            .and_then(|()| random_run.end());
        (requests, restarts) = (random_run.run.requests, random_run.run.restarts);
        (refusals, ignored_flushes) = (random_run.run.refusals, random_run.run.ignored_flushes);
        (made, unread) = (random_run.run.made(), random_run.run.failed_reads);
        result
    });
    let result = catch_unwind(work).unwrap_or_else(|panic| Err(Violation(failure_of(&*panic))));
    (report.requests, report.restarts) = (report.requests + requests, report.restarts + restarts);
    if refusals > 0 {
        report.faults.entry(Fault::EndOfLife).or_default().injected += refusals;
    }
    report.device_faults(&made, unread);
    let injected = media.injected() + ignored_flushes;
    let tried = report.faults.entry(fault).or_default();
    tried.injected += injected;
    let Err(Violation(problem)) = result else { return None };
    if made.silent_bytes > 0 {
        report.faults.entry(Fault::DeviceFault).or_default().lost_silently += 1;
        return None;
    }
    let guarantee = fault.guarantee(&report.capabilities);
    if guarantee == Guarantee::Blind {
        tried.lost_silently += 1;
        return None;
    }
    let steps_generated = trail.steps.len();
    let (sequence, shorter) = shrink(stack, trail, (fault, seed), replays);
    let is_reproducible = shorter.is_some();
    Some(Finding { problem: shorter.unwrap_or(problem), fault, sequence, steps_generated, is_reproducible })
}

struct RandomRun<'a, 'b> {
    run: DeviceRun<'a>,
    generator: Generator,
    fault: Fault,
    points: u64,
    report: &'b mut Report,
    trail: &'b mut Sequence,
    is_large: bool,
}

impl RandomRun<'_, '_> {
    fn step(&mut self, number: u64, has_power_loss: bool) -> Result<(), Violation> {
        let mut step = self.generator.step(&self.run);
        if self.is_large
            && step.action == Action::Restart
            && self.generator.random().below(LARGE_RESTARTS) > 0
        {
            step.action = Action::Flush;
        }
        self.trail.steps.push(step);
        self.run.step(&step)?;
        if !self.is_large || number.is_multiple_of(LARGE_CHECKED_EVERY) {
            self.run.check_invariants();
        }
        if has_power_loss && self.report.points() < self.points {
            if !self.is_large {
                self.branches()?;
            }
            if self.is_large || self.generator.random().below(STAYS) == 0 {
                self.cut_power()?;
            }
        }
        Ok(())
    }

    /// Completes outstanding requests. If the device is large, then cuts power a last time and checks that
    /// the device still works. Smaller devices are checked after the power losses of their branches.
    fn end(&mut self) -> Result<(), Violation> {
        self.run.wait_for_all()?;
        if !self.is_large || self.report.points() >= self.points {
            return Ok(());
        }
        let generated = self.generator.loss(&self.run);
        let loss = PowerLoss { seed: generated.seed - generated.seed % CHECKED_ONE_IN, ..generated };
        self.trail.steps.push(power_loss_step(loss));
        let survived = self.run.cut_power_and_check(&loss)?;
        self.report.survived(self.fault, &survived, loss.is_early);
        Ok(())
    }

    /// Cuts power several times after this step, each time from the same state.
    fn branches(&mut self) -> Result<(), Violation> {
        let count = self.generator.random().below(BRANCHES_MAX);
        self.run.mark()?;
        self.run.look_ahead()?;
        for _ in 0..count {
            let loss = self.generator.loss(&self.run);
            self.trail.steps.push(power_loss_step(loss));
            let survived = self.run.branch(&loss)?;
            self.trail.steps.pop();
            self.report.survived(self.fault, &survived, loss.is_early);
        }
        self.run.forget_mark();
        Ok(())
    }

    /// Cuts power and continues after recovery.
    fn cut_power(&mut self) -> Result<(), Violation> {
        let loss = self.generator.loss(&self.run);
        let step = power_loss_step(loss);
        self.trail.steps.push(step);
        if let Some(survived) = self.run.step(&step)? {
            self.report.survived(self.fault, &survived, loss.is_early);
        }
        Ok(())
    }
}

fn power_loss_step(loss: PowerLoss) -> Step {
    Step { pause: nacre_kernel::Time::ZERO, action: Action::PowerLoss(loss) }
}
