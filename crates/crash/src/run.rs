//! Random runs and their power losses.

use crate::auditor::Broken;
use crate::draw::{Drawer, block_bytes};
use crate::fault::{Fault, Guarantee};
use crate::life::{Life, SHOWN_TO_WORK, Stack};
use crate::media::Media;
use crate::report::{Finding, Report};
use crate::sequence::{Action, Loss, Sequence, Step};
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

/// Number of bytes that a run uses of a device without a capacity limit.
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
/// Maximum number of additional runs for a fault that did not occur.
const LIVES_MORE: u64 = 64;
/// Maximum number of power losses in each of the additional runs.
const POINTS_MORE: u64 = 100;
/// The run does not undo 1 in `STAYS` power losses, on average, and continues after it.
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
        let (number, count) = (report.lives, faults.len() as u64);
        let fault = match number % 2 {
            1 if count > 0 => faults[(number / 2 % count) as usize],
            _ => Fault::PowerLoss,
        };
        let until = (report.points() + share).min(*points);
        live(stack, (fault, until), options, &mut report);
    }
    for &fault in faults {
        let last = report.lives + LIVES_MORE;
        while report.injected(fault) == 0 && report.lives < last && go_on(&report) {
            let until = report.points() + share.min(POINTS_MORE);
            live(stack, (fault, until), options, &mut report);
        }
    }
    report
}

/// Performs one run with a number of power losses, and adds violations to the report.
fn live(stack: &mut dyn Stack, (fault, until): (Fault, u64), options: &Options, report: &mut Report) {
    let number = report.lives;
    report.lives += 1;
    let seed = Streams::new(options.seed).stream(&format!("life {number}")).bits();
    report.finding = live_from(stack, seed, (fault, until), options.replays, report);
}

fn live_from(
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
    let (mut requests, mut restarts, mut refusals, mut lies) = (0, 0, 0, 0);
    let (mut made, mut unread) = (FaultCounts::default(), 0);
    let work = AssertUnwindSafe(|| {
        let mut life = Life::new(stack, media.clone(), &trail);
        life.lie(fault);
        media.go_wrong(fault.wrong(seed));
        let most = 1 + random.below(STEPS_MORE);
        let steps = STEPS_MIN + random.below(most);
        let (quiet, apart) = (random.below(steps), 1 + random.below(APART_MAX));
        let has_transactions = life.capabilities.transactions;
        let drawer = Drawer::new(random, capacity / block_bytes as u64, has_transactions);
        let mut life = life;
        let is_large = life.mark()? > STATE_MAX;
        life.forget_mark();
        let mut course = Course { life, drawer, fault, points, report, trail: &mut trail, is_large };
        let result = (0..steps)
            .try_for_each(|number| course.step(number, number >= quiet && number % apart == 0))
            .and_then(|()| course.end());
        (requests, restarts) = (course.life.requests, course.life.restarts);
        (refusals, lies) = (course.life.refusals, course.life.lies_told);
        (made, unread) = (course.life.made(), course.life.failed_reads);
        result
    });
    let result = catch_unwind(work).unwrap_or_else(|panic| Err(Broken(failure_of(&*panic))));
    (report.requests, report.restarts) = (report.requests + requests, report.restarts + restarts);
    if refusals > 0 {
        report.faults.entry(Fault::EndOfLife).or_default().injected += refusals;
    }
    report.device_faults(&made, unread);
    let injected = media.went_wrong() + lies;
    let tried = report.faults.entry(fault).or_default();
    tried.injected += injected;
    let Err(Broken(problem)) = result else { return None };
    if made.silent_bytes > 0 {
        report.faults.entry(Fault::DeviceFault).or_default().lost_unseen += 1;
        return None;
    }
    let guarantee = fault.guarantee(&report.capabilities);
    if guarantee == Guarantee::Blind {
        tried.lost_unseen += 1;
        return None;
    }
    let steps_drawn = trail.steps.len();
    let (sequence, shorter) = shrink(stack, trail, (fault, seed), replays);
    let repeats = shorter.is_some();
    Some(Finding { problem: shorter.unwrap_or(problem), fault, sequence, steps_drawn, repeats })
}

struct Course<'a, 'b> {
    life: Life<'a>,
    drawer: Drawer,
    fault: Fault,
    points: u64,
    report: &'b mut Report,
    trail: &'b mut Sequence,
    is_large: bool,
}

impl Course<'_, '_> {
    fn step(&mut self, number: u64, loses: bool) -> Result<(), Broken> {
        let mut step = self.drawer.step(&self.life);
        if self.is_large && step.action == Action::Restart && self.drawer.random().below(LARGE_RESTARTS) > 0 {
            step.action = Action::Flush;
        }
        self.trail.steps.push(step);
        self.life.step(&step)?;
        if !self.is_large || number.is_multiple_of(LARGE_CHECKED_EVERY) {
            self.life.check_invariants();
        }
        if loses && self.report.points() < self.points {
            if !self.is_large {
                self.branches()?;
            }
            if self.is_large || self.drawer.random().below(STAYS) == 0 {
                self.lose()?;
            }
        }
        Ok(())
    }

    /// Completes outstanding requests. A large device then has its final power loss and must still work,
    /// because its branches did not test this.
    fn end(&mut self) -> Result<(), Broken> {
        self.life.wait_for_all()?;
        if !self.is_large || self.report.points() >= self.points {
            return Ok(());
        }
        let drawn = self.drawer.loss(&self.life);
        let loss = Loss { chance: drawn.chance - drawn.chance % SHOWN_TO_WORK, ..drawn };
        self.trail.steps.push(losing(loss));
        let survived = self.life.lose_and_live(&loss)?;
        self.report.survived(self.fault, &survived, loss.is_early);
        Ok(())
    }

    /// Cuts power several times after the last step, each time from the same state.
    fn branches(&mut self) -> Result<(), Broken> {
        let count = self.drawer.random().below(BRANCHES_MAX);
        self.life.mark()?;
        self.life.look_ahead()?;
        for _ in 0..count {
            let loss = self.drawer.loss(&self.life);
            self.trail.steps.push(losing(loss));
            let survived = self.life.branch(&loss)?;
            self.trail.steps.pop();
            self.report.survived(self.fault, &survived, loss.is_early);
        }
        self.life.forget_mark();
        Ok(())
    }

    /// Cuts power and continues after recovery.
    fn lose(&mut self) -> Result<(), Broken> {
        let loss = self.drawer.loss(&self.life);
        let step = losing(loss);
        self.trail.steps.push(step);
        if let Some(survived) = self.life.step(&step)? {
            self.report.survived(self.fault, &survived, loss.is_early);
        }
        Ok(())
    }
}

fn losing(loss: Loss) -> Step {
    Step { pause: nacre_kernel::Time::ZERO, action: Action::Lose(loss) }
}
