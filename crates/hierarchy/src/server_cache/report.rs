//! The report of a `server_cache`.

use super::cache::ServerCache;
use super::config::LEVELS_MAX;
use nacre_kernel::ledger::LOST_PAGES;
use nacre_kernel::{ComponentReport, Time};

/// Names of the counters of each level: read hits, write hits, entries, and evictions.
const LEVEL_COUNTERS: [[&str; 4]; LEVELS_MAX] = [
    ["level0_read_hits", "level0_write_hits", "level0_entries", "level0_evictions"],
    ["level1_read_hits", "level1_write_hits", "level1_entries", "level1_evictions"],
    ["level2_read_hits", "level2_write_hits", "level2_entries", "level2_evictions"],
    ["level3_read_hits", "level3_write_hits", "level3_entries", "level3_evictions"],
];

/// Returns the report of `cache` and of all devices below it.
pub(super) fn of(cache: &ServerCache, elapsed: Time) -> ComponentReport {
    ComponentReport {
        id: cache.id,
        kind: "server_cache",
        path: cache.path.clone(),
        resources: Vec::new(),
        is_energy_modeled: false,
        idle_energy: None,
        counters: counters(cache),
        cost: None,
        area_mm2: None,
        lifetime_days: None,
        wear: None,
        columns: Vec::new(),
        drive_share: None,
        faults: Vec::new(),
        children: cache.devices.iter().map(|device| device.report(elapsed)).collect(),
    }
}

fn counters(cache: &ServerCache) -> Vec<(&'static str, u64)> {
    let (counts, moved, levels) = (&cache.counts, &cache.levels.counts, &cache.levels.all);
    let mut counters = vec![
        ("read_hits", levels.iter().map(|level| level.counts.read_hits).sum()),
        ("read_misses", counts.read_misses),
        ("read_merged", counts.read_merged),
        ("write_hits", levels.iter().map(|level| level.counts.write_hits).sum()),
        ("write_misses", counts.write_misses),
        ("write_merged", counts.write_merged),
        ("write_parts", counts.write_parts),
        ("trimmed", counts.trimmed),
        ("fills", counts.fills),
        ("promotions", moved.promotions),
        ("demotions", moved.demotions),
        ("evictions", moved.evictions),
        ("back_invalidations", moved.back_invalidations),
        ("refusals", moved.refusals),
        ("bypassed", counts.bypassed),
        ("recovered", counts.recovered),
        ("backing_reads", counts.backing_reads),
        ("backing_writes", counts.backing_writes),
    ];
    if let Some(hedging) = &cache.hedging {
        let of = &hedging.counts;
        counters.extend([("hedges_sent", of.sent), ("hedges_won", of.won), ("reads_canceled", of.canceled)]);
    }
    if let Some(work) = &cache.write_back {
        let of = &work.counts;
        counters.extend([
            ("dirtied", of.dirtied),
            ("overwritten", of.overwritten),
            ("write_backs", of.cleaned + of.flushed + of.dirty_evictions),
            ("cleaned", of.cleaned),
            ("flushed", of.flushed),
            ("dirty_evictions", of.dirty_evictions),
            ("dirty_lost", of.lost),
            (LOST_PAGES, of.refused),
            ("write_back_requests", of.requests),
        ]);
    }
    for (names, level) in LEVEL_COUNTERS.iter().zip(levels) {
        let of = &level.counts;
        counters.extend(names.iter().copied().zip([of.read_hits, of.write_hits, of.entries, of.evictions]));
    }
    counters
}
