//! The key-value store: how fast it makes requests, and a whole run.

use crate::Result;
use crate::report::{Report, best_of};
use crate::streams::{NoFiles, checked};
use nacre_kernel::event::Agenda;
use nacre_kernel::{Status, Time};
use nacre_machine::run;
use nacre_machine::stack::build;
use nacre_workload::{Issued, Workload};
use std::ops::ControlFlow;

/// Requests per repeat.
const REQUESTS: u64 = 4_000_000;

/// Measures both access methods with a million pairs behind a cache of a tenth of them: requests made for a
/// device that takes 100 us for each, and runs on a PCM SSD.
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

/// Has `workload` issue requests to a device that takes 100 us for each, however many are outstanding.
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
    // The next repeat begins with nothing outstanding.
    while let Some((at, tag)) = outstanding.pop_before(Time::MAX) {
        workload.complete(at, tag, Status::Done);
    }
    Ok(())
}
