//! Measures processor times, and prints results.

use cpu_time::ThreadTime;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Instant;

/// Number of repetitions of each measurement. The fastest repetition is the result, and the median shows the
/// disturbance by other load.
const REPEATS: usize = 5;

/// Processor time per repetition of a benchmark, in seconds.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    /// Minimum over all repetitions.
    pub(crate) best: f64,
    /// Median over all repetitions, or `None` if there is only one repetition.
    middle: Option<f64>,
}

impl Times {
    /// Computes the minimum and median of `seconds`, which must not be empty.
    pub(crate) fn of(mut seconds: Vec<f64>) -> Times {
        seconds.sort_by(f64::total_cmp);
        Times { best: seconds[0], middle: Some(seconds[seconds.len() / 2]) }
    }
}

impl From<f64> for Times {
    fn from(best: f64) -> Times {
        Times { best, middle: None }
    }
}

/// Returns whether this build is profile-guided (docs/decisions/0033-trained-builds.md).
pub(crate) fn is_trained() -> bool {
    option_env!("NACRE_TRAINED").is_some()
}

/// Prints one line per measurement, with its budget and the throughput of other programs.
pub(crate) struct Report {
    rivals: serde_json::Map<String, serde_json::Value>,
}

impl Report {
    /// Prints the machine, the commit, and the heading.
    pub(crate) fn begin(folder: &Path) -> Report {
        let left = |file: &str| {
            let text = std::fs::read_to_string(folder.join(file)).ok()?;
            serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text).ok()
        };
        let rivals = ["rivals.json", "rival_codes.json"].into_iter().filter_map(left).flatten().collect();
        println!("machine  {}", machine());
        println!("commit   {}", output("git", &["describe", "--always", "--dirty", "--abbrev=12"]));
        let trained = if is_trained() { "trained" } else { "not trained" };
        println!("compiler {}, {trained}", output("rustc", &["--version"]));
        println!(
            "\n{:<52} {:>10} {:>8} {:>8} {:>7}   rivals",
            "work, one core", "M/CPU s", "middle", "budget", "met"
        );
        Report { rivals }
    }

    /// Prints the throughput for `count` items, computed from the best and the median time. `budget` is in
    /// millions of items per second. `rivals` contains the names of other programs with their throughput.
    pub(crate) fn line(
        &self,
        what: &str,
        count: u64,
        times: impl Into<Times>,
        budget: Option<f64>,
        rivals: &[(&str, f64)],
    ) {
        let Times { best, middle } = times.into();
        let rate = count as f64 / best / 1e6;
        let middle = middle.map_or_else(String::new, |s| format!("{:.2}", count as f64 / s / 1e6));
        let (budget_text, met) = match budget {
            Some(budget) => (format!("{budget}"), format!("{:.2}x", rate / budget)),
            None => (String::new(), String::new()),
        };
        let rivals: Vec<String> = rivals
            .iter()
            .map(|(name, theirs)| format!("{name} {:.2} ({:.1}x)", theirs / 1e6, rate * 1e6 / theirs))
            .collect();
        println!("{what:<52} {rate:>10.2} {middle:>8} {budget_text:>8} {met:>7}   {}", rivals.join(", "));
    }

    /// Returns the throughput that another program stored for `key`, if it was measured.
    pub(crate) fn rival(&self, key: &str) -> Option<f64> {
        self.rivals.get(key)?.as_f64()
    }
}

/// Measures several runs of `work`. The result of `work` is used, so the compiler cannot remove the
/// computation.
pub(crate) fn best_of<T>(work: impl FnMut() -> T) -> Times {
    repeated(REPEATS, work)
}

/// Measures several runs of `work` on two threads, by wall-clock time.
pub(crate) fn best_of_two_threads<T>(work: impl FnMut() -> T) -> Times {
    repeated_by(clock_seconds, REPEATS, work)
}

/// Measures the processor time of `times` runs of `work`.
pub(crate) fn repeated<T>(times: usize, work: impl FnMut() -> T) -> Times {
    repeated_by(processor_seconds, times, work)
}

/// Measures `times` runs of `work` with the clock `seconds`.
pub(crate) fn repeated_by<T>(seconds: impl Fn() -> f64, times: usize, mut work: impl FnMut() -> T) -> Times {
    let timed = |_| {
        let start = seconds();
        std::hint::black_box(work());
        seconds() - start
    };
    Times::of((0..times).map(timed).collect())
}

/// Returns the processor time of this thread in seconds, which is less affected by other load than wall-clock
/// time. The kernel reports nanoseconds, and updates `/proc/thread-self/schedstat` at each tick, every 4 ms.
pub(crate) fn processor_seconds() -> f64 {
    ThreadTime::now().as_duration().as_secs_f64()
}

/// Returns the wall-clock time in seconds, for work on several threads. It includes the effect of other load
/// on the machine.
pub(crate) fn clock_seconds() -> f64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed().as_secs_f64()
}

fn machine() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split(':').nth(1)).unwrap_or("unknown").trim().to_string()
    };
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    format!("{}, {cores} cores, cache {}", field("model name"), field("cache size"))
}

fn output(command: &str, arguments: &[&str]) -> String {
    let result = Command::new(command).args(arguments).output();
    result.map_or("unknown".into(), |output| String::from_utf8_lossy(&output.stdout).trim().to_string())
}
