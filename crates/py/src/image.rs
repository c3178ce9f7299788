//! Checking and repairing image files without their scenario.

use crate::bugs::detached;
use crate::errors::error;
use crate::progress::Reporter;
use nacre_memory::{CheckedImage, check_image as check, repair_image as repair};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Checks an image. Returns the result as JSON text.
#[pyfunction]
pub(crate) fn check_image(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let mut reporter = Reporter::new(None);
    let checked = detached(py, || check(&path, &mut || reporter.report(())))?;
    reporter.outcome()?;
    checked
        .map(|checked| image_json(&checked))
        .map_err(|wrong| error(py, wrong.problem.code(), wrong.problem.data(), wrong.to_string()))
}

/// Writes a repaired copy of an image. Returns the result of the check as JSON text.
#[pyfunction]
pub(crate) fn repair_image(py: Python<'_>, path: PathBuf, out: PathBuf) -> PyResult<String> {
    let mut reporter = Reporter::new(None);
    let checked = detached(py, || repair(&path, &out, &mut || reporter.report(())))?;
    reporter.outcome()?;
    checked
        .map(|checked| image_json(&checked))
        .map_err(|wrong| error(py, wrong.problem.code(), wrong.problem.data(), wrong.to_string()))
}

fn image_json(checked: &CheckedImage) -> String {
    let CheckedImage {
        geometry,
        superblocks: [first, second],
        cut_short,
        checkpoint,
        checkpoint_copies: [first_state, second_state],
        pages,
        journal,
        ..
    } = checked;
    serde_json::json!({
        "is_good": checked.is_good(),
        "can_be_repaired": checked.can_be_repaired(),
        "page_bytes": geometry.page_bytes,
        "raw_bytes": geometry.raw_bytes,
        "identity": checked.identity.lines().collect::<Vec<_>>(),
        "superblocks": { "first": first, "second": second },
        "cut_short": cut_short,
        "checkpoint": checkpoint,
        "checkpoint_copies": { "first": first_state, "second": second_state },
        "pages": {
            "programmed": pages.programmed,
            "are_checked": pages.are_checked,
            "damaged": pages.damaged,
            "named": pages.named,
        },
        "journal": {
            "records": journal.records,
            "is_torn": journal.is_torn,
            "damage": journal.damage,
            "lost": journal.lost,
        },
    })
    .to_string()
}
