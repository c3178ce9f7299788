//! Replay of a journal.

use crate::error::NotTaken;
use crate::persistent_device::PersistentDevice;
use crate::step::{Step, When};
use nacre_image::Records;
use nacre_kernel::Refused;

/// Number of an invalid record, and the reason why it is invalid.
type ReplayError = (usize, String);

/// Replays `records` on `device`, which is in the state of its checkpoint. The error contains the number of
/// the record that this device could not have written, and the reason.
pub(crate) fn replay(device: &mut PersistentDevice, records: &Records) -> Result<(), ReplayError> {
    // After a transaction is replayed without one, later steps have different times.
    let mut is_moved = false;
    let mut rest = records.iter().enumerate();
    while let Some((number, mut record)) = rest.next() {
        while !record.is_empty() {
            let (when, step) = decode(number, &mut record)?;
            fits(device, number, step)?;
            // A device that cleans differently takes different times, so requests may be outstanding when a
            // transaction begins or ends.
            is_moved |= matches!(step, Step::Begin | Step::Commit | Step::Abort) && device.outstanding() > 0;
            let when = if is_moved { moved(device, when) } else { when };
            let is_then = device.bring_to(when);
            is_then.map_err(|problem| (number, format!("{} {problem}", step.name())))?;
            let refused = match device.check(step) {
                Ok(()) => {
                    device.apply(when.at, step);
                    continue;
                }
                Err(refused) => refused,
            };
            match refused {
                // The transaction had enough space when it was accepted; see the crate's documentation.
                NotTaken::Refused(Refused::TransactionTooLarge { .. }) => {
                    finish(device, number, (when, step), &mut rest)?;
                    is_moved = true;
                }
                refused => return Err(refusal(number, step, &refused)),
            }
        }
    }
    Ok(())
}

/// Replays the rest of a transaction from its step `first`. A committed transaction is replayed without a
/// transaction. Otherwise, the rest is skipped, and the transaction is rolled back.
fn finish<'a>(
    device: &mut PersistentDevice,
    number: usize,
    first: (When, Step<'a>),
    rest: &mut impl Iterator<Item = (usize, &'a [u8])>,
) -> Result<(), ReplayError> {
    let mut left = vec![(number, first)];
    let mut end = None;
    'records: for (number, mut record) in rest {
        while !record.is_empty() {
            let (when, step) = decode(number, &mut record)?;
            if matches!(step, Step::Commit | Step::Abort | Step::PowerFail) {
                end = Some((number, (when, step)));
                break 'records;
            }
            if !matches!(step, Step::Read { .. }) {
                left.push((number, (when, step)));
            }
        }
    }
    let steps = match end {
        Some(end @ (_, (_, Step::Commit))) => [vec![end], left].concat(),
        Some(end) => vec![end],
        None => vec![(number, (first.0, Step::Abort))],
    };
    for (number, (when, step)) in steps {
        device.check(step).map_err(|refused| refusal(number, step, &refused))?;
        let when = moved(device, when);
        device.bring_to(when).map_err(|problem| (number, format!("{} {problem}", step.name())))?;
        device.apply(when.at, step);
    }
    Ok(())
}

/// The time of a step in the replay. It is later than the recorded time if earlier steps took longer.
fn moved(device: &mut PersistentDevice, when: When) -> When {
    device.complete_all();
    when.at.max(device.until()).into()
}

/// Returns an error if the range of `step` is partly outside the device.
fn fits(device: &PersistentDevice, number: usize, step: Step<'_>) -> Result<(), ReplayError> {
    let (address, bytes) = match step {
        Step::Read { address, bytes } | Step::Zero { address, bytes } | Step::Trim { address, bytes } => {
            (address, u64::from(bytes))
        }
        Step::Write { address, bytes } | Step::Append { address, bytes } => (address, bytes.len() as u64),
        Step::Zone { address, .. } => (address, 1),
        Step::Harm { address, bytes, .. } => (address, bytes),
        _ => return Ok(()),
    };
    match address.checked_add(bytes).is_some_and(|end| end <= device.capacity()) {
        true => Ok(()),
        false => Err((number, format!("{} is past the end", step.name()))),
    }
}

fn refusal(number: usize, step: Step<'_>, refused: &NotTaken) -> ReplayError {
    (number, format!("{} is refused: {refused:?}", step.name()))
}

fn decode<'a>(number: usize, record: &mut &'a [u8]) -> Result<(When, Step<'a>), ReplayError> {
    Step::decode(record).ok_or_else(|| (number, "it is not a record of a memory".into()))
}
