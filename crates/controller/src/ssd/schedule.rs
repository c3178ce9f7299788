//! Channels and dies over time: what reads, programs and erases wait for, and what they take.

use super::config::{Arbitration, Config};
use super::die::Die;
use super::erasing::EraseTurns;
use super::errors::Errors;
use super::geometry::Geometry;
use super::optional_part::OptionalPart;
use super::pace::Pace;
use super::places::Places;
use super::planning::Planner;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Pool, Time, Timeline, UnderWay};
use nacre_media::charge::Charges;
use nacre_media::flash::Operation;
use std::collections::VecDeque;

/// What was done since measuring began, beside what the medium counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) struct Counts {
    pub(super) copy_reads: u64,
    pub(super) programs: u64,
    pub(super) suspensions: u64,
    /// Pages that a loss of power kept from being programmed, by activity.
    pub(super) unprogrammed: [u64; Activity::COUNT],
}

/// What flash did since measuring began.
pub(super) type FlashCharges = Charges<{ Operation::COUNT }>;

/// A program that was issued: where it is, and when it ends.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Issued {
    pub(super) superblock: u32,
    pub(super) operation: u32,
    pub(super) program: (u32, Time),
}

/// What has not ended when the power fails.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unfinished {
    pub(super) programs: u64,
    pub(super) erases: u64,
    /// On the die that has most of them.
    pub(super) most_programs: u64,
    pub(super) most_erases: u64,
}

/// Every channel and die, and the programs that hold a place in the write buffer.
#[derive(State)]
pub(super) struct Schedule {
    #[state(skip = "from the configuration")]
    pub(super) geometry: Geometry,
    #[state(skip = "from the configuration")]
    pub(super) pace: Pace,
    /// By channel, those that take whatever fits.
    pub(super) channels: Vec<Timeline>,
    /// By channel, those that choose; none where all take whatever fits.
    pub(super) arbiters: Vec<Planner>,
    pub(super) dies: Vec<Die>,
    /// By die, when the pages in its registers have crossed. Kept where there are several registers.
    pub(super) crossing_until: Vec<VecDeque<Time>>,
    /// When the data of the copies read last is in the controller.
    copied: Time,
    /// The same by die, where planes are cleaned by themselves.
    copied_of_dies: Vec<Time>,
    places: Places,
    pub(super) erase_turns: EraseTurns,
    /// Programs that may be under way at one time, where a drive allows fewer than it has dies.
    pub(super) program_turns: OptionalPart<Pool>,
    /// Programs under way that hold no place, but may hold data of the host: a flush waits for them too. Kept
    /// where a flush programs the buffer.
    beside: VecDeque<(u32, Time)>,
    #[state(skip = "from the configuration")]
    keeps_beside: bool,
    /// Programs that were issued and that nobody asked for yet. Kept where there are bytes.
    #[state(varies)]
    pub(super) issued: Vec<Issued>,
    #[state(skip = "whether there are bytes is not part of the state")]
    pub(super) carries_bytes: bool,
    /// Reads of dies that go before all else, and crossings of channels that take whatever fits.
    pub(super) under_way: UnderWay,
    /// From when on the operation that is being filled has a place in the buffer.
    pub(super) filling_from: Time,
    /// Pages that are programmed are counted by the array.
    pub(super) die_charges: FlashCharges,
    pub(super) channel_charges: FlashCharges,
    pub(super) counts: Counts,
    /// Wrong bits of what is read.
    pub(super) errors: OptionalPart<Errors>,
    /// How often time before a moment was forgotten.
    forgettings: u32,
}

/// Dies forget less often than channels.
const DIES_FORGET_EVERY: u32 = 16;

impl Schedule {
    pub(super) fn new(geometry: Geometry, config: &Config, carries_bytes: bool) -> Schedule {
        let pace = Pace::of(config, &geometry);
        let single = config.slc_cache.iter().flat_map(|cache| [&cache.read, &cache.program]);
        let (nand, erase) = (&config.nand, config.nand.erase());
        let times = nand.read().iter().chain(nand.program()).chain([&erase]).chain(single);
        let shortest = times.min().copied().unwrap_or_default();
        let places = config.buffer.0 / config.operation_bytes() - config.operations_filled();
        let arbiters = if config.arbitration == Arbitration::FirstFit { 0 } else { geometry.channels };
        let counts_registers = pace.registers.is_some_and(|registers| registers > 1);
        Schedule {
            channels: vec![Timeline::out_of_order(); geometry.channels as usize],
            arbiters: (0..arbiters)
                .map(|_| Planner::new(config.arbitration, pace.registers, config.ways))
                .collect(),
            crossing_until: vec![VecDeque::new(); if counts_registers { geometry.dies as usize } else { 0 }],
            dies: (0..geometry.dies)
                .map(|die| {
                    let die = Die::on(die % geometry.channels, geometry.operations_per_die(), shortest);
                    die.with_planes(if pace.reads_by_plane { geometry.planes } else { 0 })
                })
                .collect(),
            copied: Time::ZERO,
            copied_of_dies: vec![Time::ZERO; if geometry.is_by_plane() { geometry.dies as usize } else { 0 }],
            places: Places::new(config.buffer_places, places, geometry.dies),
            erase_turns: EraseTurns::new(config, &geometry, pace.erase),
            program_turns: program_turns(config, &geometry),
            beside: VecDeque::new(),
            keeps_beside: !config.power_protected,
            issued: Vec::new(),
            carries_bytes,
            under_way: UnderWay::default(),
            filling_from: Time::ZERO,
            die_charges: FlashCharges::default(),
            channel_charges: FlashCharges::default(),
            counts: Counts::default(),
            errors: OptionalPart::default(),
            forgettings: 0,
            geometry,
            pace,
        }
    }

    /// Whether `operation` of `superblock`, on `die`, is yet to be programmed at `now`: the buffer still has its
    /// data.
    #[inline]
    pub(super) fn is_programming(&mut self, now: Time, superblock: u32, operation: u32, die: u32) -> bool {
        let geometry = &self.geometry;
        let die = &mut self.dies[die as usize];
        die.has_work(now) && die.is_programming(now, geometry.number_on_die(superblock, operation))
    }

    /// When all programs of the host's data so far are done, for a request that came at `now`.
    pub(super) fn programmed(&mut self, now: Time) -> Time {
        let mut last = Time::ZERO;
        for (die, end) in self.places.all().chain(self.beside.iter().copied()) {
            let die = &mut self.dies[die as usize];
            die.begin_before(now);
            last = last.max(die.time_of(end));
        }
        last
    }

    /// When a program that was [`Issued`] ends, as far as is known.
    #[inline]
    pub(super) fn end_of(&self, (die, end): (u32, Time)) -> Time {
        self.dies[die as usize].time_of(end)
    }

    /// What has not ended at `at`, where the power fails.
    pub(super) fn unfinished(&mut self, at: Time) -> Unfinished {
        let mut all = Unfinished::default();
        for (number, die) in (0..).zip(&mut self.dies) {
            let (mut programs, mut erases) = (0, self.erase_turns.waiting_of(number));
            for job in die.unfinished(at) {
                programs += u64::from(job.task.program.is_some());
                erases += u64::from(job.task.activity == Activity::Erase);
            }
            all.programs += programs;
            all.erases += erases;
            all.most_programs = all.most_programs.max(programs);
            all.most_erases = all.most_erases.max(erases);
        }
        all
    }

    /// Programs that are under way at `at`, where the power fails, by superblock and operation.
    pub(super) fn interrupted(&mut self, at: Time) -> Vec<(u32, u32)> {
        let geometry = self.geometry;
        let of_die = |(number, die): (u32, &mut Die)| {
            let programs = die.interrupted(at).into_iter();
            programs.map(move |program| geometry.of_number_on_die(program, number))
        };
        (0..).zip(&mut self.dies).flat_map(of_die).collect()
    }

    /// These, and those that wait.
    pub(super) fn unfinished_programs(&mut self, at: Time) -> Vec<(u32, u32)> {
        let geometry = self.geometry;
        let of_die = |(number, die): (u32, &mut Die)| {
            let programs = die.unfinished_programs(at).into_iter();
            programs.map(move |program| geometry.of_number_on_die(program, number))
        };
        (0..).zip(&mut self.dies).flat_map(of_die).collect()
    }

    /// Nothing is under way any more.
    pub(super) fn clear(&mut self) {
        self.dies.iter_mut().for_each(Die::clear);
        self.channels.iter_mut().for_each(Timeline::clear);
        self.arbiters.iter_mut().for_each(Planner::clear);
        self.crossing_until.iter_mut().for_each(VecDeque::clear);
        self.places.clear();
        self.erase_turns.clear();
        if let Some(turns) = &mut self.program_turns.0 {
            **turns = Pool::new(turns.len());
        }
        self.beside.clear();
        self.issued.clear();
        (self.copied, self.filling_from) = (Time::ZERO, Time::ZERO);
        self.copied_of_dies.fill(Time::ZERO);
    }

    /// When the last of all work ends, as is known at `now`: what was to begin before has begun, and dies whose turn has
    /// come erase. Where that is later than `now`, something may end later still.
    pub(super) fn busy_as_of(&mut self, now: Time) -> Time {
        if !self.erase_turns.is_idle() {
            self.erase_turns.begin(now, &mut self.dies);
        }
        self.dies.iter_mut().for_each(|die| die.begin_before(now));
        self.last_end(Die::free_from)
    }

    /// When the last of all work ends, if nothing comes any more.
    pub(super) fn busy_until(&self) -> Time {
        self.last_end(Die::over_from)
    }

    /// The last of all work, where this says when a die has no more to do.
    fn last_end(&self, of_die: fn(&Die) -> Time) -> Time {
        let dies = self.dies.iter().map(of_die);
        let erases = self.erase_turns.busy_until(&self.dies);
        let channels = self.channels.iter().map(Timeline::free_from);
        let crossings = channels.chain(self.arbiters.iter().map(Planner::free_from));
        dies.chain(crossings).fold(erases, Time::max)
    }

    pub(super) fn forget_before(&mut self, now: Time) {
        if !self.erase_turns.is_idle() {
            self.erase_turns.begin(now, &mut self.dies);
        }
        self.under_way.settle(now);
        self.channels.iter_mut().for_each(|channel| channel.forget_before(now));
        self.arbiters.iter_mut().for_each(|arbiter| arbiter.settle(now));
        if let Some(turns) = &mut self.program_turns.0 {
            turns.forget_before(now);
        }
        // A die has little to forget, and there are many.
        self.forgettings = self.forgettings.wrapping_add(1);
        if self.forgettings.is_multiple_of(DIES_FORGET_EVERY) {
            self.dies.iter_mut().for_each(|die| die.forget_before(now));
        }
    }

    pub(super) fn restart_ledger(&mut self) {
        self.die_charges = FlashCharges::default();
        self.channel_charges = FlashCharges::default();
        self.counts = Counts::default();
        if let Some(errors) = &mut self.errors.0 {
            errors.restart_ledger();
        }
        self.under_way.clear();
    }

    pub(super) fn check_invariants(&self) {
        self.channels.iter().for_each(Timeline::check_invariants);
        self.arbiters.iter().for_each(Planner::check_invariants);
        self.dies.iter().for_each(Die::check_invariants);
        self.places.check_invariants();
        if let Some(turns) = &self.program_turns.0 {
            turns.check_invariants();
        }
    }

    /// Pages that so many units of an operation lie on, and the time they take on a channel.
    #[inline]
    pub(super) fn crossing(&self, units: u32) -> (u32, Time) {
        if units == 1 {
            return (1, self.pace.unit_crossing);
        }
        let pages = self.geometry.pages_of(units);
        (pages, self.pace.command * u64::from(pages) + self.pace.unit_transfer * u64::from(units))
    }

    /// So many pages cross a channel in `time`.
    #[inline(always)]
    pub(super) fn charge_crossing(&mut self, time: Time, pages: u32) {
        self.channel_charges.charge(Activity::Transfer, time);
        self.channel_charges.count(Operation::Transfer as usize, Activity::Transfer, u64::from(pages));
    }

    /// So many pages are read.
    #[inline(always)]
    pub(super) fn count_read(&mut self, activity: Activity, pages: u32) {
        self.die_charges.count(Operation::Read as usize, activity, u64::from(pages));
    }

    /// Dies whose turn has come by `now` erase, and so does `die` where it programs the first page of `superblock`.
    #[inline(never)]
    pub(super) fn erase_in_turn(&mut self, now: Time, superblock: u32, operation: u32, die: u32) {
        if self.erase_turns.is_idle() {
            return;
        }
        self.erase_turns.begin(now, &mut self.dies);
        if operation < self.geometry.dies {
            self.erase_turns.begin_for(now, superblock, die, &mut self.dies);
        }
    }

    /// When the data of the copies that `die` is to program is in the controller.
    #[inline]
    pub(super) fn copied_of(&self, die: u32) -> Time {
        if self.geometry.is_by_plane() { self.copied_of_dies[die as usize] } else { self.copied }
    }

    /// Data that was read from `die` to be copied is in the controller at `then`.
    #[inline]
    pub(super) fn note_copied(&mut self, die: u32, then: Time) {
        let is_by_plane = self.geometry.is_by_plane();
        let copied = if is_by_plane { &mut self.copied_of_dies[die as usize] } else { &mut self.copied };
        *copied = then.max(*copied);
    }

    /// The data of a program takes a place in the buffer: that of another one where all are taken.
    #[inline]
    pub(super) fn hold_place(&mut self, now: Time, (die, end): (u32, Time), has_joined: bool) {
        let left = match has_joined {
            true => self.places.take_joined(die, end, &self.dies),
            false => self.places.take(die, end, &self.dies),
        };
        if let Some((die, end)) = left {
            self.hold_beside(now, die, end);
            let die = &mut self.dies[die as usize];
            die.begin_before(now);
            self.filling_from = self.filling_from.max(die.time_of(end));
        }
    }

    /// The data of a program holds no place in the buffer, but a flush waits for it.
    #[inline]
    pub(super) fn hold_beside(&mut self, now: Time, die: u32, end: Time) {
        if !self.keeps_beside {
            return;
        }
        while self.beside.front().is_some_and(|&first| self.end_of(first) <= now) {
            self.beside.pop_front();
        }
        self.beside.push_back((die, end));
    }
}

/// The turns of programs, where fewer dies may program than there are.
fn program_turns(config: &Config, geometry: &Geometry) -> OptionalPart<Pool> {
    let most = config.programs_at_once.filter(|&most| most < geometry.dies);
    OptionalPart(most.map(|most| Box::new(Pool::new(most))))
}
