//! `crash`: drawn stacks lose their power, on all cores.

use nacre_machine::crash::{Nothing, crash, drawn};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::set_hook;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Losses of power of each stack.
const POINTS: u64 = 2_000;

/// What was done so far, by kind of device.
#[derive(Default)]
struct Done {
    stacks: u64,
    points: u64,
    seconds: f64,
    branches: BTreeMap<&'static str, u64>,
}

/// `crash SEED STACKS`, or `crash SEED for SECONDS`: stacks from the seed on. A seed may be a hash of 40 digits.
pub(crate) fn command(arguments: &[String]) -> ExitCode {
    let Some((seed, stacks, seconds)) = parsed(arguments) else {
        println!("xtask: usage: crash SEED STACKS, or crash SEED for SECONDS");
        return ExitCode::from(2);
    };
    // What an assertion of a device says is part of a finding.
    set_hook(Box::new(|_| {}));
    let (next, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let done: Mutex<BTreeMap<String, Done>> = Mutex::default();
    let began = Instant::now();
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let is_over = number >= stacks || began.elapsed().as_secs_f64() >= seconds;
            if is_over || failed.load(Ordering::Relaxed) {
                return;
            }
            if !one(seed.wrapping_add(number), &done) {
                failed.store(true, Ordering::Relaxed);
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
    let done = done.into_inner().unwrap_or_default();
    for (kind, Done { stacks, points, seconds, branches }) in &done {
        let taken: Vec<&str> =
            branches.iter().filter(|(_, count)| **count > 0).map(|(name, _)| *name).collect();
        let speed = *points as f64 / seconds;
        println!("{kind}: {points} points in {stacks} stacks, {speed:.0} a second; {}", taken.join(" "));
    }
    let points: u64 = done.values().map(|done| done.points).sum();
    println!("{points} points in {:.1} s from seed {seed} on", began.elapsed().as_secs_f64());
    ExitCode::from(u8::from(failed.into_inner()))
}

fn parsed(arguments: &[String]) -> Option<(u64, u64, f64)> {
    let [seed, rest @ ..] = arguments else { return None };
    let seed = match seed.len() {
        40 => u64::from_str_radix(&seed[..16], 16).ok()?,
        _ => seed.parse().ok()?,
    };
    match rest {
        [stacks] => Some((seed, stacks.parse().ok()?, f64::INFINITY)),
        [word, seconds] if word == "for" => Some((seed, u64::MAX, seconds.parse().ok()?)),
        _ => None,
    }
}

/// Crashes the stack of one seed; `false` where it broke a promise.
fn one(seed: u64, done: &Mutex<BTreeMap<String, Done>>) -> bool {
    let drawn = drawn(seed, POINTS);
    let began = Instant::now();
    let report = crash(&drawn.checked, &Nothing, &drawn.options, &mut |_| ControlFlow::Continue(()));
    let report = report.expect("it was built when it was drawn");
    let mut done = done.lock().expect("nobody panics with the lock");
    let own = done.entry(drawn.checked.scenario.stack.kind().to_string()).or_default();
    own.stacks += 1;
    own.points += report.points();
    own.seconds += began.elapsed().as_secs_f64();
    for (name, count) in &report.branches {
        *own.branches.entry(name).or_default() += count;
    }
    let Some(finding) = report.finding else { return true };
    println!("seed {seed}, with {}: {}", finding.fault.name(), finding.problem);
    println!("{}\n{}", drawn.text, finding.sequence);
    println!("{} steps were drawn; repeats on a new device: {}", finding.steps_drawn, finding.repeats);
    false
}
