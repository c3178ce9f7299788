//! Answers that wait for their time.

use crate::model::{Model, TimedReply};
use crate::room::{Room, Share};
use crate::serving::{Rest, Served};
use crate::stream::Stream;
use nacre_kernel::{Op, Time};
use std::collections::BinaryHeap;
use std::io;
use std::time::{Duration, Instant};

/// Answers of one client that may wait at a time; then it is not read from.
const ANSWERS_MAX: usize = 1024;
/// Their bytes.
const BYTES_MAX: usize = 64 << 20;
/// The system wakes a sleeper up to this much late (nine of ten within 80 us on a virtual machine with nothing to do);
/// the rest of the wait is spun.
const SPIN: Duration = Duration::from_micros(100);
/// Bytes of the number that an answer begins with.
const MAGIC_BYTES: usize = 4;
/// Used buffers that are kept for the next answers, and bytes of the longest of them.
const PAPERS_MAX: usize = 64;
const PAPER_BYTES: usize = 64 << 10;

/// Answers of one client, by the time they may leave.
pub(crate) struct Outbox<'a> {
    share: Share<'a>,
    answers: BinaryHeap<Answer>,
    bytes: usize,
    /// Answers so far: of those due at one time the first to come is the first to leave.
    number: u64,
    due: Vec<Answer>,
    /// Answers of requests of which a part is done and others are not.
    unfinished: Vec<(Vec<u8>, Rest)>,
    /// Bytes of the next answer that have left, with [`Outbox::probe`].
    ahead: usize,
    together: Vec<u8>,
    papers: Vec<Vec<u8>>,
}

/// An answer; the one that is due first is the greatest.
struct Answer {
    deadline: Instant,
    number: u64,
    bytes: Vec<u8>,
    asked: Option<(Op, TimedReply)>,
    rest: Option<Rest>,
}

impl<'a> Outbox<'a> {
    pub(crate) fn new(room: &'a Room) -> Outbox<'a> {
        Outbox {
            share: room.share(),
            answers: BinaryHeap::new(),
            bytes: 0,
            number: 0,
            due: Vec::new(),
            unfinished: Vec::new(),
            ahead: 0,
            together: Vec::new(),
            papers: Vec::new(),
        }
    }

    /// Whether there is room for an answer of so many bytes more.
    pub(crate) fn makes_room(&mut self, bytes: usize) -> bool {
        self.share.hold(self.bytes + bytes)
    }

    /// Waits a moment for room, since `began`. Errors: that was too long ago.
    pub(crate) fn rest_for_room(&self, began: &mut Option<Instant>) -> io::Result<()> {
        self.share.rest(began)
    }

    /// An empty buffer to write an answer into.
    pub(crate) fn paper(&mut self) -> Vec<u8> {
        self.papers.pop().unwrap_or_default()
    }

    /// Puts an answer in. One of which the model was not asked is due at once; one with more to be asked is due when that
    /// can be, for its client's way is no part of it.
    pub(crate) fn put(&mut self, bytes: Vec<u8>, served: Served) {
        let Served { asked, rest } = served;
        let due = |(_, reply): (_, TimedReply)| if rest.is_some() { reply.done } else { reply.deadline };
        let deadline = asked.map_or_else(now, due);
        self.bytes += bytes.len();
        self.number += 1;
        self.answers.push(Answer { deadline, number: self.number, bytes, asked, rest });
    }

    /// A request of which a part is done: the answer so far, and what is to be asked now.
    pub(crate) fn unfinished(&mut self) -> Option<(Vec<u8>, Rest)> {
        self.unfinished.pop()
    }

    /// Whether no more should be put in.
    pub(crate) fn is_full(&self) -> bool {
        self.answers.len() >= ANSWERS_MAX || self.bytes >= BYTES_MAX
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// Sends the number that every answer begins with, once and before its time: a peer of TCP that has closed the connection
    /// is known by what it says to that alone. Where not all answers begin alike nothing is sent.
    pub(crate) fn probe(&mut self, stream: &mut Stream) -> io::Result<()> {
        let head = |answer: &Answer| match answer.rest {
            None => answer.bytes.first_chunk::<MAGIC_BYTES>().copied(),
            Some(_) => None,
        };
        let mut heads = self.answers.iter().map(head);
        let Some(head) = heads.next().flatten() else { return Ok(()) };
        if self.ahead == 0 && heads.all(|other| other == Some(head)) {
            stream.write_all(&head)?;
            self.ahead = MAGIC_BYTES;
        }
        Ok(())
    }

    /// Sends what is due to a client that came after so many `outages`; says when, where the client waits for nothing
    /// else. Errors: the power has failed since.
    pub(crate) fn send_due(
        &mut self,
        stream: &mut Stream,
        model: &Model,
        outages: u64,
    ) -> io::Result<Option<Instant>> {
        let Some(first) = self.answers.peek() else { return Ok(None) };
        let now = now();
        if first.deadline > now {
            return Ok(None);
        }
        let mut done = Time::ZERO;
        while self.answers.peek().is_some_and(|answer| answer.deadline <= now) {
            let mut answer = self.answers.pop().expect("it was there");
            self.bytes -= answer.bytes.len();
            if let Some(rest) = answer.rest.take() {
                self.unfinished.push((answer.bytes, rest));
                continue;
            }
            done = done.max(answer.asked.map_or(Time::ZERO, |(_, reply)| reply.said.done));
            self.due.push(answer);
        }
        self.share.hold(self.bytes);
        if self.due.is_empty() {
            return Ok(None);
        }
        if !model.lets_leave(done, outages) {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        let ahead = std::mem::take(&mut self.ahead);
        if let [only] = &self.due[..] {
            stream.write_all(&only.bytes[ahead..])?;
        } else {
            self.together.clear();
            self.due.iter().for_each(|answer| self.together.extend(&answer.bytes));
            stream.write_all(&self.together[ahead..])?;
        }
        for Answer { mut bytes, asked, .. } in self.due.drain(..) {
            if let Some((op, reply)) = asked {
                model.answered(op, reply, now);
            }
            if self.papers.len() < PAPERS_MAX && bytes.capacity() <= PAPER_BYTES {
                bytes.clear();
                self.papers.push(bytes);
            }
        }
        Ok((self.is_empty() && self.unfinished.is_empty()).then_some(now))
    }

    /// Lets the time until shortly before the next deadline pass with `wait`; does nothing where it is near.
    pub(crate) fn rest(&self, wait: impl FnOnce(Duration) -> io::Result<()>) -> io::Result<()> {
        let Some(next) = self.answers.peek() else { return Ok(()) };
        match next.deadline.saturating_duration_since(now()).checked_sub(SPIN) {
            Some(time) if !time.is_zero() => wait(time),
            _ => {
                // The client may have to run on this processor.
                std::thread::yield_now();
                Ok(())
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "answers leave by the wall clock")]
fn now() -> Instant {
    Instant::now()
}

impl PartialEq for Answer {
    fn eq(&self, other: &Answer) -> bool {
        self.number == other.number
    }
}

impl Eq for Answer {}

impl PartialOrd for Answer {
    fn partial_cmp(&self, other: &Answer) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Answer {
    fn cmp(&self, other: &Answer) -> std::cmp::Ordering {
        (other.deadline, other.number).cmp(&(self.deadline, self.number))
    }
}
