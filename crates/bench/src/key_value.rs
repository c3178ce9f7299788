//! The key-value store: how fast it makes requests, and a whole run.

use crate::Result;
use crate::report::{Report, best_of};
use crate::streams::{NoFiles, checked};
use nacre_kernel::Time;
use nacre_machine::run;
use nacre_machine::stack::build;
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
        let mut batch = Vec::with_capacity(1);
        let mut failed = None;
        let seconds = best_of(|| {
            for _ in 0..REQUESTS {
                batch.clear();
                failed = workload.fill(&mut batch, 1).err().or(failed.take());
                workload.complete(batch[0].arrival + Time::from_us(100));
            }
        });
        if let Some(error) = failed {
            return Err(error.into());
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
