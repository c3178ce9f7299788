//! Speed of Onyx: random requests of two sizes, 16 of them outstanding.

use crate::Result;
use crate::closed_loop::ClosedLoop;
use crate::report::{Report, best_of};
use crate::streams::{NoFiles, checked};
use nacre_kernel::Op;
use nacre_kernel::event::Device;
use nacre_machine::stack::build_alone;

/// Number of requests per repetition.
const REQUESTS: u64 = 2_000_000;
/// Number of outstanding requests.
pub(crate) const DEPTH: u32 = 16;

/// Measures the drive of the paper alone, without a workload.
pub(crate) fn measure(report: &Report) -> Result<()> {
    for (what, op, bytes, budget) in [
        ("onyx, reads of 4 KiB", Op::Read, 4096, 1.0),
        ("onyx, writes of 4 KiB", Op::Write, 4096, 1.0),
        ("onyx, reads of 512 B", Op::Read, 512, 4.0),
        ("onyx, writes of 512 B", Op::Write, 512, 4.0),
    ] {
        let mut device = device()?;
        let mut host = ClosedLoop::new(&*device, bytes, DEPTH);
        host.ask(&mut *device, op, REQUESTS / 4);
        let seconds = best_of(|| host.ask(&mut *device, op, REQUESTS));
        report.line(what, REQUESTS, seconds, Some(budget), &[]);
    }
    Ok(())
}

/// Creates the drive of the paper.
pub(crate) fn device() -> Result<Box<dyn Device>> {
    let scenario = checked(
        "[workload]\nkind = \"uniform\"\nrequests = 1\nfootprint = \"8 GiB\"\n[stack]\npreset = \"onyx\"\n",
    );
    Ok(build_alone(&scenario, &NoFiles)?)
}
