//! A controller: data lines, ranks, and rows that wear.

use super::Config;
use super::config::Scheduling;
use crate::host_interface::Places;
use crate::wear_levelling::{Move, WearLeveller, Written};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Ledger, Operations, Time, Timeline, UnderWay};
use nacre_media::charge::Charges;
use nacre_media::pcm::{Operation, Rank, Rows};

/// What one controller has, and what it did.
#[derive(State)]
pub(super) struct Controller {
    #[state(skip = "from the configuration")]
    timing: Timing,
    lines: Timeline,
    ranks: Vec<Timeline>,
    /// Nothing is asked for before this; a timeline learns of it when it is used.
    forgotten: Time,
    pub(super) buffer: Places,
    pub(super) leveller: Box<dyn WearLeveller>,
    pub(super) rows: Rows,
    /// Programs of the last write of the host, chunk by chunk, where somebody wants to know.
    #[state(varies)]
    pub(super) programs: Vec<(Time, Time)>,
    #[state(skip = "from the configuration")]
    keeps_programs: bool,
    pub(super) book: Book,
    lines_under_way: UnderWay,
    ranks_under_way: UnderWay,
}

/// Sizes and times of a row's operations.
#[derive(Clone, Debug)]
struct Timing {
    rank: Rank,
    fill: Time,
    setup: Time,
    row_bytes: u64,
    row_ranks: usize,
    /// Groups of so many ranks.
    groups: u64,
    /// Whether requests wait for their turn at the lines.
    in_order: bool,
    /// How long a write of 1, 2, ... chunks takes where nothing is in its way.
    alone: Vec<Time>,
}

/// What was done since measuring began.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Book {
    /// Of the data lines.
    pub(super) lines: Ledger,
    /// Of the ranks; those of a row that wear levelling moves are counted when it is said to move.
    pub(super) ranks: Charges<{ Operation::COUNT }>,
    /// Rows written by the host.
    pub(super) host_rows: u64,
    /// Rows that wear levelling moved.
    pub(super) moved_rows: u64,
    /// Rows worn out before.
    pub(super) worn_before: u64,
}

/// A part of one row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) row: u64,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// One operation on a row, with the time it would have taken alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worked {
    pub(super) done: Time,
    pub(super) alone: Time,
}

impl Controller {
    /// A controller whose rows were never written; with `keeps_programs` it keeps those of its last write.
    pub(super) fn new(config: &Config, leveller: Box<dyn WearLeveller>, keeps_programs: bool) -> Controller {
        Controller {
            timing: Timing::of(config),
            lines: Timeline::new(),
            ranks: vec![Timeline::new(); config.ranks as usize],
            forgotten: Time::ZERO,
            buffer: Places::new(config.writes_at_a_time()),
            rows: Rows::new(leveller.physical_rows(), config.chips.cells.endurance),
            leveller,
            programs: Vec::new(),
            keeps_programs,
            book: Book::default(),
            lines_under_way: UnderWay::default(),
            ranks_under_way: UnderWay::default(),
        }
    }

    /// Reads a part of a logical row.
    #[inline]
    pub(super) fn read(&mut self, earliest: Time, part: Part) -> Worked {
        let row = self.leveller.physical(part.row);
        let beats = self.timing.rank.beats(part.offset, part.bytes);
        self.book.ranks.count(Operation::Read as usize, Activity::Read, beats);
        self.read_physical(earliest, Part { row, ..part }, Activity::Read)
    }

    /// Writes a part of a logical row, and whatever wear levelling moves for it, which it gives. The time is when
    /// all of that is done.
    #[inline]
    pub(super) fn write(&mut self, earliest: Time, part: Part) -> (Worked, Time, Option<Move>) {
        let row = self.leveller.physical(part.row);
        self.programs.clear();
        let worked = self.write_physical(earliest, Part { row, ..part }, Activity::Write);
        let chunks = self.timing.rank.chunks(part.offset, part.bytes).1;
        self.book.ranks.count(Operation::Program as usize, Activity::Write, chunks);
        let moved = self.wear(part.row, row);
        let over = moved.map(|Move { from, to }| {
            let whole = |row| Part { row, offset: 0, bytes: self.timing.row_bytes };
            let (from, to) = (whole(from), whole(to));
            let read = self.read_physical(worked.done, from, Activity::LevelWear);
            self.write_physical(read.done, to, Activity::LevelWear).done
        });
        (worked, over.unwrap_or(worked.done), moved)
    }

    /// What a write to logical row `row`, which lies in `physical`, does beside taking time.
    #[inline]
    pub(super) fn wear(&mut self, row: u64, physical: u64) -> Option<Move> {
        self.rows.program(physical);
        self.book.host_rows += 1;
        let moved = self.leveller.written(row);
        if let Some(Move { to, .. }) = moved {
            self.rows.program(to);
            self.count_moves(1);
        }
        moved
    }

    /// `times` writes to logical row `row`, in no time: those up to and with the first that wears a row out.
    pub(super) fn endure(&mut self, row: u64, times: u64) -> Option<u64> {
        let mut before = 0;
        while before < times {
            let physical = self.leveller.physical(row);
            let left =
                self.rows.endurance() - u64::from(self.rows.programs_of(physical)).min(self.rows.endurance());
            let written = self.leveller.written_often(row, times - before);
            let Written { writes, moves, to, first, every } = written;
            let by_host = (left < writes).then_some(left + 1);
            let moved = if moves > 0 { self.rows.first_worn_down(to, moves) } else { None };
            let by_moves = moved.map(|index| first + index * every);
            self.rows.program_often(physical, writes);
            self.rows.program_down(to, moves);
            self.book.host_rows += writes;
            self.count_moves(moves);
            if let Some(worn) = by_host.into_iter().chain(by_moves).min() {
                return Some(before + worn);
            }
            before += writes;
        }
        None
    }

    /// A row whose copy was interrupted is copied from physical row `from` to `to` again.
    pub(super) fn copy_again(&mut self, earliest: Time, from: u64, to: u64) -> Time {
        let whole = |row| Part { row, offset: 0, bytes: self.timing.row_bytes };
        let (from, to) = (whole(from), whole(to));
        self.rows.program(to.row);
        self.count_moves(1);
        let read = self.read_physical(earliest, from, Activity::LevelWear);
        self.write_physical(read.done, to, Activity::LevelWear).done
    }

    /// So many rows are read as a whole and programmed elsewhere.
    #[inline]
    fn count_moves(&mut self, rows: u64) {
        let Timing { rank, row_bytes, .. } = &self.timing;
        self.book.moved_rows += rows;
        let ranks = &mut self.book.ranks;
        ranks.count(Operation::Read as usize, Activity::LevelWear, rows * rank.beats(0, *row_bytes));
        ranks.count(Operation::Program as usize, Activity::LevelWear, rows * rank.chunks(0, *row_bytes).1);
    }

    #[inline]
    fn read_physical(&mut self, earliest: Time, part: Part, activity: Activity) -> Worked {
        let rank = &self.timing.rank;
        let time = self.timing.setup + rank.read * rank.beats(part.offset, part.bytes);
        let (first, count) = rank.chunks(part.offset, part.bytes);
        let ranks = self.timing.row_ranks;
        let (first, count) = (self.timing.rank_of(first), (count as usize).min(ranks));
        let group = self.group(part.row);
        let pass = Pass { group, first, count, lead: Time::ZERO };
        let start = self.free_together(self.turn(earliest), time, pass);
        self.lines.reserve_at(start, time);
        for index in 0..count {
            self.ranks[pass.rank(index, ranks)].reserve_at(start, time);
        }
        if self.keeps_programs {
            let beats = self.timing.rank.beats(part.offset, part.bytes);
            self.lines_under_way.add(activity, start, start + time, Operations::default());
            for index in 0..count {
                let count = if index == 0 { beats as u32 } else { 0 };
                let operations = Operations { kind: Operation::Read as u32, count };
                self.ranks_under_way.add(activity, start, start + time, operations);
            }
        }
        self.book.lines.charge(activity, time);
        self.book.ranks.charge(activity, time * count as u64);
        Worked { done: start + time, alone: time }
    }

    /// Programs a row's chunks in passes, one chunk of each rank in a pass, whose chips are filled one rank
    /// after the other.
    #[inline]
    fn write_physical(&mut self, earliest: Time, part: Part, activity: Activity) -> Worked {
        let Timing { rank, fill, setup, row_ranks, .. } = self.timing;
        let (first, count) = rank.chunks(part.offset, part.bytes);
        let group = self.group(part.row);
        let (mut first, mut left) = (self.timing.rank_of(first), count as usize);
        let mut lead = setup;
        let (mut start, mut done) = (self.turn(earliest), earliest);
        while left > 0 {
            let pass = Pass { group, first, count: left.min(row_ranks), lead };
            start = self.free_for(start, pass);
            self.lines.reserve_at(start, lead + fill * pass.count as u64);
            for index in 0..pass.count {
                let (offset, busy) = pass.slot(index, fill, rank.program);
                self.ranks[pass.rank(index, row_ranks)].reserve_at(start + offset, busy);
                if self.keeps_programs {
                    let (begin, end) = (start + offset, start + offset + busy);
                    let operations = Operations { kind: Operation::Program as u32, count: 1 };
                    self.ranks_under_way.add(activity, begin, end, operations);
                    if activity == Activity::Write {
                        self.programs.push((begin, end));
                    }
                }
                done = done.max(start + offset + busy);
            }
            if self.keeps_programs {
                let end = start + lead + fill * pass.count as u64;
                self.lines_under_way.add(activity, start, end, Operations::default());
            }
            lead = Time::ZERO;
            left -= pass.count;
            first += pass.count;
            first -= if first >= row_ranks { row_ranks } else { 0 };
        }
        let lines = setup + fill * count;
        self.book.lines.charge(activity, lines);
        self.book.ranks.charge(activity, lines + rank.program * count);
        Worked { done, alone: self.timing.alone[count as usize - 1] }
    }

    /// When the turn of what comes at `earliest` is there: in order it is behind all that was asked of the lines.
    #[inline]
    fn turn(&self, earliest: Time) -> Time {
        if self.timing.in_order { earliest.max(self.lines.free_from()) } else { earliest }
    }

    /// The first rank of the group that physical row `row` lies in.
    #[inline]
    fn group(&self, row: u64) -> usize {
        let group = if self.timing.groups.is_power_of_two() {
            row & (self.timing.groups - 1)
        } else {
            row % self.timing.groups
        };
        group as usize * self.timing.row_ranks
    }

    /// When the lines and all ranks of a pass are free together.
    #[inline]
    fn free_together(&mut self, earliest: Time, time: Time, pass: Pass) -> Time {
        self.lines.forget_before(self.forgotten);
        let mut start = self.lines.earliest_start(earliest, time);
        loop {
            let mut latest = start;
            for index in 0..pass.count {
                let rank = &mut self.ranks[pass.rank(index, self.timing.row_ranks)];
                rank.forget_before(self.forgotten);
                latest = latest.max(rank.earliest_start(start, time));
            }
            if latest == start {
                return start;
            }
            start = self.lines.earliest_start(latest, time);
        }
    }

    /// When the lines are free for the fills of a pass, and every rank in its turn.
    #[inline]
    fn free_for(&mut self, earliest: Time, pass: Pass) -> Time {
        let Timing { rank, fill, row_ranks, .. } = self.timing;
        let fills = pass.lead + fill * pass.count as u64;
        self.lines.forget_before(self.forgotten);
        let mut start = self.lines.earliest_start(earliest, fills);
        loop {
            let mut latest = start;
            for index in 0..pass.count {
                let (offset, busy) = pass.slot(index, fill, rank.program);
                let rank = &mut self.ranks[pass.rank(index, row_ranks)];
                rank.forget_before(self.forgotten);
                latest = latest.max(rank.earliest_start(start + offset, busy) - offset);
            }
            if latest == start {
                return start;
            }
            start = self.lines.earliest_start(latest, fills);
        }
    }

    /// Nothing is asked for before `time` any more.
    pub(super) fn forget_before(&mut self, time: Time) {
        self.forgotten = time;
        self.lines_under_way.settle(time);
        self.ranks_under_way.settle(time);
    }

    /// When the last of its work ends.
    pub(super) fn free_from(&self) -> Time {
        self.ranks.iter().map(Timeline::free_from).fold(self.lines.free_from(), Time::max)
    }

    /// The power fails at `at`, and stored energy finishes the host's programs that end by `ready`. Nothing is under way
    /// any more; so many writes may be.
    pub(super) fn power_fail(&mut self, at: Time, ready: Time, writes: u32) {
        let filled = ready.saturating_sub(self.timing.rank.program);
        self.lines_under_way.finish(Activity::Write, filled);
        self.ranks_under_way.finish(Activity::Write, ready);
        for cancelled in self.lines_under_way.cancel(at) {
            self.book.lines.give_back(cancelled.activity, cancelled.time);
        }
        for cancelled in self.ranks_under_way.cancel(at) {
            let Operations { kind, count } = cancelled.operations;
            self.book.ranks.give_back(cancelled.activity, cancelled.time);
            if cancelled.is_whole() {
                self.book.ranks.give_back_count(kind as usize, cancelled.activity, u64::from(count));
            }
        }
        self.lines = Timeline::new();
        self.ranks.fill(Timeline::new());
        self.buffer = Places::new(writes);
    }

    /// Measuring begins.
    pub(super) fn restart(&mut self) {
        self.book = Book { worn_before: self.rows.worn_out(), ..Book::default() };
        self.lines_under_way.clear();
        self.ranks_under_way.clear();
    }

    pub(super) fn check_invariants(&self) {
        self.lines.check_invariants();
        self.ranks.iter().for_each(Timeline::check_invariants);
        self.rows.check_invariants();
        assert!(
            self.book.host_rows + self.book.moved_rows <= self.rows.programs(),
            "every program has a cause"
        );
    }
}

/// Chunks of one row that are programmed side by side.
#[derive(Clone, Copy)]
struct Pass {
    group: usize,
    /// The rank of its first chunk, in the group.
    first: usize,
    count: usize,
    /// What goes before the first fill.
    lead: Time,
}

impl Pass {
    fn rank(&self, index: usize, row_ranks: usize) -> usize {
        let rank = self.first + index;
        self.group + if rank >= row_ranks { rank - row_ranks } else { rank }
    }

    /// From when on, after the start of the pass, its chunk `index` takes its rank, and for how long.
    fn slot(&self, index: usize, fill: Time, program: Time) -> (Time, Time) {
        match index {
            0 => (Time::ZERO, self.lead + fill + program),
            _ => (self.lead + fill * index as u64, fill + program),
        }
    }
}

impl Timing {
    fn of(config: &Config) -> Timing {
        let mut timing = Timing {
            rank: config.rank(),
            fill: config.chips.fill,
            setup: config.row_setup,
            row_bytes: config.row.0,
            row_ranks: config.row_ranks as usize,
            groups: u64::from(config.ranks / config.row_ranks),
            in_order: config.scheduling == Scheduling::InOrder,
            alone: Vec::new(),
        };
        timing.alone = (1..=config.chunks()).map(|chunks| timing.write_alone(chunks)).collect();
        timing
    }

    /// The rank of a row's chunk, in its group.
    #[inline]
    fn rank_of(&self, chunk: u64) -> usize {
        let ranks = self.row_ranks as u64;
        (if ranks.is_power_of_two() { chunk & (ranks - 1) } else { chunk % ranks }) as usize
    }

    /// How long `chunks` take on idle ranks: fills one after the other, each when its rank is free.
    fn write_alone(&self, chunks: u64) -> Time {
        let mut ranks = vec![Time::ZERO; self.row_ranks];
        let mut lines = self.setup;
        for chunk in 0..chunks as usize {
            let rank = &mut ranks[chunk % self.row_ranks];
            lines = lines.max(*rank) + self.fill;
            *rank = lines + self.rank.program;
        }
        ranks.into_iter().fold(Time::ZERO, Time::max)
    }
}
