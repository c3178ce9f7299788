//! The report of the cache.

use super::cache::FlashCache;
use super::counts::Worn;
use super::tables::Sizes;
use nacre_kernel::{Bytes, Column, ComponentReport, Time, Wear};
use nacre_media::dual_mode_flash::Mode;
use nacre_media::store::Store;

/// Probability of an uncorrectable error per program. It defines the rated number of erases of a page.
const FAILURES: f64 = 1e-4;

/// Returns the report of `cache` for the simulated time `elapsed`.
pub(super) fn of<S: Store>(cache: &FlashCache<S>, elapsed: Time) -> ComponentReport {
    let cells = &cache.config.cells;
    let made_for = made_for(cache);
    let erases = cache.counts.erases;
    let life = made_for * f64::from(cells.blocks);
    let flash = Bytes(cache.config.flash_bytes());
    let mut counters = cache.host.counters();
    counters.extend(cache.counts.counters());
    ComponentReport {
        id: cache.id,
        kind: "flash_disk_cache",
        path: cache.path.clone(),
        resources: cache.array.resources(),
        is_energy_modeled: cells.nand.active_power.is_some() || cells.nand.idle_power.is_some(),
        idle_energy: cache.array.idle_energy(elapsed),
        counters,
        cost: cells.price.map(|price| price.of(flash)),
        area_mm2: cache.config.area_mm2(),
        lifetime_days: (erases > 0).then(|| life / erases as f64 * elapsed.as_secs_f64() / 86_400.0),
        wear: Some(wear(cache, made_for)),
        columns: columns(cache),
        drive_share: None,
        faults: Vec::new(),
        children: vec![cache.backing.report(elapsed)],
    }
}

/// Number of erases after which a page of median strength is uncorrectable with the probability
/// [`FAILURES`] per program. The page uses the strongest code and, if slots may change their mode, SLC
/// mode.
pub(super) fn made_for<S: Store>(cache: &FlashCache<S>) -> f64 {
    let aging = cache.config.cells.nand.aging();
    let code = cache.array.codes.last().expect("there is a code");
    let mode = if cache.config.lowers_density { Mode::Slc } else { cache.config.density.mode() };
    let fails = |erases: f64| code.page_failure(aging.rate_at(mode, erases).min(0.5)) > FAILURES;
    let (mut least, mut most) = (0.0, 1e12);
    for _ in 0..100 {
        let middle = (least + most) / 2.0;
        *if fails(middle) { &mut most } else { &mut least } = middle;
    }
    least
}

fn wear<S: Store>(cache: &FlashCache<S>, made_for: f64) -> Wear {
    let programs = &cache.counts.programs;
    let flash = &cache.array.flash;
    Wear {
        host: programs.host + programs.fill,
        cleaned: programs.collected + programs.promoted,
        leveled: programs.leveled,
        metadata: programs.journal,
        padding: 0,
        erases: cache.counts.erases,
        block_erases: (0..flash.blocks()).map(|block| flash.erases_of(block)).collect(),
        endurance: Some(made_for as u64),
        worn_out_at: None,
        row_programs: None,
        valid: None,
    }
}

fn columns<S: Store>(cache: &FlashCache<S>) -> Vec<Column> {
    let one = |name, value: f64| Column { name, values: vec![value] };
    let Sizes { hash, page_status, block_status, global_status } = cache.tables.sizes();
    let slots = &cache.tables.slots;
    let of =
        |kept: &dyn Fn(&super::tables::SlotStatus) -> bool| slots.iter().filter(|slot| kept(slot)).count();
    let slc = of(&|slot| !slot.is_retired && slot.mode == Mode::Slc);
    let mlc = of(&|slot| !slot.is_retired && slot.mode == Mode::Mlc);
    let strengths: u32 = slots.iter().map(|slot| cache.array.codes[usize::from(slot.code)].corrects()).sum();
    let new = cache.config.flash_bytes() / super::FLASH_PAGE;
    let life = &cache.life;
    let mut columns = vec![
        one("tables.hash_bytes", hash as f64),
        one("tables.page_status_bytes", page_status as f64),
        one("tables.block_status_bytes", block_status as f64),
        one("tables.global_status_bytes", global_status as f64),
        one("flash.slots_slc", slc as f64),
        one("flash.slots_mlc", mlc as f64),
        one("flash.slots_retired", (slots.len() - slc - mlc) as f64),
        one("flash.usable_share", life.usable as f64 / new as f64),
        one("flash.mean_strength", f64::from(strengths) / slots.len() as f64),
        one("flash.pages_valid", cache.tables.valid() as f64),
        one("flash.pages_valid_before", cache.counts.valid_before as f64),
        one("flash.hit_s", cache.tables.global.hit()),
        one("flash.miss_s", cache.tables.global.miss()),
        one("life.pages_taken", life.taken as f64),
    ];
    if !cache.wearing.is_empty() {
        let column =
            |name, of: &dyn Fn(&Worn) -> f64| Column { name, values: cache.wearing.iter().map(of).collect() };
        columns.push(column("wearing.pages_taken", &|worn| worn.taken as f64));
        columns.push(column("wearing.pages_asked", &|worn| worn.asked as f64));
        columns.push(column("wearing.usable_share", &|worn| worn.usable as f64 / new as f64));
    }
    columns.extend(life.first_gone.map(|pages| one("life.pages_to_first_gone", pages as f64)));
    columns.extend(life.first_lost.map(|pages| one("life.pages_to_first_lost", pages as f64)));
    columns.extend(life.half.map(|pages| one("life.pages_to_half", pages as f64)));
    columns.extend(life.end.map(|pages| one("life.pages_to_end", pages as f64)));
    columns
}
