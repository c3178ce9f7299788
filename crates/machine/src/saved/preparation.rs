//! Cache of preconditioned states, shared by runs with the same preconditioning.

use crate::identity::{identity, settings_of};
use crate::scenario::{Checked, FillOf};
use nacre_config::CountOr;

/// A cache of preconditioned states, keyed by the text of [`preparation`].
pub trait Preparations: Sync {
    /// Returns the state stored under `preparation`, if any.
    fn find(&self, preparation: &str) -> Option<Vec<u8>>;

    /// Stores `state`. If a state cannot be stored, the next run computes it again.
    fn keep(&self, preparation: &str, state: &[u8]);
}

/// Returns lines `path = value` for everything that determines the preconditioned state of `checked`,
/// sorted by path. Returns `None` for a run without preconditioning.
///
/// Preconditioning takes no simulated time, so arrival times, the number of measured requests, and the
/// timings of a flash drive are omitted.
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
    let takes_other_writes = matches!(checked.run.precondition, CountOr::Model(_));
    if !takes_other_writes && checked.run.takes_writes() {
        let of_writes = |line: &String| {
            !["workload.arrival.", "workload.requests "].iter().any(|timed| line.starts_with(timed))
        };
        lines.extend(settings_of(checked, "workload.").into_iter().filter(of_writes));
    }
    if checked.run.fill.as_ref().is_some_and(|fill| fill.of == FillOf::Footprint) {
        // The footprint of a trace depends on the number of requests that are read.
        let of_addresses = |line: &String| !line.starts_with("workload.arrival.");
        lines.extend(settings_of(checked, "workload.").into_iter().filter(of_addresses));
        lines.extend(settings_of(checked, "run.requests"));
    }
    // States are looked up by this text, so it must not depend on the order of settings in the schema.
    lines.sort_unstable();
    lines.dedup();
    Some(lines.join("\n"))
}

/// Removes the value of a timing if the stack is a single flash drive. The line remains, because the presence
/// of a setting and the number of its values have an effect. In a larger stack, other components may depend
/// on the speed of the drive, e.g. a placement over tiers.
fn without_times(is_drive: bool, line: &str) -> String {
    let Some((path, _)) = line.split_once(" = ").filter(|_| is_drive) else { return line.to_string() };
    let setting = path.split_once('[').map_or(path, |(list, _)| list);
    let is_time = setting.strip_prefix("stack.").is_some_and(|setting| nacre_ssd::TAKES.contains(&setting));
    if is_time { path.to_string() } else { line.to_string() }
}
