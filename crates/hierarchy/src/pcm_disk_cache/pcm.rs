//! Frames of phase-change memory, with their time, wear, and bit errors.

use super::Config;
use crate::coding::{self, Coder};
use crate::frames::{Access, Memory, MemoryReport};
use nacre_controller::ecc::{Ecc, Verdict};
use nacre_controller::wear_leveling::{Move, WearLeveller};
use nacre_kernel::event::{Cut, FirstCome};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Ledger, Random, Resource, Spread, Time, Wear};
use nacre_media::charge::Charges;
use nacre_media::pcm::Operation;
use nacre_media::store::Store;
use nacre_media::worn_cells::WornCells;

/// Index of the charges for reads of a bank.
const READ: usize = Operation::Read as usize;
const WRITE: usize = Operation::Program as usize;

/// Operation of a bank.
#[derive(Clone, Copy, Debug, Value)]
enum Work {
    Read,
    /// A write, followed by a move of a row, which takes `moving`.
    Write {
        moving: Time,
    },
}

/// Phase-change memory: banks, a port for lookups, and a decoder.
#[derive(State)]
#[state(bound = "S: Store")]
pub(super) struct Pcm<S> {
    #[state(skip = "who carries the bytes keeps them next to the state")]
    store: S,
    #[state(skip = "from the configuration")]
    config: Config,
    #[state(skip = "from the configuration")]
    code: Box<dyn Ecc>,
    #[state(skip = "from the configuration")]
    bits: u32,
    /// Mapping of frames to rows of cells.
    leveller: Box<dyn WearLeveller>,
    cells: WornCells,
    banks: FirstCome<Work>,
    port: FirstCome<Activity>,
    coder: Coder,
    bank_charges: Charges<{ Operation::COUNT }>,
    port_ledger: Ledger,
    writes: u64,
    moves: u64,
    corrected: u64,
    #[state(skip = "nothing is read from it")]
    buffer: Vec<u8>,
}

impl<S: Store> Pcm<S> {
    pub(super) fn new(
        config: Config,
        leveller: Box<dyn WearLeveller>,
        code: Box<dyn Ecc>,
        random: Random,
        store: S,
    ) -> Pcm<S> {
        let rows = leveller.physical_rows() as u32;
        let layout = code.layout();
        let buffer =
            if S::CARRIES_BYTES { (config.page.0 + config.spare.0).next_power_of_two() as usize } else { 0 };
        Pcm {
            store,
            bits: (layout.codeword_bits * u64::from(layout.codewords)) as u32,
            code,
            leveller,
            cells: WornCells::new(rows, config.cells.endurance, config.errors, random),
            banks: FirstCome::new(config.banks),
            port: FirstCome::new(1),
            coder: Coder::new(1),
            bank_charges: Charges::default(),
            port_ledger: Ledger::default(),
            writes: 0,
            moves: 0,
            corrected: 0,
            buffer: vec![0; buffer],
            config,
        }
    }

    fn spare_bytes(&self) -> usize {
        self.code.layout().spare_bytes as usize
    }

    /// Row of cells that contains `frame`.
    #[inline]
    fn row(&self, frame: u32) -> u32 {
        self.leveller.physical(u64::from(frame)) as u32
    }

    fn decode(&mut self, row: u32, into: &mut [u8], expected: Verdict) -> Verdict {
        let (size, spare) = (self.config.page.0 as usize, self.spare_bytes());
        let whole = size + self.config.spare.0 as usize;
        if !self.store.read(u64::from(row), 0, &mut self.buffer[..whole]) {
            // A frame that was written without data reads as zeros.
            into.fill(0);
            return expected;
        }
        let puts_right = matches!(expected, Verdict::Clean | Verdict::Corrected(_));
        // If a code has only a strength and no codec, it corrects up to that number of bit errors.
        if self.code.codec().is_some() || !puts_right {
            self.cells.invert(row, &mut self.buffer[..whole]);
        }
        let (data, spare_bytes) = self.buffer.split_at_mut(size);
        let verdict = match self.code.codec() {
            Some(codec) => {
                codec.decode(data, &mut spare_bytes[..spare]).expect("the frame was laid out for its code")
            }
            None => expected,
        };
        into.copy_from_slice(data);
        coding::verdict(expected, verdict, || self.is_as_stored(row, into))
    }

    /// Whether `found` equals the data stored in `row`. It is another codeword after a miscorrection.
    #[cold]
    fn is_as_stored(&self, row: u32, found: &[u8]) -> bool {
        let mut stored = vec![0; found.len()];
        self.store.read(u64::from(row), 0, &mut stored);
        stored == found
    }

    /// Copies a row to another row. Returns the duration.
    #[cold]
    fn move_row(&mut self, Move { from, to }: Move) -> Time {
        self.moves += 1;
        let (from, to) = (from as u32, to as u32);
        let wrong = self.cells.wrong_bits(from);
        let decoding = self.code.decoding(wrong);
        self.cells.program(to, self.bits);
        // Uncorrectable data stays corrupted.
        if !matches!(decoding.verdict, Verdict::Clean | Verdict::Corrected(_)) {
            self.cells.worsen(to, wrong);
        }
        if S::CARRIES_BYTES {
            if self.store.read(u64::from(from), 0, &mut self.buffer) {
                self.store.program(u64::from(to), &self.buffer);
            } else {
                self.store.erase(u64::from(to), 1);
            }
        }
        let time = self.config.cells.read + self.config.cells.program;
        self.bank_charges.charge(Activity::LevelWear, time);
        for kind in [READ, WRITE] {
            self.bank_charges.count(kind, Activity::LevelWear, 1);
        }
        for work in [decoding.work, self.code.encoding()] {
            if let Some(energy) = work.energy {
                self.coder.ledger.charge_energy(Activity::LevelWear, energy);
            }
        }
        time
    }

    /// Refunds the time and energy of the interrupted portion of a bank operation.
    #[cold]
    fn give_back(&mut self, cut: Cut<Work>) {
        let charges = &mut self.bank_charges;
        match cut.what {
            Work::Read => {
                charges.give_back(Activity::Read, cut.left);
                charges.give_back_count(READ, Activity::Read, u64::from(!cut.has_begun()));
            }
            Work::Write { moving } => {
                let unmoved = cut.left.min(moving);
                charges.give_back(Activity::Write, cut.left - unmoved);
                charges.give_back(Activity::LevelWear, unmoved);
                charges.give_back_count(WRITE, Activity::Write, u64::from(!cut.has_begun()));
                if !moving.is_zero() && unmoved == moving {
                    for kind in [READ, WRITE] {
                        charges.give_back_count(kind, Activity::LevelWear, 1);
                    }
                    let energy = self.code.encoding().energy.unwrap_or_default();
                    self.coder.ledger.give_back_energy(Activity::LevelWear, energy);
                }
            }
        }
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
        self.code.layout().spare_bytes > 0
    }

    #[inline]
    fn read(&mut self, frame: u32, now: Time, into: &mut [u8]) -> Access {
        let row = self.row(frame);
        let wrong = self.cells.wrong_bits(row);
        let decoding = self.code.decoding(wrong);
        let mut verdict = decoding.verdict;
        if S::CARRIES_BYTES {
            verdict = self.decode(row, into, verdict);
        }
        self.bank_charges.count(READ, Activity::Read, 1);
        self.corrected += u64::from(matches!(verdict, Verdict::Corrected(_)));
        let read = self.config.cells.read * u64::from(1 + decoding.senses);
        let begin = self.banks.take(now, now, read, Work::Read);
        self.bank_charges.charge(Activity::Read, read);
        let time = decoding.work.time;
        let done = self.coder.decode(now, begin + read, decoding.work);
        let queue = done - now - read - time;
        let spans = [(Activity::Queue, queue), (Activity::Read, read), (Activity::Correct, time)];
        Access { begin, done, spans, is_good: matches!(verdict, Verdict::Clean | Verdict::Corrected(_)) }
    }

    #[inline]
    fn begin_write(&mut self, frame: u32, now: Time) -> Access {
        self.writes += 1;
        let row = self.row(frame);
        self.cells.program(row, self.bits);
        // The bank moves a row after the write that caused the move.
        let moving = self.leveller.written(u64::from(frame)).map_or(Time::ZERO, |moved| self.move_row(moved));
        let program = self.config.cells.program;
        let begin = self.banks.take(now, now, program + moving, Work::Write { moving });
        self.bank_charges.charge(Activity::Write, program);
        self.bank_charges.count(WRITE, Activity::Write, 1);
        let spans =
            [(Activity::Queue, begin - now), (Activity::Write, program), (Activity::Correct, Time::ZERO)];
        Access { begin, done: begin + program, spans, is_good: true }
    }

    #[inline]
    fn land(&mut self, frame: u32, bytes: &[u8]) {
        if !S::CARRIES_BYTES {
            return;
        }
        let (size, spare) = (self.config.page.0 as usize, self.spare_bytes());
        self.buffer[..size].copy_from_slice(bytes);
        let (data, spare_bytes) = self.buffer.split_at_mut(size);
        if let Some(codec) = self.code.codec() {
            codec.encode(data, &mut spare_bytes[..spare]).expect("the frame was laid out for its code");
        }
        let row = self.row(frame);
        self.store.program(u64::from(row), &self.buffer);
    }

    #[inline]
    fn encode(&mut self, now: Time) -> Time {
        self.coder.encode(now, self.code.encoding())
    }

    #[inline]
    fn look_up(&mut self, now: Time) -> Time {
        let start = self.port.take(now, now, self.config.lookup, Activity::Translate);
        self.port_ledger.charge(Activity::Translate, self.config.lookup);
        start + self.config.lookup
    }

    fn peek(&self, frame: u32, into: &mut [u8]) {
        if !self.store.read(u64::from(self.row(frame)), 0, into) {
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
        (self.writes, self.moves, self.corrected) = (0, 0, 0);
        self.banks.restart_ledger();
        self.port.restart_ledger();
        self.bank_charges = Charges::default();
        self.port_ledger = Ledger::default();
        self.coder.restart_ledger();
    }

    fn report(&self, elapsed: Time) -> MemoryReport {
        let config = &self.config;
        let energies = config.cells.energies();
        let banks = self.bank_charges.ledger(&energies);
        let frames = self.cells.programs();
        let life = frames.len() as f64 * config.cells.endurance as f64;
        let days = elapsed.as_secs_f64() / 86_400.0;
        MemoryReport {
            resources: vec![
                Resource { name: "banks", servers: self.banks.count(), ledger: banks },
                Resource { name: "port", servers: 1, ledger: self.port_ledger.clone() },
                self.coder.resource(),
            ],
            is_energy_modeled: energies.is_known(),
            idle_energy: config.cells.idle_power.map(|power| power.over(elapsed)),
            counters: vec![
                ("frame_writes", self.writes),
                ("moved_frames", self.moves),
                ("corrected_pages", self.corrected),
            ],
            cost: config.price.map(|price| price.of(config.capacity)),
            area_mm2: config.area.map(|area| area.mm2_of(config.capacity)),
            lifetime_days: (self.writes > 0).then(|| life / (self.writes + self.moves) as f64 * days),
            wear: Some(Wear {
                host: self.writes,
                leveled: self.moves,
                endurance: Some(config.cells.endurance),
                row_programs: Spread::of(frames.iter().copied()),
                ..Wear::default()
            }),
            columns: Vec::new(),
        }
    }
}
