//! Compares completion times with a naive event simulation.

use super::{mirror, request};
use nacre_kernel::{Op, Random, Request, Streams, Time};
use nacre_testkit::oracle::Load;
use nacre_testkit::visits;
use std::collections::VecDeque;

/// Read and write latencies of each member in microseconds. A member serves one request at a time.
const MEMBERS: [(u64, u64); 3] = [(31, 47), (37, 53), (83, 29)];

fn member((read, write): (u64, u64)) -> String {
    format!(
        "kind = \"measured\", read = \"{read} us\", write = \"{write} us\", parallelism = 1, capacity = \"1 MiB\""
    )
}

/// A request to a member: the host request that it belongs to, and whether it is a read.
#[derive(Clone, Copy, PartialEq)]
struct Part {
    of: usize,
    is_read: bool,
}

#[derive(Default)]
struct Naive {
    /// For each member, the request in service with its end time.
    working: Vec<Option<(Time, Part)>>,
    queues: Vec<VecDeque<Part>>,
    /// For each host request, its completion time (`done`) and its number of parts in progress (`left`).
    done: Vec<Option<Time>>,
    left: Vec<usize>,
    waiting: Vec<usize>,
    hedges: Vec<(Time, usize, usize)>,
    turn: usize,
}

impl Naive {
    fn load(&self, member: usize) -> usize {
        self.queues[member].len() + usize::from(self.working[member].is_some())
    }

    fn choose(&mut self, policy: &str) -> usize {
        let count = self.queues.len();
        let order = (0..count).map(|step| (self.turn + step) % count);
        let chosen = match policy {
            "first" => 0,
            "round_robin" => self.turn,
            _ => order.min_by_key(|&member| self.load(member)).expect("a member"),
        };
        self.turn = (chosen + 1) % count;
        chosen
    }

    fn put(&mut self, now: Time, member: usize, part: Part) {
        self.queues[member].push_back(part);
        self.serve(now, member);
    }

    fn serve(&mut self, now: Time, member: usize) {
        if self.working[member].is_none()
            && let Some(part) = self.queues[member].pop_front()
        {
            let (read, write) = MEMBERS[member];
            let latency = Time::from_us(if part.is_read { read } else { write });
            self.working[member] = Some((now + latency, part));
        }
    }

    /// Starts writes in order of arrival, each after all earlier writes that overlap it.
    fn start_writes(&mut self, now: Time, requests: &[Request]) {
        let overlap =
            |one: usize, other: usize| requests[one].address.abs_diff(requests[other].address) < 4096;
        let mut index = 0;
        while index < self.waiting.len() {
            let number = self.waiting[index];
            let is_started = |&other: &usize| self.left[other] > 0 && self.done[other].is_none();
            let writes =
                (0..requests.len()).filter(|&other| requests[other].op == Op::Write && other != number);
            let is_blocked = writes.filter(is_started).any(|other| overlap(number, other))
                || self.waiting[..index].iter().any(|&other| overlap(number, other));
            if is_blocked {
                index += 1;
                continue;
            }
            self.waiting.remove(index);
            self.left[number] = self.queues.len();
            for member in 0..self.queues.len() {
                self.put(now, member, Part { of: number, is_read: false });
            }
        }
    }

    fn ended(&mut self, now: Time, member: usize, requests: &[Request]) {
        let (_, part) = self.working[member].take().expect("it works");
        if part.is_read {
            self.done[part.of].get_or_insert(now);
            self.hedges.retain(|&(_, of, _)| of != part.of);
            self.queues.iter_mut().for_each(|queue| queue.retain(|other| *other != part));
        } else {
            self.left[part.of] -= 1;
            if self.left[part.of] == 0 {
                self.done[part.of] = Some(now);
            }
        }
        self.serve(now, member);
        self.start_writes(now, requests);
    }
}

fn naive(
    members: usize,
    policy: &str,
    hedge_after: Option<Time>,
    requests: &[Request],
    arrivals: &[Time],
) -> Vec<Time> {
    let mut all = Naive {
        working: vec![None; members],
        queues: vec![VecDeque::new(); members],
        done: vec![None; requests.len()],
        left: vec![0; requests.len()],
        ..Naive::default()
    };
    let mut next = 0;
    loop {
        let arrival = arrivals.get(next).copied().unwrap_or(Time::MAX);
        let hedge = all.hedges.first().map_or(Time::MAX, |&(at, ..)| at);
        let ends = all.working.iter().map(|work| work.map_or(Time::MAX, |(at, _)| at));
        let (end, member) = ends.zip(0..).min().expect("a member");
        let now = arrival.min(hedge).min(end);
        if now == Time::MAX {
            return all.done.into_iter().map(|done| done.expect("it is served")).collect();
        }
        if arrival == now {
            if requests[next].op == Op::Read {
                let member = all.choose(policy);
                all.put(now, member, Part { of: next, is_read: true });
                all.hedges.extend(hedge_after.map(|after| (now + after, next, (member + 1) % members)));
            } else {
                all.waiting.push(next);
                all.start_writes(now, requests);
            }
            next += 1;
        } else if hedge == now {
            let (_, of, member) = all.hedges.remove(0);
            all.put(now, member, Part { of, is_read: true });
        } else {
            all.ended(now, member, requests);
        }
    }
}

/// Generates requests at random times. No two times, or sums of times and latencies, are equal.
fn script(random: &mut Random) -> (Vec<Request>, Vec<Time>) {
    let mut now = Time::ZERO;
    let mut any = |_| {
        now += Time::from_ps(random.below(120_000_000) + 1);
        let op = if random.chance(0.6) { Op::Read } else { Op::Write };
        (request(op, random.below(40) * 2048, 4096), now)
    };
    (0..800).map(&mut any).unzip()
}

#[test]
fn completion_times_are_those_of_a_naive_simulation() {
    let mut hedged = 0;
    for members in [2, 3] {
        for policy in ["first", "round_robin", "shortest_queue"] {
            for hedge in [None, Some(20), Some(45), Some(200)] {
                let seed = format!("{members} {policy} {hedge:?}");
                let (requests, arrivals) = script(&mut Streams::new(1).stream(&seed));
                let texts: Vec<String> = MEMBERS[..members].iter().map(|&of| member(of)).collect();
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                let hedge_text = hedge.map_or(String::new(), |us| format!("hedge_after = \"{us} us\""));
                let mut device = mirror(&format!("read_policy = \"{policy}\"\n{hedge_text}"), &texts);
                let found = visits(&mut *device, &requests, Load::Open(&arrivals));
                let expected = naive(members, policy, hedge.map(Time::from_us), &requests, &arrivals);
                for (number, (found, expected)) in found.iter().zip(expected).enumerate() {
                    assert_eq!(found.done, expected, "request {number}, {:?}, {seed}", requests[number]);
                }
                hedged += super::count(&*device, "hedges_sent");
                device.check_invariants();
            }
        }
    }
    assert!(hedged > 500);
}
