//! The main rows: works that are done one at a time, so that two builds can be compared in turns, and the
//! instructions of each can be counted.

use crate::Result;
use crate::caches::policy;
use crate::curves::exact;
use crate::flash_memory::Pages;
use crate::report::repeated;
use crate::streams::{NoFiles, STREAMS, Stream, checked, requests};
use nacre_files::ScenarioFiles;
use nacre_machine::{Checked, Files, run};
use std::ops::ControlFlow;
use std::path::Path;

/// A work of so many requests.
pub(crate) struct Row {
    /// Its name in results.
    pub(crate) name: String,
    /// Requests, or page writes, of one repeat.
    pub(crate) requests: u64,
    prepare: Prepare,
}

/// Gives what a repeat does, of so many requests; files may be written to the folder.
type Prepare = Box<dyn Fn(u64, &Path) -> Result<Box<dyn FnMut()>>>;

/// Policies whose speed over blocks outside the processor's caches has a budget.
const POLICIES: [&str; 6] = ["lru", "fifo", "sieve", "arc", "w_tinylfu", "s3_fifo"];

/// All of them.
pub(crate) fn all(count: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |name: String, prepare: Prepare| rows.push(Row { name, requests: count, prepare });
    for stream in STREAMS {
        add(format!("run/{}", stream.name), Box::new(move |count, _| Ok(whole(&stream.run(count), NoFiles))));
        add(format!("run-trace/{}", stream.name), Box::new(move |count, folder| traced(stream, count, folder)));
        for kind in POLICIES {
            add(
                format!("{kind}/{}", stream.name),
                Box::new(move |count, _| {
                    let keys = stream.keys(count);
                    Ok(Box::new(move || {
                        std::hint::black_box(policy(kind, stream.cache_blocks()).replay(&keys));
                    }))
                }),
            );
        }
        add(
            format!("curve/{}", stream.name),
            Box::new(move |count, _| {
                let requests = requests(&stream.scenario(count), count);
                Ok(Box::new(move || {
                    std::hint::black_box(exact(&requests));
                }))
            }),
        );
    }
    add(
        "envy/page-writes".into(),
        Box::new(|count, _| {
            let mut pages = Pages::in_steady_cleaning()?;
            Ok(Box::new(move || pages.write(count)))
        }),
    );
    rows
}

/// Does the row called `name` so often and prints its best and middle rate.
pub(crate) fn measure(name: &str, count: &str, repeats: &str, folder: &Path) -> Result<()> {
    let rows = all(count.parse()?);
    let row = rows.into_iter().find(|row| row.name == name).ok_or_else(|| format!("there is no row {name}"))?;
    let mut work = (row.prepare)(row.requests, folder)?;
    let seconds = repeated(repeats.parse()?, || counted(&mut *work));
    let [best, middle] = [seconds[0], seconds[seconds.len() / 2]].map(|s| row.requests as f64 / s / 1e6);
    println!("{name:<28} best {best:>7.3} middle {middle:>7.3} M/CPU s");
    Ok(())
}

/// What is counted: callgrind is told this name.
#[inline(never)]
pub(crate) fn counted(work: &mut dyn FnMut()) {
    work();
}

/// A whole run of `scenario`.
fn whole(scenario: &str, files: impl Files + 'static) -> Box<dyn FnMut()> {
    let scenario: Checked = checked(scenario);
    Box::new(move || {
        let outcome = run(&scenario, &files, &mut |_| ControlFlow::Continue(()));
        std::hint::black_box(outcome.expect("a legal scenario").record.cost);
    })
}

/// A whole run of the same requests from a trace file.
fn traced(stream: Stream, count: u64, folder: &Path) -> Result<Box<dyn FnMut()>> {
    let file = folder.join(format!("{}-{count}.nacre", stream.name));
    if !file.exists() {
        crate::traces::write(&file, &requests(&stream.run(count), count))?;
    }
    let scenario = stream.traced(&file.canonicalize()?.display().to_string());
    Ok(whole(&scenario, ScenarioFiles::new(".", None)))
}
