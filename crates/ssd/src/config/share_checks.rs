//! Checks of a share of a pool of drives.

use crate::config::Config;
use crate::config::space::has_room;
use nacre_kernel::Bytes;

/// Problem and remedy of `capacity` in a valid drive. A share must be smaller than the drive, and large
/// enough for the reserve and the open superblocks next to its data. `None` if the share can be simulated, or
/// without a capacity.
pub(crate) fn share_problem(config: &Config) -> Option<(String, String)> {
    let capacity = config.pages()?.capacity?;
    let whole = config.whole();
    let drive = Bytes(whole.logical_units() * whole.unit.0);
    let told = |problem: &str, remedy: &str| Some((problem.to_string(), remedy.to_string()));
    if !capacity.0.is_multiple_of(config.unit.0) {
        let below = Bytes(capacity.0 / config.unit.0 * config.unit.0);
        return told("it is not a whole number of units", &format!("the nearest below is {below}"));
    }
    if capacity > drive {
        return told(&format!("the whole drive holds {drive}"), "give at most that, or remove it");
    }
    if has_room(&config.clone().of_share()) {
        return None;
    }
    let row = whole.raw_bytes() / u64::from(whole.blocks);
    let of_blocks = |blocks: u32| {
        let bytes = (u64::from(blocks) * row) as f64 / (1.0 + whole.over_provisioning.0);
        Bytes(bytes as u64 / whole.unit.0 * whole.unit.0)
    };
    let fits = |bytes: &Bytes| has_room(&config.clone().with_capacity(Some(*bytes)).of_share());
    let least = (1..whole.blocks).map(of_blocks).find(fits).unwrap_or(drive);
    let problem = format!(
        "erased and open superblocks of {} leave no space for data in such a small share",
        Bytes(row)
    );
    told(&problem, &format!("give at least {least}, or a drive with fewer dies or pages"))
}
