//! Construction of the bit error model.

use super::{Carried, Counts, Errors, Row, Sensing};
use crate::config::Config;
use crate::errors::aging::ErrorRate;
use crate::layout::geometry::Geometry;
use nacre_config::{ErrorCode, Problem, Problems};
use nacre_controller::ecc::{self, Page, Verdict};
use nacre_device::{Builder, TableMemory};
use nacre_kernel::{Ledger, LossReport};
use std::collections::BTreeSet;

/// Creates the bit error model of the drive at `path` if `config` has one. Returns an error if the
/// error-correcting code is invalid, does not detect bit errors, or needs more spare bytes than a page has.
pub(crate) fn build(
    config: &Config,
    geometry: &Geometry,
    path: &str,
    builder: &mut dyn Builder,
) -> Result<Option<Box<Errors>>, Problems> {
    let Some((mapping, errors)) =
        config.pages().and_then(|mapping| Some((mapping, mapping.errors.as_ref()?)))
    else {
        return Ok(None);
    };
    let code = ecc::build(&errors.ecc, Page { families: builder.families(), bytes: config.unit })?;
    let wrong = |at: &str, text: String, remedy: &str| {
        Err(Problem::new(ErrorCode::ConflictingSettings, &format!("{path}.errors.{at}"), None, text)
            .remedy(remedy)
            .into())
    };
    if code.decoding(1).verdict == Verdict::Unnoticed {
        let text = "it cannot detect bit errors, so the drive would return them".to_string();
        return wrong("ecc", text, "use kind = \"bch\", \"ldpc\" or \"crc32\"");
    }
    let needed = code.layout().spare_bytes * u64::from(geometry.units_per_page);
    if let Some(spare) = errors.spare.filter(|spare| spare.0 < needed) {
        let text = format!("the code needs {needed} B next to a page, and there are {spare}");
        return wrong("spare", text, "give a larger spare, or a weaker code");
    }
    let carried = match mapping.allocation.copies_inside() {
        true => Carried::new(geometry.numbers(), code.layout().codewords),
        false => Carried::default(),
    };
    let in_all = carried.bytes();
    builder.take_memory_as_touched(path, TableMemory { at_once: 0, in_all, in_run: in_all })?;
    Ok(Some(Box::new(Errors {
        error_rate: ErrorRate::of(errors),
        code,
        geometry: *geometry,
        seed: builder.random(&format!("{path}.errors")).bits(),
        rows: vec![Row::default(); geometry.superblocks as usize],
        reads: vec![0; geometry.superblocks as usize * geometry.blocks_per_superblock() as usize],
        lost: BTreeSet::new(),
        losses: 0,
        report: LossReport::default(),
        refresh_reads: errors.refresh_reads.unwrap_or(u32::MAX),
        due: None,
        copying: vec![Sensing::default(); geometry.regions as usize],
        carried,
        counts: Counts::default(),
        ledger: Ledger::default(),
    })))
}
