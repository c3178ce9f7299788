//! The command `crash`: power-loss tests of random stacks, and crash tests of their images, on all cores.

use nacre_config::Families;
use nacre_machine::crash::{Fault as MediumFault, NoFiles, RandomStack, Report, crash, random_stack};
use nacre_machine::models::Models;
use nacre_memory::crash::{Crashed, Fault, Reported, crash as crash_image};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Number of power losses per stack.
const POINTS: u64 = 2_000;
/// A stack is also tested in an image if its seed is a multiple of this value.
const IMAGES: u64 = 8;
/// Number of host crashes for each tested image.
const POINTS_OF_IMAGE: u64 = 100;

/// Results of the tests so far.
#[derive(Default)]
struct Done {
    by_kind: BTreeMap<String, OfKind>,
    branches: BTreeMap<&'static str, u64>,
    faults: BTreeMap<&'static str, u64>,
    points: Points,
    images: Crashed,
}

/// Numbers of tested points by fault and by kind of device. A point is one power loss.
#[derive(Default)]
struct Points {
    /// Number of points with each media fault, and number of points without a media fault.
    of_medium: BTreeMap<&'static str, u64>,
    /// Number of points in stacks with each fault of a `faulty` device.
    of_devices: BTreeMap<&'static str, u64>,
    /// Number of points in stacks with each kind of device.
    of_components: BTreeMap<&'static str, u64>,
    /// Number of points with a media fault or a fault of a `faulty` device.
    faulty: u64,
}

impl Points {
    /// Adds the points of the stack that `text` describes.
    fn add(&mut self, text: &str, report: &Report) {
        let models = Models::new();
        let (_, stack) = text.split_once("[stack]").expect("a scenario has a stack");
        let with = |family| {
            let has = |kind: &&str| stack.contains(&format!("kind = \"{kind}\""));
            models.kinds(family).into_iter().filter(has).collect::<Vec<_>>()
        };
        let (devices, faults) = (with("device"), with("fault"));
        for (fault, tried) in &report.faults {
            *self.of_medium.entry(fault.name()).or_default() += tried.points;
            let is_faulty = !faults.is_empty() || *fault != MediumFault::PowerLoss;
            self.faulty += if is_faulty { tried.points } else { 0 };
        }
        for kind in devices {
            *self.of_components.entry(kind).or_default() += report.points();
        }
        for kind in faults {
            *self.of_devices.entry(kind).or_default() += report.points();
        }
    }
}

#[derive(Default)]
struct OfKind {
    stacks: u64,
    points: u64,
    seconds: f64,
}

/// Runs the command `crash SEED STACKS` or `crash SEED for SECONDS`. Stacks have consecutive seeds, starting
/// with SEED, which may be a commit hash.
pub(crate) fn command(arguments: &[String]) -> ExitCode {
    let Some((seed, stacks, seconds)) = parsed(arguments) else {
        println!("xtask: usage: crash SEED STACKS, or crash SEED for SECONDS");
        return ExitCode::from(2);
    };
    println!("random stacks, starting with seed {seed}");
    // The panic hook prints nothing, because the message of a failed assertion is part of the finding.
    set_hook(Box::new(|_| {}));
    let (next, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let done: Mutex<Done> = Mutex::default();
    let began = Instant::now();
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let is_over = number >= stacks || began.elapsed().as_secs_f64() >= seconds;
            if is_over || failed.load(Ordering::Relaxed) {
                return;
            }
            let go = || match began.elapsed().as_secs_f64() < seconds {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            };
            let seed = seed + number;
            let is_good = catch_unwind(AssertUnwindSafe(|| one(seed, go, &done))).unwrap_or_else(|panic| {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
                println!(
                    "seed {seed}, outside a device run: {}",
                    text.unwrap_or("an assertion without a message")
                );
                false
            });
            if !is_good {
                println!(
                    "reproduce with: nacre crash --seed {seed} --points {POINTS}; for the image: xtask crash \
                     {seed} 1"
                );
                failed.store(true, Ordering::Relaxed);
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
    let done = done.into_inner().unwrap_or_default();
    print(&done);
    let points: u64 = done.by_kind.values().map(|own| own.points).sum::<u64>() + done.images.points();
    println!(
        "total: {points} power losses and kills, {} of them with a fault, in {:.1} s",
        done.points.faulty,
        began.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(failed.into_inner()))
}

fn print(done: &Done) {
    for (kind, OfKind { stacks, points, seconds }) in &done.by_kind {
        println!(
            "{kind}: {points} power losses in {stacks} stacks, {:.0} per second",
            *points as f64 / seconds
        );
    }
    let Crashed { kills, power_losses, inside_writes, torn_records, unsynced_lost, ref disk_faults, .. } =
        done.images;
    println!(
        "images: {kills} process kills and {power_losses} power losses of the host; {inside_writes} of them \
         interrupted a write to the image, {torn_records} left a torn journal record, and {unsynced_lost} lost \
         unsynced writes"
    );
    for ((fault, part), reported) in disk_faults {
        let Reported { refused, unreadable, torn, unmarked, overwritten, unharmed } = reported;
        let results = [
            (refused, "did not open"),
            (unreadable, "reported a damaged page"),
            (unharmed, "lost nothing"),
            (torn, "lost a torn record that had no sync mark"),
            (unmarked, "lost a record without a trace"),
            (overwritten, "lost the end of the journal with its sync marks"),
        ];
        let results = results.into_iter().filter(|(count, _)| **count > 0);
        let results: Vec<String> = results.map(|(count, text)| format!("{count} {text}")).collect();
        println!("images with {} in the {part}: {}", fault.replace('_', " "), results.join(", "));
    }
    let counted = |counts: &BTreeMap<&'static str, u64>| {
        let counts = counts.iter().filter(|(_, count)| **count > 0);
        counts.map(|(name, count)| format!("{name} {count}")).collect::<Vec<String>>().join(", ")
    };
    println!("power losses by fault of the medium: {}", counted(&done.points.of_medium));
    println!(
        "power losses in stacks with a fault of a `faulty` device: {}",
        counted(&done.points.of_devices)
    );
    println!("power losses in stacks with each component: {}", counted(&done.points.of_components));
    println!("power losses by event during power loss or recovery: {}", counted(&done.branches));
    println!("injected faults (for faults without a count: power losses): {}", counted(&done.faults));
}

fn parsed(arguments: &[String]) -> Option<(u64, u64, f64)> {
    let [seed, rest @ ..] = arguments else { return None };
    let seed = match seed.len() {
        // For a commit hash, only the digits that fit into a seed of `nacre crash` are used.
        40 => u64::from_str_radix(seed.get(..15)?, 16).ok()?,
        _ => seed.parse().ok()?,
    };
    match rest {
        [stacks] => Some((seed, stacks.parse().ok()?, f64::INFINITY)),
        [word, seconds] if word == "for" => Some((seed, u64::MAX, seconds.parse().ok()?)),
        _ => None,
    }
}

/// Tests the stack of one seed. `go` may stop the test. Returns `false` if the stack violated a guarantee.
fn one(seed: u64, go: impl Fn() -> ControlFlow<()>, done: &Mutex<Done>) -> bool {
    let stack = random_stack(seed, POINTS);
    let began = Instant::now();
    let report = crash(&stack.checked, &NoFiles, &stack.options, &mut |_| go());
    let report = report.expect("it was built when it was generated");
    let seconds = began.elapsed().as_secs_f64();
    let image = seed.is_multiple_of(IMAGES).then(|| {
        let crashed = crash_image(&stack.checked, &NoFiles, POINTS_OF_IMAGE, seed, Fault::None);
        crashed.expect("a device with data can have an image")
    });
    let mut done = done.lock().expect("no thread panics while it holds the lock");
    let Done { by_kind, branches, faults, points, images } = &mut *done;
    points.add(&stack.text, &report);
    let own = by_kind.entry(stack.checked.scenario.stack.kind().to_string()).or_default();
    own.stacks += 1;
    own.points += report.points();
    own.seconds += seconds;
    for (name, count) in &report.branches {
        *branches.entry(name).or_default() += count;
    }
    for (fault, tried) in &report.faults {
        let count = if tried.injected > 0 { tried.injected } else { tried.points };
        *faults.entry(fault.name()).or_default() += count;
    }
    if let Some(image) = image {
        images.add(&image);
        if let Some(finding) = image.finding {
            println!("seed {seed}, image: {finding}\n{}", stack.text);
            return false;
        }
    }
    let Some(finding) = report.finding else { return true };
    let RandomStack { text, .. } = stack;
    println!("seed {seed}, with {}: {}", finding.fault.name(), finding.problem);
    println!("{text}\n{}", finding.sequence);
    let reproduces = if finding.is_reproducible { "reproduces" } else { "does not reproduce" };
    println!(
        "the original sequence had {} steps; the sequence above {reproduces} the violation on a new device",
        finding.steps_generated
    );
    false
}
