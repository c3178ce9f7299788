//! The flash of the cache, and the durations of its operations.

use super::config::Cells;
use super::{FLASH_PAGE, bytes, stored_bytes};
use crate::coding::{self, Coder};
use nacre_controller::ecc::{Ecc, Verdict, Work};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Energy, Ledger, Power, Resource, Time};
use nacre_media::dual_mode_flash::{DualModeFlash, Mode};
use nacre_media::store::Store;
use std::collections::VecDeque;

/// Flash with its dies, its encoder, and its decoders.
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
    dies: Vec<Die>,
    coder: Coder,
    die_ledger: Ledger,
    /// Buffer for a page with its spare bytes.
    #[state(skip = "nothing is read from it")]
    pub(super) buffer: Vec<u8>,
}

/// A die, which performs one operation at a time in submission order.
#[derive(Clone, Debug, Default, Value)]
struct Die {
    serving: Option<Service>,
    waiting: VecDeque<Job>,
}

#[derive(Clone, Copy, Debug, Value)]
struct Job {
    number: u32,
    time: Time,
    activity: Activity,
}

#[derive(Clone, Copy, Debug, Value)]
struct Service {
    job: Job,
    end: Time,
    /// Whether the time of the operation is charged to the current ledger.
    is_charged: bool,
}

/// Precomputed durations and powers that are needed often.
#[derive(Clone, Debug)]
struct Spans {
    /// Number of used bits of a page, for each code.
    bits: Vec<u32>,
    /// Decoding time and energy of an error-free page, for each code.
    clean: Vec<Work>,
    /// Encoding time and energy of a page, for each code.
    encode: Vec<Work>,
    /// Power of an active die in addition to idle power.
    draw: Power,
}

/// Result of reading a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sensed {
    pub(super) verdict: Verdict,
    /// Number of bit errors before correction.
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
            dies: vec![Die::default(); cells.dies as usize],
            coder: Coder::new(decoders),
            die_ledger: Ledger::default(),
            buffer: vec![0; if S::CARRIES_BYTES { stored_bytes(&cells) as usize } else { 0 }],
            cells,
        }
    }

    /// Die that contains `block`.
    #[inline]
    pub(super) fn die_of(&self, block: u32) -> u32 {
        block % self.cells.dies
    }

    /// Queues operation `number` of the given duration for the die of `block`. Returns its end time if it
    /// starts immediately.
    #[inline]
    pub(super) fn wait(
        &mut self,
        now: Time,
        number: u32,
        block: u32,
        (time, activity): (Time, Activity),
    ) -> Option<Time> {
        let die = self.die_of(block);
        let job = Job { number, time, activity };
        if self.dies[die as usize].serving.is_some() {
            self.dies[die as usize].waiting.push_back(job);
            return None;
        }
        Some(self.begin(now, die, job))
    }

    #[inline]
    fn begin(&mut self, now: Time, die: u32, job: Job) -> Time {
        let end = now + job.time;
        self.die_ledger.charge(job.activity, job.time);
        self.die_ledger.charge_energy(job.activity, self.spans.draw.over(job.time));
        self.dies[die as usize].serving = Some(Service { job, end, is_charged: true });
        end
    }

    /// Ends the operation of `die` at `now`. Returns the number of this operation. If another operation
    /// waits for the die, also starts this operation and returns its end time.
    #[inline]
    pub(super) fn die_ends(&mut self, now: Time, die: u32) -> (u32, Option<Time>) {
        let of = &mut self.dies[die as usize];
        let ended = of.serving.take().expect("the die is busy").job.number;
        let next = of.waiting.pop_front();
        (ended, next.map(|job| self.begin(now, die, job)))
    }

    /// Time to read `page`, which has `wrong` bit errors and uses `code`, including the senses for soft
    /// decisions.
    #[inline]
    pub(super) fn read_time(&self, page: u32, code: u8, wrong: u32) -> Time {
        let senses = if wrong > 0 { self.codes[code as usize].decoding(wrong).senses } else { 0 };
        self.cells.nand.read(self.flash.mode(page)) * u64::from(1 + senses)
    }

    /// Decoding time and energy of a page that uses `code` and has `wrong` bit errors.
    #[inline]
    pub(super) fn decoding(&self, code: u8, wrong: u32) -> Work {
        match wrong {
            0 => self.spans.clean[code as usize],
            wrong => self.codes[code as usize].decoding(wrong).work,
        }
    }

    /// Starts to decode a page that was read. Returns the end time.
    #[inline]
    pub(super) fn decode_at(&mut self, now: Time, code: u8, wrong: u32) -> Time {
        let work = self.decoding(code, wrong);
        self.coder.decode(now, now, work)
    }

    /// Starts to encode a page. Returns the end time.
    #[inline]
    pub(super) fn encode_at(&mut self, now: Time, code: u8) -> Time {
        self.coder.encode(now, self.spans.encode[code as usize])
    }

    /// Computes the result of reading `page` without advancing simulated time, and decodes its data into
    /// the buffer.
    #[inline]
    pub(super) fn look_at(&mut self, page: u32, code: u8, now: Time) -> Sensed {
        let wrong = self.flash.wrong_bits(page, now);
        let mut verdict = Verdict::Clean;
        if wrong > 0 {
            verdict = self.codes[code as usize].decoding(wrong).verdict;
        }
        if S::CARRIES_BYTES {
            verdict = self.decode(page, code as usize, verdict);
        }
        Sensed { verdict, wrong }
    }

    /// Reads the decoded data of `page` into the buffer, or zeros if the page was programmed without data.
    /// Returns the result of the decoder.
    fn decode(&mut self, page: u32, code: usize, expected: Verdict) -> Verdict {
        let stored = &mut self.buffer[..(FLASH_PAGE + self.cells.spare.0) as usize];
        if !self.flash.read(page, stored) {
            stored.fill(0);
            return expected;
        }
        // If a code has only a strength and no codec, it corrects up to that number of bit errors.
        if self.codes[code].codec().is_none() && matches!(expected, Verdict::Clean | Verdict::Corrected(_)) {
            self.flash.invert(page, stored);
        }
        let found = bytes::decode(&*self.codes[code], &mut self.buffer, expected);
        coding::verdict(expected, found, || self.is_as_stored(page))
    }

    /// Whether the buffer contains the data of `page`. It contains another codeword after a miscorrection.
    #[cold]
    fn is_as_stored(&self, page: u32) -> bool {
        let data = FLASH_PAGE as usize;
        let mut stored = vec![0; data + self.cells.spare.0 as usize];
        self.flash.read(page, &mut stored);
        self.flash.invert(page, &mut stored);
        stored[..data] == self.buffer[..data]
    }

    /// Programs the buffer into the next page of `block`. Returns the page and the program time.
    pub(super) fn program(&mut self, block: u32, (mode, code): (Mode, u8), now: Time) -> (u32, Time) {
        let code = code as usize;
        let page = self.flash.program(block, mode, self.spans.bits[code], now);
        if S::CARRIES_BYTES {
            bytes::encode(&*self.codes[code], &mut self.buffer);
            self.flash.fill(page, &self.buffer);
        }
        (page, self.cells.nand.program(mode))
    }

    /// Decoding time of a page with a bit error, for code number `code`.
    pub(super) fn decode_time(&self, code: u8) -> Time {
        self.codes[code as usize].decoding(1).work.time
    }

    /// Time to read `pages` pages, distributed over all dies.
    pub(super) fn scan_time(&self, pages: u64) -> Time {
        self.cells.nand.read(Mode::Slc) * pages.div_ceil(u64::from(self.cells.dies))
    }

    /// Handles a power loss at `at`. Unfinished work is not performed, and its charges are refunded.
    pub(super) fn power_fail(&mut self, at: Time) {
        for die in &mut self.dies {
            die.waiting.clear();
            let Some(Service { job, end, is_charged }) = die.serving.take() else { continue };
            if is_charged {
                let left = end.saturating_sub(at);
                self.die_ledger.give_back(job.activity, left);
                self.die_ledger.give_back_energy(job.activity, self.spans.draw.over(left));
            }
        }
        self.coder.power_fail(at);
    }

    pub(super) fn restart_ledger(&mut self) {
        self.die_ledger = Ledger::default();
        self.coder.restart_ledger();
        self.dies.iter_mut().flat_map(|die| &mut die.serving).for_each(|of| of.is_charged = false);
    }

    pub(super) fn resources(&self) -> Vec<Resource> {
        vec![
            Resource { name: "dies", servers: self.cells.dies, ledger: self.die_ledger.clone() },
            self.coder.resource(),
        ]
    }

    /// Idle energy of all dies during `elapsed`; `None` if the idle power is unknown.
    pub(super) fn idle_energy(&self, elapsed: Time) -> Option<Energy> {
        let dies = f64::from(self.cells.dies);
        self.cells.nand.idle_power.map(|power| Energy(power.over(elapsed).0 * dies))
    }

    pub(super) fn check_invariants(&self) {
        let waits = self.dies.iter().any(|die| die.serving.is_none() && !die.waiting.is_empty());
        assert!(!waits, "an operation waits for a die that is free");
    }
}
