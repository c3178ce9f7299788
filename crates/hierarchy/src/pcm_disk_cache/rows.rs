//! Rows of cells, with their mode, code, and wear.
//!
//! Without a programmable controller, a row is a frame. With a programmable controller, a row holds two
//! frames, each in one half of the cells. In SLC mode, the page of one frame uses all cells.

use super::Config;
use nacre_controller::ecc::{Ecc, Verdict};
use nacre_controller::wear_leveling::{Move, WearLeveller};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Energy, Random, Time};
use nacre_media::charge::Energies;
use nacre_media::dual_mode_flash::Mode;
use nacre_media::pcm::Operation;
use nacre_media::worn_cells::WornCells;

/// Number of kinds of operations: reads and writes, in MLC and in SLC mode.
pub(super) const KINDS: usize = 2 * Operation::COUNT;

/// The kind of an operation in this mode.
#[inline]
pub(super) fn kind(operation: Operation, mode: Mode) -> usize {
    operation as usize + if mode == Mode::Slc { Operation::COUNT } else { 0 }
}

/// State of the cells of a frame.
#[derive(Clone, Copy, Debug, Default, Value)]
struct Half {
    /// Number of the code of the page.
    code: u8,
    /// Number of the code that the next write uses.
    next: u8,
    mode: Mode,
    /// Whether the page in the other half of the row uses these cells, too.
    is_given: bool,
}

/// All rows of the cache.
#[derive(State)]
pub(super) struct Rows {
    /// Mapping of logical to physical rows.
    leveller: Box<dyn WearLeveller>,
    cells: WornCells,
    /// Cells of every physical frame; empty without a controller.
    halves: Vec<Half>,
    #[state(skip = "from the configuration")]
    pub(super) codes: Vec<Box<dyn Ecc>>,
    /// Number of bits of a page and its spare bytes, for each code.
    #[state(skip = "from the configuration")]
    bits: Vec<u32>,
    /// A row has `1 << shift` frames.
    #[state(skip = "from the configuration")]
    shift: u32,
    #[state(skip = "from the configuration")]
    slc_endurance: u64,
    /// Number of writes of pages in SLC mode.
    pub(super) slc_writes: u64,
}

impl Rows {
    pub(super) fn new(
        config: &Config,
        leveller: Box<dyn WearLeveller>,
        codes: Vec<Box<dyn Ecc>>,
        random: Random,
    ) -> Rows {
        let shift = config.row_shift();
        let frames = (leveller.physical_rows() << shift) as u32;
        let layouts = codes.iter().map(|code| code.layout());
        let bits =
            layouts.map(|layout| (layout.codeword_bits * u64::from(layout.codewords)) as u32).collect();
        let halves = if shift == 0 { 0 } else { frames as usize };
        Rows {
            leveller,
            cells: WornCells::new(frames, config.cells.endurance, config.errors, random),
            halves: vec![Half::default(); halves],
            bits,
            codes,
            shift,
            slc_endurance: config.controller.as_ref().map_or(0, |controller| controller.slc_endurance),
            slc_writes: 0,
        }
    }

    /// The physical frame of `frame`.
    #[inline]
    pub(super) fn physical(&self, frame: u32) -> u32 {
        let row = self.leveller.physical(u64::from(frame >> self.shift)) as u32;
        row << self.shift | frame & self.shift
    }

    #[inline]
    fn half(&self, at: u32) -> Half {
        self.halves.get(at as usize).copied().unwrap_or_default()
    }

    /// Mode of the physical frame `at`.
    #[inline]
    pub(super) fn mode(&self, at: u32) -> Mode {
        self.half(at).mode
    }

    /// The code of the page in the physical frame `at`.
    #[inline]
    pub(super) fn code(&self, at: u32) -> &dyn Ecc {
        &*self.codes[self.half(at).code as usize]
    }

    /// Number of bit errors of the physical frame `at`.
    #[inline]
    pub(super) fn wrong_bits(&self, at: u32) -> u32 {
        self.cells.wrong_bits(at)
    }

    /// Inverts the bit errors of the physical frame `at` in `bytes`.
    pub(super) fn invert(&self, at: u32, bytes: &mut [u8]) {
        self.cells.invert(at, bytes);
    }

    /// Number of writes of every physical frame.
    pub(super) fn programs(&self) -> &[u32] {
        self.cells.programs()
    }

    /// Writes a page to the physical frame `at`, with the code selected for the next write of this frame.
    #[inline]
    pub(super) fn program(&mut self, at: u32) {
        let Half { next, mode, .. } = self.half(at);
        let bits = self.bits[next as usize];
        if let Some(half) = self.halves.get_mut(at as usize) {
            half.code = next;
        }
        match mode {
            Mode::Mlc => self.cells.program(at, bits),
            Mode::Slc => {
                self.slc_writes += 1;
                self.cells.program_pair([at, at ^ 1], bits, self.slc_endurance);
            }
        }
    }

    /// Copies the page of one physical frame to another, whose mode has been set before. Returns the
    /// energies of decoding and encoding, if known.
    pub(super) fn copy(&mut self, from: u32, to: u32) -> [Option<Energy>; 2] {
        let wrong = self.cells.wrong_bits(from);
        let decoding = self.code(from).decoding(wrong);
        self.program(to);
        // Uncorrectable data stays corrupted.
        if !matches!(decoding.verdict, Verdict::Clean | Verdict::Corrected(_)) {
            let beyond = self.code(to).corrects() + 1;
            self.cells.worsen(to, if self.halves.is_empty() { wrong } else { wrong.max(beyond) });
        }
        [decoding.work.energy, self.code(to).encoding().energy]
    }

    /// Counts a write of `frame` for wear leveling. Returns the physical row to move, if any.
    #[inline]
    pub(super) fn written(&mut self, frame: u32) -> Option<Move> {
        self.leveller.written(u64::from(frame >> self.shift))
    }

    /// Gives the target row of a move the mode of the source row. Returns the source and target frame of each
    /// page that moves.
    pub(super) fn moving(&mut self, Move { from, to }: Move) -> Vec<(u32, u32)> {
        let first = |row: u64| (row << self.shift) as u32;
        let (from, to) = (first(from), first(to));
        let mut frames: Vec<(u32, u32)> = (0..1 << self.shift).map(|half| (from + half, to + half)).collect();
        if self.shift > 0 {
            for &(from, to) in &frames {
                let Half { mode, is_given, .. } = self.half(from);
                let to = &mut self.halves[to as usize];
                (to.mode, to.is_given) = (mode, is_given);
            }
            frames.retain(|&(from, _)| !self.half(from).is_given);
        }
        frames
    }

    /// Whether the page in the physical frame `at` has at least as many bit errors as its code corrects.
    /// False if its next write will use a stronger code.
    pub(super) fn is_at_limit(&self, at: u32) -> bool {
        let Half { code, next, .. } = self.half(at);
        let wrong = self.cells.wrong_bits(at);
        wrong > 0 && code == next && wrong >= self.codes[code as usize].corrects()
    }

    /// Decoding times of the code that the next write of the physical frame `at` uses, and of the next
    /// stronger code; `None` if this code is the strongest.
    pub(super) fn stronger(&self, at: u32) -> Option<[Time; 2]> {
        let next = usize::from(self.half(at).next);
        let time = |code: &dyn Ecc| code.decoding(1).work.time;
        self.codes.get(next + 1).map(|stronger| [time(&*self.codes[next]), time(&**stronger)])
    }

    /// Selects the next stronger code for later writes to the physical frame `at`.
    pub(super) fn raise(&mut self, at: u32) {
        self.halves[at as usize].next += 1;
    }

    /// Sets the mode of the row of the physical frame `at`. In SLC mode, this frame uses all cells.
    pub(super) fn set_mode(&mut self, at: u32, mode: Mode) {
        for frame in [at, at ^ 1] {
            let half = &mut self.halves[frame as usize];
            (half.mode, half.is_given) = (mode, mode == Mode::Slc && frame != at);
        }
    }
}

impl Config {
    /// Binary logarithm of the number of frames of a row.
    pub(super) fn row_shift(&self) -> u32 {
        u32::from(self.controller.is_some())
    }

    /// Time to read a page in this mode.
    #[inline]
    pub(super) fn read(&self, mode: Mode) -> Time {
        match (&self.controller, mode) {
            (Some(controller), Mode::Slc) => controller.slc_read,
            _ => self.cells.read,
        }
    }

    /// Time to write a page in this mode.
    #[inline]
    pub(super) fn write(&self, mode: Mode) -> Time {
        match (&self.controller, mode) {
            (Some(controller), Mode::Slc) => controller.slc_write,
            _ => self.cells.program,
        }
    }

    /// Energies of the [kinds](kind) of operations.
    pub(super) fn energies(&self) -> Energies<KINDS> {
        let slc = match &self.controller {
            Some(controller) => [controller.slc_read_energy, controller.slc_write_energy],
            None => [Some(Energy::default()); 2],
        };
        Energies::of([self.cells.read_energy, self.cells.program_energy, slc[0], slc[1]])
    }
}
