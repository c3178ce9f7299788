//! A controller: operations on rows that wait for its data lines and ranks, and wear leveling.

use super::config::Config;
use super::timing::{Book, Pass, Ranks, Timing};
use crate::wear_leveling::{Move, WearLeveller, Written};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Time};
use nacre_media::pcm::{Operation as Kind, Rows};
use std::collections::VecDeque;

/// Resources and queue of one controller.
///
/// The next operation is the waiting one whose lines and ranks are free first; among several, the oldest. No
/// operation passes an older one that needs one of its ranks, so operations on the same bytes keep their
/// order. With `scheduling = "in_order"`, only the oldest may start. Row copies of wear leveling start before
/// waiting operations.
#[derive(State)]
pub(super) struct Scoreboard {
    #[state(skip = "from the configuration")]
    pub(super) timing: Timing,
    lines_free: Time,
    ranks_free: Vec<Time>,
    #[state(varies)]
    waiting: VecDeque<Task>,
    /// The next operation and its time.
    #[state(varies)]
    next: Option<(Time, u32)>,
    /// Ranks needed by waiting operations.
    claimed: Ranks,
    /// All ranks.
    #[state(skip = "from the configuration")]
    all: Ranks,
    /// Operations that may not have ended: a power loss reverts the rest of them.
    #[state(varies)]
    begun: Vec<Operation>,
    /// Whether the times of programs are recorded.
    #[state(skip = "from the configuration")]
    keeps_programs: bool,
    pub(super) leveller: Box<dyn WearLeveller>,
    pub(super) rows: Rows,
    pub(super) counts: Book,
}

/// Originator of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) enum Job {
    /// A part of a request.
    Part(u32),
    /// Wear leveling copies a row for the write of a part: a read, then a write.
    MoveRead(u32),
    MoveWrite(u32),
}

/// An operation on a physical row.
#[derive(Clone, Copy, Debug, Value)]
struct Task {
    job: Job,
    is_write: bool,
    row: u64,
    /// The rank of its first chunk in the group, and the remaining chunks.
    first: u32,
    left: u32,
    /// The ranks that it needs next.
    ranks: Ranks,
    /// Beats of a read.
    beats: u64,
    /// Time before its first fill.
    lead: Time,
    since: Time,
    done: Time,
}

/// Operations that start together: a read, or one chunk per rank of a write.
#[derive(Clone, Copy, Debug, Value)]
struct Operation {
    activity: Activity,
    is_write: bool,
    begin: Time,
    /// Number of ranks, time before the first fill, and the beats of a read.
    count: u32,
    lead: Time,
    beats: u64,
    /// When the last of its ranks is free.
    end: Time,
}

/// Operations that started together.
#[derive(Clone, Debug)]
pub(super) struct Begun {
    pub(super) job: Job,
    /// Start and end of chunk programs.
    pub(super) programs: Vec<(Time, Time)>,
    /// End time, if everything has started.
    pub(super) done: Option<Time>,
}

/// Time for which the lines or a rank are occupied.
struct Span {
    is_rank: bool,
    begin: Time,
    end: Time,
    /// Beats or programs.
    count: u64,
}

/// A read occupies lines and ranks from start to end.
fn read_spans(operation: &Operation) -> Vec<Span> {
    let &Operation { begin, end, count, beats, .. } = operation;
    let lines = Span { is_rank: false, begin, end, count: 0 };
    let ranks =
        (0..count).map(|index| Span { is_rank: true, begin, end, count: if index == 0 { beats } else { 0 } });
    [lines].into_iter().chain(ranks).collect()
}

impl Job {
    fn is_copy(self) -> bool {
        !matches!(self, Job::Part(_))
    }
}

impl Scoreboard {
    /// A controller with rows that were never written.
    pub(super) fn new(config: &Config, leveller: Box<dyn WearLeveller>, keeps_programs: bool) -> Scoreboard {
        Scoreboard {
            timing: Timing::of(config),
            lines_free: Time::ZERO,
            ranks_free: vec![Time::ZERO; config.ranks as usize],
            waiting: VecDeque::new(),
            next: None,
            claimed: Ranks::default(),
            all: Ranks::range(0, config.ranks as usize),
            begun: Vec::new(),
            keeps_programs,
            rows: Rows::new(leveller.physical_rows(), config.chips.cells.endurance),
            leveller,
            counts: Book::default(),
        }
    }

    /// `bytes` from `offset` of a physical row are read from `now` on.
    pub(super) fn read(&mut self, now: Time, job: Job, row: u64, offset: u64, bytes: u64) {
        let (beats, (first, count)) =
            (self.timing.rank.beats(offset, bytes), self.timing.rank.chunks(offset, bytes));
        if let Job::Part(_) = job {
            self.counts.ranks.count(Kind::Read as usize, Activity::Read, beats);
        }
        self.arrive(Task {
            job,
            is_write: false,
            row,
            first: self.timing.rank_of(first) as u32,
            left: count as u32,
            ranks: Ranks::default(),
            beats,
            lead: self.timing.setup,
            since: now,
            done: now,
        });
    }

    /// Starts a write.
    pub(super) fn write(&mut self, now: Time, job: Job, row: u64, offset: u64, bytes: u64) {
        let (first, count) = self.timing.rank.chunks(offset, bytes);
        if let Job::Part(_) = job {
            self.counts.ranks.count(Kind::Program as usize, Activity::Write, count);
        }
        self.arrive(Task {
            job,
            is_write: true,
            row,
            first: self.timing.rank_of(first) as u32,
            left: count as u32,
            ranks: Ranks::default(),
            beats: 0,
            lead: self.timing.setup,
            since: now,
            done: now,
        });
    }

    fn arrive(&mut self, mut task: Task) {
        task.ranks = self.ranks_of(&task);
        if task.job.is_copy() {
            self.waiting.push_front(task);
            return self.choose();
        }
        self.waiting.push_back(task);
        self.consider(self.waiting.len() - 1);
    }

    /// Start of the next operation; [`Time::MAX`] if none waits.
    #[inline]
    pub(super) fn next_event(&self) -> Time {
        self.next.map_or(Time::MAX, |(at, _)| at)
    }

    fn choose(&mut self) {
        (self.next, self.claimed) = (None, Ranks::default());
        for number in 0..self.waiting.len() {
            if self.claimed == self.all {
                return;
            }
            self.consider(number);
        }
    }

    /// Whether `number` is next, after all operations before it were considered.
    #[inline]
    fn consider(&mut self, number: usize) {
        let task = &self.waiting[number];
        let is_behind = self.claimed.meets(&task.ranks) || number > 0 && self.timing.in_order;
        self.claimed.add(&task.ranks);
        if is_behind {
            return;
        }
        let at = self.earliest(task);
        if self.next.is_none_or(|(first, _)| at < first) {
            self.next = Some((at, number as u32));
        }
    }

    fn ranks_of(&self, task: &Task) -> Ranks {
        let (Pass { group, first, count, .. }, row_ranks) = (self.pass(task), self.timing.row_ranks);
        let behind = (first + count).saturating_sub(row_ranks);
        let mut ranks = Ranks::range(group + first, group + first + count - behind);
        ranks.add(&Ranks::range(group, group + behind));
        ranks
    }

    /// When lines and ranks are free for the next operations of `task`.
    fn earliest(&self, task: &Task) -> Time {
        let pass = self.pass(task);
        let mut start = task.since.max(self.lines_free);
        for index in 0..pass.count {
            let offset = if task.is_write { pass.offset(index, self.timing.fill) } else { Time::ZERO };
            let free = self.ranks_free[pass.rank(index, self.timing.row_ranks)];
            start = start.max(free.saturating_sub(offset));
        }
        start
    }

    fn pass(&self, task: &Task) -> Pass {
        let count = (task.left as usize).min(self.timing.row_ranks);
        Pass { group: self.timing.group(task.row), first: task.first as usize, count, lead: task.lead }
    }

    /// Starts the next operation.
    pub(super) fn step(&mut self) -> Begun {
        let (now, number) = self.next.take().expect("an operation is due");
        let task = self.waiting[number as usize];
        let (task, programs) = match task.is_write {
            false => (self.begin_read(now, task), Vec::new()),
            true => self.begin_pass(now, task),
        };
        let is_over = task.left == 0;
        if is_over {
            self.waiting.remove(number as usize);
        } else {
            self.waiting[number as usize] = task;
        }
        self.choose();
        Begun { job: task.job, programs, done: is_over.then_some(task.done) }
    }

    fn activity(job: Job, is_write: bool) -> Activity {
        match job {
            Job::Part(_) if is_write => Activity::Write,
            Job::Part(_) => Activity::Read,
            Job::MoveRead(_) | Job::MoveWrite(_) => Activity::LevelWear,
        }
    }

    /// A read occupies lines and ranks beat by beat.
    fn begin_read(&mut self, now: Time, task: Task) -> Task {
        let pass = self.pass(&task);
        let time = self.timing.setup + self.timing.rank.read * task.beats;
        let (end, activity) = (now + time, Self::activity(task.job, false));
        for index in 0..pass.count {
            self.ranks_free[pass.rank(index, self.timing.row_ranks)] = end;
        }
        self.lines_free = end;
        self.counts.lines.charge(activity, time);
        self.counts.ranks.charge(activity, time * pass.count as u64);
        let (count, lead, beats) = (pass.count as u32, self.timing.setup, task.beats);
        self.note(Operation { activity, is_write: false, begin: now, count, lead, beats, end });
        Task { left: 0, done: end, ..task }
    }

    /// Programs one chunk of each rank, filling the chips of one rank after the other.
    fn begin_pass(&mut self, now: Time, task: Task) -> (Task, Vec<(Time, Time)>) {
        let (pass, activity) = (self.pass(&task), Self::activity(task.job, true));
        let Timing { fill, row_ranks, .. } = self.timing;
        let (lead, program, count) = (pass.lead, self.timing.rank.program, pass.count as u64);
        let mut programs = Vec::new();
        for index in 0..pass.count {
            let end = now + lead + fill * (index as u64 + 1) + program;
            self.ranks_free[pass.rank(index, row_ranks)] = end;
            if self.keeps_programs {
                programs.push((now + pass.offset(index, fill), end));
            }
        }
        let lines = lead + fill * count;
        self.lines_free = now + lines;
        self.counts.lines.charge(activity, lines);
        self.counts.ranks.charge(activity, lines + program * count);
        let end = now + lines + program;
        self.note(Operation {
            activity,
            is_write: true,
            begin: now,
            count: count as u32,
            lead,
            beats: 0,
            end,
        });
        let (first, left) = ((pass.first + pass.count) % row_ranks, task.left - pass.count as u32);
        let mut task = Task { first: first as u32, left, lead: Time::ZERO, done: task.done.max(end), ..task };
        if left > 0 {
            task.ranks = self.ranks_of(&task);
        }
        (task, programs)
    }

    fn note(&mut self, operation: Operation) {
        if self.begun.len() >= 64 {
            self.begun.retain(|begun| begun.end > operation.begin);
        }
        self.begun.push(operation);
    }

    /// Copies a row immediately, from `from` or when lines and ranks are free; nothing else waits. Returns
    /// the end time.
    pub(super) fn copy(&mut self, from: Time, moved: Move) -> Time {
        assert!(self.waiting.is_empty(), "a copy is done again before requests come");
        self.rows.program(moved.to);
        self.count_moves(1);
        let bytes = self.timing.row_bytes;
        self.read(from, Job::MoveRead(0), moved.from, 0, bytes);
        let read = self.step().done.expect("a read begins as a whole");
        self.write(read, Job::MoveWrite(0), moved.to, 0, bytes);
        loop {
            if let Some(done) = self.step().done {
                return done;
            }
        }
    }

    /// Effects of a write to logical row `row` in `physical`, apart from its time.
    pub(super) fn wear(&mut self, row: u64, physical: u64) -> Option<Move> {
        self.rows.program(physical);
        self.counts.host_rows += 1;
        let moved = self.leveller.written(row);
        if let Some(Move { to, .. }) = moved {
            self.rows.program(to);
            self.count_moves(1);
        }
        moved
    }

    /// Applies `times` writes to logical row `row` without taking time, up to and including the first that
    /// wears a row out.
    pub(super) fn endure(&mut self, row: u64, times: u64) -> Option<u64> {
        let mut before = 0;
        while before < times {
            let physical = self.leveller.physical(row);
            let endurance = self.rows.endurance();
            let left = endurance - u64::from(self.rows.programs_of(physical)).min(endurance);
            let written = self.leveller.written_often(row, times - before);
            let Written { writes, moves, to, first, every } = written;
            let by_host = (left < writes).then_some(left + 1);
            let moved = if moves > 0 { self.rows.first_worn_down(to, moves) } else { None };
            let by_moves = moved.map(|index| first + index * every);
            self.rows.program_often(physical, writes);
            self.rows.program_down(to, moves);
            self.counts.host_rows += writes;
            self.count_moves(moves);
            if let Some(worn) = by_host.into_iter().chain(by_moves).min() {
                return Some(before + worn);
            }
            before += writes;
        }
        None
    }

    /// Counts `rows` that are read fully and programmed elsewhere.
    fn count_moves(&mut self, rows: u64) {
        let Timing { rank, row_bytes, .. } = &self.timing;
        self.counts.moved_rows += rows;
        let ranks = &mut self.counts.ranks;
        ranks.count(Kind::Read as usize, Activity::LevelWear, rows * rank.beats(0, *row_bytes));
        ranks.count(Kind::Program as usize, Activity::LevelWear, rows * rank.chunks(0, *row_bytes).1);
    }

    /// Handles a power failure at `at`: stored energy completes the host's programs that end by `ready`, and
    /// the queue is dropped.
    pub(super) fn power_fail(&mut self, at: Time, ready: Time) {
        for operation in std::mem::take(&mut self.begun) {
            let until = if operation.activity == Activity::Write { at.max(ready) } else { at };
            let spans =
                if operation.is_write { self.program_spans(&operation) } else { read_spans(&operation) };
            for Span { is_rank, begin, end, count } in spans {
                let activity = operation.activity;
                if end <= until {
                    continue;
                }
                let left = end - begin.max(at);
                if !is_rank {
                    self.counts.lines.give_back(activity, left);
                    continue;
                }
                self.counts.ranks.give_back(activity, left);
                if begin >= at {
                    let kind = if operation.is_write { Kind::Program } else { Kind::Read };
                    self.counts.ranks.give_back_count(kind as usize, activity, count);
                }
            }
        }
        // Operations that have not started were counted when requested.
        for task in std::mem::take(&mut self.waiting) {
            let activity = Self::activity(task.job, task.is_write);
            let (kind, count) = match task.is_write {
                true => (Kind::Program, u64::from(task.left)),
                false => (Kind::Read, task.beats),
            };
            self.counts.ranks.give_back_count(kind as usize, activity, count);
        }
        (self.next, self.claimed) = (None, Ranks::default());
        self.lines_free = at;
        self.ranks_free.fill(at);
    }

    /// Times for which lines and ranks are occupied for one chunk of each rank.
    fn program_spans(&self, operation: &Operation) -> Vec<Span> {
        let &Operation { begin, count, lead, .. } = operation;
        let (fill, program) = (self.timing.fill, self.timing.rank.program);
        let filled = |index: u32| begin + lead + fill * u64::from(index);
        let lines = Span { is_rank: false, begin, end: filled(count), count: 0 };
        let ranks = (0..count).map(|index| Span {
            is_rank: true,
            begin: if index == 0 { begin } else { filled(index) },
            end: filled(index + 1) + program,
            count: 1,
        });
        [lines].into_iter().chain(ranks).collect()
    }

    /// Starts measurement.
    pub(super) fn restart(&mut self) {
        self.counts = Book { worn_before: self.rows.worn_out(), ..Book::default() };
    }

    pub(super) fn check_invariants(&self) {
        self.rows.check_invariants();
        assert_eq!(self.next.is_none(), self.waiting.is_empty(), "an operation waits for nothing");
        let caused = self.counts.host_rows + self.counts.moved_rows;
        assert!(caused <= self.rows.programs(), "every program has a cause");
    }
}
