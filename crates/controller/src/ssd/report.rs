//! What the drive did, as its report.

use super::frontier::NOBODY;
use super::model::Ssd;
use nacre_kernel::{Activity, Bytes, Column, ComponentReport, Resource, Time, Wear};
use nacre_media::flash::Operation;
use nacre_media::store::Store;

/// The report over `elapsed`.
pub(super) fn of<S: Store>(ssd: &Ssd<S>, elapsed: Time) -> ComponentReport {
    let config = &ssd.config;
    let wear = wear(ssd);
    let capacity = Bytes(ssd.array.geometry.capacity());
    ComponentReport {
        id: ssd.id,
        kind: "ssd",
        path: ssd.path.clone(),
        resources: resources(ssd, &wear),
        is_energy_modelled: config.nand.energies().is_known(),
        idle_energy: config.nand.idle_power.map(|power| power.over(elapsed)),
        counters: counters(ssd),
        cost: config.price.map(|price| price.of(capacity)),
        area_mm2: None,
        lifetime_days: lifetime_days(ssd, &wear, elapsed),
        columns: columns(ssd),
        wear: Some(wear),
        children: Vec::new(),
    }
}

fn wear<S: Store>(ssd: &Ssd<S>) -> Wear {
    let (now, before) = (&ssd.array.programs, &ssd.book.programs_before);
    Wear {
        host: now.host - before.host,
        cleaned: now.cleaned - before.cleaned,
        levelled: now.levelled - before.levelled,
        metadata: now.mapping - before.mapping,
        padding: now.padding - before.padding,
        erases: (ssd.array.flash.erases() - ssd.book.erases_before) * u64::from(ssd.array.geometry.lanes()),
        block_erases: ssd.array.blocks.erases().to_vec(),
        endurance: ssd.config.nand.endurance,
        worn_out_at: None,
        row_programs: None,
    }
}

/// Units that can be programmed in its life over units programmed a day.
fn lifetime_days<S: Store>(ssd: &Ssd<S>, wear: &Wear, elapsed: Time) -> Option<f64> {
    let endurance = ssd.config.nand.endurance? as f64;
    let programs = wear.programs();
    let units = ssd.config.raw_bytes() as f64 / ssd.config.unit.0 as f64;
    let life = units * (1.0 - ssd.config.factory_bad.0) * endurance;
    (programs > 0).then(|| life / programs as f64 * (elapsed.as_secs_f64() / 86_400.0))
}

fn resources<S: Store>(ssd: &Ssd<S>, wear: &Wear) -> Vec<Resource> {
    let (geometry, energies) = (&ssd.array.geometry, ssd.config.nand.energies());
    let mut dies = ssd.schedule.die_charges.clone();
    for (activity, units) in [
        (Activity::Drain, wear.host + wear.padding),
        (Activity::Clean, wear.cleaned),
        (Activity::LevelWear, wear.levelled),
        (Activity::Translate, wear.metadata),
    ] {
        let pages = units / u64::from(geometry.units_per_page);
        let programmed = pages.saturating_sub(ssd.schedule.counts.unprogrammed[activity as usize]);
        dies.count(Operation::Program as usize, activity, programmed);
    }
    let channels = ssd.schedule.channel_charges.ledger(&energies);
    let mut resources = ssd.interface.resources();
    resources.push(Resource { name: "channels", servers: geometry.channels, ledger: channels });
    resources.push(Resource { name: "dies", servers: geometry.dies, ledger: dies.ledger(&energies) });
    resources
}

fn counters<S: Store>(ssd: &Ssd<S>) -> Vec<(&'static str, u64)> {
    let (now, before) = (&ssd.array.programs, &ssd.book.programs_before);
    let (counts, charges) = (&ssd.schedule.counts, &ssd.schedule.die_charges);
    let did = |operation: Operation, activity| charges.counted(operation as usize, activity);
    let mut counters = ssd.book.host.counters();
    counters.extend([
        ("units_host", now.host - before.host),
        ("units_cleaned", now.cleaned - before.cleaned),
        ("units_mapping", now.mapping - before.mapping),
        ("units_levelled", now.levelled - before.levelled),
        ("units_padding", now.padding - before.padding),
        ("units_coalesced", now.coalesced - before.coalesced),
        ("cleanings", now.cleanings - before.cleanings),
        ("wear_levellings", now.levellings - before.levellings),
        ("flash_reads", did(Operation::Read, Activity::Read)),
        ("copy_reads", counts.copy_reads),
        ("mapping_reads", did(Operation::Read, Activity::Translate)),
        ("flash_programs", counts.programs),
        ("flash_erases", did(Operation::Erase, Activity::Erase)),
        ("suspensions", counts.suspensions),
        ("buffer_hits", ssd.book.buffer_hits),
        ("unwritten_reads", ssd.book.unwritten_reads),
        ("units_trimmed", ssd.book.trimmed),
        ("partial_writes", ssd.book.partial_writes),
        ("mapping_lookups", ssd.book.lookups),
        ("mapping_misses", ssd.book.misses),
        ("refused_writes", ssd.book.refused_writes),
        ("recoveries", ssd.book.recoveries),
        ("recovery_ns", ssd.book.recovering.as_ps() / 1000),
        ("pages_scanned", ssd.book.pages_scanned),
    ]);
    counters
}

fn columns<S: Store>(ssd: &Ssd<S>) -> Vec<Column> {
    let array = &ssd.array;
    let units = f64::from(array.geometry.units_per_superblock);
    // A superblock that is erased, or given up, has no place and nothing live.
    let live =
        |&place: &u32| if place == NOBODY { 0.0 } else { f64::from(array.places[place as usize].live) };
    let blocks = array.flash.blocks();
    let column = |name, value: f64| Column { name, values: vec![value] };
    let mut columns = vec![
        Column {
            name: "superblocks.live_share",
            values: array.place_of.iter().map(|place| live(place) / units).collect(),
        },
        Column {
            name: "superblocks.erases",
            values: blocks.iter().map(|block| f64::from(block.erases)).collect(),
        },
        column("blocks_by_state.bad_from_start", f64::from(array.blocks.bad)),
        column("blocks_by_state.worn_out", f64::from(array.blocks.retired)),
        column("blocks_by_state.spare", array.blocks.spare_count() as f64),
        column("blocks_by_state.superblocks_usable", f64::from(array.blocks.usable_count())),
    ];
    columns.extend(array.handles.columns());
    columns.push(column("blocks_by_state.superblocks_slc", f64::from(array.slc.count())));
    let live: u64 = array.places.iter().map(|place| u64::from(place.live)).sum();
    columns.push(column("space.live_units", live as f64));
    if let Some((time, bytes)) = ssd.end_of_life {
        columns.push(column("end_of_life.time_s", time.as_secs_f64()));
        columns.push(column("end_of_life.host_bytes", bytes as f64));
    }
    columns
}
