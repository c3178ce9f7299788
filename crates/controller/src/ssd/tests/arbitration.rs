//! What crosses a channel next, and how many pages a die holds meanwhile.
//!
//! A channel that many dies use sees commands and pages come at random, each kind at a rate and with a fixed time: the
//! law of priority without preemption says what each waits (see [`super::priority`]), and where none goes first both
//! wait R / (1 - r). Whole drives are held against a channel and its dies that are stepped from event to event.

use super::super::arbiter::Arbiter;
use super::super::config::Arbitration;
use super::super::waiting_reads::Read;
use super::*;
use nacre_testkit::drive::poisson;
use nacre_testkit::queueing::{mg1_wait, priority_waits};
use nacre_testkit::{assert_close, closed_loop};
use std::collections::VecDeque;

/// What comes to a channel at random: reads, each of a die that is idle, and other things.
struct Mix {
    command: Time,
    page: Time,
    other: Time,
    /// Of reads and of others, a second.
    rates: [f64; 2],
}

/// Mean waits of commands, pages and others, and the rates of reads and others that were drawn.
fn waits(how: Arbitration, mix: &Mix) -> ([f64; 3], [f64; 2]) {
    const DIES: u64 = 96;
    let mut arbiter = Arbiter::new(how, None, DIES as u32);
    let mut reads = poisson(random("reads"), mix.rates[0]).peekable();
    let mut others = poisson(random("others"), mix.rates[1].max(1e-9)).peekable();
    let (mut counts, mut sums, mut senses) = ([0_u64; 3], [0.0; 3], random("senses"));
    let (mut asked, mut last) = ([0_u64; 2], Time::ZERO);
    for number in 0..200_000 {
        let now = *reads.peek().min(others.peek()).expect("arrivals go on");
        while let Some(begun) = arbiter.begin_before(now) {
            sums[begun.crossing() as usize] += (begun.start - begun.since()).as_secs_f64();
            counts[begun.crossing() as usize] += 1;
        }
        if others.next_if_eq(&now).is_some() {
            asked[1] += 1;
            arbiter.add_other(now, mix.other);
        } else {
            asked[0] += 1;
            // Pages take so different times that they come at random, too, and long after their commands.
            let sense = Time::from_secs_f64(100e-6 + 300e-6 * senses.exponential());
            let read = Read { command: mix.command, sense, page: mix.page };
            arbiter.add_read((number % DIES) as usize, reads.next().expect("arrivals go on"), read);
        }
        last = now;
    }
    arbiter.check_invariants();
    let seconds = last.as_secs_f64();
    ([0, 1, 2].map(|kind| sums[kind] / counts[kind].max(1) as f64), asked.map(|count| count as f64 / seconds))
}

const LOADS: [f64; 2] = [0.5, 0.7];

/// Reads alone, whose commands and pages cross so long, at `load`.
fn reads_alone(load: f64) -> (Mix, [f64; 2]) {
    let (command, page) = (Time::from_us(2), Time::from_us(10));
    let rate = load / (command + page).as_secs_f64();
    (Mix { command, page, other: Time::ZERO, rates: [rate, 0.0] }, [command, page].map(Time::as_secs_f64))
}

#[test]
fn what_a_channel_puts_first_waits_as_priority_without_preemption_says() {
    for load in LOADS {
        let (mix, times) = reads_alone(load);
        let ([commands, pages, _], [rate, _]) = waits(Arbitration::CommandsFirst, &mix);
        let expected = priority_waits([rate; 2], times);
        assert_close(&format!("commands first, at load {load}"), commands, expected[0], 0.03);
        assert_close(&format!("pages behind them, at load {load}"), pages, expected[1], 0.05);
        let ([commands, pages, _], [rate, _]) = waits(Arbitration::PagesFirst, &mix);
        let expected = priority_waits([rate; 2], [times[1], times[0]]);
        assert_close(&format!("pages first, at load {load}"), pages, expected[0], 0.03);
        assert_close(&format!("commands behind them, at load {load}"), commands, expected[1], 0.05);
        let (page, other) = (Time::from_us(10), Time::from_us(20));
        let times = [page, other].map(Time::as_secs_f64);
        let mix = Mix { command: Time::ZERO, page, other, rates: times.map(|time| load / 2.0 / time) };
        let ([_, pages, others], rates) = waits(Arbitration::ReadsFirst, &mix);
        let expected = priority_waits(rates, times);
        assert_close(&format!("reads first, at load {load}"), pages, expected[0], 0.03);
        assert_close(&format!("programs behind them, at load {load}"), others, expected[1], 0.05);
    }
}

#[test]
fn where_nothing_goes_first_all_wait_as_long() {
    for load in LOADS {
        let (mix, [command, page]) = reads_alone(load);
        let ([commands, pages, _], [rate, _]) = waits(Arbitration::FirstCome, &mix);
        let squares = (command * command + page * page) / 2.0;
        let expected = mg1_wait(2.0 * rate, (command + page) / 2.0, squares);
        assert_close(&format!("commands at load {load}"), commands, expected, 0.04);
        assert_close(&format!("pages at load {load}"), pages, expected, 0.04);
    }
}

/// A channel with its dies in a closed loop of reads, stepped from event to event.
struct Stepped {
    how: Arbitration,
    /// Pages that a die holds.
    registers: usize,
    command: u64,
    sense: u64,
    cross: u64,
    /// Until the host has the page and asks for another one.
    turnaround: u64,
    dies: Vec<SteppedDie>,
}

#[derive(Clone, Default)]
struct SteppedDie {
    /// Reads that have not begun.
    queue: u64,
    /// From when on the first of them wants the channel for its command.
    wants_since: Option<u64>,
    /// When the page that is being sensed is there.
    sensed_at: Option<u64>,
    /// When the pages that wait to cross were sensed, oldest first.
    pages: VecDeque<u64>,
    /// Whether one crosses.
    crosses: bool,
}

impl SteppedDie {
    fn settle(&mut self, now: u64, registers: usize) {
        if self.sensed_at == Some(now) {
            self.sensed_at = None;
            self.pages.push_back(now);
        }
        let held = self.pages.len() + usize::from(self.crosses);
        if self.queue > 0 && self.sensed_at.is_none() && held < registers {
            self.wants_since.get_or_insert(now);
        }
    }
}

impl Stepped {
    /// Reads in a second; `die_of` says which die the read with a number goes to.
    fn rate(&mut self, depth: u64, count: u64, mut die_of: impl FnMut() -> usize) -> f64 {
        let mut asked: VecDeque<u64> = (0..depth).map(|_| 0).collect();
        let (mut now, mut done) = (0, 0);
        let mut crossing: Option<(u64, usize, bool)> = None;
        while done < count {
            if let Some((_, die, true)) = crossing.take_if(|&mut (end, _, _)| end == now) {
                self.dies[die].crosses = false;
                asked.push_back(now + self.turnaround);
                done += 1;
            }
            while asked.pop_front_if(|&mut at| at == now).is_some() {
                self.dies[die_of()].queue += 1;
            }
            self.dies.iter_mut().for_each(|die| die.settle(now, self.registers));
            if crossing.is_none() {
                crossing = self.begin(now);
            }
            let sensed = self.dies.iter().filter_map(|die| die.sensed_at);
            let ends = crossing.map(|(end, _, _)| end).into_iter().chain(asked.front().copied());
            now = sensed.chain(ends).min().expect("something goes on");
        }
        count as f64 / (now as f64 * 1e-9)
    }

    /// What crosses next: when it ends, of which die, and whether it is a page.
    fn begin(&mut self, now: u64) -> Option<(u64, usize, bool)> {
        let commands =
            self.dies.iter().enumerate().filter_map(|(die, state)| Some((state.wants_since?, die, false)));
        let pages =
            self.dies.iter().enumerate().filter_map(|(die, state)| Some((*state.pages.front()?, die, true)));
        let rank = |is_page: bool| match self.how {
            Arbitration::CommandsFirst => is_page,
            Arbitration::PagesFirst => !is_page,
            _ => false,
        };
        let (_, die, is_page) =
            commands.chain(pages).min_by_key(|&(since, die, is_page)| (rank(is_page), since, die))?;
        let state = &mut self.dies[die];
        if is_page {
            state.pages.pop_front();
            state.crosses = true;
            Some((now + self.cross, die, true))
        } else {
            state.wants_since = None;
            state.queue -= 1;
            state.sensed_at = Some(now + self.command + self.sense);
            Some((now + self.command, die, false))
        }
    }
}

#[test]
fn a_drive_reads_as_fast_as_a_channel_and_dies_that_are_stepped() {
    const DIES: u64 = 4;
    for (how, name) in [
        (Arbitration::FirstCome, "first_come"),
        (Arbitration::CommandsFirst, "commands_first"),
        (Arbitration::PagesFirst, "pages_first"),
    ] {
        for (registers, setting) in [(1, "registers = 1"), (2, "registers = 2"), (usize::MAX, "")] {
            for depth in [1, 2, 4, 16] {
                let mut dies = random("dies");
                let mut stepped = Stepped {
                    how,
                    registers,
                    command: 1_000,
                    sense: 75_000,
                    cross: 20_480,
                    turnaround: 100,
                    dies: vec![SteppedDie::default(); DIES as usize],
                };
                let expected = stepped.rate(depth, 10_000, || dies.below(DIES) as usize);
                let mut device = drive(&format!(
                    "channels = 1\nways = 4\nread = [\"75 us\"]\nbus = \"200 MB/s\"\ncommand = \"1 us\"\n\
                     link = \"40.96 GB/s\"\narbitration = \"{name}\"\n{setting}"
                ));
                let mut dies = random("dies");
                let seen =
                    closed_loop(&mut *device, depth as u32, 10_000, |_| unit(Op::Read, dies.below(DIES)));
                device.check_invariants();
                let case = format!("{name}, {setting}, depth {depth}");
                // A die with one register asks for its next page behind pages that were asked for later, and a read
                // that was told before does not know: it is told too early.
                if (how, registers) == (Arbitration::FirstCome, 1) && depth > 2 {
                    let found = seen.per_second() / expected - 1.0;
                    assert!((0.05..0.19).contains(&found), "{case} is {found} too fast");
                } else {
                    assert_close(&case, seen.per_second(), expected, 0.03);
                }
            }
        }
    }
}

#[test]
fn a_die_holds_as_many_pages_as_it_has_registers() {
    // 50 us to sense, 2 us and 40.96 us to cross.
    for registers in ["registers = 1", "registers = 2", ""] {
        for how in ["first_fit", "first_come", "commands_first", "pages_first", "reads_first"] {
            let settings = format!("{registers}\narbitration = \"{how}\"");
            let mut device = drive(&format!(
                "channels = 1\nways = 1\npages = 128\nbus = \"100 MB/s\"\ncommand = \"2 us\"\n{settings}"
            ));
            let seen = closed_loop(&mut *device, 16, 5_000, |number| unit(Op::Read, number % 1_000));
            let each = match how {
                _ if registers.ends_with('1') => 92.96e-6,
                "first_fit" => 50e-6,
                // The next command waits until the page is across, and a second register is of no use.
                "pages_first" => 92.96e-6,
                // The die waits for its own command.
                _ => 52e-6,
            };
            assert_close(&settings, seen.per_second(), 1.0 / each, 0.01);
        }
    }
}

#[test]
fn a_read_alone_takes_as_long_however_the_channel_chooses() {
    for how in ["first_fit", "first_come", "commands_first", "pages_first", "reads_first"] {
        let mut device = drive(&format!("arbitration = \"{how}\""));
        let seen = closed_loop(&mut *device, 1, 10, |number| unit(Op::Read, number));
        // A page in 50 us, 10.54 us of the channel, 1.024 us of the link.
        assert_close(how, seen.mean_s(), 61.564e-6, 1e-6);
    }
}
