//! Speed of whole runs, from scenario to record, and the memory use of a long trace.

use crate::Result;
use crate::report::{Report, best_of, best_of_two_threads, clock_seconds, processor_seconds};
use crate::streams::{NoFiles, REQUESTS, STREAMS, checked};
use nacre_files::{Existing, ScenarioFiles, SharedFile};
use nacre_kernel::{Op, Request, Time};
use nacre_machine::{Parallel, Span, run, run_span};
use nacre_workload::trace::{self, WriteOptions};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

/// Speed budgets in millions of requests per second, for a cache that fits into the processor caches and
/// for a cache that does not fit.
const BUDGETS: (f64, f64) = (10.0, 6.0);
/// Speed budget for a long trace, in millions of requests per second.
const LONG_BUDGET: f64 = 8.0;
/// Number of requests in the long trace.
const LONG: u64 = 100_000_000;
/// Budget for memory use, in MB.
const MEMORY_BUDGET_MB: f64 = 300.0;

/// Executes work on a second thread, concurrently with the simulation thread.
pub(crate) struct SecondThread;

impl Parallel for SecondThread {
    #[expect(clippy::disallowed_methods, reason = "this is the edge that brings it")]
    fn both(&self, work: Box<dyn FnOnce() + Send + '_>, here: &mut dyn FnMut()) -> bool {
        std::thread::scope(|scope| {
            scope.spawn(work);
            here();
        });
        true
    }
}

/// Measures whole runs. Measures the memory use for a long trace in a separate process.
pub(crate) fn measure(report: &Report, folder: &Path) -> Result<()> {
    for stream in STREAMS {
        let scenario = checked(&stream.run(REQUESTS));
        let seconds = best_of(|| {
            run(&scenario, &NoFiles, &mut |_| ControlFlow::Continue(()))
                .expect("a legal scenario")
                .record
                .cost
        });
        let budget = if stream.is_small { BUDGETS.0 } else { BUDGETS.1 };
        let name = format!("whole run, LRU server cache, {}", stream.name);
        report.line(&name, REQUESTS, seconds, Some(budget), &[]);
        let seconds = best_of_two_threads(|| {
            let span = Span { second_thread: Some(&SecondThread), ..Span::default() };
            let ran = run_span(&scenario, &NoFiles, &span, &mut |_| ControlFlow::Continue(()));
            ran.expect("a legal scenario").outcome.record.cost
        });
        report.line("    the same on two threads, by the clock", REQUESTS, seconds, Some(budget), &[]);
    }
    std::fs::create_dir_all(folder)?;
    let file = folder.join("long.nacre");
    write_long(&file, LONG)?;
    let itself = std::env::current_exe()?;
    let output = Command::new(itself).arg("memory").arg(&file).arg(LONG.to_string()).output()?;
    print!("{}", String::from_utf8_lossy(&output.stdout));
    std::fs::remove_file(&file)?;
    Ok(())
}

/// Streams the trace `file` through a server cache, and prints time and memory use. `count` is the expected
/// number of completed requests.
pub(crate) fn memory(file: &Path, count: &str) -> Result<()> {
    let text = of_long(file)?;
    let start = (clock_seconds(), processor_seconds());
    let files = ScenarioFiles::new(".", None);
    let span = Span { second_thread: Some(&SecondThread), ..Span::default() };
    let outcome = run_span(&checked(&text), &files, &span, &mut |_| ControlFlow::Continue(()))?.outcome;
    let seconds = (clock_seconds() - start.0, processor_seconds() - start.1);
    if outcome.record.requests.completed.to_string() != count {
        return Err(format!("{} requests of {count} came through", outcome.record.requests.completed).into());
    }
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak =
        status.lines().find(|line| line.starts_with("VmHWM")).and_then(|line| line.split_whitespace().nth(1));
    let peak_mb = peak.and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(f64::NAN) * 1024.0 / 1e6;
    println!(
        "whole run of {count} requests from a trace file, on two threads: {:.2} M/s by the clock (budget {LONG_BUDGET}), {:.2} \
         M/CPU s of the one that simulates, peak memory {peak_mb:.0} MB (budget {MEMORY_BUDGET_MB} MB)",
        outcome.record.requests.completed as f64 / seconds.0 / 1e6,
        outcome.record.requests.completed as f64 / seconds.1 / 1e6,
    );
    Ok(())
}

/// Returns the scenario of a server cache of 1 GiB with the requests of `file`.
pub(crate) fn of_long(file: &Path) -> Result<String> {
    Ok(format!(
        "[workload]\nkind = \"trace\"\nfile = {:?}\n[stack]\nkind = \"server_cache\"\n\
         backing = {{ preset = \"network_store\" }}\n[[stack.level]]\n\
         device = {{ preset = \"pcm_ssd\", capacity = \"1 GiB\" }}\n",
        file.canonicalize()?.display().to_string()
    ))
}

/// Writes the first `count` requests of a trace of one week, in which a hot set moves slowly over 4 TiB.
/// One third of the requests are writes.
pub(crate) fn write_long(path: &Path, count: u64) -> Result<()> {
    let file = SharedFile::begin(path, Existing::Replaced)?;
    let mut writer = trace::create("nacre", Box::new(file.clone()), &WriteOptions::default())?;
    let mut random = nacre_kernel::Streams::new(1).stream("bench.long");
    let mut batch = Vec::with_capacity(65_536);
    for index in 0..count {
        let base = (index / 1_000_000) << 33;
        let block = random.below(1 << 20).min(random.below(1 << 20));
        batch.push(Request {
            arrival: Time::from_us(index * 6_048),
            address: base + block * 4096,
            bytes: 4096,
            volume: 0,
            op: if random.chance(0.33) { Op::Write } else { Op::Read },
        });
        if batch.len() == 65_536 || index + 1 == count {
            writer.write(&batch)?;
            batch.clear();
        }
    }
    writer.finish()?;
    file.finish()?;
    Ok(())
}
