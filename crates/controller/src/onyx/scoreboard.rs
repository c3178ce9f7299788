//! A controller: row operations that wait for its data lines and ranks, and wear leveling.

use super::config::Config;
use super::decoder::{Decoded, Decoder, Decodings};
use super::polling::Polling;
use super::timing::{Counters, Pass, Ranks, Timing};
use crate::wear_leveling::{Move, WearLeveller, Written};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Time};
use nacre_media::pcm::{Operation as Kind, Rows, WRITTEN_WORD};
use std::collections::VecDeque;

/// Resources and queue of one controller.
///
/// The next operation is the waiting operation whose lines and ranks are free first. In a tie, the oldest
/// operation is next. No operation overtakes an older operation that needs one of the same ranks, so
/// operations on the same bytes keep their order. With `scheduling = "in_order"`, only the oldest operation
/// may start. Row copies of wear leveling start before waiting operations.
#[derive(State)]
pub(super) struct Scoreboard {
    #[state(skip = "from the configuration")]
    pub(super) timing: Timing,
    lines_free: Time,
    ranks_free: Vec<Time>,
    #[state(varies)]
    waiting: VecDeque<Task>,
    /// Start time and index of the next operation, if one waits.
    #[state(varies)]
    next: Option<(Time, u32)>,
    /// Ranks that waiting operations need.
    claimed: Ranks,
    /// All ranks of the controller.
    #[state(skip = "from the configuration")]
    all: Ranks,
    /// Periods in which lines or ranks are occupied and that may not have ended yet. A power loss reverts the
    /// charges for the rest of these periods.
    #[state(varies)]
    begun: Vec<Span>,
    pub(super) polling: Polling,
    pub(super) decoder: Decoder,
    /// Whether the times of programs are recorded.
    #[state(skip = "from the configuration")]
    keeps_programs: bool,
    pub(super) leveller: Box<dyn WearLeveller>,
    pub(super) rows: Rows,
    pub(super) counts: Counters,
}

/// Originator of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) enum Job {
    /// A part of a request.
    Part(u32),
    /// Wear leveling copies a row because of the write of a part. The copy consists of a read and a write.
    MoveRead(u32),
    MoveWrite(u32),
}

/// An operation on a physical row.
#[derive(Clone, Debug, Value)]
struct Task {
    job: Job,
    is_write: bool,
    row: u64,
    /// Rank of the next chunk within the group, and the number of remaining chunks.
    first: u32,
    left: u32,
    /// Ranks that the operation needs next.
    ranks: Ranks,
    /// Number of beats of a read.
    beats: u64,
    /// Setup time before the buffers of the chips are first filled.
    lead: Time,
    since: Time,
    done: Time,
    /// Number of nonzero words in each chunk of a write with data.
    words: Vec<u32>,
}

impl Task {
    /// Number of nonzero words in the remaining chunk with this index.
    fn words(&self, index: usize, timing: &Timing) -> u32 {
        let known = self.words.len().checked_sub(self.left as usize).map(|first| first + index);
        known.and_then(|known| self.words.get(known)).copied().unwrap_or(timing.assumed_words)
    }
}

/// Operations that started together.
#[derive(Clone, Debug)]
pub(super) struct Begun {
    pub(super) job: Job,
    /// Start and end times of chunk programs.
    pub(super) programs: Vec<(Time, Time)>,
    /// End time, if all chunks of the operation have started.
    pub(super) done: Option<Time>,
    /// Bit errors of a read.
    pub(super) decoded: Decoded,
}

/// Period in which the lines or ranks are occupied.
#[derive(Clone, Copy, Debug, Value)]
struct Span {
    activity: Activity,
    is_write: bool,
    /// Number of ranks, or 0 for the data lines.
    ranks: u32,
    begin: Time,
    /// Time at which the cells are ready, and time at which the controller detects this.
    end: Time,
    free: Time,
    /// Number of beats or programs, and number of nonzero words.
    count: u64,
    words: u64,
}

impl Job {
    fn is_copy(self) -> bool {
        !matches!(self, Job::Part(_))
    }
}

impl Scoreboard {
    /// A controller with rows that were never written.
    pub(super) fn new(
        config: &Config,
        leveller: Box<dyn WearLeveller>,
        decoder: Decoder,
        keeps_programs: bool,
    ) -> Scoreboard {
        Scoreboard {
            timing: Timing::of(config, decoder.encoding()),
            polling: Polling::of(config),
            decoder,
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
            counts: Counters::default(),
        }
    }

    /// Adds a read of `bytes` bytes at offset `offset` of physical row `row`. The read may start at `now`.
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
            words: Vec::new(),
        });
    }

    /// Adds a write. `words` has the number of nonzero words in each chunk, if the data is known.
    pub(super) fn write(
        &mut self,
        now: Time,
        job: Job,
        row: u64,
        (offset, bytes): (u64, u64),
        words: Vec<u32>,
    ) {
        let (first, count) = self.timing.rank.chunks(offset, bytes);
        if let Job::Part(_) = job {
            let written = match words.is_empty() {
                true => count * u64::from(self.timing.assumed_words),
                false => words.iter().map(|&words| u64::from(words)).sum(),
            };
            self.counts.ranks.count(Kind::Program as usize, Activity::Write, count);
            self.counts.ranks.count(WRITTEN_WORD, Activity::Write, written);
        }
        self.arrive(Task {
            job,
            is_write: true,
            row,
            first: self.timing.rank_of(first) as u32,
            left: count as u32,
            ranks: Ranks::default(),
            beats: 0,
            lead: self.timing.write_setup,
            since: now,
            done: now,
            words,
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

    /// Start time of the next operation, or [`Time::MAX`] if no operation waits.
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

    /// Makes operation `number` the next operation if it can start earlier than the current candidate. All
    /// older operations must already have been considered.
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

    /// Earliest time at which lines and ranks are free for the next chunks of `task`.
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
        let task = self.waiting[number as usize].clone();
        let (task, programs, decoded) = match task.is_write {
            false => {
                let (task, decoded) = self.begin_read(now, task);
                (task, Vec::new(), decoded)
            }
            true => {
                let (task, programs) = self.begin_pass(now, task);
                (task, programs, Decoded::default())
            }
        };
        let (job, done) = (task.job, (task.left == 0).then_some(task.done));
        if done.is_some() {
            self.waiting.remove(number as usize);
        } else {
            self.waiting[number as usize] = task;
        }
        self.choose();
        Begun { job, programs, done, decoded }
    }

    fn activity(job: Job, is_write: bool) -> Activity {
        match job {
            Job::Part(_) if is_write => Activity::Write,
            Job::Part(_) => Activity::Read,
            Job::MoveRead(_) | Job::MoveWrite(_) => Activity::LevelWear,
        }
    }

    /// Starts a read, which occupies the lines and ranks beat by beat, and then the decoder. Returns the
    /// changed task and the result of decoding.
    fn begin_read(&mut self, now: Time, task: Task) -> (Task, Decoded) {
        let (pass, activity, read) =
            (self.pass(&task), Self::activity(task.job, false), self.timing.rank.read);
        let end = self.polling.interrupted(now, self.timing.setup + read * task.beats);
        let time = end - now;
        for index in 0..pass.count {
            self.ranks_free[pass.rank(index, self.timing.row_ranks)] = end;
        }
        self.lines_free = end;
        self.counts.lines.charge(activity, time);
        self.counts.ranks.charge(activity, time * pass.count as u64);
        let lines =
            Span { activity, is_write: false, ranks: 0, begin: now, end, free: end, count: 0, words: 0 };
        self.note(lines);
        self.note(Span { ranks: pass.count as u32, count: task.beats, ..lines });
        let decoded = self.decoder.read(activity, end, read, task.beats);
        (Task { left: 0, done: decoded.done, ..task }, decoded)
    }

    /// Programs one chunk per rank. The chips of the ranks are filled one rank after the other. Returns the
    /// changed task, and the start and end times of the programs.
    fn begin_pass(&mut self, now: Time, task: Task) -> (Task, Vec<(Time, Time)>) {
        let (pass, activity) = (self.pass(&task), Self::activity(task.job, true));
        let Timing { fill, row_ranks, .. } = self.timing;
        let (mut programs, mut filled, mut done) = (Vec::new(), now, task.done);
        let lines =
            Span { activity, is_write: true, ranks: 0, begin: now, end: now, free: now, count: 0, words: 0 };
        for index in 0..pass.count {
            let (rank, begin) = (pass.rank(index, row_ranks), filled);
            let lead = if index == 0 { pass.lead } else { Time::ZERO };
            filled = self.polling.interrupted(begin, lead + fill);
            let words = task.words(index, &self.timing);
            let time = self.timing.rank.program_of(words);
            let (seen, polls) = self.polling.program(rank, filled, time);
            let end = filled + time;
            self.ranks_free[rank] = seen;
            self.counts.polls += polls;
            self.counts.ranks.charge(activity, seen - begin);
            self.note(Span { ranks: 1, begin, end, free: seen, count: 1, words: u64::from(words), ..lines });
            done = done.max(seen);
            if self.keeps_programs {
                programs.push((begin, end));
            }
        }
        self.lines_free = filled;
        self.counts.lines.charge(activity, filled - now);
        self.note(Span { end: filled, free: filled, ..lines });
        let (first, left) = ((pass.first + pass.count) % row_ranks, task.left - pass.count as u32);
        let mut task = Task { first: first as u32, left, lead: Time::ZERO, done, ..task };
        if left > 0 {
            task.ranks = self.ranks_of(&task);
        }
        (task, programs)
    }

    fn note(&mut self, span: Span) {
        if self.begun.len() >= 256 {
            self.begun.retain(|begun| begun.free > span.begin);
        }
        self.begun.push(span);
    }

    /// Copies a row without the queue, starting at `from` or, if later, when lines and ranks are free. No
    /// operation may be waiting. Returns the end time.
    pub(super) fn copy(&mut self, from: Time, moved: Move) -> Time {
        assert!(self.waiting.is_empty(), "a copy is done again before requests come");
        self.rows.program(moved.to);
        self.count_moves(1);
        let bytes = self.timing.row_bytes;
        self.read(from, Job::MoveRead(0), moved.from, 0, bytes);
        let read = self.step().done.expect("a read begins as a whole");
        self.write(read, Job::MoveWrite(0), moved.to, (0, bytes), Vec::new());
        loop {
            if let Some(done) = self.step().done {
                return done;
            }
        }
    }

    /// Applies the wear of a write to logical row `row`, which is stored in physical row `physical`.
    /// Returns the row copy that wear leveling requires, if any.
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

    /// Applies up to `times` writes to logical row `row`, without advancing simulated time. Stops after the
    /// first write that wears out a row, and returns the number of applied writes. Returns `None` if no row
    /// wears out.
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

    /// Counts `rows` rows that are read and then programmed at other positions.
    fn count_moves(&mut self, rows: u64) {
        let Timing { rank, row_bytes, assumed_words, .. } = &self.timing;
        self.counts.moved_rows += rows;
        let ranks = &mut self.counts.ranks;
        ranks.count(Kind::Read as usize, Activity::LevelWear, rows * rank.beats(0, *row_bytes));
        let chunks = rows * rank.chunks(0, *row_bytes).1;
        ranks.count(Kind::Program as usize, Activity::LevelWear, chunks);
        ranks.count(WRITTEN_WORD, Activity::LevelWear, chunks * u64::from(*assumed_words));
    }

    /// Handles a power loss at `at`. Stored energy completes the host's programs that end by `ready`. The
    /// queue is dropped.
    pub(super) fn power_fail(&mut self, at: Time, ready: Time) {
        for span in std::mem::take(&mut self.begun) {
            self.revert(at, ready, &span);
        }
        // Operations that have not started were already counted when they were requested.
        for task in std::mem::take(&mut self.waiting) {
            let activity = Self::activity(task.job, task.is_write);
            let ranks = &mut self.counts.ranks;
            if task.is_write {
                let words = |index| u64::from(task.words(index, &self.timing));
                let words = (0..task.left as usize).map(words).sum();
                ranks.give_back_count(Kind::Program as usize, activity, u64::from(task.left));
                ranks.give_back_count(WRITTEN_WORD, activity, words);
            } else {
                ranks.give_back_count(Kind::Read as usize, activity, task.beats);
            }
        }
        (self.next, self.claimed) = (None, Ranks::default());
        self.lines_free = at;
        self.ranks_free.fill(at);
        self.polling.power_fail();
        self.decoder.power_fail(at);
    }

    /// Reverts the portion of `span` that a power loss at `at` cuts off. Stored energy completes programs
    /// that end by `ready`.
    fn revert(&mut self, at: Time, ready: Time, span: &Span) {
        let &Span { activity, is_write, ranks, begin, end, free, count, words } = span;
        let until = if activity == Activity::Write { at.max(ready) } else { at };
        let has_ended = end <= until;
        let left = free.saturating_sub(if has_ended { end.max(at) } else { begin.max(at) });
        if ranks == 0 {
            return self.counts.lines.give_back(activity, left);
        }
        let charges = &mut self.counts.ranks;
        charges.give_back(activity, left * u64::from(ranks));
        if !has_ended && begin >= at {
            let kind = if is_write { Kind::Program } else { Kind::Read };
            charges.give_back_count(kind as usize, activity, count);
            charges.give_back_count(WRITTEN_WORD, activity, words);
        }
    }

    /// Starts measurement.
    pub(super) fn restart(&mut self) {
        self.counts = Counters { worn_before: self.rows.worn_out(), ..Counters::default() };
        self.decoder.counts = Decodings::default();
    }

    pub(super) fn check_invariants(&self) {
        self.rows.check_invariants();
        assert_eq!(self.next.is_none(), self.waiting.is_empty(), "an operation waits for nothing");
        let caused = self.counts.host_rows + self.counts.moved_rows;
        assert!(caused <= self.rows.programs(), "every program has a cause");
    }
}
