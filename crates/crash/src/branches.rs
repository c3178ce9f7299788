//! Many power losses from one state of a run, without restarting the run.

use crate::auditor::Violation;
use crate::device_run::{DeviceRun, Stack};
use crate::fault::Fault;
use crate::generator::Generator;
use crate::media::Media;
use crate::report::Report;
use crate::sequence::Sequence;
use nacre_kernel::Streams;

/// Performs the steps of `sequence` once on a new device. Then cuts power many times, each time starting from
/// the resulting state, at random times generated from `seed`.
///
/// Returns an error if a guarantee is violated, or if the restored device differs from the device before the
/// power loss.
pub fn branch_off(
    stack: &mut dyn Stack,
    sequence: &Sequence,
    points: u64,
    seed: u64,
) -> Result<Report, Violation> {
    let mut report = Report::new(&*stack.build(&Media::new()));
    report.device_runs = 1;
    let mut run = DeviceRun::new(stack, Media::new(), sequence);
    for step in &sequence.steps {
        run.step(step)?;
    }
    let blocks = run.device.capacity().map_or(u64::MAX, |capacity| capacity.0) / sequence.block_bytes as u64;
    let mut generator = Generator::new(Streams::new(seed).stream("branches"), blocks, false);
    run.mark()?;
    run.look_ahead()?;
    while report.points() < points {
        let loss = generator.loss(&run);
        let survived = run.branch(&loss)?;
        report.survived(Fault::PowerLoss, &survived, loss.is_early);
        run.check_mark()?;
    }
    report.requests = run.requests;
    Ok(report)
}
