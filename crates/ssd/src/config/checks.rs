//! Checks of the settings of page-mapped drives.

use crate::config::check_sizes::{
    check_buffer, check_cache, check_divisor, check_drive, check_numbers, check_slc_cache,
};
use crate::config::share::{has_room, share_with_table, units_wanted};
use crate::config::{Config, OPEN, SsdConfig, percent, share_problem};
use nacre_config::Reader;

/// Reports every error that involves several settings. If the device models a share of a drive, the whole
/// drive is checked before the share.
pub(crate) fn check(given: &SsdConfig, reader: &mut Reader<'_>) {
    let config = Config::from(given);
    let Some(capacity) = given.mapping.capacity else { return check_whole(&config, reader) };
    let before = reader.problem_count();
    check_whole(&config.whole(), reader);
    if reader.problem_count() > before {
        return;
    }
    if let Some((problem, remedy)) = share_problem(&config) {
        return reader.conflict("capacity", &capacity.to_string(), &problem, &remedy);
    }
    let share = config.of_share();
    check_buffer(&share, reader);
    check_idle_reserve(&share, reader);
}

fn check_whole(config: &Config, reader: &mut Reader<'_>) {
    check_cache(config, reader);
    check_copyback(config, reader);
    if !check_handles(config, reader) || !check_groups(config, reader) {
        return;
    }
    let (has_units, has_stripes) = (check_drive(config, reader), check_parity(config, reader));
    if !has_units || !has_stripes || !check_numbers(config, reader) {
        return;
    }
    check_buffer(config, reader);
    check_slc_cache(config, reader);
    let superblocks = config.mapping().garbage_collection.reserve + config.superblocks_of_handles() + 2;
    let kept = superblocks * config.blocks_of_plane();
    if config.spare_blocks + kept > config.blocks {
        let problem = format!(
            "no blocks are left for data: {superblocks} superblocks stay erased, open, or in garbage \
             collection, and {} blocks are spare",
            config.spare_blocks
        );
        let least = kept + config.spare_blocks;
        let remedy = match config.blocks.checked_sub(kept) {
            Some(most) => format!("give at least {least}, or at most {most} spare_blocks"),
            None => format!("give at least {least} with these spare_blocks"),
        };
        reader.conflict("blocks", &config.blocks.to_string(), &problem, &remedy);
        return;
    }
    check_space(config, reader);
    check_idle_reserve(config, reader);
}

/// Checks that flexible data placement has at least one handle. Returns whether the check passes.
fn check_handles(config: &Config, reader: &mut Reader<'_>) -> bool {
    let has_handles = config.mapping().handles() > 0;
    if !has_handles {
        let remedy = "give at least one handle, or leave fdp out";
        reader.conflict(
            "fdp.initially_isolated",
            "0",
            "the host writes through a handle, and there is none",
            remedy,
        );
    }
    has_handles
}

/// Checks that all reclaim groups can have the same number of dies. Returns whether the check passes.
fn check_groups(config: &Config, reader: &mut Reader<'_>) -> bool {
    let (dies, groups) = (config.dies_in_all(), u64::from(config.mapping().allocation.reclaim_groups()));
    let problem = format!("the {dies} dies are not a whole number for each group");
    check_divisor("allocation.reclaim_groups", (groups, 1), dies, &problem, reader)
}

/// Checks that the dies of a superblock form a whole number of stripes. Returns whether the check passes.
fn check_parity(config: &Config, reader: &mut Reader<'_>) -> bool {
    let Some(stripe) = config.stripe() else { return true };
    let dies = config.dies_of_superblock();
    let has_groups = config.mapping().allocation.reclaim_groups() > 1;
    if dies < 2 {
        let (whole, remedy) = match has_groups {
            true => ("a reclaim group", "leave it out, or give fewer reclaim_groups or more ways"),
            false => ("the drive", "leave it out, or give more ways"),
        };
        let problem = format!("the pages of a stripe need different dies, and {whole} has one die");
        reader.conflict("allocation.parity", "a stripe", &problem, remedy);
        return false;
    }
    let of_group = if has_groups { " of a reclaim group" } else { "" };
    let problem = format!("the {dies} dies{of_group} are not a whole number of stripes");
    check_divisor("allocation.parity.stripe", (u64::from(stripe), 2), dies, &problem, reader)
}

/// Checks that a unit is a whole page if copies stay inside a die, because such copies move whole pages.
fn check_copyback(config: &Config, reader: &mut Reader<'_>) {
    if config.mapping().allocation.copies_inside() && config.unit.0 != config.page.0 {
        let remedy = format!("leave it out, or use units of {}", config.page);
        let problem = "it copies whole pages, and a unit is a part of one";
        reader.conflict("allocation.copyback", "true", problem, &remedy);
    }
}

/// Checks that `idle_reserve` erased superblocks leave enough space for the data and the open superblocks.
fn check_idle_reserve(config: &Config, reader: &mut Reader<'_>) {
    let Some(wanted) = config.mapping().garbage_collection.idle_reserve else { return };
    let holding = (units_wanted(config) / (config.units_per_superblock() as f64 - 1.0)).ceil();
    let most = f64::from(config.superblocks())
        - f64::from(OPEN + config.superblocks_of_handles() + config.mapping().garbage_collection.reserve)
        - holding;
    if f64::from(wanted) > most {
        let remedy = match most >= 1.0 {
            true => format!("give at most {most}"),
            false => "remove it, or give more over_provisioning".into(),
        };
        let problem = "the other superblocks do not hold the data";
        reader.conflict("garbage_collection.idle_reserve", &wanted.to_string(), problem, &remedy);
    }
}

/// Checks that the flash has space for the data, the mapping table, the reserve, the open superblocks, and
/// one invalid unit in each remaining superblock. Without invalid units, garbage collection could not
/// reclaim space.
fn check_space(config: &Config, reader: &mut Reader<'_>) {
    if has_room(config) {
        return;
    }
    let units = config.units_per_superblock() as f64;
    let kept = config.mapping().garbage_collection.reserve + config.superblocks_of_handles();
    let room = f64::from(config.superblocks() - kept) * (units - 1.0);
    let given = percent(config.over_provisioning);
    let raw = config.raw_bytes() as f64 / config.unit.0 as f64 / config.regions() as f64;
    let least = ((raw * share_with_table(config) / (room - 2.0) - 1.0) * 1e3).ceil() / 10.0;
    let parity = config.stripe().map_or(String::new(), |size| format!(", one page of {size} with parity"));
    let problem = format!(
        "{kept} superblocks that stay erased or open{parity} and {} spare blocks leave no space for data",
        config.spare_blocks
    );
    let remedy = format!("the smallest allowed is {least} %, or give more blocks");
    reader.conflict("over_provisioning", &given, &problem, &remedy);
}
