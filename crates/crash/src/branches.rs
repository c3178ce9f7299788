//! Many power losses from one state of a run, without restarting the run.

use crate::auditor::Broken;
use crate::draw::Drawer;
use crate::fault::Fault;
use crate::life::{Life, Stack};
use crate::media::Media;
use crate::report::Report;
use crate::sequence::Sequence;
use nacre_kernel::Streams;

/// Performs the steps of `sequence` once on a new device. Then cuts power repeatedly from the resulting
/// state, at random times generated from `seed`.
///
/// Returns an error if a guarantee is violated, or if the restored device differs from the device before the
/// power loss.
pub fn branch_off(
    stack: &mut dyn Stack,
    sequence: &Sequence,
    points: u64,
    seed: u64,
) -> Result<Report, Broken> {
    let mut report = Report::new(&*stack.build(&Media::new()));
    report.lives = 1;
    let mut life = Life::new(stack, Media::new(), sequence);
    for step in &sequence.steps {
        life.step(step)?;
    }
    let blocks = life.device.capacity().map_or(u64::MAX, |capacity| capacity.0) / sequence.block_bytes as u64;
    let mut drawer = Drawer::new(Streams::new(seed).stream("branches"), blocks, false);
    life.mark()?;
    life.look_ahead()?;
    while report.points() < points {
        let loss = drawer.loss(&life);
        let survived = life.branch(&loss)?;
        report.survived(Fault::PowerLoss, &survived, loss.is_early);
        life.check_mark()?;
    }
    report.requests = life.requests;
    Ok(report)
}
