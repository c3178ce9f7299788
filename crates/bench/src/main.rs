//! Benchmarks: speed compared with budgets, and with other programs on the same work in the same run.
//!
//! | command | action |
//! |---|---|
//! | `streams FOLDER` | writes the request streams that other programs replay |
//! | `run FOLDER` | measures Nacre, and prints its rates next to those of other programs in `FOLDER` |
//! | `codes FOLDER` | measures error-correcting codes alone |
//! | `crash` | measures the crash simulator alone |
//! | `curves FOLDER` | measures miss-ratio curves alone |
//! | `flash-memory` | measures eNVy alone |
//! | `whole-runs FOLDER` | measures whole runs alone, including a run of a long trace that is written to `FOLDER` |
//! | `disk-caches` | measures caches in DRAM and flash alone |
//! | `key-value` | measures the key-value store alone |
//! | `memory-card` | measures NVRAM cards alone |
//! | `pcm-drive` | measures Onyx alone |
//! | `flash-drive` | measures the SSD alone |
//! | `flash-runs` | measures whole runs of SSDs alone |
//! | `queue-depths` | measures event-driven devices at several queue depths alone |
//! | `row NAME COUNT REPEATS FOLDER` | measures one of the main benchmarks alone, with its files in `FOLDER` |
//! | `accuracy` | compares disks, a flash channel, a memory controller, and queues of a drive with event simulations |
//! | `counts FILE` | counts the instructions of the main benchmarks and compares them with `FILE`; `--write` updates it |
//! | `train FILE FOLDER` | runs the training workload in `FILE` for profile-guided builds, with shipped traces in `FOLDER` |
//! | `memory FILE COUNT` | streams `COUNT` requests from `FILE` through a cache and prints the peak memory |
//!
//! Benchmarks run on one thread unless stated otherwise. A rate is per second of processor time and is the
//! best of five runs. On a shared machine, the fastest run is the least disturbed, and the median shows the
//! disturbance. Nothing is asserted. The budgets are those of docs/decisions/0005-speed.md and
//! docs/decisions/0019-whole-runs.md.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark reads files and prints")]

mod accuracy;
mod caches;
mod closed_loop;
mod codes;
mod counts;
mod crash;
mod curves;
mod disk_caches;
mod flash_drive;
mod flash_memory;
mod key_value;
mod memory_card;
mod pcm_drive;
mod queue_depths;
mod report;
mod rows;
mod runs;
mod streams;
mod traces;
mod training;

use report::Report;
use std::path::Path;
use std::process::ExitCode;

/// The allocator of the Python extension module, because the benchmarks represent the speed of this module.
#[global_allocator]
static MEMORY: nacre_pages::LargePages = nacre_pages::LargePages;

/// Usage message.
const USAGE: &str = "usage: nacre-bench streams FOLDER | run FOLDER | codes FOLDER | crash | curves FOLDER | accuracy | flash-memory | flash-drive | flash-runs | pcm-drive | memory-card | key-value | disk-caches | queue-depths | whole-runs FOLDER | \
                     row NAME COUNT REPEATS FOLDER | counts FILE [--write] | \
                     train FILE FOLDER | memory FILE COUNT";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["streams", folder] => streams::write(Path::new(folder)),
        ["run", folder] => run(Path::new(folder)),
        ["codes", folder] => {
            codes::measure(&Report::begin(Path::new(folder)));
            Ok(())
        }
        ["crash"] => {
            crash::measure(&Report::begin(Path::new(".")));
            Ok(())
        }
        ["curves", folder] => {
            curves::measure(&Report::begin(Path::new(folder)));
            Ok(())
        }
        ["accuracy"] => {
            accuracy::print();
            Ok(())
        }
        ["flash-drive"] => flash_drive::measure(&Report::begin(Path::new("."))),
        ["flash-runs"] => {
            flash_drive::measure_runs(&Report::begin(Path::new(".")));
            Ok(())
        }
        ["flash-memory"] => flash_memory::measure(&Report::begin(Path::new("."))),
        ["whole-runs", folder] => runs::measure(&Report::begin(Path::new(folder)), Path::new(folder)),
        ["disk-caches"] => disk_caches::measure(&Report::begin(Path::new("."))),
        ["key-value"] => key_value::measure(&Report::begin(Path::new("."))),
        ["memory-card"] => memory_card::measure(&Report::begin(Path::new("."))),
        ["pcm-drive"] => pcm_drive::measure(&Report::begin(Path::new("."))),
        ["queue-depths"] => {
            queue_depths::measure(&Report::begin(Path::new(".")));
            Ok(())
        }
        ["row", name, count, repeats, folder] => rows::measure(name, count, repeats, Path::new(folder)),
        ["counts", file] => counts::compare(Path::new(file)),
        ["counts", file, "--write"] => counts::write(Path::new(file)),
        ["train", file, traces] => training::train(Path::new(file), Path::new(traces)),
        ["memory", file, count] => runs::memory(Path::new(file), count),
        _ => Err(USAGE.into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Result of a benchmark function, with any kind of error.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn run(folder: &Path) -> Result<()> {
    let report = Report::begin(folder);
    caches::measure(&report);
    curves::measure(&report);
    codes::measure(&report);
    traces::measure(&report)?;
    flash_memory::measure(&report)?;
    key_value::measure(&report)?;
    disk_caches::measure(&report)?;
    pcm_drive::measure(&report)?;
    memory_card::measure(&report)?;
    queue_depths::measure(&report);
    flash_drive::measure(&report)?;
    flash_drive::measure_runs(&report);
    crash::measure(&report);
    runs::measure(&report, folder)
}
