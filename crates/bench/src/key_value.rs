//! Speed of the key-value store: rate of generated requests, and whole runs.

use crate::Result;
use crate::report::{Report, best_of};
use crate::streams::{NoFiles, checked};
use nacre_kernel::event::Agenda;
use nacre_kernel::{Status, Time};
use nacre_machine::run;
use nacre_machine::stack::build;
use nacre_workload::{Issued, Workload};
use std::ops::ControlFlow;

/// Number of requests per repetition.
const REQUESTS: u64 = 4_000_000;

/// Measures both access methods of a store with 1 million pairs and a cache of 10 % of the pairs. The store
/// sends its requests to a device with a latency of 100 us. In whole runs, it sends them to a PCM SSD.
pub(crate) fn measure(report: &Report) -> Result<()> {
    for method in ["hash", "btree"] {
        let scenario = checked(&format!(
            "[workload]\nkind = \"kv\"\nmethod = \"{method}\"\ncache = \"16 MiB\"\n\
             [stack]\npreset = \"pcm_ssd\"\n[run]\nrequests = {REQUESTS}\n"
        ));
        let mut workload = build(&scenario, &NoFiles)?.workload;
        let mut failed = None;
        let seconds = best_of(|| failed = ask(&mut *workload).err().or(failed.take()));
        if let Some(error) = failed {
            return Err(error);
        }
        report.line(&format!("requests of kv, {method}"), REQUESTS, seconds, Some(1.0), &[]);
        let seconds = best_of(|| {
            run(&scenario, &NoFiles, &mut |_| ControlFlow::Continue(()))
                .expect("a legal scenario")
                .record
                .cost
        });
        report.line(&format!("whole run, kv, {method}, on a PCM SSD"), REQUESTS, seconds, None, &[]);
    }
    Ok(())
}

/// Runs `workload` on a device that has a latency of 100 us at any queue depth.
fn ask(workload: &mut dyn Workload) -> Result<()> {
    let workload = workload.interactive().ok_or("it reacts to completions")?;
    let mut outstanding = Agenda::new();
    let (mut asked, mut issued) = (0, Vec::with_capacity(1));
    while asked < REQUESTS {
        let due = workload.next_event();
        if let Some((at, tag)) = outstanding.pop_before(due) {
            workload.complete(at, tag, Status::Done);
            continue;
        }
        workload.step(due, &mut issued)?;
        for Issued { tag, .. } in issued.drain(..) {
            outstanding.schedule(due + Time::from_us(100), tag);
            asked += 1;
        }
    }
    // The loop completes outstanding requests, so that the next repetition starts without any.
    while let Some((at, tag)) = outstanding.pop_before(Time::MAX) {
        workload.complete(at, tag, Status::Done);
    }
    Ok(())
}
