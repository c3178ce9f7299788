//! What the drive did, as its report.

use super::array::Programs;
use super::blocks::Blocks;
use super::book::Book;
use super::config::Config;
use super::frontier::NOBODY;
use super::geometry::Geometry;
use super::host::HostInterface;
use super::model::Ssd;
use super::schedule::Schedule;
use nacre_kernel::{
    Activity, Bytes, Column, ComponentId, ComponentReport, Resource, Time, Wear,
};
use nacre_media::flash::{Flash, Operation};
use nacre_media::store::Store;

/// What the reports of a drive with a page mapping and of one with zones have in common.
pub(super) struct Parts<'a> {
    pub(super) id: ComponentId,
    pub(super) path: &'a str,
    pub(super) config: &'a Config,
    pub(super) geometry: &'a Geometry,
    pub(super) schedule: &'a Schedule,
    pub(super) interface: &'a HostInterface,
    /// Units of parity among what was programmed of the drive's own.
    pub(super) parity: u64,
    /// Units that can be programmed until it is worn out, where that is known.
    pub(super) life: Option<f64>,
    /// When it was worn out.
    pub(super) end_of_life: Option<Time>,
    /// What part of a whole drive it is.
    pub(super) share: Option<f64>,
}

/// The report over `elapsed`.
pub(super) fn of<S: Store>(ssd: &Ssd<S>, elapsed: Time) -> ComponentReport {
    let array = &ssd.array;
    let parity = array.parity.0.as_ref().map_or(0, |parity| parity.measured());
    let mut wear =
        wear(&ssd.book, &array.programs, &array.flash, &array.blocks, &array.geometry, &ssd.config);
    wear.metadata += parity;
    wear.valid = Some(valid_units(ssd));
    let parts = Parts {
        id: ssd.id,
        path: &ssd.path,
        config: &ssd.config,
        geometry: &array.geometry,
        schedule: &ssd.schedule,
        interface: &ssd.interface,
        parity,
        life: life(&ssd.config, &array.blocks, &array.geometry, array.superblocks_needed()),
        end_of_life: ssd.end_of_life.map(|(at, _)| at),
        share: ssd.share,
    };
    component(&parts, wear, counters(ssd), columns(ssd), elapsed)
}

/// The report of a drive that has these.
pub(super) fn component(
    parts: &Parts<'_>,
    wear: Wear,
    counters: Vec<(&'static str, u64)>,
    columns: Vec<Column>,
    elapsed: Time,
) -> ComponentReport {
    let config = parts.config;
    ComponentReport {
        id: parts.id,
        kind: "ssd",
        path: parts.path.to_string(),
        resources: resources(parts, &wear),
        is_energy_modelled: config.nand.energies().is_known(),
        idle_energy: config.nand.idle_power.map(|power| power.over(elapsed)),
        counters,
        cost: config.price.map(|price| price.of(Bytes(parts.geometry.capacity()))),
        area_mm2: None,
        // A drive that is worn out programs no more, however long the run goes on.
        lifetime_days: lifetime_days(parts.life, &wear, parts.end_of_life.unwrap_or(elapsed).min(elapsed)),
        columns,
        wear: Some(wear),
        drive_share: parts.share,
        children: Vec::new(),
    }
}

/// What was programmed and erased since measuring began.
pub(super) fn wear<S: Store>(
    book: &Book,
    now: &Programs,
    flash: &Flash<S>,
    blocks: &Blocks,
    geometry: &Geometry,
    config: &Config,
) -> Wear {
    let before = &book.programs_before;
    Wear {
        host: now.host - before.host,
        cleaned: now.cleaned - before.cleaned,
        levelled: now.levelled - before.levelled,
        metadata: now.mapping - before.mapping,
        padding: now.padding - before.padding,
        erases: (flash.erases() - book.erases_before) * u64::from(geometry.blocks_per_superblock()),
        block_erases: blocks.erases().to_vec(),
        endurance: config.nand.endurance,
        worn_out_at: None,
        row_programs: None,
        valid: None,
    }
}

/// Units that can be programmed until fewer than `needed` superblocks of a region are left, those of parity included.
pub(super) fn life(config: &Config, blocks: &Blocks, geometry: &Geometry, needed: u32) -> Option<f64> {
    let superblocks = u64::from(config.blocks) * u64::from(geometry.regions);
    let units = (config.raw_bytes() / config.unit.0 / superblocks) as f64;
    let regions = 0..geometry.regions as usize;
    regions.map(|region| Some(blocks.life(region, needed, config.factory_bad.0)? * units)).sum()
}

/// Units that can be programmed in its life over units programmed a day.
fn lifetime_days(life: Option<f64>, wear: &Wear, elapsed: Time) -> Option<f64> {
    let (life, programs) = (life?, wear.programs());
    (programs > 0).then(|| life / programs as f64 * (elapsed.as_secs_f64() / 86_400.0))
}

fn resources(parts: &Parts<'_>, wear: &Wear) -> Vec<Resource> {
    let Parts { geometry, schedule, .. } = *parts;
    let energies = parts.config.nand.energies();
    let mut dies = schedule.die_charges.clone();
    for (activity, units) in [
        (Activity::Drain, wear.host + wear.padding),
        (Activity::Clean, wear.cleaned),
        (Activity::LevelWear, wear.levelled),
        (Activity::Translate, wear.metadata - parts.parity),
        (Activity::Correct, parts.parity),
    ] {
        let pages = units / u64::from(geometry.units_per_page);
        let programmed = pages.saturating_sub(schedule.counts.unprogrammed[activity as usize]);
        dies.count(Operation::Program as usize, activity, programmed);
    }
    let channels = schedule.channel_charges.ledger(&energies);
    let mut resources = parts.interface.resources();
    resources.push(Resource { name: "channels", servers: geometry.channels, ledger: channels });
    resources.push(Resource { name: "dies", servers: geometry.dies, ledger: dies.ledger(&energies) });
    resources.extend(schedule.errors.0.as_ref().map(|errors| errors.resource()));
    resources
}

impl Schedule {
    /// What reads, programs and erases were, since measuring began.
    pub(super) fn flash_counters(&self) -> [(&'static str, u64); 4] {
        let did = |operation: Operation, activity| self.die_charges.counted(operation as usize, activity);
        [
            ("flash_reads", did(Operation::Read, Activity::Read)),
            ("flash_programs", self.counts.programs),
            ("flash_erases", did(Operation::Erase, Activity::Erase)),
            ("suspensions", self.counts.suspensions),
        ]
    }
}

/// How often each superblock was erased, and what became of the blocks.
pub(super) fn block_columns<S: Store>(flash: &Flash<S>, blocks: &Blocks) -> [Column; 5] {
    let column = |name, value: f64| Column { name, values: vec![value] };
    let erases = flash.blocks().iter().map(|block| f64::from(block.erases)).collect();
    [
        Column { name: "superblocks.erases", values: erases },
        column("blocks_by_state.bad_from_start", f64::from(blocks.bad)),
        column("blocks_by_state.worn_out", f64::from(blocks.retired)),
        column("blocks_by_state.spare", blocks.spare_count() as f64),
        column("blocks_by_state.superblocks_usable", blocks.usable_counts().map(f64::from).sum()),
    ]
}

/// When a drive could be written no more, and how many bytes it had taken in by then.
pub(super) fn end_of_life(end: Option<(Time, u64)>) -> Vec<Column> {
    let column = |name, value: f64| Column { name, values: vec![value] };
    let columns = |(time, bytes): (Time, u64)| {
        [column("end_of_life.time_s", time.as_secs_f64()), column("end_of_life.host_bytes", bytes as f64)]
    };
    end.into_iter().flat_map(columns).collect()
}

fn counters<S: Store>(ssd: &Ssd<S>) -> Vec<(&'static str, u64)> {
    let (now, before) = (&ssd.array.programs, &ssd.book.programs_before);
    let (counts, charges) = (&ssd.schedule.counts, &ssd.schedule.die_charges);
    let [reads, programs, erases, suspensions] = ssd.schedule.flash_counters();
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
        reads,
        ("copy_reads", counts.copy_reads),
        ("mapping_reads", charges.counted(Operation::Read as usize, Activity::Translate)),
        programs,
        erases,
        suspensions,
        ("buffer_hits", ssd.book.buffer_hits),
        ("unwritten_reads", ssd.book.unwritten_reads),
        ("units_trimmed", ssd.book.trimmed),
        ("partial_writes", ssd.book.partial_writes),
        ("mapping_lookups", ssd.book.lookups),
        ("mapping_misses", ssd.book.misses),
        ("refused_writes", ssd.book.refused_writes),
    ]);
    counters.extend(ssd.book.recovery_counters());
    counters.extend(ssd.array.parity.0.iter().map(|parity| ("units_parity", parity.measured())));
    counters.extend(ssd.schedule.errors.0.iter().flat_map(|errors| errors.counters()));
    counters.extend(ssd.schedule.errors.0.iter().flat_map(|errors| errors.rebuild_counters()));
    counters
}

/// Units of valid data.
fn valid_units<S: Store>(ssd: &Ssd<S>) -> u64 {
    ssd.array.places.iter().map(|place| u64::from(place.live)).sum()
}

fn columns<S: Store>(ssd: &Ssd<S>) -> Vec<Column> {
    let array = &ssd.array;
    let units = f64::from(array.geometry.units_per_superblock);
    // A superblock that is erased, or given up, has no place and nothing live.
    let live =
        |&place: &u32| if place == NOBODY { 0.0 } else { f64::from(array.places[place as usize].live) };
    let column = |name, value: f64| Column { name, values: vec![value] };
    let mut columns = vec![Column {
        name: "superblocks.live_share",
        values: array.place_of.iter().map(|place| live(place) / units).collect(),
    }];
    columns.extend(block_columns(&array.flash, &array.blocks));
    columns.extend(array.handles.columns());
    columns.push(column("blocks_by_state.superblocks_slc", f64::from(array.slc.count())));
    columns.push(column("space.live_units", valid_units(ssd) as f64));
    columns.extend(end_of_life(ssd.end_of_life));
    columns.extend(ssd.history.columns());
    columns
}
