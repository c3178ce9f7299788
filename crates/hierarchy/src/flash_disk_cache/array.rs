//! The flash under the cache, and the time that its operations take.

use super::config::Cells;
use super::{FLASH_PAGE, bytes, stored_bytes};
use crate::coding::{self, Coder};
use nacre_controller::ecc::{Ecc, Verdict, Work};
use nacre_kernel::state::State;
use nacre_kernel::{
    Activity, Breakdown, ComponentId, Energy, Ledger, Operations, Power, Resource, Time, Timeline, UnderWay,
};
use nacre_media::dual_mode_flash::{DualModeFlash, Mode};
use nacre_media::store::Store;

/// Flash, its dies, and the encoder and decoders.
#[derive(State)]
#[state(bound = "S: Store")]
pub(super) struct Array<S> {
    pub(super) flash: DualModeFlash<S>,
    #[state(skip = "from the configuration")]
    pub(super) codes: Vec<Box<dyn Ecc>>,
    #[state(skip = "from the configuration")]
    pub(super) cells: Cells,
    #[state(skip = "from the configuration")]
    spans: Spans,
    dies: Vec<Timeline>,
    coder: Coder,
    die_ledger: Ledger,
    under_way: UnderWay,
    /// Where the bytes of a page are, with its spare bytes.
    #[state(skip = "nothing is read from it")]
    pub(super) buffer: Vec<u8>,
}

/// What is asked for again and again.
#[derive(Clone, Debug)]
struct Spans {
    /// Bits that count of a page of each code, and what a clean page takes to decode, and any page to encode.
    bits: Vec<u32>,
    clean: Vec<Work>,
    encode: Vec<Work>,
    /// What a die draws beyond idling.
    draw: Power,
}

/// A page that was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sensed {
    /// When its data is at hand.
    pub(super) done: Time,
    pub(super) verdict: Verdict,
    /// Wrong bits.
    pub(super) wrong: u32,
}

impl Sensed {
    pub(super) fn is_good(&self) -> bool {
        matches!(self.verdict, Verdict::Clean | Verdict::Corrected(_))
    }
}

impl<S: Store> Array<S> {
    pub(super) fn new(
        cells: Cells,
        decoders: u32,
        codes: Vec<Box<dyn Ecc>>,
        flash: DualModeFlash<S>,
    ) -> Array<S> {
        let layouts = codes.iter().map(|code| code.layout());
        let bits = layouts.map(|of| (of.codeword_bits * u64::from(of.codewords)) as u32).collect();
        let spans = Spans {
            bits,
            clean: codes.iter().map(|code| code.decoding(0).work).collect(),
            encode: codes.iter().map(|code| code.encoding()).collect(),
            draw: Power(match (cells.nand.active_power, cells.nand.idle_power) {
                (Some(active), idle) => active.0 - idle.map_or(0.0, |idle| idle.0),
                (None, _) => 0.0,
            }),
        };
        Array {
            flash,
            codes,
            spans,
            dies: vec![Timeline::new(); cells.dies as usize],
            coder: Coder::new(decoders),
            die_ledger: Ledger::default(),
            under_way: UnderWay::default(),
            buffer: vec![0; if S::CARRIES_BYTES { stored_bytes(&cells) as usize } else { 0 }],
            cells,
        }
    }

    #[inline]
    fn occupy(&mut self, block: u32, earliest: Time, time: Time, activity: Activity) -> Time {
        let die = (block % self.cells.dies) as usize;
        let start = self.dies[die].reserve(earliest, time);
        self.die_ledger.charge(activity, time);
        if S::CARRIES_BYTES {
            self.under_way.add(activity, start, start + time, Operations::default());
        }
        self.die_ledger.charge_energy(activity, self.spans.draw.over(time));
        start + time
    }

    /// Reads `page` of `code`; its bytes are in the buffer, as they were decoded.
    #[inline]
    pub(super) fn read(&mut self, page: u32, code: u8, now: Time, activity: Activity) -> Sensed {
        let (mode, block) = (self.flash.mode(page), self.flash.block_of(page));
        let wrong = self.flash.wrong_bits(page, now);
        let code = code as usize;
        let (mut verdict, mut senses, mut decode) = (Verdict::Clean, 0, self.spans.clean[code]);
        if wrong > 0 {
            let decoding = self.codes[code].decoding(wrong);
            (verdict, senses, decode) = (decoding.verdict, decoding.senses, decoding.work);
        }
        if S::CARRIES_BYTES {
            verdict = self.decode(page, code, verdict);
        }
        let sensed = self.occupy(block, now, self.cells.nand.read(mode) * u64::from(1 + senses), activity);
        let done = self.coder.decode(sensed, decode, S::CARRIES_BYTES);
        Sensed { done, verdict, wrong }
    }

    /// The verdict on `page` of `code`, whose data is still at hand: nothing is read and no time passes. Its bytes
    /// are in the buffer.
    pub(super) fn look_at(&mut self, page: u32, code: u8, now: Time) -> Sensed {
        let wrong = self.flash.wrong_bits(page, now);
        let mut verdict = self.codes[code as usize].decoding(wrong).verdict;
        if S::CARRIES_BYTES {
            verdict = self.decode(page, code as usize, verdict);
        }
        Sensed { done: now, verdict, wrong }
    }

    /// Brings the bytes of `page` into the buffer, as they are decoded; zeroes, where it was programmed while no bytes
    /// were carried. What the decoder finds.
    fn decode(&mut self, page: u32, code: usize, expected: Verdict) -> Verdict {
        let stored = &mut self.buffer[..(FLASH_PAGE + self.cells.spare.0) as usize];
        if !self.flash.read(page, stored) {
            stored.fill(0);
            return expected;
        }
        // A code that is known by its strength alone puts right what it says.
        if self.codes[code].codec().is_none() && matches!(expected, Verdict::Clean | Verdict::Corrected(_)) {
            self.flash.invert(page, stored);
        }
        let found = bytes::decode(&*self.codes[code], &mut self.buffer, expected);
        coding::verdict(expected, found, || self.is_as_stored(page))
    }

    /// Whether the data in the buffer is that of `page`, and not that of another codeword which the decoder took it for.
    #[cold]
    fn is_as_stored(&self, page: u32) -> bool {
        let data = FLASH_PAGE as usize;
        let mut stored = vec![0; data + self.cells.spare.0 as usize];
        self.flash.read(page, &mut stored);
        self.flash.invert(page, &mut stored);
        stored[..data] == self.buffer[..data]
    }

    /// How the time of a read that began at `now` was spent.
    #[inline]
    pub(super) fn explain(
        &self,
        id: ComponentId,
        page: u32,
        code: u8,
        (now, sensed): (Time, Sensed),
        breakdown: &mut Breakdown,
    ) {
        let decoding = match sensed.wrong {
            0 => (self.spans.clean[code as usize].time, 0),
            wrong => {
                let decoding = self.codes[code as usize].decoding(wrong);
                (decoding.work.time, decoding.senses)
            }
        };
        let read = self.cells.nand.read(self.flash.mode(page)) * u64::from(1 + decoding.1);
        let queue = sensed.done - now - read - decoding.0;
        breakdown
            .add_all(id, [(Activity::Queue, queue), (Activity::Read, read), (Activity::Correct, decoding.0)]);
    }

    /// Programs the next page of `block`, which holds what the buffer holds; the page, and when it is done.
    pub(super) fn program(
        &mut self,
        block: u32,
        (mode, code): (Mode, u8),
        now: Time,
        activity: Activity,
    ) -> (u32, Time) {
        let code = code as usize;
        let begin = self.coder.encode(now, self.spans.encode[code], S::CARRIES_BYTES);
        let page = self.flash.program(block, mode, self.spans.bits[code], begin);
        if S::CARRIES_BYTES {
            bytes::encode(&*self.codes[code], &mut self.buffer);
            self.flash.fill(page, &self.buffer);
        }
        let time = self.cells.nand.program(mode);
        let done = self.occupy(block, begin, time, activity);
        (page, done)
    }

    /// Takes the time of programming a page of the journal.
    pub(super) fn program_journal(&mut self, block: u32, now: Time) -> Time {
        self.occupy(block, now, self.cells.nand.program(Mode::Slc), Activity::Clean)
    }

    /// Erases `block`, whose slots are mostly in `mode`, from `now` on; when that is done.
    pub(super) fn erase(&mut self, block: u32, mode: Mode, now: Time) -> Time {
        self.flash.erase(block);
        self.occupy(block, now, self.cells.nand.erase(mode), Activity::Erase)
    }

    /// Time to decode a page of code number `code`.
    pub(super) fn decode_time(&self, code: u8) -> Time {
        self.codes[code as usize].decoding(1).work.time
    }

    /// Takes the dies for reading `pages` pages, all of them side by side; when that is done.
    pub(super) fn scan(&mut self, pages: u64, now: Time) -> Time {
        let each = pages.div_ceil(u64::from(self.cells.dies));
        let time = self.cells.nand.read(Mode::Slc) * each;
        let dies = 0..self.cells.dies;
        dies.map(|die| self.occupy(die, now, time, Activity::Read)).fold(now, Time::max)
    }

    pub(super) fn forget_before(&mut self, to: Time) {
        self.under_way.settle(to);
        self.dies.iter_mut().for_each(|die| die.forget_before(to));
        self.coder.forget_before(to);
    }

    pub(super) fn busy_until(&self) -> Time {
        let dies = self.dies.iter().map(Timeline::free_from);
        dies.fold(self.coder.free_from(), Time::max)
    }

    /// The power fails at `at`: what was reserved and has not been done does not happen, and is charged to nothing.
    pub(super) fn power_fail(&mut self, at: Time) {
        for cancelled in self.under_way.cancel(at) {
            self.die_ledger.give_back(cancelled.activity, cancelled.time);
            let energy = self.spans.draw.over(cancelled.time);
            self.die_ledger.give_back_energy(cancelled.activity, energy);
        }
        self.coder.power_fail(at);
        self.dies.fill(Timeline::new());
    }

    pub(super) fn restart_ledger(&mut self) {
        self.die_ledger = Ledger::default();
        self.coder.restart_ledger();
        self.under_way.clear();
    }

    pub(super) fn resources(&self) -> Vec<Resource> {
        vec![
            Resource { name: "dies", servers: self.cells.dies, ledger: self.die_ledger.clone() },
            self.coder.resource(),
        ]
    }

    /// What all dies draw while they do nothing, over `elapsed`.
    pub(super) fn idle_energy(&self, elapsed: Time) -> Option<Energy> {
        let dies = f64::from(self.cells.dies);
        self.cells.nand.idle_power.map(|power| Energy(power.over(elapsed).0 * dies))
    }

    pub(super) fn check_invariants(&self) {
        self.dies.iter().for_each(Timeline::check_invariants);
        self.coder.check_invariants();
    }
}
