//! Answers that wait for their time.

use crate::model::{Model, TimedReply};
use crate::stream::Stream;
use nacre_kernel::Op;
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
/// Used buffers that are kept for the next answers, and bytes of the longest of them.
const PAPERS_MAX: usize = 64;
const PAPER_BYTES: usize = 64 << 10;

/// Answers of one client, by the time they may leave.
#[derive(Default)]
pub(crate) struct Outbox {
    answers: BinaryHeap<Answer>,
    bytes: usize,
    /// Answers so far: of those due at one time the first to come is the first to leave.
    number: u64,
    due: Vec<Answer>,
    together: Vec<u8>,
    papers: Vec<Vec<u8>>,
}

/// An answer; the one that is due first is the greatest.
struct Answer {
    deadline: Instant,
    number: u64,
    bytes: Vec<u8>,
    asked: Option<(Op, TimedReply)>,
}

impl Outbox {
    /// An empty buffer to write an answer into.
    pub(crate) fn paper(&mut self) -> Vec<u8> {
        self.papers.pop().unwrap_or_default()
    }

    /// Puts an answer in. One of which the model was not asked is due at once.
    pub(crate) fn put(&mut self, bytes: Vec<u8>, asked: Option<(Op, TimedReply)>) {
        let deadline = asked.map_or_else(now, |(_, reply)| reply.deadline);
        self.bytes += bytes.len();
        self.number += 1;
        self.answers.push(Answer { deadline, number: self.number, bytes, asked });
    }

    /// Whether no more should be put in.
    pub(crate) fn is_full(&self) -> bool {
        self.answers.len() >= ANSWERS_MAX || self.bytes >= BYTES_MAX
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// Sends what is due; says when, where the client waits for nothing else.
    pub(crate) fn send_due(&mut self, stream: &mut Stream, model: &Model) -> io::Result<Option<Instant>> {
        let Some(first) = self.answers.peek() else { return Ok(None) };
        let now = now();
        if first.deadline > now {
            return Ok(None);
        }
        while self.answers.peek().is_some_and(|answer| answer.deadline <= now) {
            let answer = self.answers.pop().expect("it was there");
            self.bytes -= answer.bytes.len();
            self.due.push(answer);
        }
        if let [only] = &self.due[..] {
            stream.write_all(&only.bytes)?;
        } else {
            self.together.clear();
            self.due.iter().for_each(|answer| self.together.extend(&answer.bytes));
            stream.write_all(&self.together)?;
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
        Ok(self.is_empty().then_some(now))
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
