//! Tests of dies and channels without the rest of the drive, against independent simulations and closed
//! forms.

use super::{Backend, Done};
use crate::errors::Sensing;
use crate::flash::channel::Crossing;
use crate::flash::command::{NONE, Owner};
use crate::layout::geometry::{Cells, Geometry, Spot};
use crate::ops::{Cause, FlashOps};
use crate::tests::{config, random};
use nacre_kernel::{Activity, Time};
use nacre_testkit::assert_close;
use nacre_testkit::drive::poisson;
use nacre_testkit::oracle::Load;
use nacre_testkit::oracle::queue::{by_priority, first_come};
use nacre_testkit::queueing::{mg1_wait, priority_waits};
use std::collections::VecDeque;

fn us(time: u64) -> Time {
    Time::from_us(time)
}

/// A back end that a test controls, with the events that were observed.
struct Bench {
    flash: Backend,
    /// Completed work and its completion times.
    done: Vec<(Time, Done)>,
    /// End times of the queued operations of die 0, in completion order.
    ended: Vec<Time>,
    /// Transfers on channel 0, each with its waiting time.
    crossed: Vec<(Crossing, Time)>,
    /// Current transfer on channel 0: the command and the transfer type.
    crossing: Option<(u64, Crossing)>,
}

impl Bench {
    /// Creates one channel with `settings`. Transfers take no time by default.
    fn new(settings: &str) -> Bench {
        let config = config(&format!("channels = 1\ncommand = \"0 s\"\n{settings}"));
        let mut flash = Backend::new(Geometry::of(&config), &config, true);
        (flash.timing.unit_data, flash.timing.program_data) = (Time::ZERO, Time::ZERO);
        Bench { flash, done: Vec::new(), ended: Vec::new(), crossed: Vec::new(), crossing: None }
    }

    /// Processes all events before `until`, like a drive.
    fn run_to(&mut self, until: Time) {
        while self.flash.now < until {
            let next = self.flash.next_event();
            if next > self.flash.now && self.flash.has_decisions() {
                self.flash.decide();
                self.note_crossing();
                continue;
            }
            if next >= until {
                break;
            }
            let job = self.flash.dies[0].job;
            self.flash.happen(next);
            if job != NONE && self.flash.dies[0].job == NONE {
                self.ended.push(next);
            }
            let mut done = Vec::new();
            self.flash.take_done(&mut done);
            self.done.extend(done.into_iter().map(|done| (next, done)));
        }
        if until < Time::MAX {
            self.flash.now = until;
        }
        self.flash.check_invariants();
    }

    fn note_crossing(&mut self) {
        let waiting = self.flash.channels[0].crossing;
        let crossing = waiting.map(|waiting| (waiting.order, waiting.what));
        if let Some(waiting) = waiting.filter(|_| self.crossing != crossing) {
            self.crossed.push((waiting.what, self.flash.now - waiting.since));
        }
        self.crossing = crossing;
    }

    /// Issues a host read of a page of `plane` of `die`.
    fn read(&mut self, part: u32, die: u32, page: u32, plane: u32) {
        let spot = Spot { die, page, cells: Cells::Full };
        let planes = plane..plane + 1;
        let owner = Owner::Part(part);
        self.flash.read(&super::HostRead {
            owner,
            spot,
            planes,
            units: 1,
            data: self.flash.timing.unit_data,
            activity: Activity::Read,
        });
    }

    /// Returns the completion times of the first `count` reads, indexed by part. [`Time::MAX`] means
    /// outstanding.
    fn reads_done(&self, count: usize) -> Vec<Time> {
        let mut all = vec![Time::MAX; count];
        for &(at, done) in &self.done {
            if let Done::Read { owner: Owner::Part(part), .. } = done {
                all[part as usize] = at;
            }
        }
        all
    }
}

/// Reference simulation of a die in steps of one microsecond, with all arrivals known in advance. Times are
/// in microseconds.
#[derive(Default)]
struct Stepped {
    /// Numbers of the waiting reads of each plane.
    reads: Vec<VecDeque<usize>>,
    /// Number and duration of each waiting operation.
    jobs: VecDeque<(usize, u64)>,
    /// Remaining time of the read in progress in each plane.
    reading: Vec<u64>,
    /// Remaining time of the suspension.
    suspending: u64,
    /// Number, remaining time, and suspension count of the operation in progress.
    job: Option<(usize, u64, u32)>,
    is_suspended: bool,
    /// Remaining time of the resumption. If a resumption is interrupted, its remaining time is added to the
    /// next resumption.
    resuming: u64,
}

impl Stepped {
    /// Simulates the microsecond that starts at `at`, and records the starts of reads and the ends of
    /// operations.
    fn step(&mut self, at: u64, how: [u64; 4], starts: &mut [u64], ends: &mut [u64]) {
        let [read, suspend, resume, most] = how;
        let does_wait = self.reads.iter().any(|reads| !reads.is_empty());
        if let Some((_, _, suspended)) = &mut self.job
            && !self.is_suspended
            && does_wait
            && suspend > 0
            && u64::from(*suspended) < most
        {
            (*suspended, self.is_suspended, self.suspending) = (*suspended + 1, true, suspend);
        }
        if self.suspending == 0 && (self.is_suspended || self.job.is_none()) {
            for (left, reads) in self.reading.iter_mut().zip(&mut self.reads).filter(|(left, _)| **left == 0)
            {
                if let Some(number) = reads.pop_front() {
                    (starts[number], *left) = (at, read);
                }
            }
            if self.reading.iter().any(|&left| left > 0) {
            } else if self.is_suspended {
                (self.is_suspended, self.resuming) = (false, self.resuming + resume);
            } else {
                self.job = self.jobs.pop_front().map(|(number, takes)| (number, takes, 0));
            }
        }
        if self.suspending > 0 {
            self.suspending -= 1;
        } else if self.reading.iter().any(|&left| left > 0) {
            self.reading.iter_mut().for_each(|left| *left = left.saturating_sub(1));
        } else if self.resuming > 0 {
            self.resuming -= 1;
        } else if let Some((number, left, _)) = &mut self.job {
            *left -= 1;
            if *left == 0 {
                ends[*number] = at + 1;
                self.job = None;
            }
        }
    }
}

#[test]
fn a_die_equals_a_step_by_step_simulation() {
    for (seed, how) in
        [[0, 0, 0], [0, 0, 8], [7, 0, 1000], [7, 0, 2], [7, 0, 0], [7, 3, 1000], [30, 10, 8], [5, 40, 8]]
            .into_iter()
            .enumerate()
    {
        for planes in [1, 2, 4] {
            compare_with_stepped(seed, how, planes);
        }
    }
}

/// Compares random reads and erases of a die with the reference simulation. `planes` planes read
/// independently.
fn compare_with_stepped(seed: usize, [suspend, resume, most]: [u64; 3], planes: u32) {
    const READ: u64 = 25;
    let mut random = random(&format!("stepped {seed}"));
    let (mut calls, mut at) = (Vec::new(), 0);
    for _ in 0..600 {
        at += random.below(90) / u64::from(planes);
        let takes = if random.chance(0.6) { 0 } else { 1 + (20 + random.below(300)) / u64::from(planes) };
        calls.push((at, takes, random.below(u64::from(planes)) as u32));
    }
    let (mut starts, mut ends) = (vec![0; calls.len()], vec![0; calls.len()]);
    let mut stepped = Stepped {
        reads: vec![VecDeque::new(); planes as usize],
        reading: vec![0; planes as usize],
        ..Stepped::default()
    };
    let mut coming = calls.iter().enumerate().peekable();
    for now in 0..at + 200_000 {
        while let Some((number, &(_, takes, plane))) = coming.next_if(|(_, (at, ..))| *at == now) {
            match takes {
                0 => stepped.reads[plane as usize].push_back(number),
                _ => stepped.jobs.push_back((number, takes)),
            }
        }
        stepped.step(now, [READ, suspend, resume, most], &mut starts, &mut ends);
    }
    let mut bench = Bench::new(&format!(
        "ways = 1\nplanes = {planes}\nread = [\"{READ} us\"]\n\
         scheduling = {{ kind = \"read_priority\", independent_planes = true }}"
    ));
    let timing = &mut bench.flash.timing;
    timing.suspend = (suspend > 0).then(|| us(suspend));
    (timing.resume, timing.suspensions) = (us(resume), most as u32);
    for (number, &(at, takes, plane)) in calls.iter().enumerate() {
        bench.run_to(us(at));
        if takes == 0 {
            bench.read(number as u32, 0, 0, plane);
        } else {
            bench.flash.timing.erase = us(takes);
            bench.flash.erase(number as u32 % 512);
        }
    }
    bench.run_to(Time::MAX);
    let case = format!("{planes} planes, suspended in {suspend}, resumed in {resume}, {most} times");
    let (done, mut ended) = (bench.reads_done(calls.len()), bench.ended.iter());
    for (number, &(_, takes, _)) in calls.iter().enumerate() {
        if takes == 0 {
            assert_eq!(done[number], us(starts[number] + READ), "read {number}, {case}");
        } else {
            assert_eq!(ended.next(), Some(&us(ends[number])), "erase {number}, {case}");
        }
    }
}

/// Operations that have lower priority than reads.
#[derive(Clone, Copy, Debug)]
enum Behind {
    Programs,
    Copies,
    Erases,
}

/// Submits random reads of 50 us and other operations to one die, at a total load of `load`. Checks that
/// the completion times of the operations equal those of a server with non-preemptive priority.
fn ends_by_priority(behind: Behind, load: f64, settings: &str) {
    const READ: Time = Time::from_us(50);
    let duration = match behind {
        Behind::Programs => us(500),
        Behind::Copies => us(60),
        Behind::Erases => us(1_500),
    };
    let mut bench = Bench::new(&format!(
        "ways = 1\nread = [\"50 us\", \"60 us\"]\nprogram = [\"500 us\"]\nerase = \"1500 us\"\nbuffer = \"64 MiB\"\n{settings}"
    ));
    if settings.contains("suspend") {
        bench.flash.timing.suspensions = 0;
    }
    let rates = [READ, duration].map(|time| load / 2.0 / time.as_secs_f64());
    let mut reads = poisson(random("reads"), rates[0]).peekable();
    let mut others = poisson(random("others"), rates[1]).peekable();
    let (mut arrivals, mut classes) = (Vec::new(), Vec::new());
    for number in 0..20_000_u32 {
        let is_read = reads.peek() < others.peek();
        let at = if is_read { reads.next() } else { others.next() }.expect("arrivals continue");
        bench.run_to(at);
        let (superblock, page) = (number / 64 % 512, number % 64);
        match behind {
            _ if is_read => bench.read(number, 0, 0, 0),
            Behind::Programs => bench.flash.program(superblock, page, Cells::Full, Cause::Host, false, 0),
            Behind::Copies => {
                let copied = (Cause::Cleaning, Sensing::default());
                bench.flash.read_for_copy((superblock, 1), Cells::Full, 1, copied);
            }
            Behind::Erases => bench.flash.erase(superblock),
        }
        arrivals.push(at);
        classes.push(u8::from(!is_read));
    }
    bench.run_to(Time::MAX);
    let services: Vec<Time> = classes.iter().map(|&class| if class == 0 { READ } else { duration }).collect();
    let right = by_priority(&classes, &services, Load::Open(&arrivals));
    let (done, mut ended) = (bench.reads_done(classes.len()), bench.ended.iter());
    for (number, right) in right.iter().enumerate() {
        let found = if classes[number] == 0 { done[number] } else { *ended.next().expect("it ended") };
        assert_eq!(found, right.done, "number {number} of {behind:?} at load {load}, {settings}");
    }
}

#[test]
fn reads_go_before_programs_copies_and_erases_and_interrupt_none() {
    for behind in [Behind::Programs, Behind::Copies, Behind::Erases] {
        for load in [0.2, 0.5, 0.85] {
            ends_by_priority(behind, load, "");
            // Each operation has used all its suspensions.
            ends_by_priority(behind, load, "scheduling = { kind = \"suspension\", suspend = \"10 us\" }");
        }
    }
}

#[test]
fn planes_that_read_independently_are_a_server_each() {
    const PLANES: u64 = 4;
    for load in [0.2, 0.5, 0.8] {
        let mut bench = Bench::new(&format!(
            "ways = 1\nplanes = {PLANES}\nscheduling = {{ kind = \"read_priority\", independent_planes = true }}\nread = [\"50 us\"]"
        ));
        let mut planes = random("planes");
        let (mut arrivals, mut of) = (vec![Vec::new(); PLANES as usize], Vec::new());
        let rate = PLANES as f64 * load / 50e-6;
        for (number, at) in poisson(random("reads"), rate).take(40_000).enumerate() {
            let plane = planes.below(PLANES) as u32;
            bench.run_to(at);
            bench.read(number as u32, 0, 0, plane);
            arrivals[plane as usize].push(at);
            of.push(plane as usize);
        }
        bench.run_to(Time::MAX);
        let done = bench.reads_done(of.len());
        for (plane, arrivals) in arrivals.iter().enumerate() {
            let right = first_come(1, &vec![us(50); arrivals.len()], Load::Open(arrivals));
            let found = done.iter().zip(&of).filter(|(_, of)| **of == plane).map(|(done, _)| *done);
            assert!(found.eq(right.iter().map(|visit| visit.done)), "plane {plane} at load {load}");
        }
    }
}

/// Random arrivals at a channel: reads, each on an idle die, and programs.
struct Mix {
    command: Time,
    page: Time,
    data: Time,
    /// Rates of reads and of programs, per second.
    rates: [f64; 2],
}

/// Returns the mean times for which commands, pages, and program data wait for the channel, and the
/// generated rates of reads and programs.
fn waits(how: &str, mix: &Mix) -> ([f64; 3], [f64; 2]) {
    const DIES: u32 = 1000;
    const PAGES: u64 = 1024;
    // Sensing times vary so much that pages arrive at random and long after their commands. The queue length
    // at that time is then independent of the queue length at the command.
    let senses = (0..PAGES).map(|part| {
        let quantile = -libm::log(1.0 - (part as f64 + 0.5) / PAGES as f64);
        format!("\"{} ns\"", (1e6 + 3e6 * quantile) as u64)
    });
    let senses = senses.collect::<Vec<String>>().join(", ");
    let mut bench = Bench::new(&format!(
        "ways = {DIES}\nblocks = 64\npages = {PAGES}\nread = [{senses}]\nprogram = [\"1 us\"]\nbuffer = \"4 MiB\"\narbitration = \"{how}\""
    ));
    let timing = &mut bench.flash.timing;
    (timing.command, timing.unit_data, timing.program_data) = (mix.command, mix.page, mix.data);
    let mut reads = poisson(random("reads"), mix.rates[0]).peekable();
    let mut others = poisson(random("others"), mix.rates[1].max(1e-9)).peekable();
    let (mut asked, mut last, mut pages) = ([0_u32; 2], Time::ZERO, random("senses"));
    for number in 0..200_000 {
        let now = *reads.peek().min(others.peek()).expect("arrivals continue");
        bench.run_to(now);
        if others.next_if_eq(&now).is_some() {
            let operations = PAGES as u32 * DIES;
            let (superblock, operation) = (asked[1] / operations % 64, asked[1] % operations);
            bench.flash.program(superblock, operation, Cells::Full, Cause::Host, false, 0);
            asked[1] += 1;
        } else {
            reads.next();
            bench.read(number, asked[0] % DIES, pages.below(PAGES) as u32, 0);
            asked[0] += 1;
        }
        last = now;
    }
    let (mut counts, mut sums) = ([0_u64; 3], [0.0; 3]);
    for &(what, wait) in &bench.crossed {
        let kind = match what {
            Crossing::Command => 0,
            Crossing::Page => 1,
            Crossing::Data => 2,
        };
        counts[kind] += 1;
        sums[kind] += wait.as_secs_f64();
    }
    let seconds = last.as_secs_f64();
    (
        [0, 1, 2].map(|kind| sums[kind] / counts[kind].max(1) as f64),
        asked.map(|count| f64::from(count) / seconds),
    )
}

const LOADS: [f64; 2] = [0.5, 0.7];

/// Creates a workload at `load` that consists of reads only. Also returns the transfer times of a command
/// and of a page, in seconds.
fn reads_alone(load: f64) -> (Mix, [f64; 2]) {
    let (command, page) = (us(2), us(10));
    let rate = load / (command + page).as_secs_f64();
    (Mix { command, page, data: Time::ZERO, rates: [rate, 0.0] }, [command, page].map(Time::as_secs_f64))
}

/// Compares the mean waiting times of two priority classes with their closed forms (cobham-1954):
/// R / (1 - r1) and R / ((1 - r1)(1 - r1 - r2)), for classes with rates l1 and l2, service times s1 and s2,
/// and loads r = l s. The mean remaining service time is R = (l1 s1^2 + l2 s2^2) / 2.
#[test]
fn waits_for_a_channel_follow_non_preemptive_priority() {
    for load in LOADS {
        let (mix, times) = reads_alone(load);
        let ([commands, pages, _], [rate, _]) = waits("commands_first", &mix);
        let expected = priority_waits([rate; 2], times);
        assert_close(&format!("commands first, at load {load}"), commands, expected[0], 0.03);
        assert_close(&format!("pages behind them, at load {load}"), pages, expected[1], 0.05);
        let ([commands, pages, _], [rate, _]) = waits("pages_first", &mix);
        let expected = priority_waits([rate; 2], [times[1], times[0]]);
        assert_close(&format!("pages first, at load {load}"), pages, expected[0], 0.03);
        assert_close(&format!("commands behind them, at load {load}"), commands, expected[1], 0.05);
        let (page, data) = (us(10), us(20));
        let times = [page, data].map(Time::as_secs_f64);
        let mix = Mix { command: Time::ZERO, page, data, rates: times.map(|time| load / 2.0 / time) };
        let ([_, pages, programs], rates) = waits("reads_first", &mix);
        let expected = priority_waits(rates, times);
        assert_close(&format!("reads first, at load {load}"), pages, expected[0], 0.03);
        assert_close(&format!("programs behind them, at load {load}"), programs, expected[1], 0.05);
    }
}

#[test]
fn if_nothing_goes_first_all_wait_as_long() {
    for load in LOADS {
        let (mix, [command, page]) = reads_alone(load);
        let ([commands, pages, _], [rate, _]) = waits("first_come", &mix);
        let squares = (command * command + page * page) / 2.0;
        let expected = mg1_wait(2.0 * rate, (command + page) / 2.0, squares);
        assert_close(&format!("commands at load {load}"), commands, expected, 0.04);
        assert_close(&format!("pages at load {load}"), pages, expected, 0.04);
    }
}
