//! Preparations: what preconditioning leaves behind, kept for the runs that begin alike.

use crate::identity::{identity, settings_of};
use crate::scenario::{Checked, FillOf};
use nacre_config::CountOr;

/// Keeps the states that preconditioning led to, by what they were made of.
pub trait Preparations: Sync {
    /// The state kept under `preparation`, if there is one.
    fn find(&self, preparation: &str) -> Option<Vec<u8>>;

    /// Keeps `state`. What cannot be kept is made again.
    fn keep(&self, preparation: &str, state: &[u8]);
}

/// Lines `path = value` of everything that decides in which state preconditioning leaves the stack of `checked`, in
/// the order of the paths; none if nothing is preconditioned.
///
/// Preconditioning takes no time: when requests arrive, how many are served afterwards and how long a flash drive takes
/// have no part in it.
pub fn preparation(checked: &Checked) -> Option<String> {
    if !checked.run.prepares() {
        return None;
    }
    let identity = identity(checked);
    let is_drive = identity.lines().any(|line| ["stack.kind = ssd", "stack.kind = zns_ssd"].contains(&line));
    let mut lines: Vec<String> = identity.lines().map(|line| without_times(is_drive, line)).collect();
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
    if checked.run.fill.as_ref().is_some_and(|fill| fill.of == FillOf::Footprint) {
        // A trace touches more the more of it is read.
        let of_addresses = |line: &String| !line.starts_with("workload.arrival.");
        lines.extend(settings_of(checked, "workload.").into_iter().filter(of_addresses));
        lines.extend(settings_of(checked, "run.requests"));
    }
    // A kept state is found by this text, whatever order a schema gives its settings.
    lines.sort_unstable();
    lines.dedup();
    Some(lines.join("\n"))
}

/// The line without its value where that says what a part of a flash drive takes that is the whole stack: whether the
/// setting is given stays, and how many values it has. In a larger stack others may ask how fast the drive is, such as a
/// placement over tiers.
fn without_times(is_drive: bool, line: &str) -> String {
    let Some((path, _)) = line.split_once(" = ").filter(|_| is_drive) else { return line.to_string() };
    let setting = path.split_once('[').map_or(path, |(list, _)| list);
    let is_time = setting.strip_prefix("stack.").is_some_and(|setting| nacre_ssd::TAKES.contains(&setting));
    if is_time { path.to_string() } else { line.to_string() }
}
