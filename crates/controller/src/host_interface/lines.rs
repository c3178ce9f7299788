//! Loads and stores. One CPU reads or writes the lines of a request.

use super::express::{Direction, Express, ExpressConfig};
use super::rules::Rules;
use super::{Arrival, Cpus, HostPort, Lap, Leg, Part, Spent};
use nacre_kernel::Activity::{Link, Software};
use nacre_kernel::event::Agenda;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Op, Request, Resource, Stage, Time};
use std::collections::VecDeque;

/// Loads and stores of the host's CPUs. Each line has three events: a CPU issues the line, the line reaches
/// the device, and the reply reaches the CPU.
#[derive(State)]
pub(super) struct Lines {
    #[state(skip = "from the configuration")]
    rules: Rules,
    express: Express,
    cpus: Cpus<Job>,
    /// The host programs that issued the requests in progress, by request number.
    #[state(varies)]
    programs: Vec<Program>,
    agenda: Agenda<Event>,
    #[state(skip = "set by `detail`")]
    is_detailed: bool,
}

/// Work of a CPU.
#[derive(Clone, Copy, Debug, Value)]
enum Job {
    /// Start of a request, before its first line.
    Begin(u32),
    /// Issue of a line.
    Issue(u32),
}

/// Events of the lines of a request.
#[derive(Clone, Debug, Value)]
enum Event {
    /// The next line of a part has reached the device.
    Arrived(Part),
    /// The reply to a line has reached the CPU. The value is the time spent until then.
    Back(Part, Spent),
    /// The load after the last store has reached the device. The value is the time at which the device had
    /// served all stores.
    Fenced(u32, Time),
    Ended(u32, Spent),
}

/// The program that issued a request, and its progress.
#[derive(Clone, Debug, Default, Value)]
struct Program {
    op: Op,
    /// Number of bytes in lines that are not issued yet.
    unissued: u64,
    /// Parts with lines to issue, in order.
    wanted: VecDeque<Wanted>,
    is_issuing: bool,
    /// Number of outstanding lines.
    under_way: u32,
    /// Time spent until the latest line was issued, including a line that is being issued.
    issued: Spent,
    /// Parts with issued lines that have no reply yet.
    open: Vec<Open>,
    /// Time at which the load after the last store reaches the device.
    fenced: Time,
}

/// A part with lines to issue.
#[derive(Clone, Copy, Debug, Default, Value)]
struct Wanted {
    piece: u32,
    lines: u64,
    left: u64,
}

/// A part with outstanding lines.
#[derive(Clone, Debug, Default, Value)]
struct Open {
    piece: u32,
    lines: u64,
    arrived: u64,
    back: u64,
    /// Time spent by each line in flight to the device, oldest line first.
    coming: VecDeque<Spent>,
    /// Lines at the device without a reply, with their arrival times, oldest first.
    there: VecDeque<(Time, Spent)>,
    /// Time spent until the end of the leg *brought* of the part.
    brought: Spent,
    /// Time at which the device had served the part. `None` until then.
    served: Option<Time>,
}

impl Lines {
    pub(in super::super) fn new(express: &ExpressConfig, cpus: u32, rules: Rules) -> Lines {
        Lines {
            rules,
            express: Express::new(express),
            cpus: Cpus::new(cpus),
            programs: Vec::new(),
            agenda: Agenda::new(),
            is_detailed: false,
        }
    }

    /// Sends `bytes` bytes at `at`, including packet headers. Returns the arrival time, and the time on an
    /// idle link.
    fn cross(&mut self, direction: Direction, at: Time, bytes: u64) -> (Time, Time) {
        let (left, time) = self.express.send(direction, at, bytes);
        (left + self.express.flight, time + self.express.flight)
    }

    fn lap(&self, laps: &mut Vec<Lap>, stage: Stage, activity: Activity, end: Time, alone: Time) {
        if self.is_detailed {
            laps.push(Lap { stage, activity, end, alone });
        }
    }

    /// Whether each line of an operation `op` remains outstanding until its reply arrives.
    fn is_answered(&self, op: Op) -> bool {
        op == Op::Read || self.rules.is_answered
    }

    /// Issues the next line of request `number`, if possible. `before` returns the time that the program has
    /// spent before this line.
    fn issue(&mut self, now: Time, number: u32, before: impl FnOnce(&Program) -> Spent) {
        let program = &mut self.programs[number as usize];
        let is_full = program.under_way == self.rules.outstanding;
        if program.is_issuing || program.wanted.is_empty() || is_full {
            return;
        }
        program.issued = before(program);
        program.is_issuing = true;
        if program.op == Op::Read || self.rules.is_answered {
            program.under_way += 1;
        }
        if self.rules.issue.is_zero() {
            self.issued(now, number);
        } else {
            self.cpus.arrive(now, Job::Issue(number), self.rules.issue);
        }
    }

    /// Handles the end of issuing a line of request `number`.
    fn issued(&mut self, now: Time, number: u32) {
        let program = &mut self.programs[number as usize];
        let mut spent = std::mem::take(&mut program.issued);
        let (op, wanted) = (program.op, program.wanted.front_mut().expect("a line is issued"));
        wanted.left -= 1;
        let Wanted { piece, lines, left } = *wanted;
        if left == 0 {
            program.wanted.pop_front();
        }
        program.is_issuing = false;
        program.unissued = program.unissued.saturating_sub(self.rules.line);
        spent.software += self.rules.issue;
        self.lap(&mut spent.laps, Stage::LoadStore, Software, now, self.rules.issue);
        let crossing = if op == Op::Read { self.rules.read } else { self.rules.write };
        let (there, link) = self.cross(Direction::ToDevice, now, crossing.down);
        self.programs[number as usize].issued = spent.clone();
        spent.link += link;
        self.lap(&mut spent.laps, Stage::LinkDown, Link, there, link);
        let part = Part { request: number, piece };
        let open = self.programs[number as usize].open_or_new(piece, lines);
        open.coming.push_back(spent);
        self.agenda.schedule(there, Event::Arrived(part));
        if self.programs[number as usize].unissued == 0 {
            self.fence(now, number);
        }
        self.issue(now, number, |program| program.issued.clone());
    }

    /// Issues a load after the last store of request `number`. The load is not needed if each store gets a
    /// reply.
    fn fence(&mut self, now: Time, number: u32) {
        let op = self.programs[number as usize].op;
        if op == Op::Flush || op == Op::Write && !self.rules.is_answered {
            let (there, _) = self.cross(Direction::ToDevice, now, self.rules.read.down);
            self.programs[number as usize].fenced = there;
        }
    }

    /// Replies at `now` to the load after the last store. The device had served all stores at `served`.
    fn answer_fence(&mut self, now: Time, number: u32, served: Time) {
        let (there, answer) = self.cross(Direction::ToHost, now, self.rules.read.up);
        // Link time of the load after the device had served all stores.
        let link = now - served + answer;
        let mut spent = Spent { link, ..Spent::default() };
        self.lap(&mut spent.laps, Stage::Fence, Link, there, link);
        self.agenda.schedule(there, Event::Ended(number, spent));
    }

    /// Handles the arrival of a line of `part` at the device. Returns the leg that the arrival completes,
    /// if any.
    fn arrived(&mut self, at: Time, part: Part) -> Option<Arrival> {
        let op = self.programs[part.request as usize].op;
        let is_answered = self.is_answered(op);
        let open = self.programs[part.request as usize].open(part.piece);
        let spent = open.coming.pop_front().expect("a line arrives");
        open.arrived += 1;
        let is_brought = match op {
            Op::Read => open.arrived == 1,
            _ => open.arrived == open.lines,
        };
        // The last line of a write gets its reply when the device has served the whole write.
        let waits = match op {
            Op::Read => open.served.is_none(),
            _ => open.arrived == open.lines,
        };
        let arrival = is_brought.then(|| {
            open.brought = spent.clone();
            Arrival { at, part, leg: Leg::Brought, spent: spent.clone() }
        });
        if is_answered && waits {
            open.there.push_back((at, spent));
        } else if is_answered {
            self.answer_line(at, part, op, at, spent);
        }
        arrival
    }

    /// Replies to a line that reached the device at `there`.
    fn answer_line(&mut self, now: Time, part: Part, op: Op, there: Time, mut spent: Spent) {
        let crossing = if op == Op::Read { self.rules.read } else { self.rules.write };
        let (back, link) = self.cross(Direction::ToHost, now, crossing.up);
        spent.device += now - there;
        spent.link += link;
        self.lap(&mut spent.laps, Stage::LinkUp, Link, back, link);
        self.agenda.schedule(back, Event::Back(part, spent));
    }

    /// Handles the reply to a line. Returns the leg that the reply completes, if any.
    fn back(&mut self, at: Time, part: Part, spent: Spent) -> Option<Arrival> {
        let program = &mut self.programs[part.request as usize];
        program.under_way -= 1;
        let open = program.open(part.piece);
        open.back += 1;
        let arrival = (open.back == open.lines).then(|| {
            let open = program.close(part.piece);
            let since = open.served.expect("the last line is answered when the part is served");
            // The last line may have been issued after a reply that spent less time on the link than the
            // lines that brought the part.
            let link = spent.link.saturating_sub(open.brought.link).min(at - since);
            let software = spent.software.saturating_sub(open.brought.software).min(at - since - link);
            let laps = spent.laps.last().copied().into_iter().collect();
            let spent = Spent { software, link, device: Time::ZERO, laps };
            Arrival { at, part, leg: Leg::Answered, spent }
        });
        self.issue(at, part.request, |_| spent);
        arrival
    }
}

impl Program {
    fn open(&mut self, piece: u32) -> &mut Open {
        self.open.iter_mut().find(|open| open.piece == piece).expect("the part has lines under way")
    }

    fn open_or_new(&mut self, piece: u32, lines: u64) -> &mut Open {
        let found = self.open.iter().position(|open| open.piece == piece);
        let index = found.unwrap_or_else(|| {
            self.open.push(Open { piece, lines, ..Open::default() });
            self.open.len() - 1
        });
        &mut self.open[index]
    }

    fn close(&mut self, piece: u32) -> Open {
        let index = self.open.iter().position(|open| open.piece == piece);
        self.open.remove(index.expect("the part has lines under way"))
    }
}

impl HostPort for Lines {
    fn piece(&self) -> u64 {
        self.rules.line
    }

    fn has_commands(&self) -> bool {
        false
    }

    fn submit(&mut self, now: Time, number: u32, request: &Request, work: Time) -> Option<Spent> {
        if self.programs.len() <= number as usize {
            self.programs.resize_with(number as usize + 1, Program::default);
        }
        let unissued = u64::from(request.bytes).next_multiple_of(self.rules.line);
        self.programs[number as usize] = Program { op: request.op, unissued, ..Program::default() };
        if !work.is_zero() {
            self.cpus.arrive(now, Job::Begin(number), work);
            return None;
        }
        if request.op == Op::Flush {
            self.fence(now, number);
        }
        Some(Spent::nothing())
    }

    fn bring(&mut self, now: Time, part: Part, op: Op, bytes: u64) -> Option<Spent> {
        if bytes == 0 || !matches!(op, Op::Read | Op::Write) {
            return Some(Spent::nothing());
        }
        let lines = bytes.div_ceil(self.rules.line);
        let program = &mut self.programs[part.request as usize];
        program.wanted.push_back(Wanted { piece: part.piece, lines, left: lines });
        self.issue(now, part.request, |program| program.issued.clone());
        None
    }

    fn answer(&mut self, now: Time, part: Part, op: Op, bytes: u64) -> Option<Spent> {
        if bytes == 0 || !matches!(op, Op::Read | Op::Write) {
            return Some(Spent::nothing());
        }
        let program = &mut self.programs[part.request as usize];
        if !(op == Op::Read || self.rules.is_answered) {
            program.close(part.piece);
            return Some(Spent::nothing());
        }
        // A read may be served before all of its lines are requested.
        let open = program.open_or_new(part.piece, bytes.div_ceil(self.rules.line));
        open.served = Some(now);
        for (there, spent) in std::mem::take(&mut open.there) {
            self.answer_line(now, part, op, there, spent);
        }
        None
    }

    fn end(&mut self, now: Time, request: u32, op: Op) -> Option<Spent> {
        let needs_fence = op == Op::Flush || op == Op::Write && !self.rules.is_answered;
        if !needs_fence {
            return Some(Spent::nothing());
        }
        match self.programs[request as usize].fenced {
            there if there > now => self.agenda.schedule(there, Event::Fenced(request, now)),
            _ => self.answer_fence(now, request, now),
        }
        None
    }

    fn note(&mut self, part: Part, laps: &[Lap]) {
        let program = &mut self.programs[part.request as usize];
        if let Some((_, spent)) = program.open(part.piece).there.front_mut() {
            spent.laps.extend_from_slice(laps);
        }
    }

    fn detail(&mut self, is_detailed: bool) {
        self.is_detailed = is_detailed;
    }

    fn next(&self) -> Time {
        self.cpus.next().min(self.agenda.next())
    }

    fn pop_before(&mut self, until: Time) -> Option<Arrival> {
        loop {
            if self.cpus.next() <= self.agenda.next() {
                match self.cpus.end_before(until)? {
                    (at, Job::Issue(number), _) => self.issued(at, number),
                    (at, Job::Begin(number), software) => {
                        if self.programs[number as usize].op == Op::Flush {
                            self.fence(at, number);
                        }
                        let mut spent = Spent { software, ..Spent::default() };
                        self.lap(&mut spent.laps, Stage::Driver, Software, at, software);
                        return Some(Arrival { at, part: Part::whole(number), leg: Leg::Begun, spent });
                    }
                }
                continue;
            }
            let (at, event) = self.agenda.pop_before(until)?;
            let arrival = match event {
                Event::Arrived(part) => self.arrived(at, part),
                Event::Back(part, spent) => self.back(at, part, spent),
                Event::Fenced(number, served) => {
                    self.answer_fence(at, number, served);
                    None
                }
                Event::Ended(number, spent) => {
                    Some(Arrival { at, part: Part::whole(number), leg: Leg::Ended, spent })
                }
            };
            if arrival.is_some() {
                return arrival;
            }
        }
    }

    fn power_fail(&mut self, at: Time) {
        self.express.power_fail(at);
        self.cpus.power_fail(at);
        self.programs.clear();
        self.agenda.clear();
    }

    fn restart_ledger(&mut self) {
        self.express.restart_ledger();
        self.cpus.restart_ledger();
    }

    fn resources(&self) -> Vec<Resource> {
        let [to_device, to_host] = self.express.resources();
        vec![self.cpus.resource("cpus"), to_device, to_host]
    }

    fn check_invariants(&self) {
        self.cpus.check_invariants();
        for program in &self.programs {
            assert!(program.under_way <= self.rules.outstanding, "too many lines are under way");
        }
    }
}
