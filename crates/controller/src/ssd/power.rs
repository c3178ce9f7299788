//! Loss of power and recovery.
//!
//! With power protection capacitors finish the programs of everything that is in the buffer. Without it, units
//! whose program had not ended are what they were before. When the power is back, erases that were interrupted are
//! done again, the last checkpoint of the mapping is read, and the spare areas of the pages that were programmed
//! since. Recovery ends with a checkpoint.

use super::array::Array;
use super::config::Config;
use super::model::Ssd;
use nacre_kernel::{Recovery, Time};
use nacre_media::store::Store;
use std::collections::BTreeMap;

impl<S: Store> Ssd<S> {
    /// The power fails at `at`.
    pub(super) fn lose_power(&mut self, at: Time) {
        let unfinished = self.schedule.unfinished(at);
        let held = self.array.held_operations();
        let held_parities = self.array.held_parities();
        let damage = self.damage(at);
        let lost = self.versions.fail(at, &mut self.schedule);
        let mut interrupted = Recovery {
            done: at,
            programs_lost: lost.operations.len() as u64,
            bytes_lost: lost.acknowledged.union(&damage.units).count() as u64
                * u64::from(self.array.geometry.unit_bytes),
            pages_damaged: damage.pages,
            blocks_forgotten: self.array.mapping.as_mut().map_or(0, |mapping| mapping.forget()),
            ..Recovery::default()
        };
        if self.config.power_protected {
            let rounds = unfinished.most_programs + self.array.held_rounds();
            interrupted.programs_finished = unfinished.programs + held + held_parities;
            interrupted.done = at + self.config.nand.longest_program() * rounds;
        }
        let finishing = self.config.power_protected.then(|| self.config.nand.longest_program());
        self.schedule.cancel(at, (held, held_parities), finishing);
        self.array.empty_buffer();
        let mut older = BTreeMap::new();
        for (unit, before) in lost.back {
            match before {
                // A trim that was asked for behind it: what is trimmed may read as zero at once.
                Some(_) if self.array.table[unit as usize] == 0 => {}
                Some(_) if damage.units.contains(&unit) => {}
                Some(bytes) => _ = older.insert(unit, bytes),
                None => self.array.trim(unit),
            }
        }
        self.array.fall_back(&older);
        for unit in damage.units {
            self.array.trim(unit);
        }
        if S::CARRIES_BYTES {
            // Zeros that are not touched, as at the beginning.
            self.array.table = vec![0; self.array.table.len()];
        }
        self.outage.interrupt(at, &unfinished, interrupted, &mut self.book);
        self.schedule.clear();
        self.interface.power_fail(at);
    }

    /// What it takes to find the parity of stripes again that are not full, from what is on the flash of them. Capacitors
    /// keep it.
    fn finding_parity(&self) -> Time {
        if self.config.power_protected {
            return Time::ZERO;
        }
        let geometry = &self.array.geometry;
        let pages = u64::from(geometry.pages_of(geometry.operation_units));
        reading(&self.config, self.array.unprotected_operations() * pages, self.config.page.0)
    }

    /// The power is back at `at`.
    pub(super) fn repair(&mut self, at: Time) -> Recovery {
        let mut recovery = std::mem::take(&mut self.outage.interrupted);
        if S::CARRIES_BYTES {
            let Array { spare, owners, table, .. } = &mut self.array;
            spare.find_mapping(owners, table);
        }
        let geometry = &self.array.geometry;
        let programs = self.array.flash.programs();
        let every = (self.config.checkpoint_every.0 / u64::from(geometry.unit_bytes)).max(1);
        let since = (programs - self.outage.checkpoint) % every;
        recovery.pages_scanned = since.div_ceil(u64::from(geometry.units_per_page));
        recovery.erases_repeated = self.outage.erases.all;
        let erasing = self.schedule.pace.erase * self.outage.erases.most;
        let mappings =
            if geometry.mapping_units > 0 { geometry.mapping_units } else { geometry.logical_units };
        self.schedule.erase_again(at.max(recovery.done), recovery.erases_repeated, self.outage.erases.most);
        let table = u64::from(mappings) * self.config.mapping_entry.0;
        let reading = reading(&self.config, table.div_ceil(self.config.page.0), self.config.page.0);
        let scanning = reading_spare(&self.config, recovery.pages_scanned);
        recovery.done = at.max(recovery.done) + erasing + reading + scanning + self.finding_parity();
        self.outage.next_checkpoint = programs;
        self.outage.recovered(at, &recovery, &mut self.book);
        recovery
    }
}

/// What reading so many `pages` of a fresh checkpoint takes, spread over all dies, with `bytes` of each crossing
/// its channel: dies sense side by side, those of a channel transfer in turn.
pub(super) fn reading(config: &Config, pages: u64, bytes: u64) -> Time {
    let crossing = config.command + config.bus.time_for(bytes);
    let (sensing, ways) = (config.nand.longest_read(), u64::from(config.ways));
    (sensing + crossing).max(crossing * ways) * pages.div_ceil(config.dies_in_all())
}

/// The same of spare areas alone, which are as short as a command.
pub(super) fn reading_spare(config: &Config, pages: u64) -> Time {
    reading(config, pages, 0)
}
