//! Answers that wait for their time.

use crate::asked::HostRequest;
use crate::model::{Model, TimedReply};
use crate::room::{ALLOWED, Room, Share};
use crate::serving::{Disk, Pending, Served};
use crate::stream::Stream;
use nacre_kernel::Time;
use nacre_nbd::Session;
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
/// Bytes of answers that leave in one write; a longer one leaves alone.
const TOGETHER_BYTES: usize = 64 << 10;
/// How long the device is not looked at, at most, while something is asked of it: another client may have asked for what
/// makes an answer come sooner.
const GLANCE: Duration = Duration::from_millis(20);
/// Bytes of used buffers that are kept for the next answers.
const PAPERS_BYTES: usize = ALLOWED / 2;

/// Answers of one client, by the time they may leave.
pub(crate) struct Outbox<'a> {
    share: Share<'a>,
    answers: BinaryHeap<Answer>,
    /// What the buffers of answers take, of those that are being sent, too.
    bytes: usize,
    /// Answers so far: of those due at one time the first to come is the first to leave.
    number: u64,
    due: Vec<Answer>,
    /// Requests that the device has not done.
    pending: Vec<Pending>,
    /// Bytes that they take until they are answered.
    reserved: usize,
    /// When the device is looked at next, and when it was last.
    look_at: Option<Instant>,
    looked_at: Instant,
    /// Bytes of the next answer that have left, with [`Outbox::probe`].
    ahead: usize,
    together: Vec<u8>,
    papers: Vec<Vec<u8>>,
    papers_bytes: usize,
}

/// An answer; the one that is due first is the greatest.
struct Answer {
    deadline: Instant,
    number: u64,
    bytes: Vec<u8>,
    asked: Option<(HostRequest, TimedReply)>,
}

impl<'a> Outbox<'a> {
    pub(crate) fn new(room: &'a Room) -> Outbox<'a> {
        Outbox {
            share: room.share(),
            answers: BinaryHeap::new(),
            bytes: 0,
            number: 0,
            due: Vec::new(),
            pending: Vec::new(),
            reserved: 0,
            look_at: None,
            looked_at: now(),
            ahead: 0,
            together: Vec::with_capacity(TOGETHER_BYTES),
            papers: Vec::new(),
            papers_bytes: 0,
        }
    }

    /// Whether there is room for an answer of so many bytes more.
    pub(crate) fn makes_room(&mut self, bytes: usize) -> bool {
        self.share.hold(self.bytes + self.reserved + bytes)
    }

    /// Waits a moment for room, since `began`. Errors: that was too long ago.
    pub(crate) fn rest_for_room(&self, began: &mut Option<Instant>) -> io::Result<()> {
        self.share.rest(began)
    }

    /// An empty buffer to write an answer into.
    pub(crate) fn paper(&mut self) -> Vec<u8> {
        let paper = self.papers.pop().unwrap_or_default();
        self.papers_bytes -= paper.capacity();
        paper
    }

    /// Puts an answer in, or a request whose answer is not known yet.
    pub(crate) fn put(&mut self, bytes: Vec<u8>, served: Served) {
        let (deadline, asked) = match served {
            Served::AtOnce => (now(), None),
            Served::Due(asked, reply) => (reply.deadline, Some((asked, reply))),
            Served::Asked(pending) => {
                self.keep(bytes);
                self.reserved += pending.held_bytes();
                // What a client wrote was in its inbox, which gives it back.
                self.share.hold_anyway(self.bytes + self.reserved);
                self.pending.push(pending);
                self.look_at = Some(self.looked_at);
                return;
            }
        };
        self.bytes += bytes.capacity();
        self.number += 1;
        self.answers.push(Answer { deadline, number: self.number, bytes, asked });
    }

    /// Looks at the device, if it is time: what it has done becomes answers.
    ///
    /// Errors: there is no memory for an answer.
    pub(crate) fn collect(
        &mut self,
        disk: &Disk,
        model: &Model,
        session: &Session,
        outages: u64,
    ) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let now = now();
        let is_time = self.look_at.is_none_or(|at| at <= now) || now - self.looked_at >= GLANCE;
        if !is_time {
            return Ok(());
        }
        let ahead = self.pending.iter().map(|pending| pending.ahead(model)).max().unwrap_or_default();
        let mut done = Vec::new();
        let tickets = self.pending.iter().map(|pending| pending.ticket);
        self.looked_at = now;
        self.look_at = model.look(ahead, tickets, |place, answer| done.push((place, answer)));
        // Those behind it keep their places.
        done.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
        let mut done: Vec<_> =
            done.into_iter().map(|(place, answer)| (self.pending.remove(place), answer)).collect();
        done.sort_by_key(|(_, answer)| answer.said.done);
        for (pending, answer) in done {
            self.reserved -= pending.held_bytes();
            let mut out = self.paper();
            out.try_reserve_exact(pending.answer_bytes()).map_err(|_| io::ErrorKind::OutOfMemory)?;
            let served = disk.answer(session, &pending, &answer, outages, &mut out);
            self.put(out, served);
        }
        Ok(())
    }

    /// Nobody waits for what the device has not done.
    pub(crate) fn leave(&mut self, model: &Model) {
        self.pending.drain(..).for_each(|pending| model.forget(pending.ticket));
    }

    /// Keeps a buffer for the next answer, up to a bound.
    fn keep(&mut self, mut paper: Vec<u8>) {
        if self.papers_bytes + paper.capacity() <= PAPERS_BYTES {
            paper.clear();
            self.papers_bytes += paper.capacity();
            self.papers.push(paper);
        }
    }

    /// Whether no more should be put in.
    pub(crate) fn is_full(&self) -> bool {
        self.answers.len() + self.pending.len() >= ANSWERS_MAX || self.bytes + self.reserved >= BYTES_MAX
    }

    /// Whether nothing is answered any more, if nothing more is asked.
    pub(crate) fn is_empty(&self) -> bool {
        self.answers.is_empty() && self.pending.is_empty()
    }

    /// Sends the number that every answer begins with, once and before its time: a peer of TCP that has closed the connection
    /// is known by what it says to that alone. Where not all answers begin alike nothing is sent.
    pub(crate) fn probe(&mut self, stream: &mut Stream, session: &Session) -> io::Result<()> {
        let pending = self.pending.iter().map(|pending| pending.head(session));
        let answers = self.answers.iter().map(|answer| answer.bytes.first_chunk::<MAGIC_BYTES>().copied());
        let mut heads = answers.chain(pending);
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
        let done = self.take_due(now);
        if self.due.is_empty() {
            return Ok(None);
        }
        if !model.lets_leave(done, outages) {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        self.write_due(stream)?;
        for (asked, reply) in self.due.drain(..).filter_map(|answer| answer.asked) {
            model.answered(asked, reply, now);
        }
        Ok(self.is_empty().then_some(now))
    }

    /// Takes out what is due at `now`; when the model has done the last of it.
    fn take_due(&mut self, now: Instant) -> Time {
        let mut done = Time::ZERO;
        while self.answers.peek().is_some_and(|answer| answer.deadline <= now) {
            let answer = self.answers.pop().expect("it was there");
            done = done.max(answer.asked.map_or(Time::ZERO, |(_, reply)| reply.said.done));
            self.due.push(answer);
        }
        done
    }

    /// Sends what is due. A client that takes nothing keeps its share of the room: bytes are given back when the system has
    /// taken them.
    fn write_due(&mut self, stream: &mut Stream) -> io::Result<()> {
        let Outbox { share, due, bytes, reserved, together, papers, papers_bytes, .. } = self;
        let mut ahead = std::mem::take(&mut self.ahead);
        together.clear();
        for Answer { bytes: answer, .. } in due.iter_mut() {
            let part = &answer[std::mem::take(&mut ahead)..];
            if together.len() + part.len() > TOGETHER_BYTES && !together.is_empty() {
                stream.write_all(together)?;
                together.clear();
            }
            match part.len() > TOGETHER_BYTES {
                true => stream.write_all(part)?,
                false => together.extend_from_slice(part),
            }
            let mut paper = std::mem::take(answer);
            *bytes -= paper.capacity();
            if *papers_bytes + paper.capacity() <= PAPERS_BYTES {
                paper.clear();
                *papers_bytes += paper.capacity();
                papers.push(paper);
            } else {
                drop(paper);
            }
            share.hold(*bytes + *reserved);
        }
        stream.write_all(together)
    }

    /// Lets the time pass with `wait` until shortly before an answer is due or something happens in the device; does nothing
    /// where that is near.
    pub(crate) fn rest(&self, wait: impl FnOnce(Duration) -> io::Result<()>) -> io::Result<()> {
        let looks_at = self.look_at.filter(|_| !self.pending.is_empty());
        let next = self.answers.peek().map(|answer| answer.deadline).into_iter().chain(looks_at).min();
        let Some(next) = next else { return wait(GLANCE) };
        match next.saturating_duration_since(now()).checked_sub(SPIN) {
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

#[cfg(test)]
mod tests {
    use super::Outbox;
    use crate::room::{ALLOWED, Room};
    use crate::serving::Served;
    use crate::socket::Socket;
    use crate::stream::Stream;
    use std::io::Read;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    const LONG: usize = 8 << 20;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the client reads later")]
    fn an_answer_keeps_its_room_until_the_client_has_taken_it() {
        let room = Room::of(LONG);
        let (mut client, server) = UnixStream::pair().unwrap();
        let mut stream = Stream::new(Socket::Unix(server));
        let mut others = room.share();
        std::thread::scope(|scope| {
            let sender = scope.spawn(|| {
                let mut outbox = Outbox::new(&room);
                for _ in 0..2 {
                    assert!(outbox.makes_room(LONG / 2));
                    outbox.put(vec![7; LONG / 2], Served::AtOnce);
                }
                outbox.take_due(super::now());
                outbox.write_due(&mut stream).unwrap();
                assert_eq!(outbox.bytes, 0);
                outbox
            });
            // The client has taken a part of the first answer: the second one is still there.
            client.read_exact(&mut vec![0; LONG / 4]).unwrap();
            std::thread::sleep(Duration::from_millis(20));
            assert!(!others.hold(ALLOWED + LONG / 2), "both answers are held");
            client.read_exact(&mut vec![0; LONG - LONG / 4]).unwrap();
            let outbox = sender.join().unwrap();
            assert!(others.hold(ALLOWED + LONG), "all of it is given back");
            drop(outbox);
        });
    }

    #[test]
    fn used_buffers_are_kept_up_to_a_bound() {
        let room = Room::of(0);
        let (_client, server) = UnixStream::pair().unwrap();
        let mut stream = Stream::new(Socket::Unix(server));
        let mut outbox = Outbox::new(&room);
        for bytes in [1 << 10; 40].into_iter().chain([super::PAPERS_BYTES]) {
            outbox.put(vec![7; bytes], Served::AtOnce);
        }
        outbox.take_due(super::now());
        outbox.write_due(&mut stream).unwrap();
        assert_eq!((outbox.papers.len(), outbox.papers_bytes), (40, 40 << 10));
        assert_eq!((outbox.paper().capacity(), outbox.papers_bytes), (1 << 10, 39 << 10));
    }
}
