//! Loss of power and recovery.
//!
//! Capacitors finish the programs of everything that is in the buffer, and save the operations that are not full and the
//! table of zones. When the power is back, erases that were interrupted are done again and the table is read; the write
//! pointer of each active zone is looked for among the pages of its superblocks, by halves.

use super::super::power::{reading, reading_spare};
use super::model::Zoned;
use nacre_kernel::{Recovery, Time};
use nacre_media::store::Store;

impl<S: Store> Zoned<S> {
    /// The power fails at `at`.
    pub(super) fn lose_power(&mut self, at: Time) {
        for (zone, from) in self.incoming.fail(at) {
            self.table.take_back(zone, from);
            self.book.forget_taken_back(self.table.programs.host);
        }
        let unfinished = self.schedule.unfinished(at);
        let held = self.table.held_operations();
        let longest = self.config.nand.longest_program();
        let rounds = unfinished.most_programs + held.div_ceil(u64::from(self.table.geometry.dies));
        let interrupted = Recovery {
            done: at + longest * rounds,
            programs_finished: unfinished.programs + held,
            ..Recovery::default()
        };
        self.schedule.cancel(at, (held, 0), Some(longest));
        self.table.close_all();
        if S::CARRIES_BYTES {
            self.table.forget_write_pointers();
        }
        self.outage.interrupt(at, &unfinished, interrupted, &mut self.book);
        self.schedule.clear();
        self.interface.power_fail(at);
    }

    /// The power is back at `at`.
    pub(super) fn repair(&mut self, at: Time) -> Recovery {
        let mut recovery = std::mem::take(&mut self.outage.interrupted);
        if S::CARRIES_BYTES {
            self.table.find_write_pointers();
        }
        let config = &self.config;
        // Halving finds one of so many operations, or none, in as many looks as that number has bits.
        let looks = u64::from(u32::BITS - self.table.operations_per_zone().leading_zeros());
        recovery.pages_scanned = looks * u64::from(self.table.active);
        recovery.erases_repeated = self.outage.erases.all;
        let erasing = self.schedule.pace.erase * self.outage.erases.most;
        let bytes = self.table.members.len() as u64 * config.mapping_entry.0;
        let table = reading(config, bytes.div_ceil(config.page.0), config.page.0);
        // Zones are looked into side by side, each by one die at a time.
        let looking = reading_spare(config, u64::from(self.table.active)) * looks;
        self.schedule.erase_again(at.max(recovery.done), recovery.erases_repeated, self.outage.erases.most);
        recovery.done = at.max(recovery.done) + erasing + table + looking;
        self.outage.recovered(at, &recovery, &mut self.book);
        recovery
    }
}
