//! Report of a drive.

use super::Ssd;
use crate::ftl::translation::Translation;
use nacre_kernel::{Activity, Bytes, Column, ComponentReport, Resource, Time, Wear};
use nacre_media::flash::Operation;

impl<T: Translation> Ssd<T> {
    /// Returns the report for the time `elapsed` since measurement started.
    pub(super) fn report_over(&self, elapsed: Time) -> ComponentReport {
        let (config, ftl) = (&self.config, &self.ftl);
        let wear = ftl.wear(&self.counts);
        let end_of_life = self.end_of_life.map(|(at, _)| at);
        let mut columns = ftl.columns();
        columns.extend(end_of_life_columns(self.end_of_life));
        ComponentReport {
            id: self.id,
            kind: T::KIND,
            path: self.path.clone(),
            resources: self.resources(&wear),
            is_energy_modeled: config.nand.energies().is_known(),
            idle_energy: config.nand.idle_power.map(|power| power.over(elapsed)),
            counters: ftl.counters(&self.counts, &self.flash),
            cost: config.price.map(|price| price.of(Bytes(ftl.geometry().capacity()))),
            area_mm2: None,
            // A worn-out drive no longer programs, regardless of the length of the run.
            lifetime_days: lifetime_days(ftl.life(), &wear, end_of_life.unwrap_or(elapsed).min(elapsed)),
            columns,
            wear: Some(wear),
            drive_share: self.share,
            faults: Vec::new(),
            children: Vec::new(),
        }
    }

    fn resources(&self, wear: &Wear) -> Vec<Resource> {
        let (flash, geometry) = (&self.flash, &self.flash.geometry);
        let energies = self.config.nand.energies();
        let parity = self.ftl.programs().parity - self.counts.programs_before.parity;
        let mut dies = flash.die_charges.clone();
        for (activity, units) in [
            (Activity::Drain, wear.host + wear.padding),
            (Activity::Clean, wear.cleaned),
            (Activity::LevelWear, wear.leveled),
            (Activity::Translate, wear.metadata - parity),
            (Activity::Correct, parity),
        ] {
            let pages = units / u64::from(geometry.units_per_page);
            let programmed = pages.saturating_sub(flash.counts.unprogrammed[activity as usize]);
            dies.count(Operation::Program as usize, activity, programmed);
        }
        let channels = flash.channel_charges.ledger(&energies);
        let mut resources = self.host.resources();
        resources.push(Resource { name: "channels", servers: geometry.channels, ledger: channels });
        resources.push(Resource { name: "dies", servers: geometry.dies, ledger: dies.ledger(&energies) });
        resources.extend(flash.errors.as_ref().map(|errors| errors.resource()));
        resources
    }
}

/// Returns the lifetime in days: the number of units that can be programmed, divided by the number of units
/// programmed per day.
fn lifetime_days(life: Option<f64>, wear: &Wear, elapsed: Time) -> Option<f64> {
    let (life, programs) = (life?, wear.programs());
    (programs > 0).then(|| life / programs as f64 * (elapsed.as_secs_f64() / 86_400.0))
}

/// Returns columns with the time when the drive became read-only and the number of bytes written until
/// then.
fn end_of_life_columns(end: Option<(Time, u64)>) -> Vec<Column> {
    let column = |name, value: f64| Column { name, values: vec![value] };
    let columns = |(time, bytes): (Time, u64)| {
        [column("end_of_life.time_s", time.as_secs_f64()), column("end_of_life.host_bytes", bytes as f64)]
    };
    end.into_iter().flat_map(columns).collect()
}
