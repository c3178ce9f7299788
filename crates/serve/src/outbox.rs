//! Answers that wait for their time.

use crate::listen::Stream;
use crate::model::{Model, Verdict};
use nacre_kernel::Op;
use std::collections::BinaryHeap;
use std::io::{self, Write};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// Answers of one client that may wait at a time; then it is not read from.
const ANSWERS_MAX: usize = 1024;
/// Their bytes.
const BYTES_MAX: usize = 64 << 20;
/// The system wakes a sleeper about this much late; the rest of the wait is spun.
const SPIN: Duration = Duration::from_micros(80);

/// Answers of one client, by the time they may leave.
#[derive(Default)]
pub(crate) struct Outbox {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    answers: BinaryHeap<Answer>,
    bytes: usize,
    /// Answers so far: of those due at one time the first to come is the first to leave.
    number: u64,
    /// No more will come.
    is_closed: bool,
    /// The client is gone.
    is_broken: bool,
}

/// An answer; the one that is due first is the greatest.
struct Answer {
    deadline: Instant,
    number: u64,
    bytes: Vec<u8>,
    asked: Option<(Op, Verdict)>,
}

impl Outbox {
    /// Puts an answer in; waits while there are too many. False where nobody will send it.
    pub(crate) fn put(&self, deadline: Instant, bytes: Vec<u8>, asked: Option<(Op, Verdict)>) -> bool {
        let mut waiting = self.waiting.lock().expect("nobody panics with the lock");
        while !waiting.is_broken && (waiting.answers.len() >= ANSWERS_MAX || waiting.bytes >= BYTES_MAX) {
            waiting = self.changed.wait(waiting).expect("nobody panics with the lock");
        }
        waiting.bytes += bytes.len();
        waiting.number += 1;
        let number = waiting.number;
        waiting.answers.push(Answer { deadline, number, bytes, asked });
        self.changed.notify_all();
        !waiting.is_broken
    }

    /// No more will come.
    pub(crate) fn close(&self) {
        self.waiting.lock().expect("nobody panics with the lock").is_closed = true;
        self.changed.notify_all();
    }

    /// Sends every answer at its time, until the box is closed and empty or the client is gone.
    pub(crate) fn send(&self, mut stream: &Stream, model: &Model) -> io::Result<()> {
        let (mut due, mut bytes) = (Vec::new(), Vec::new());
        while self.take_due(&mut due) {
            bytes.clear();
            due.iter().for_each(|answer| bytes.extend(&answer.bytes));
            if let Err(error) = stream.write_all(&bytes) {
                self.break_off();
                return Err(error);
            }
            for Answer { asked, .. } in due.drain(..) {
                if let Some((op, verdict)) = asked {
                    model.answered(op, verdict);
                }
            }
        }
        Ok(())
    }

    /// Waits for the next deadline and takes what is due then; false at the end.
    #[expect(clippy::disallowed_methods, reason = "answers leave by the wall clock")]
    fn take_due(&self, due: &mut Vec<Answer>) -> bool {
        let mut waiting = self.waiting.lock().expect("nobody panics with the lock");
        loop {
            let now = Instant::now();
            while waiting.answers.peek().is_some_and(|answer| answer.deadline <= now) {
                let answer = waiting.answers.pop().expect("it was there");
                waiting.bytes -= answer.bytes.len();
                due.push(answer);
            }
            if !due.is_empty() {
                self.changed.notify_all();
                return true;
            }
            let Some(next) = waiting.answers.peek().map(|answer| answer.deadline - now) else {
                if waiting.is_closed {
                    return false;
                }
                waiting = self.changed.wait(waiting).expect("nobody panics with the lock");
                continue;
            };
            if let Some(sleep) = next.checked_sub(SPIN).filter(|sleep| !sleep.is_zero()) {
                waiting = self.changed.wait_timeout(waiting, sleep).expect("nobody panics with the lock").0;
                continue;
            }
            drop(waiting);
            std::hint::spin_loop();
            waiting = self.waiting.lock().expect("nobody panics with the lock");
        }
    }

    fn break_off(&self) {
        let mut waiting = self.waiting.lock().expect("nobody panics with the lock");
        waiting.is_broken = true;
        waiting.answers.clear();
        waiting.bytes = 0;
        self.changed.notify_all();
    }
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
