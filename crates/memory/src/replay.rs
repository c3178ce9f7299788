//! Playing a journal back.

use crate::memory::{Memory, Refusal};
use crate::step::Step;
use nacre_image::Records;
use nacre_kernel::{Refused, Time};

/// The number of a record, and what is wrong with it.
type Mistake = (usize, String);

/// Brings `memory` from its checkpoint to where `records` end. The error is the number of the record that
/// this device could not have written, and what is wrong with it.
pub(crate) fn replay(memory: &mut Memory, records: &Records) -> Result<(), Mistake> {
    let mut rest = records.iter().enumerate();
    while let Some((number, record)) = rest.next() {
        let (at, step) = decode(number, record)?;
        memory.catch_up(at);
        let refused = match memory.apply(step) {
            Ok(_) => continue,
            Err(refused) => refused,
        };
        match refused {
            // It had room when it was accepted: see the crate's documentation.
            Refusal::Refused(Refused::TransactionTooLarge { .. }) => finish(memory, number, step, &mut rest)?,
            refused => return Err(refusal(number, step, refused)),
        }
    }
    Ok(())
}

/// Does without a transaction what is left of one, from `step` on, if it was committed in the end. Otherwise
/// takes it back and leaves out the rest.
fn finish<'a>(
    memory: &mut Memory,
    number: usize,
    step: Step<'a>,
    rest: &mut impl Iterator<Item = (usize, &'a [u8])>,
) -> Result<(), Mistake> {
    let mut left = vec![(number, step)];
    let mut end = None;
    for (number, record) in rest {
        let (_, step) = decode(number, record)?;
        if matches!(step, Step::Commit | Step::Abort | Step::PowerFail) {
            end = Some((number, step));
            break;
        }
        left.push((number, step));
    }
    let steps = match end {
        Some(end @ (_, Step::Commit)) => [vec![end], left].concat(),
        Some(end) => vec![end],
        None => vec![(number, Step::Abort)],
    };
    for (number, step) in steps {
        memory.apply(step).map_err(|refused| refusal(number, step, refused))?;
    }
    Ok(())
}

fn refusal(number: usize, step: Step<'_>, refused: Refusal) -> Mistake {
    (number, format!("{} is refused: {refused:?}", step.name()))
}

fn decode(number: usize, record: &[u8]) -> Result<(Time, Step<'_>), Mistake> {
    Step::decode(record).ok_or_else(|| (number, "it is no record of a memory".into()))
}
