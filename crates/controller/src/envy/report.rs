//! The device report.

use super::model::Envy;
use nacre_kernel::{Activity, Bytes, Column, ComponentReport, Resource, Time, Wear};
use nacre_media::store::Store;

/// SRAM size of a page table entry, in bytes per flash page (wu-1994, section 3.3).
const TABLE_ENTRY_BYTES: u64 = 6;

/// Report of the device over the time `elapsed`.
pub(super) fn of<S: Store>(envy: &Envy<S>, elapsed: Time) -> ComponentReport {
    let wear = wear(envy);
    let config = &envy.config;
    ComponentReport {
        id: envy.id,
        kind: "envy",
        path: envy.path.clone(),
        resources: resources(envy, &wear),
        is_energy_modeled: config.energies().is_known(),
        idle_energy: None,
        counters: counters(envy),
        cost: cost(envy),
        area_mm2: None,
        lifetime_days: lifetime_days(envy, &wear, elapsed),
        columns: columns(envy),
        wear: Some(wear),
        drive_share: None,
        faults: Vec::new(),
        children: Vec::new(),
    }
}

/// Panics if the number of programmed pages differs from the sum over all causes.
pub(super) fn check_programs<S: Store>(envy: &Envy<S>) {
    let programs = envy.array.programs;
    let laid_out = envy.array.laid_out;
    let begun = envy.background.programs_under_way();
    let sum = laid_out + programs.drained + programs.cleaned + programs.leveled + begun + programs.lost;
    assert_eq!(envy.array.flash.programs(), sum, "every program has a cause");
}

fn wear<S: Store>(envy: &Envy<S>) -> Wear {
    let (now, before) = (&envy.array.programs, &envy.counters.programs_before);
    Wear {
        host: now.drained - before.drained,
        cleaned: now.cleaned - before.cleaned,
        leveled: now.leveled - before.leveled,
        metadata: 0,
        padding: 0,
        erases: envy.array.flash.erases() - envy.counters.erases_before,
        block_erases: envy.array.flash.blocks().iter().map(|block| block.erases).collect(),
        endurance: Some(envy.config.endurance),
        worn_out_at: None,
        row_programs: None,
        valid: None,
    }
}

/// Lifetime in days: page programs over the whole life of the flash, divided by the page programs per day
/// (wu-1994, section 5.5). `None` if nothing was programmed.
fn lifetime_days<S: Store>(envy: &Envy<S>, wear: &Wear, elapsed: Time) -> Option<f64> {
    let programs = wear.programs();
    let capacity = envy.array.geometry.flash_pages() as f64 * envy.config.endurance as f64;
    (programs > 0).then(|| capacity / programs as f64 * (elapsed.as_secs_f64() / 86_400.0))
}

/// Utilization of the controller, which serves the host, and of the flash, which performs up to `concurrency`
/// programs and erases at a time.
fn resources<S: Store>(envy: &Envy<S>, wear: &Wear) -> Vec<Resource> {
    let mut controller = envy.counters.ledger.clone();
    let mut flash = envy.background.ledger.clone();
    let (config, energies) = (&envy.config, envy.config.energies());
    let [access, program, erase] = [0, 1, 2].map(|kind| move |count| energies.of_many(kind, count));
    let [reads, writes] = envy.counters.accesses;
    controller.charge_energy(Activity::Read, access(reads));
    controller.charge_energy(Activity::Write, access(writes));
    for (activity, programs) in
        [(Activity::Drain, wear.host), (Activity::Clean, wear.cleaned), (Activity::LevelWear, wear.leveled)]
    {
        flash.charge_energy(activity, program(programs));
    }
    flash.charge_energy(Activity::Erase, erase(wear.erases));
    vec![
        Resource { name: "controller", servers: 1, ledger: controller },
        Resource { name: "flash", servers: config.concurrency, ledger: flash },
    ]
}

fn counters<S: Store>(envy: &Envy<S>) -> Vec<(&'static str, u64)> {
    let (now, before) = (&envy.array.programs, &envy.counters.programs_before);
    let (lookups, misses) = envy.translation.counts();
    let mut counters = envy.counters.host.counters();
    counters.extend([
        ("pages_drained", now.drained - before.drained),
        ("pages_cleaned", now.cleaned - before.cleaned),
        ("pages_leveled", now.leveled - before.leveled),
        ("cleanings", now.cleanings - before.cleanings),
        ("wear_swaps", now.swaps - before.swaps),
        ("copies_on_write", envy.counters.copies_on_write),
        ("forced_drains", envy.counters.forced_drains),
        ("mmu_lookups", lookups),
        ("mmu_misses", misses),
    ]);
    counters
}

fn cost<S: Store>(envy: &Envy<S>) -> Option<f64> {
    let geometry = &envy.array.geometry;
    let flash = Bytes(geometry.flash_pages() * u64::from(geometry.page_bytes));
    let sram = Bytes(envy.config.buffer.0 + geometry.flash_pages() * TABLE_ENTRY_BYTES);
    let flash = envy.config.price.map(|price| price.of(flash));
    let sram = envy.config.sram_price.map(|price| price.of(sram));
    flash.zip(sram).map(|(flash, sram)| flash + sram)
}

fn columns<S: Store>(envy: &Envy<S>) -> Vec<Column> {
    let array = &envy.array;
    let pages = f64::from(array.geometry.pages_per_segment);
    let blocks = array.flash.blocks();
    // A spare segment has no position, which is encoded as -1.
    let mut positions = vec![-1.0; blocks.len()];
    array
        .order
        .iter()
        .enumerate()
        .for_each(|(position, &segment)| positions[segment as usize] = position as f64);
    let mut columns = vec![
        Column { name: "blocks.position", values: positions },
        Column {
            name: "blocks.valid_share",
            values: array.live.iter().map(|&live| f64::from(live) / pages).collect(),
        },
    ];
    columns.extend(envy.counters.history.columns(envy.counters.start));
    columns
}
