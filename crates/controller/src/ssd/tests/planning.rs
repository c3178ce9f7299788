//! The plan of a channel that chooses, against one that is made anew for all that waits whenever something comes.

use super::super::arbiter::Arbiter;
use super::super::config::Arbitration;
use super::super::planning::{Planned, Planner};
use super::super::waiting_reads::{Crossing, Read};
use super::*;
use nacre_kernel::state::{restored, saved};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const ARBITRATIONS: [Arbitration; 4] =
    [Arbitration::FirstCome, Arbitration::CommandsFirst, Arbitration::PagesFirst, Arbitration::ReadsFirst];

/// Of the channel whose cost is counted.
const DIES: u64 = 8;

/// A channel whose crossings are all planned anew for each that comes.
struct Whole(Arbiter);

impl Whole {
    fn read(&mut self, now: Time, die: usize, since: Time, read: Read) -> Planned {
        self.0.settle(now);
        let number = self.0.add_read(die, since, read);
        let (mut planned, mut ahead) = (Planned::default(), self.0.clone());
        while let Some(begun) = ahead.begin_before(Time::MAX) {
            if begun.number != number {
                continue;
            }
            match begun.crossing() {
                Crossing::Command => planned.command = begun.start,
                _ => (planned.sensed, planned.page) = (begun.since(), begun.start),
            }
        }
        planned
    }

    fn other(&mut self, now: Time, since: Time, duration: Time) -> Time {
        self.0.settle(now);
        let number = self.0.add_other(since, duration);
        let mut ahead = self.0.clone();
        let begun = std::iter::from_fn(|| ahead.begin_before(Time::MAX)).find(|begun| begun.number == number);
        begun.expect("what waits for a channel crosses it").start
    }
}

/// What is drawn of one channel.
struct Case {
    how: Arbitration,
    registers: Option<usize>,
    dies: u64,
    /// Of what comes, what is no read.
    others: f64,
    /// The longest time between two that come.
    apart: u64,
    /// How far ahead of its coming something may wait for its die, at most.
    ahead: u64,
    sense: u64,
}

impl Case {
    fn drawn(random: &mut Random) -> Case {
        Case {
            how: ARBITRATIONS[random.below(4) as usize],
            registers: [None, Some(1), Some(2), Some(3)][random.below(4) as usize],
            dies: 1 + random.below(6),
            others: [0.0, 0.1, 0.5, 0.9][random.below(4) as usize],
            apart: [1, 3, 10, 40][random.below(4) as usize],
            ahead: [1, 2, 30, 300][random.below(4) as usize],
            sense: [1, 2, 20, 100][random.below(4) as usize],
        }
    }
}

#[test]
fn a_plan_that_goes_on_is_the_one_that_is_made_anew() {
    let mut random = random("plans");
    for _ in 0..4_000 {
        let case = Case::drawn(&mut random);
        let dies = case.dies as u32;
        let mut planner = Planner::new(case.how, case.registers, dies);
        let mut whole = Whole(Arbiter::new(case.how, case.registers, dies));
        let mut now = Time::ZERO;
        for _ in 0..random.below(150) {
            // Few different times, so that many come together.
            now += Time::from_ns(random.below(case.apart));
            let since = now + Time::from_ns(random.below(case.ahead));
            let is_other = random.chance(case.others);
            let mut time = |most| Time::from_ns(random.below(most));
            if is_other {
                let takes = time(8);
                assert_eq!(planner.other(now, since, takes), whole.other(now, since, takes));
            } else {
                let sense = Time::from_ns(1) + time(case.sense);
                let read = Read { command: time(3), sense, page: time(8) };
                let die = random.below(case.dies) as usize;
                assert_eq!(planner.read(now, die, since, read), whole.read(now, die, since, read));
            }
            planner.check_invariants();
            if random.chance(0.02) {
                assert_eq!(planner.free_from(), whole.0.clone().free_from());
                let state = saved(&planner).expect("a channel can be saved");
                assert_eq!(state, saved(&whole.0).expect("a channel can be saved"));
                planner = Planner::new(case.how, case.registers, dies);
                restored(&mut planner, &state).expect("it was saved");
            }
        }
        let (at, finishes) = (now + Time::from_ns(random.below(100)), random.chance(0.5));
        assert_eq!(planner.cancelled(at, finishes), whole.0.cancelled(at, finishes));
    }
}

/// Crossings that are looked at for a read where so many are under way at all times, each of the next die.
fn steps(how: Arbitration, depth: u64, [command, sense, page]: [u64; 3]) -> f64 {
    let mut planner = Planner::new(how, None, DIES as u32);
    let read =
        Read { command: Time::from_ns(command), sense: Time::from_ns(sense), page: Time::from_ns(page) };
    let (mut ends, mut now) = (BinaryHeap::new(), Time::ZERO);
    let mut before = 0;
    for number in 0..3 * depth {
        if number >= depth {
            let Reverse(end) = ends.pop().expect("reads are under way");
            now = now.max(end);
        }
        if number == depth {
            before = planner.steps;
        }
        let planned = planner.read(now, (number % DIES) as usize, now, read);
        ends.push(Reverse(planned.page + read.page));
    }
    (planner.steps - before) as f64 / (2 * depth) as f64
}

#[test]
fn what_a_read_costs_does_not_grow_with_those_that_wait() {
    for how in ARBITRATIONS {
        // Dies are the bottleneck, or the channel, or both.
        for times in [[200, 50_000, 1_000], [200, 50_000, 8_000], [2_000, 20_000, 20_000]] {
            let all = [100, 1_000, 10_000].map(|depth| steps(how, depth, times));
            assert!(all.iter().all(|steps| *steps < 1.1 * all[0]), "{how:?}, {times:?}: {all:?} steps");
        }
    }
}
