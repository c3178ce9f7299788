//! What a configuration has to keep so that it can be a drive.

use crate::config::OPEN;
use crate::config::check_sizes::{check_buffer, check_cache, check_cache_size, check_slc_size};
use crate::config::percent;
use crate::config::tenants_places;
use crate::config::{Allocation, Config, Isolation, LETTERS};
use nacre_config::Reader;
use nacre_kernel::Bytes;

/// Physical units are told apart by four bytes, with one value for nowhere.
const NUMBERS_MAX: u128 = u32::MAX as u128;
/// Units of a superblock begin at a whole word of bits.
const SUPERBLOCK_MIN: u64 = 64;

/// Reports every mistake that no single setting shows: of the whole drive, and then of a share of it.
pub(crate) fn check(config: &Config, reader: &mut Reader<'_>) {
    let Some(capacity) = config.capacity else { return check_drive(config, reader) };
    let before = reader.problem_count();
    check_drive(&Config { capacity: None, ..config.clone() }, reader);
    if reader.problem_count() > before {
        return;
    }
    if let Some((problem, remedy)) = share_problem(config) {
        return reader.conflict("capacity", &capacity.to_string(), &problem, &remedy);
    }
    let share = config.clone().of_share();
    check_buffer(&share, reader);
    check_idle_cleaning(&share, reader);
}

/// Why a capacity is no share of the drive, which is sound, and what to do: a share is some of it, and large enough for
/// what is kept erased and filled beside its data. `None` for a share that can be simulated, and without a capacity.
pub(crate) fn share_problem(config: &Config) -> Option<(String, String)> {
    let capacity = config.capacity?;
    let whole = Config { capacity: None, ..config.clone() };
    let drive = Bytes(whole.logical_units() * whole.unit.0);
    let told = |problem: &str, remedy: &str| Some((problem.to_string(), remedy.to_string()));
    if config.zones.is_some() {
        return told("a drive with zones is simulated as a whole", "leave it out, or leave zones out");
    }
    if !capacity.0.is_multiple_of(config.unit.0) {
        let below = Bytes(capacity.0 / config.unit.0 * config.unit.0);
        return told("it is no whole number of units", &format!("the nearest below is {below}"));
    }
    if capacity > drive {
        return told(&format!("the whole drive holds {drive}"), "give at most that, or leave it out");
    }
    if has_room(&config.clone().of_share()) {
        return None;
    }
    let row = whole.raw_bytes() / u64::from(whole.blocks);
    let of_blocks = |blocks: u32| {
        let bytes = (u64::from(blocks) * row) as f64 / (1.0 + whole.over_provisioning.0);
        Bytes(bytes as u64 / whole.unit.0 * whole.unit.0)
    };
    let fits = |bytes: &Bytes| has_room(&Config { capacity: Some(*bytes), ..config.clone() }.of_share());
    let least = (1..whole.blocks).map(of_blocks).find(fits).unwrap_or(drive);
    let problem = format!(
        "superblocks of {} that are kept erased or being filled leave no room for the data of so small a share",
        Bytes(row)
    );
    told(&problem, &format!("give at least {least}, or a drive with fewer dies or pages"))
}

/// Whether there is room for the data beside what is kept erased and being filled.
fn has_room(config: &Config) -> bool {
    let kept = config.reserve + config.superblocks_of_handles();
    let usable = config.blocks.saturating_sub(config.spare_blocks);
    let units = config.units_per_superblock() as f64;
    usable >= kept + 2 && units_wanted(config) <= f64::from(usable - kept) * (units - 1.0)
}

fn check_drive(config: &Config, reader: &mut Reader<'_>) {
    check_cache(config, reader);
    check_slc_cache(config, reader);
    check_handles(config, reader);
    check_allocation(config, reader);
    check_shares(config, reader);
    check_errors(config, reader);
    if config.suspend.is_some() && !config.read_priority {
        let remedy = "set read_priority = true, or leave suspend out";
        let given = config.suspend.unwrap_or_default().to_string();
        reader.conflict("suspend", &given, "only a read that goes first suspends anything", remedy);
    }
    check_plane_reads(config, reader);
    if let Some(registers) = config.registers.filter(|&registers| registers > 1 && !config.cached) {
        let remedy = "set cached = true, or registers = 1";
        let problem = "a die without cached commands has one register";
        reader.conflict("registers", &registers.to_string(), problem, remedy);
    }
    if !config.unit.0.is_power_of_two() {
        let (below, above) = (config.unit.0.next_power_of_two() / 2, config.unit.0.next_power_of_two());
        let remedy = format!("the nearest allowed are {} and {}", Bytes(below), Bytes(above));
        reader.conflict("unit", &config.unit.to_string(), "bytes of a unit are a power of two", &remedy);
        return;
    }
    if !config.page.0.is_multiple_of(config.unit.0) {
        let remedy = format!("use a divisor of {}, or pages of a multiple of {}", config.page, config.unit);
        reader.conflict("unit", &config.unit.to_string(), "a page holds no whole number of units", &remedy);
        return;
    }
    if let Some(transfer) = config.transfer.filter(|transfer| !config.unit.0.is_multiple_of(transfer.0)) {
        let remedy = format!("use a divisor of {}, or leave it out", config.unit);
        let problem = "a unit is no whole number of them";
        reader.conflict("transfer", &transfer.to_string(), problem, &remedy);
    }
    // First, since the sizes that all others compare have no overflow then, and stripes are whole.
    if !check_parity(config, reader) || !check_numbers(config, reader) {
        return;
    }
    check_buffer(config, reader);
    check_slc_size(config, reader);
    check_cache_size(config, reader);
    crate::config::zone_checks::check(config, reader);
    let kept = config.reserve + config.superblocks_of_handles() + 2;
    if kept > config.blocks {
        let problem =
            format!("no blocks are left for data: {kept} superblocks are kept erased, filled and cleaned");
        let remedy = format!("give at least {} with these spare_blocks", kept + config.spare_blocks);
        reader.conflict("blocks", &config.blocks.to_string(), &problem, &remedy);
        return;
    }
    if config.spare_blocks + kept > config.blocks {
        let most = config.blocks.saturating_sub(kept);
        let remedy = format!("the largest allowed is {most}, or give more blocks");
        let given = config.spare_blocks.to_string();
        reader.conflict("spare_blocks", &given, "no blocks are left for data", &remedy);
        return;
    }
    if config.zones.is_none() {
        check_space(config, reader);
    }
    check_idle_cleaning(config, reader);
}

/// Planes that read independently do so for reads that go first.
fn check_plane_reads(config: &Config, reader: &mut Reader<'_>) {
    if config.reads_by_plane() && !config.read_priority {
        let problem = "reads that wait in turn have the whole die";
        reader.conflict(
            "independent_plane_reads",
            "true",
            problem,
            "set read_priority = true, or leave it out",
        );
    }
}

/// Superblocks that hold less than others are filled by the host alone.
fn check_slc_cache(config: &Config, reader: &mut Reader<'_>) {
    let Some(cache) = &config.slc_cache else { return };
    if config.pages < cache.bits {
        let remedy = format!("give at least {} pages", cache.bits);
        reader.conflict(
            "pages",
            &config.pages.to_string(),
            "no page is left with one bit to a cell",
            &remedy,
        );
    }
}

/// Handles keep data apart if there are several.
fn check_handles(config: &Config, reader: &mut Reader<'_>) {
    if config.isolation == Isolation::Persistent && config.placement_handles == 1 {
        let remedy = "leave it out, or give placement_handles of at least 2";
        reader.conflict("isolation", "persistent", "there is one placement handle", remedy);
    }
}

/// Zones have no wrong bits.
fn check_errors(config: &Config, reader: &mut Reader<'_>) {
    if let (Some(errors), Some(_)) = (&config.errors, &config.zones) {
        let given = format!("{{ ecc = {{ kind = \"{}\" }}, ... }}", errors.ecc.kind());
        let remedy = "leave it out, or leave zones out";
        reader.conflict("errors", &given, "bits of zones do not go wrong", remedy);
    }
}

/// Stripes lie over all dies of a superblock, as often as they fit. Gives whether they do.
fn check_parity(config: &Config, reader: &mut Reader<'_>) -> bool {
    let (Some(parity), Some(stripe)) = (&config.parity, config.stripe()) else { return true };
    let given = parity.stripe.map_or("{}".into(), |stripe| format!("{{ stripe = {stripe} }}"));
    let mut refuse = |problem: &str, remedy: &str| reader.conflict("parity", &given, problem, remedy);
    if config.zones.is_some() {
        refuse("zones are written without parity", "leave it out, or leave zones out");
        return false;
    }
    if config.is_by_plane() {
        let problem =
            "a plane is erased by itself, while the others of its stripes need it to rebuild theirs";
        refuse(problem, "leave it out, or use allocation = \"superblock\"");
        return false;
    }
    let dies = config.dies_in_all();
    if dies < 2 {
        refuse(
            "pages of a stripe lie on a die each, and there is one die",
            "leave it out, or give more ways",
        );
        return false;
    }
    if !dies.is_multiple_of(u64::from(stripe)) {
        let fits = |size: &u64| dies.is_multiple_of(*size);
        let below = (2..=u64::from(stripe).min(dies)).rev().find(fits);
        let nearest = (u64::from(stripe)..=dies).find(fits).into_iter().chain(below);
        let nearest: Vec<String> = nearest.map(|size| size.to_string()).collect();
        let problem = format!("the {dies} dies are no whole number of stripes");
        let remedy = format!("the nearest allowed: {}", nearest.join(", "));
        reader.conflict("parity.stripe", &stripe.to_string(), &problem, &remedy);
        return false;
    }
    true
}

/// An order has each letter once, and what fills superblocks over all dies does not go with planes that fill their own.
fn check_allocation(config: &Config, reader: &mut Reader<'_>) {
    if let Some(order) = &config.allocation_order {
        let has = |letter| order.chars().filter(|&given| given == letter).count() == 1;
        if config.allocation != Allocation::Static {
            let remedy = "leave it out, or use allocation = \"static\"";
            reader.conflict("allocation_order", order, "no address decides where a page goes", remedy);
        } else if order.len() != LETTERS.len() || !LETTERS.chars().all(has) {
            let problem = "an order has each of the letters C, W, D and P once";
            reader.conflict(
                "allocation_order",
                order,
                problem,
                "give a permutation of CWDP, such as \"CWPD\"",
            );
        }
    }
    if config.copyback && !config.is_by_plane() {
        let remedy = "leave it out, or use allocation = \"static\" or \"dynamic\"";
        reader.conflict("copyback", "true", "superblocks are copied from one die to another", remedy);
    } else if config.copyback && config.unit.0 != config.page.0 {
        let remedy = format!("leave it out, or use units of {}", config.page);
        reader.conflict("copyback", "true", "it copies whole pages, and a unit is a part of one", &remedy);
    }
    if !config.is_by_plane() {
        return;
    }
    let given = if config.allocation == Allocation::Static { "static" } else { "dynamic" };
    let without = |setting: &str| format!("leave {setting} out, or use allocation = \"superblock\"");
    let mut refuse = |problem, remedy: &str| reader.conflict("allocation", given, problem, remedy);
    if config.zones.is_some() {
        refuse("zones are superblocks over all dies", &without("zones"));
    }
}

/// Every tenant needs a place.
fn check_shares(config: &Config, reader: &mut Reader<'_>) {
    let Some(shares) = &config.queue_shares else { return };
    let given = format!("{shares:?}");
    match config.queue_depth {
        None => {
            let remedy = "give queue_depth, or leave it out";
            reader.conflict("queue_shares", &given, "there is no bound that could be shared", remedy);
        }
        Some(depth) if (depth as usize) < shares.len() => {
            let problem = format!("{depth} places are too few for {} tenants", shares.len());
            reader.conflict("queue_shares", &given, &problem, "give a larger queue_depth");
        }
        Some(_) if shares.contains(&0) => {
            reader.conflict(
                "queue_shares",
                &given,
                "a tenant without a place waits for ever",
                "give at least 1",
            );
        }
        Some(depth) => {
            let taken: u32 = tenants_places(depth, shares).iter().sum();
            if taken > depth {
                let problem = format!("with one at least each, tenants have {taken} places of {depth}");
                let remedy = "give shares nearer to each other, or a larger queue_depth";
                reader.conflict("queue_shares", &given, &problem, remedy);
            }
        }
    }
}

/// Whether the units can be told apart, and a superblock has enough of them.
fn check_numbers(config: &Config, reader: &mut Reader<'_>) -> bool {
    let units = config.units_per_superblock();
    let given = config.pages.to_string();
    if units < SUPERBLOCK_MIN {
        let (what, remedy) = match config.is_by_plane() {
            true => ("block", "give more pages, or a smaller unit"),
            false => ("superblock", "give more pages, planes or dies, or a smaller unit"),
        };
        let problem = format!("a {what} has {units} units, and {SUPERBLOCK_MIN} are the fewest");
        reader.conflict("pages", &given, &problem, remedy);
        return false;
    }
    let superblocks = u128::from(config.blocks) * u128::from(config.regions());
    let numbers = u128::from(units.next_power_of_two()) * superblocks;
    if numbers > NUMBERS_MAX {
        let problem = format!("the flash has {numbers} units, and {NUMBERS_MAX} are the most");
        reader.conflict("unit", &config.unit.to_string(), &problem, "use a larger unit, or less flash");
        return false;
    }
    true
}

/// What is erased while the host is quiet comes behind the reserve, and leaves room for the data beside what is being
/// filled.
fn check_idle_cleaning(config: &Config, reader: &mut Reader<'_>) {
    let Some(wanted) = config.idle_cleaning else { return };
    let given = wanted.to_string();
    let holding = (units_wanted(config) / (config.units_per_superblock() as f64 - 1.0)).ceil();
    let most = f64::from(config.blocks - config.spare_blocks)
        - f64::from(OPEN + config.superblocks_of_handles())
        - holding;
    let least = config.reserve + 1;
    if wanted < least {
        let problem = format!("a reserve of {} is kept at all times", config.reserve);
        reader.conflict("idle_cleaning", &given, &problem, &format!("give at least {least}"));
    } else if f64::from(wanted) > most {
        let remedy = match most >= f64::from(least) {
            true => format!("give at most {most}"),
            false => "leave it out, or give more over_provisioning".into(),
        };
        reader.conflict("idle_cleaning", &given, "the other superblocks do not hold the data", &remedy);
    }
}

/// Units of the data and the mapping table in a region, and one to move them.
fn units_wanted(config: &Config) -> f64 {
    if config.is_by_plane() {
        let of_page = config.page.0 / config.unit.0;
        let units = (config.logical_units() as f64 * share_with_table(config)).ceil() as u64;
        let pages = units.div_ceil(of_page).div_ceil(config.regions());
        return (pages * of_page) as f64 + 1.0;
    }
    config.logical_units() as f64 * share_with_table(config) + 1.0
}

/// The mapping table's units and the data's, by the data's.
fn share_with_table(config: &Config) -> f64 {
    match &config.mapping_cache {
        Some(_) => 1.0 + config.mapping_entry.0 as f64 / config.unit.0 as f64,
        None => 1.0,
    }
}

/// Beside the data and the mapping table there has to be space for the reserve, for superblocks being filled
/// and for a unit in every superblock that is not live, or cleaning would gain nothing.
fn check_space(config: &Config, reader: &mut Reader<'_>) {
    let units = config.units_per_superblock() as f64;
    let usable = f64::from(config.blocks - config.spare_blocks);
    let kept = config.reserve + config.superblocks_of_handles();
    let room = (usable - f64::from(kept)) * (units - 1.0);
    if units_wanted(config) <= room {
        return;
    }
    let given = percent(config.over_provisioning);
    let raw = config.raw_bytes() as f64 / config.unit.0 as f64 / config.regions() as f64;
    let least = ((raw * share_with_table(config) / (room - 2.0) - 1.0) * 1e3).ceil() / 10.0;
    let parity = config.stripe().map_or(String::new(), |size| format!(", one page of {size} with parity"));
    let problem = format!(
        "{kept} superblocks that are kept erased or being filled{parity}, and {} spare blocks leave no room for the data",
        config.spare_blocks
    );
    let remedy = format!("the smallest allowed is {least} %, or give more blocks");
    reader.conflict("over_provisioning", &given, &problem, &remedy);
}
