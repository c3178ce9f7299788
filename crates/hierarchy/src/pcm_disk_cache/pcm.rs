//! Frames of phase-change memory, with their time, energy, and data.

use super::Config;
use super::rows::{KINDS, Rows, kind};
use super::tables::{HASH_BYTES, STATUS_BYTES, TableCounts};
use crate::coding::{self, Coder};
use crate::frames::{Access, Memory, MemoryReport, ModeRules};
use nacre_controller::ecc::Verdict;
use nacre_controller::wear_leveling::Move;
use nacre_kernel::event::{Cut, FirstCome};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Column, Energy, Ledger, Resource, Spread, Time, Wear};
use nacre_media::charge::Charges;
use nacre_media::dual_mode_flash::Mode;
use nacre_media::pcm::Operation;
use nacre_media::store::Store;

/// Operation of a bank.
#[derive(Clone, Copy, Debug, Value)]
enum Work {
    Read(Mode),
    /// A write, followed by the move of a row with `moved` pages. The move takes the time `moving`.
    Write {
        mode: Mode,
        moving: Time,
        moved: u8,
        moved_mode: Mode,
    },
    /// A copy of a page by the controller, from one mode to another.
    Copy(Mode, Mode),
}

/// Phase-change memory: banks, a port for lookups, and a decoder.
#[derive(State)]
#[state(bound = "S: Store")]
pub(super) struct Pcm<S> {
    #[state(skip = "who carries the bytes keeps them next to the state")]
    store: S,
    #[state(skip = "from the configuration")]
    config: Config,
    rows: Rows,
    banks: FirstCome<Work>,
    port: FirstCome<Activity>,
    coder: Coder,
    bank_charges: Charges<KINDS>,
    port_ledger: Ledger,
    tables: TableCounts,
    /// Number of table updates that have not been performed yet.
    pending: u64,
    writes: u64,
    moves: u64,
    /// Number of pages that the controller copied.
    copies: u64,
    corrected: u64,
    #[state(skip = "nothing is read from it")]
    buffer: Vec<u8>,
}

impl<S: Store> Pcm<S> {
    pub(super) fn new(config: Config, rows: Rows, store: S) -> Pcm<S> {
        let buffer =
            if S::CARRIES_BYTES { (config.page.0 + config.spare.0).next_power_of_two() as usize } else { 0 };
        Pcm {
            store,
            rows,
            banks: FirstCome::new(config.banks),
            port: FirstCome::new(1),
            coder: Coder::new(1),
            bank_charges: Charges::default(),
            port_ledger: Ledger::default(),
            tables: TableCounts::default(),
            pending: 0,
            writes: 0,
            moves: 0,
            copies: 0,
            corrected: 0,
            buffer: vec![0; buffer],
            config,
        }
    }

    fn spare_bytes(&self, at: u32) -> usize {
        self.rows.code(at).layout().spare_bytes as usize
    }

    fn decode(&mut self, at: u32, into: &mut [u8], expected: Verdict) -> Verdict {
        let (size, spare) = (self.config.page.0 as usize, self.spare_bytes(at));
        let whole = size + self.config.spare.0 as usize;
        if !self.store.read(u64::from(at), 0, &mut self.buffer[..whole]) {
            // The frame was written without data.
            into.fill(0);
            return expected;
        }
        let puts_right = matches!(expected, Verdict::Clean | Verdict::Corrected(_));
        // A code that is known only by its strength corrects up to that number of errors.
        if self.rows.code(at).codec().is_some() || !puts_right {
            self.rows.invert(at, &mut self.buffer[..whole]);
        }
        let (data, spare_bytes) = self.buffer.split_at_mut(size);
        let verdict = match self.rows.code(at).codec() {
            Some(codec) => {
                codec.decode(data, &mut spare_bytes[..spare]).expect("the frame was laid out for its code")
            }
            None => expected,
        };
        into.copy_from_slice(data);
        coding::verdict(expected, verdict, || self.is_as_stored(at, into))
    }

    /// Whether `found` is the data of the physical frame `at` and not another codeword after a miscorrection.
    #[cold]
    fn is_as_stored(&self, at: u32, found: &[u8]) -> bool {
        let mut stored = vec![0; found.len()];
        self.store.read(u64::from(at), 0, &mut stored);
        stored == found
    }

    /// Writes the page in the buffer, with its parity, to the store of the physical frame `at`.
    fn store_page(&mut self, at: u32) {
        let (size, spare) = (self.config.page.0 as usize, self.spare_bytes(at));
        let (data, spare_bytes) = self.buffer.split_at_mut(size);
        if let Some(codec) = self.rows.code(at).codec() {
            codec.encode(data, &mut spare_bytes[..spare]).expect("the frame was laid out for its code");
        }
        self.store.program(u64::from(at), &self.buffer);
    }

    /// Copies the page of one physical frame to another, and charges the copy to `activity`. Returns the
    /// time for which the copy occupies the bank.
    fn copy(&mut self, [from, to]: [u32; 2], read: Mode, activity: Activity) -> Time {
        let write = self.rows.mode(to);
        let energies = self.rows.copy(from, to);
        if S::CARRIES_BYTES {
            if self.store.read(u64::from(from), 0, &mut self.buffer) {
                self.store_page(to);
            } else {
                self.store.erase(u64::from(to), 1);
            }
        }
        let time = self.config.read(read) + self.config.write(write);
        self.bank_charges.charge(activity, time);
        for kind in [kind(Operation::Read, read), kind(Operation::Program, write)] {
            self.bank_charges.count(kind, activity, 1);
        }
        for energy in energies.into_iter().flatten() {
            self.coder.ledger.charge_energy(activity, energy);
        }
        time
    }

    /// Copies a page for the controller, while other operations of the banks continue. Returns the end time.
    #[cold]
    fn copy_now(&mut self, frames: [u32; 2], read: Mode, now: Time) -> Time {
        self.copies += 1;
        self.tables.updates += 1;
        self.pending += 1;
        let write = self.rows.mode(frames[1]);
        let time = self.copy(frames, read, Activity::Clean);
        self.banks.take(now, now, time, Work::Copy(read, write)) + time
    }

    /// Copies the pages of a row to another row. Returns the duration, the number of pages, and their mode.
    #[cold]
    fn move_row(&mut self, of: Move) -> (Time, u8, Mode) {
        let (mut time, mut mode) = (Time::ZERO, Mode::Mlc);
        let frames = self.rows.moving(of);
        for &(from, to) in &frames {
            self.moves += 1;
            mode = self.rows.mode(from);
            time += self.copy([from, to], mode, Activity::LevelWear);
        }
        (time, frames.len() as u8, mode)
    }

    /// Refunds the interrupted portion of a bank operation after a power loss.
    #[cold]
    fn give_back(&mut self, cut: Cut<Work>) {
        let unstarted = u64::from(!cut.has_begun());
        let charges = &mut self.bank_charges;
        match cut.what {
            Work::Read(mode) => {
                charges.give_back(Activity::Read, cut.left);
                charges.give_back_count(kind(Operation::Read, mode), Activity::Read, unstarted);
            }
            Work::Copy(read, write) => {
                charges.give_back(Activity::Clean, cut.left);
                for kind in [kind(Operation::Read, read), kind(Operation::Program, write)] {
                    charges.give_back_count(kind, Activity::Clean, unstarted);
                }
            }
            Work::Write { mode, moving, moved, moved_mode } => {
                let unmoved = cut.left.min(moving);
                charges.give_back(Activity::Write, cut.left - unmoved);
                charges.give_back(Activity::LevelWear, unmoved);
                charges.give_back_count(kind(Operation::Program, mode), Activity::Write, unstarted);
                if !moving.is_zero() && unmoved == moving {
                    for operation in [Operation::Read, Operation::Program] {
                        let kind = kind(operation, moved_mode);
                        charges.give_back_count(kind, Activity::LevelWear, u64::from(moved));
                    }
                    let energy = self.rows.codes[0].encoding().energy.unwrap_or_default();
                    let energy = Energy(energy.0 * f64::from(moved));
                    self.coder.ledger.give_back_energy(Activity::LevelWear, energy);
                }
            }
        }
    }

    /// Performs one update of the tables in addition to the pending updates. Returns the time at which all
    /// updates have ended.
    #[inline]
    fn update_tables(&mut self, now: Time) -> Time {
        let updates = std::mem::take(&mut self.pending) + 1;
        self.tables.updates += 1;
        let time = self.config.update * updates;
        if time.is_zero() {
            return now;
        }
        self.port_ledger.charge(Activity::Translate, time);
        self.port.take(now, now, time, Activity::Translate) + time
    }

    /// Columns with the sizes and the energy of the tables.
    fn table_columns(&self, elapsed: Time) -> Vec<Column> {
        let frames = self.config.capacity.0 / self.config.page.0;
        let one = |name, value: f64| Column { name, values: vec![value] };
        let mut columns = vec![
            one("tables.hash_bytes", (HASH_BYTES * frames) as f64),
            one("tables.page_status_bytes", (STATUS_BYTES * frames) as f64),
        ];
        if let (Some(access), Some(idle)) = self.table_energies(elapsed) {
            columns.push(one("tables.energy_j", access.0 + idle.0));
        }
        columns
    }

    /// Energy of the accesses to the tables, and idle energy of the tables, each `None` if unknown.
    fn table_energies(&self, elapsed: Time) -> (Option<Energy>, Option<Energy>) {
        let bytes = (HASH_BYTES + STATUS_BYTES) * (self.config.capacity.0 / self.config.page.0);
        let tables = &self.config.tables;
        (tables.access_energy(self.tables), tables.idle_energy(bytes, elapsed))
    }

    /// Lifetime in days at the mean write rate of the time `elapsed`; `None` without writes.
    fn lifetime_days(&self, elapsed: Time) -> Option<f64> {
        let days = elapsed.as_secs_f64() / 86_400.0;
        let frames = self.rows.programs().len() as f64;
        let endurance = self.config.cells.endurance as f64;
        let all = self.writes + self.moves + self.copies;
        if self.writes == 0 {
            return None;
        }
        let Some(controller) = &self.config.controller else {
            return Some(frames * endurance / all as f64 * days);
        };
        // A page in SLC mode wears the cells of two frames.
        let slc = self.rows.slc_writes;
        let worn =
            (all - slc.min(all)) as f64 / endurance + 2.0 * slc as f64 / controller.slc_endurance as f64;
        Some(frames / worn * days)
    }
}

impl<S: Store> Memory for Pcm<S> {
    const IS_VOLATILE: bool = false;
    const ATOMIC_UNIT: u32 = 64;
    const KIND: &'static str = "pcm_disk_cache";

    fn carries_bytes(&self) -> bool {
        S::CARRIES_BYTES
    }

    fn has_code(&self) -> bool {
        self.rows.codes[0].layout().spare_bytes > 0
    }

    #[inline]
    fn read(&mut self, frame: u32, now: Time, into: &mut [u8]) -> Access {
        let at = self.rows.physical(frame);
        let mode = self.rows.mode(at);
        let wrong = self.rows.wrong_bits(at);
        let decoding = self.rows.code(at).decoding(wrong);
        let mut verdict = decoding.verdict;
        if S::CARRIES_BYTES {
            verdict = self.decode(at, into, verdict);
        }
        self.bank_charges.count(kind(Operation::Read, mode), Activity::Read, 1);
        self.corrected += u64::from(matches!(verdict, Verdict::Corrected(_)));
        let read = self.config.read(mode) * u64::from(1 + decoding.senses);
        let begin = self.banks.take(now, now, read, Work::Read(mode));
        self.bank_charges.charge(Activity::Read, read);
        let time = decoding.work.time;
        let done = self.coder.decode(now, begin + read, decoding.work);
        let queue = done - now - read - time;
        let spans = [(Activity::Queue, queue), (Activity::Read, read), (Activity::Correct, time)];
        Access {
            begin,
            done,
            rests: done,
            spans,
            is_good: matches!(verdict, Verdict::Clean | Verdict::Corrected(_)),
        }
    }

    #[inline]
    fn begin_write(&mut self, frame: u32, now: Time) -> Access {
        self.writes += 1;
        let updated = self.update_tables(now);
        let at = self.rows.physical(frame);
        let mode = self.rows.mode(at);
        self.rows.program(at);
        // The bank moves a row after the write that caused the move.
        let (moving, moved, moved_mode) = match self.rows.written(frame) {
            Some(of) => self.move_row(of),
            None => (Time::ZERO, 0, Mode::Mlc),
        };
        let program = self.config.write(mode);
        let work = Work::Write { mode, moving, moved, moved_mode };
        let begin = self.banks.take(now, now, program + moving, work);
        self.bank_charges.charge(Activity::Write, program);
        self.bank_charges.count(kind(Operation::Program, mode), Activity::Write, 1);
        let spans =
            [(Activity::Queue, begin - now), (Activity::Write, program), (Activity::Correct, Time::ZERO)];
        let done = begin + program;
        Access { begin, done, rests: updated.max(done + moving), spans, is_good: true }
    }

    #[inline]
    fn land(&mut self, frame: u32, bytes: &[u8]) {
        if !S::CARRIES_BYTES {
            return;
        }
        self.buffer[..self.config.page.0 as usize].copy_from_slice(bytes);
        self.store_page(self.rows.physical(frame));
    }

    #[inline]
    fn encode(&mut self, now: Time) -> Time {
        self.coder.encode(now, self.rows.codes[0].encoding())
    }

    #[inline]
    fn look_up(&mut self, now: Time) -> Time {
        self.tables.lookups += 1;
        let start = self.port.take(now, now, self.config.lookup, Activity::Translate);
        self.port_ledger.charge(Activity::Translate, self.config.lookup);
        start + self.config.lookup
    }

    fn peek(&self, frame: u32, into: &mut [u8]) {
        if !self.store.read(u64::from(self.rows.physical(frame)), 0, into) {
            into.fill(0);
        }
    }

    fn power_fail(&mut self, at: Time) {
        let cut: Vec<Cut<Work>> = self.banks.power_fail(at).collect();
        cut.into_iter().for_each(|cut| self.give_back(cut));
        for cut in self.port.power_fail(at) {
            self.port_ledger.give_back(cut.what, cut.left);
        }
        self.coder.power_fail(at);
    }

    fn restart_ledger(&mut self) {
        (self.writes, self.moves, self.copies, self.corrected) = (0, 0, 0, 0);
        (self.tables, self.rows.slc_writes) = (TableCounts::default(), 0);
        self.banks.restart_ledger();
        self.port.restart_ledger();
        self.bank_charges = Charges::default();
        self.port_ledger = Ledger::default();
        self.coder.restart_ledger();
    }

    #[inline]
    fn leaves(&mut self) {
        self.tables.updates += 1;
        self.pending += 1;
    }

    fn rebuild(&mut self) -> Time {
        if !self.config.tables.is_volatile() {
            return Time::ZERO;
        }
        let frames = self.config.capacity.0 / self.config.page.0;
        let read = self.config.read(Mode::Mlc);
        self.bank_charges.charge(Activity::Translate, read * frames);
        self.bank_charges.count(kind(Operation::Read, Mode::Mlc), Activity::Translate, frames);
        read * frames.div_ceil(u64::from(self.config.banks))
    }

    fn mode_rules(&self) -> Option<ModeRules> {
        self.config.controller.as_ref().map(|controller| controller.rules(self.config.cells.read))
    }

    fn is_at_limit(&self, frame: u32) -> bool {
        self.rows.is_at_limit(self.rows.physical(frame))
    }

    fn stronger(&self, frame: u32) -> Option<[Time; 2]> {
        self.rows.stronger(self.rows.physical(frame))
    }

    fn raise(&mut self, frame: u32) {
        self.rows.raise(self.rows.physical(frame));
    }

    fn to_slc(&mut self, frame: u32, has_page: bool, now: Time) -> Time {
        let at = self.rows.physical(frame);
        self.rows.set_mode(at, Mode::Slc);
        if has_page { self.copy_now([at, at], Mode::Mlc, now) } else { now }
    }

    fn to_mlc(&mut self, frame: u32) {
        self.rows.set_mode(self.rows.physical(frame), Mode::Mlc);
    }

    fn move_page(&mut self, from: u32, to: u32, now: Time) -> Time {
        let frames = [from, to].map(|frame| self.rows.physical(frame));
        self.copy_now(frames, self.rows.mode(frames[0]), now)
    }

    fn report(&self, elapsed: Time) -> MemoryReport {
        let config = &self.config;
        let energies = config.energies();
        let banks = self.bank_charges.ledger(&energies);
        let mut counters = vec![
            ("frame_writes", self.writes),
            ("moved_frames", self.moves),
            ("corrected_pages", self.corrected),
            ("table_lookups", self.tables.lookups),
            ("table_updates", self.tables.updates),
        ];
        let (access, idle) = self.table_energies(elapsed);
        let mut port = self.port_ledger.clone();
        if let Some(energy) = access {
            port.charge_energy(Activity::Translate, energy);
        }
        let cells = config.cells.idle_power.map(|power| power.over(elapsed));
        let tables = idle.filter(|_| config.tables.is_volatile());
        let idle = if cells.is_none() {
            tables
        } else {
            tables.map_or(cells, |of| cells.map(|cells| Energy(cells.0 + of.0)))
        };
        if config.controller.is_some() {
            counters.push(("copied_frames", self.copies));
        }
        MemoryReport {
            resources: vec![
                Resource { name: "banks", servers: self.banks.count(), ledger: banks },
                Resource { name: "port", servers: 1, ledger: port },
                self.coder.resource(),
            ],
            is_energy_modeled: energies.is_known(),
            idle_energy: idle,
            counters,
            cost: config.price.map(|price| price.of(config.capacity)),
            area_mm2: config.area.map(|area| area.mm2_of(config.capacity)),
            lifetime_days: self.lifetime_days(elapsed),
            wear: Some(Wear {
                host: self.writes,
                leveled: self.moves,
                cleaned: self.copies,
                endurance: Some(config.cells.endurance),
                row_programs: Spread::of(self.rows.programs().iter().copied()),
                ..Wear::default()
            }),
            columns: self.table_columns(elapsed),
        }
    }
}
