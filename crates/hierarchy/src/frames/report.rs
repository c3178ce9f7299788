//! The report of a cache with frames.

use super::Memory;
use super::cache::FrameCache;
use nacre_kernel::ledger::LOST_PAGES;
use nacre_kernel::{Column, ComponentReport, Time};

/// Returns the report of `cache` for the simulated time `elapsed`.
pub(super) fn of<M: Memory>(cache: &FrameCache<M>, elapsed: Time) -> ComponentReport {
    let memory = cache.memory.report(elapsed);
    let mut counters = cache.host.counters();
    let counts = &cache.counts;
    counters.extend([
        ("read_hits", counts.read_hits),
        ("read_misses", counts.read_misses),
        ("read_merged", counts.read_merged),
        ("read_lost", counts.read_lost),
        ("write_hits", counts.write_hits),
        ("write_misses", counts.write_misses),
        ("write_allocations", counts.write_allocations),
        ("fills", counts.fills),
        ("written_back", counts.written_back),
        ("evictions", counts.evictions),
        ("pages_given_up", counts.pages_given_up),
        ("pages_trimmed", counts.pages_trimmed),
        ("pages_power_failed", counts.pages_power_failed),
        ("uncorrectable", counts.uncorrectable),
        (LOST_PAGES, counts.lost_pages),
    ]);
    if cache.modes.is_programmable() {
        let counts = &cache.modes.counts;
        counters.extend([
            ("pages_promoted", counts.pages_promoted),
            ("pages_relocated", counts.pages_relocated),
            ("density_lowered", counts.density_lowered),
            ("strength_raised", counts.strength_raised),
        ]);
    }
    counters.extend(memory.counters);
    let one = |name, value: u64| Column { name, values: vec![value as f64] };
    let mut columns = vec![one("pages.held", cache.held()), one("pages.held_before", counts.held_before)];
    if cache.modes.is_programmable() {
        columns.push(one("frames.withdrawn", u64::from(cache.modes.withdrawn)));
    }
    columns.extend(memory.columns);
    ComponentReport {
        id: cache.id,
        kind: M::KIND,
        path: cache.path.clone(),
        resources: memory.resources,
        is_energy_modeled: memory.is_energy_modeled,
        idle_energy: memory.idle_energy,
        counters,
        cost: memory.cost,
        area_mm2: memory.area_mm2,
        lifetime_days: memory.lifetime_days,
        wear: memory.wear,
        columns,
        drive_share: None,
        faults: Vec::new(),
        children: vec![cache.backing.report(elapsed)],
    }
}
