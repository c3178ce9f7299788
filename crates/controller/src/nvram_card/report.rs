//! The report of the card.

use super::backup::Backup;
use super::clocks::{COUNTED, Counters};
use super::config::Config;
use nacre_kernel::ledger::LOST_PAGES;
use nacre_kernel::{
    Activity, Bytes, Column, ComponentId, ComponentReport, Energy, HostCounts, Ledger, Resource, Time,
};
use nacre_media::dram::Kind;

/// Input of a report.
pub(super) struct Figures<'a> {
    pub(super) id: ComponentId,
    pub(super) path: &'a str,
    pub(super) config: &'a Config,
    pub(super) capacity: u64,
    pub(super) interface: Vec<Resource>,
    pub(super) processors: Resource,
    /// Counters of each channel, and its number of commands for each kind in [`COUNTED`].
    pub(super) channels: Vec<(&'a Counters, [u64; 5])>,
    pub(super) host: &'a HostCounts,
    pub(super) backup: &'a Backup,
    pub(super) lost_pages: u64,
}

impl Figures<'_> {
    /// Report of the card over the time `elapsed`.
    pub(super) fn report(self, elapsed: Time) -> ComponentReport {
        let (config, part) = (self.config, &self.config.part);
        let energies = [part.activate_energy, part.read_energy, part.write_energy, part.refresh_energy];
        ComponentReport {
            id: self.id,
            kind: "nvram_card",
            path: self.path.to_string(),
            is_energy_modeled: config.idle_power.is_some() || energies.iter().any(Option::is_some),
            idle_energy: config.idle_power.map(|power| power.over(elapsed)),
            counters: self.counters(),
            cost: config.price.map(|price| price.of(Bytes(self.capacity))),
            area_mm2: None,
            lifetime_days: None,
            wear: None,
            columns: self.columns(),
            drive_share: None,
            faults: Vec::new(),
            children: Vec::new(),
            resources: self.resources(),
        }
    }

    /// Numbers of commands of all channels, in the order of [`COUNTED`].
    fn commands(&self) -> [u64; 5] {
        let mut all = [0; 5];
        for (_, commands) in &self.channels {
            all.iter_mut().zip(commands).for_each(|(sum, count)| *sum += count);
        }
        all
    }

    fn resources(self) -> Vec<Resource> {
        let mut lines = Ledger::default();
        let mut canceled = [0; 2];
        for (Counters { lines: of_channel, canceled: bursts, .. }, _) in &self.channels {
            lines.add(of_channel);
            canceled.iter_mut().zip(bursts).for_each(|(sum, count)| *sum += count);
        }
        let part = &self.config.part;
        for ((kind, _), count) in COUNTED.into_iter().zip(self.commands()) {
            // The energy to open a row is charged to reading, because the access that caused it is unknown.
            let (each, activity) = match kind {
                Kind::Activate => (part.activate_energy, Activity::Read),
                Kind::Read => (part.read_energy, Activity::Read),
                Kind::Write => (part.write_energy, Activity::Write),
                Kind::Refresh => (part.refresh_energy, Activity::Read),
                Kind::Precharge => (None, Activity::Read),
            };
            let canceled = match kind {
                Kind::Read => canceled[0],
                Kind::Write => canceled[1],
                _ => 0,
            };
            let count = count.saturating_sub(canceled);
            lines.charge_energy(activity, Energy(each.unwrap_or_default().0 * count as f64));
        }
        let mut resources = self.interface;
        resources.push(self.processors);
        resources.push(Resource { name: "data_lines", servers: self.config.channels, ledger: lines });
        resources
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let sum = |of: fn(&Counters) -> u64| self.channels.iter().map(|(counters, _)| of(counters)).sum();
        let mut counters = self.host.counters();
        counters.extend(COUNTED.map(|(_, name)| name).into_iter().zip(self.commands()));
        counters.extend([
            ("row_hits", sum(|counters| counters.row_hits)),
            ("row_conflicts", sum(|counters| counters.row_conflicts)),
        ]);
        if self.backup.misreads() {
            counters.push((LOST_PAGES, self.lost_pages));
        }
        counters
    }

    /// Columns with the sizes, times, and energies of a dump of the whole memory.
    fn columns(&self) -> Vec<Column> {
        if !self.config.volatile {
            return Vec::new();
        }
        let plan = self.backup.plan();
        let saved = plan.stored.map_or(plan.pages, |stored| plan.saved_by(stored, plan.pages));
        let needed = plan.energy(plan.pages).0;
        [
            ("dump.pages", plan.pages as f64),
            ("dump.s", plan.time(plan.pages).as_secs_f64()),
            ("dump.needs_j", needed),
            ("dump.has_j", plan.stored.map_or(needed, |stored| stored.0)),
            ("dump.saves_share", saved as f64 / plan.pages as f64),
            ("dump.restores_s", plan.loading().as_secs_f64()),
            ("dump.ecc_share", plan.spare as f64 / (1_u64 << plan.page_shift) as f64),
            ("dump.unreadable_pages", plan.unreadable()),
        ]
        .map(|(name, value)| Column { name, values: vec![value] })
        .into()
    }
}
