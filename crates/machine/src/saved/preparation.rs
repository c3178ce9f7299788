//! Preparations: what preconditioning leaves behind, kept for the runs that begin alike.

use crate::identity::{identity, settings_of};
use crate::scenario::Checked;
use nacre_config::CountOr;

/// Keeps the states that preconditioning led to, by what they were made of.
pub trait Preparations: Sync {
    /// The state kept under `preparation`, if there is one.
    fn find(&self, preparation: &str) -> Option<Vec<u8>>;

    /// Keeps `state`. What cannot be kept is made again.
    fn keep(&self, preparation: &str, state: &[u8]);
}

/// Lines `path = value` of everything that decides in which state preconditioning leaves the stack of `checked`, in
/// the order of the paths; none where nothing is preconditioned.
///
/// Preconditioning takes no time: when requests arrive and how many are served afterwards have no part in it.
pub fn preparation(checked: &Checked) -> Option<String> {
    if !checked.run.prepares() {
        return None;
    }
    let mut lines: Vec<String> = identity(checked).lines().map(String::from).collect();
    for setting in ["run.fill.", "run.precondition", "run.until_steady."] {
        lines.extend(settings_of(checked, setting));
    }
    let takes_other_writes = matches!(checked.run.precondition, CountOr::Room(_));
    if !takes_other_writes && checked.run.takes_writes() {
        let of_writes = |line: &String| {
            !["workload.arrival.", "workload.requests "].iter().any(|timed| line.starts_with(timed))
        };
        lines.extend(settings_of(checked, "workload.").into_iter().filter(of_writes));
    }
    // A kept state is found by this text, whatever order a schema gives its settings.
    lines.sort_unstable();
    Some(lines.join("\n"))
}
