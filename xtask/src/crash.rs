//! The command `crash`: power-loss tests of random stacks, and crash tests of their images, on all cores.

use nacre_config::Families;
use nacre_machine::crash::{Drawn, Fault as MediumFault, Nothing, Report, crash, drawn};
use nacre_machine::rooms::Rooms;
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
/// A stack is also tested in an image if its seed is a multiple of this number.
const IMAGES: u64 = 8;
/// Number of host crashes of such an image.
const POINTS_OF_IMAGE: u64 = 100;

/// Results so far.
#[derive(Default)]
struct Done {
    by_kind: BTreeMap<String, OfKind>,
    branches: BTreeMap<&'static str, u64>,
    faults: BTreeMap<&'static str, u64>,
    points: Points,
    images: Crashed,
}

/// Number of test points for each fault and component.
#[derive(Default)]
struct Points {
    /// Number of points with each fault of the medium, or with none.
    of_medium: BTreeMap<&'static str, u64>,
    /// Number of points in stacks with each fault of a device `faulty`, and with each component.
    of_devices: BTreeMap<&'static str, u64>,
    of_components: BTreeMap<&'static str, u64>,
    /// Number of points with a fault of either type.
    faulty: u64,
}

impl Points {
    /// Adds the points of the stack that `text` describes.
    fn add(&mut self, text: &str, report: &Report) {
        let rooms = Rooms::new();
        let (_, stack) = text.split_once("[stack]").expect("a scenario has a stack");
        let with = |family| {
            let has = |kind: &&str| stack.contains(&format!("kind = \"{kind}\""));
            rooms.kinds(family).into_iter().filter(has).collect::<Vec<_>>()
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

/// Runs `crash SEED STACKS` or `crash SEED for SECONDS` for stacks with consecutive seeds, starting with
/// SEED. SEED may be a commit hash.
pub(crate) fn command(arguments: &[String]) -> ExitCode {
    let Some((seed, stacks, seconds)) = parsed(arguments) else {
        println!("xtask: usage: crash SEED STACKS, or crash SEED for SECONDS");
        return ExitCode::from(2);
    };
    println!("stacks that are drawn from seed {seed} on");
    // The message of a failed assertion is part of the finding, so it is not printed here.
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
                println!("seed {seed}, outside of a life: {}", text.unwrap_or("an assertion says nothing"));
                false
            });
            if !is_good {
                println!(
                    "again: nacre crash --seed {seed} --points {POINTS}, or with its image: xtask crash {seed} 1"
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
        "{points} points, {} of them with faults, in {:.1} s from seed {seed} on",
        done.points.faulty,
        began.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(failed.into_inner()))
}

fn print(done: &Done) {
    for (kind, OfKind { stacks, points, seconds }) in &done.by_kind {
        println!("{kind}: {points} points in {stacks} stacks, {:.0} a second", *points as f64 / seconds);
    }
    let Crashed { kills, power_losses, inside_writes, torn_records, unsynced_lost, ref disk_faults, .. } =
        done.images;
    println!(
        "images: {kills} kills and {power_losses} power losses of the host, {inside_writes} inside a write; \
         {torn_records} torn records, {unsynced_lost} times what was not synced was lost"
    );
    for ((fault, part), reported) in disk_faults {
        let Reported { refused, unreadable, torn, unmarked, overwritten, unharmed } = reported;
        println!(
            "images with {fault} in their {part}: {refused} did not open, {unreadable} reported a page, {unharmed} \
             lost nothing; {torn} lost a torn record behind the last mark, {unmarked} one without a trace, \
             {overwritten} the end of the journal with its marks"
        );
    }
    let counted = |counts: &BTreeMap<&'static str, u64>| {
        let counts = counts.iter().filter(|(_, count)| **count > 0);
        counts.map(|(name, count)| format!("{name} {count}")).collect::<Vec<String>>().join(", ")
    };
    println!("points by fault of the medium: {}", counted(&done.points.of_medium));
    println!("points in stacks with a fault of a device: {}", counted(&done.points.of_devices));
    println!("points in stacks with a component: {}", counted(&done.points.of_components));
    println!("branches reached: {}", counted(&done.branches));
    println!("faults injected, or losses under those that no one counts: {}", counted(&done.faults));
}

fn parsed(arguments: &[String]) -> Option<(u64, u64, f64)> {
    let [seed, rest @ ..] = arguments else { return None };
    let seed = match seed.len() {
        // For a commit hash, the number of digits that fit into a seed of `nacre crash` is used.
        40 => u64::from_str_radix(seed.get(..15)?, 16).ok()?,
        _ => seed.parse().ok()?,
    };
    match rest {
        [stacks] => Some((seed, stacks.parse().ok()?, f64::INFINITY)),
        [word, seconds] if word == "for" => Some((seed, u64::MAX, seconds.parse().ok()?)),
        _ => None,
    }
}

/// Tests the stack of one seed until `go` stops the test. Returns `false` if the stack violated a guarantee.
fn one(seed: u64, go: impl Fn() -> ControlFlow<()>, done: &Mutex<Done>) -> bool {
    let drawn = drawn(seed, POINTS);
    let began = Instant::now();
    let report = crash(&drawn.checked, &Nothing, &drawn.options, &mut |_| go());
    let report = report.expect("it was built when it was drawn");
    let seconds = began.elapsed().as_secs_f64();
    let image = seed.is_multiple_of(IMAGES).then(|| {
        let crashed = crash_image(&drawn.checked, &Nothing, POINTS_OF_IMAGE, seed, Fault::None);
        crashed.expect("what carries bytes can be kept")
    });
    let mut done = done.lock().expect("no thread panics while it holds the lock");
    let Done { by_kind, branches, faults, points, images } = &mut *done;
    points.add(&drawn.text, &report);
    let own = by_kind.entry(drawn.checked.scenario.stack.kind().to_string()).or_default();
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
            println!("seed {seed}, its image: {finding}\n{}", drawn.text);
            return false;
        }
    }
    let Some(finding) = report.finding else { return true };
    let Drawn { text, .. } = drawn;
    println!("seed {seed}, with {}: {}", finding.fault.name(), finding.problem);
    println!("{text}\n{}", finding.sequence);
    println!("{} steps were drawn; repeats on a new device: {}", finding.steps_drawn, finding.repeats);
    false
}
