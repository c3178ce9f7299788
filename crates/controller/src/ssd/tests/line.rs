//! What waits for a die against a list that is searched from end to end, and a die against one that is stepped.

use super::super::die::{Die, Suspending};
use super::super::line::{Job, Line, Task};
use super::*;
use nacre_kernel::Activity;
use std::collections::VecDeque;

fn us(time: u64) -> Time {
    Time::from_us(time)
}

/// The first gap of `duration` from `from` on, between spans in order.
fn first_gap(spans: &[(Time, Time)], from: Time, duration: Time) -> Time {
    let ends = spans.iter().map(|&(_, to)| to).filter(|&to| to > from);
    let is_free = |&at: &Time| spans.iter().all(|&(start, to)| at + duration <= start || at >= to);
    std::iter::once(from).chain(ends).find(is_free).expect("nothing lies behind the last")
}

#[test]
fn a_job_takes_the_first_gap_a_search_over_all_of_them_finds() {
    let mut random = random("line");
    // Short lines that are often empty, and long ones with hundreds of gaps.
    for (jobs, share_done, within, shortest) in
        [(60, 0.35, 300, 1); 200].into_iter().chain([(300, 0.1, 30_000, 1), (300, 0.1, 30_000, 30)])
    {
        let (mut line, mut spans, mut begun) =
            (Line::new(us(shortest)), Vec::<(Time, Time)>::new(), Time::ZERO);
        for number in 0..jobs {
            if random.chance(share_done)
                && let Some(job) = line.pop()
            {
                assert_eq!((job.from, job.to()), spans.remove(0));
                if random.chance(0.2) {
                    line.put_back(begun, job);
                    spans.insert(0, (job.from, job.to()));
                } else {
                    begun = job.to();
                }
            }
            let (from, duration) = (begun + us(random.below(within)), us(shortest + random.below(40)));
            let expected = first_gap(&spans, from, duration);
            let job =
                Job { from, duration, task: Task::program(number, Activity::Drain, 1), ..Job::default() };
            assert_eq!(line.add(begun, job), expected + duration, "{job:?} among {spans:?}");
            let at = spans.partition_point(|&(start, _)| start < expected);
            spans.insert(at, (expected, expected + duration));
            line.check_invariants(begun);
            assert!(line.jobs().map(|job| (job.from, job.to())).eq(spans.iter().copied()));
            assert_eq!(line.last().map(Job::to), spans.last().map(|&(_, to)| to));
        }
    }
}

/// A die that does one microsecond after the other, and knows all that comes.
#[derive(Default)]
struct Stepped {
    /// Reads that wait, by plane, or of the whole die: their numbers.
    reads: Vec<VecDeque<usize>>,
    /// What waits behind them: its number and how long it takes.
    jobs: VecDeque<(usize, u64)>,
    /// What is left of the read under way, by plane.
    reading: Vec<u64>,
    /// What is left of suspending.
    suspending: u64,
    /// The job under way, what is left of it, and how often it was suspended.
    job: Option<(usize, u64, u32)>,
    is_suspended: bool,
    /// What is left of resuming it. A resumption that is interrupted is completed with the next one.
    resuming: u64,
}

impl Stepped {
    /// Does what lies between `at` and the microsecond behind it; notes when reads begin and jobs end.
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
fn a_die_does_what_a_die_does_that_is_stepped() {
    for (seed, [suspend, resume, most]) in
        [[0, 0, 0], [0, 0, 8], [7, 0, 1000], [7, 0, 2], [7, 0, 0], [7, 3, 1000], [30, 10, 8], [5, 40, 8]]
            .into_iter()
            .enumerate()
    {
        for planes in [0, 1, 2, 4] {
            compare_with_stepped(seed as u64, [suspend, resume, most], planes);
        }
    }
}

/// Reads and jobs at random, of a die with so many planes that read by themselves, or of a whole die.
fn compare_with_stepped(seed: u64, [suspend, resume, most]: [u64; 3], planes: u32) {
    let mut random = Streams::new(seed).stream("stepped");
    let lanes = planes.max(1);
    let (mut calls, mut at) = (Vec::new(), 0);
    for _ in 0..600 {
        at += random.below(90) / u64::from(lanes);
        let takes = if random.chance(0.6) { 0 } else { (20 + random.below(300)) / u64::from(lanes) };
        calls.push((at, takes, random.below(u64::from(lanes)) as u32));
    }
    let (mut starts, mut ends) = (vec![0; calls.len()], vec![0; calls.len()]);
    let mut stepped = Stepped {
        reads: vec![VecDeque::new(); lanes as usize],
        reading: vec![0; lanes as usize],
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
        stepped.step(now, [25, suspend, resume, most], &mut starts, &mut ends);
    }
    let how =
        Suspending { suspend: (suspend > 0).then(|| us(suspend)), resume: us(resume), most: most as u32 };
    let mut die = Die::on(0, 64, us(5)).with_planes(planes);
    let mut under_way = VecDeque::new();
    for (number, &(at, takes, plane)) in calls.iter().enumerate() {
        let at = us(at);
        while let Some((job, to)) = under_way.pop_front_if(|(_, to)| die.time_of(*to) <= at) {
            assert_eq!(die.time_of(to), us(ends[job]), "job {job}, {planes} planes, {how:?}");
        }
        if takes == 0 {
            let turn = match planes {
                0 => die.read(at, us(25), &how),
                _ => die.read_on(plane..plane + 1, at, us(25), &how),
            };
            assert_eq!(turn.start, us(starts[number]), "read {number}, {planes} planes, {how:?}");
        } else {
            under_way.push_back((number, die.work(at, at, us(takes), Task::erase(1))));
        }
        if number % 10 == 0 {
            die.forget_before(at);
        }
        die.check_invariants();
    }
}
