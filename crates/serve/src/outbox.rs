//! Replies that wait until they are due.

use crate::asked::HostRequest;
use crate::model::{Model, TimedReply};
use crate::serving::{Disk, Pending, Served};
use crate::shared_memory::{ALLOWED, Share, SharedMemory};
use crate::stream::Stream;
use nacre_kernel::Time;
use nacre_nbd::Session;
use std::collections::BinaryHeap;
use std::io;
use std::time::{Duration, Instant};

/// Maximum number of waiting replies of a client. At this limit, the server reads no more requests from the
/// client.
const ANSWERS_MAX: usize = 1024;
/// Maximum number of bytes of waiting replies of a client.
const BYTES_MAX: usize = 64 << 20;
/// Allowance for late wake-ups by the system. On an idle virtual machine, 90 % of wake-ups are at most 80 us
/// late. The thread wakes up earlier by this time, and yields the processor repeatedly until the reply is
/// due.
const SPIN: Duration = Duration::from_micros(100);
/// Size of the magic number at the start of a reply in bytes.
const MAGIC_BYTES: usize = 4;
/// Maximum number of bytes of replies sent in one write. A longer reply is sent alone.
const TOGETHER_BYTES: usize = 64 << 10;
/// Maximum interval between two checks of the device while requests are outstanding. The checks are needed
/// because a request of another client may cause an earlier completion.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum number of bytes of unused buffers that are reused for later replies.
const SPARE_BYTES: usize = ALLOWED / 2;

/// Replies of a client, ordered by the time at which they are due.
pub(crate) struct Outbox<'a> {
    share: Share<'a>,
    answers: BinaryHeap<Answer>,
    /// Total size of the reply buffers in bytes, including buffers that are being sent.
    bytes: usize,
    /// Number of replies so far. The number of a reply determines its order among replies that are due at the
    /// same time.
    number: u64,
    due: Vec<Answer>,
    /// Requests that the device has not completed.
    pending: Vec<Pending>,
    /// Number of bytes reserved for the replies to `pending` requests.
    reserved: usize,
    /// Time of the next check of the device.
    look_at: Option<Instant>,
    /// Time of the last check of the device.
    looked_at: Instant,
    /// Number of bytes of the first reply that [`Outbox::probe`] has already sent.
    ahead: usize,
    together: Vec<u8>,
    spares: Vec<Vec<u8>>,
    spare_bytes: usize,
}

/// A reply. In comparisons, the reply that is due first is the greatest.
struct Answer {
    deadline: Instant,
    number: u64,
    bytes: Vec<u8>,
    asked: Option<(HostRequest, TimedReply)>,
}

impl<'a> Outbox<'a> {
    pub(crate) fn new(shared: &'a SharedMemory) -> Outbox<'a> {
        Outbox {
            share: shared.share(),
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
            spares: Vec::new(),
            spare_bytes: 0,
        }
    }

    /// Reserves space for another reply of `bytes` bytes. Returns `false` if there is not enough space.
    pub(crate) fn makes_room(&mut self, bytes: usize) -> bool {
        self.share.hold(self.bytes + self.reserved + bytes)
    }

    /// Waits briefly for space. `began` is the time at which the wait started. Returns an error after a
    /// timeout.
    pub(crate) fn rest_for_room(&self, began: &mut Option<Instant>) -> io::Result<()> {
        self.share.rest(began)
    }

    /// Returns an empty buffer for a reply.
    pub(crate) fn empty_buffer(&mut self) -> Vec<u8> {
        let buffer = self.spares.pop().unwrap_or_default();
        self.spare_bytes -= buffer.capacity();
        buffer
    }

    /// Adds a reply, or a request whose reply is not ready yet.
    pub(crate) fn put(&mut self, bytes: Vec<u8>, served: Served) {
        let (deadline, asked) = match served {
            Served::AtOnce => (now(), None),
            Served::Due(asked, reply) => (reply.deadline, Some((asked, reply))),
            Served::Asked(pending) => {
                self.keep(bytes);
                self.reserved += pending.held_bytes();
                // The data of a write was in the inbox, which releases it.
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

    /// Checks the device if a check is due, and converts completions to replies.
    ///
    /// Returns an error if there is not enough memory for a reply.
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
        let is_time = self.look_at.is_none_or(|at| at <= now) || now - self.looked_at >= CHECK_INTERVAL;
        if !is_time {
            return Ok(());
        }
        let ahead = self.pending.iter().map(|pending| pending.ahead(model)).max().unwrap_or_default();
        let mut done = Vec::new();
        let tickets = self.pending.iter().map(|pending| pending.ticket);
        self.looked_at = now;
        self.look_at = model.look(ahead, tickets, |place, answer| done.push((place, answer)));
        // Entries are removed from the end, so that earlier indices stay valid.
        done.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
        let mut done: Vec<_> =
            done.into_iter().map(|(place, answer)| (self.pending.remove(place), answer)).collect();
        done.sort_by_key(|(_, answer)| answer.said.done);
        for (pending, answer) in done {
            self.reserved -= pending.held_bytes();
            let mut out = self.empty_buffer();
            out.try_reserve_exact(pending.answer_bytes()).map_err(|_| io::ErrorKind::OutOfMemory)?;
            let served = disk.answer(session, &pending, &answer, outages, &mut out);
            self.put(out, served);
        }
        Ok(())
    }

    /// Discards the requests that the device has not completed, because the client disconnects.
    pub(crate) fn leave(&mut self, model: &Model) {
        self.pending.drain(..).for_each(|pending| model.forget(pending.ticket));
    }

    /// Stores an empty buffer for reuse, up to a limit.
    fn keep(&mut self, mut buffer: Vec<u8>) {
        if self.spare_bytes + buffer.capacity() <= SPARE_BYTES {
            buffer.clear();
            self.spare_bytes += buffer.capacity();
            self.spares.push(buffer);
        }
    }

    /// Returns whether no more requests should be read.
    pub(crate) fn is_full(&self) -> bool {
        self.answers.len() + self.pending.len() >= ANSWERS_MAX || self.bytes + self.reserved >= BYTES_MAX
    }

    /// Returns whether no replies are outstanding.
    pub(crate) fn is_empty(&self) -> bool {
        self.answers.is_empty() && self.pending.is_empty()
    }

    /// Sends the magic number of the first reply in advance, once per reply, because a closed TCP connection
    /// is detected only by sending. Does nothing unless all waiting replies have the same magic number.
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

    /// Sends due replies to a client that connected after `outages` power losses. Returns the time of sending
    /// if replies were sent and the client waits for no other reply. Returns an error if power has failed
    /// since the client connected.
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

    /// Moves the replies that are due at `now` to the list of due replies. Returns the latest completion time
    /// of these replies.
    fn take_due(&mut self, now: Instant) -> Time {
        let mut done = Time::ZERO;
        while self.answers.peek().is_some_and(|answer| answer.deadline <= now) {
            let answer = self.answers.pop().expect("it was there");
            done = done.max(answer.asked.map_or(Time::ZERO, |(_, reply)| reply.said.done));
            self.due.push(answer);
        }
        done
    }

    /// Sends the due replies. The memory of each reply remains reserved until the system has accepted its
    /// data.
    fn write_due(&mut self, stream: &mut Stream) -> io::Result<()> {
        let Outbox { share, due, bytes, reserved, together, spares, spare_bytes, .. } = self;
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
            let mut buffer = std::mem::take(answer);
            *bytes -= buffer.capacity();
            if *spare_bytes + buffer.capacity() <= SPARE_BYTES {
                buffer.clear();
                *spare_bytes += buffer.capacity();
                spares.push(buffer);
            } else {
                drop(buffer);
            }
            share.hold(*bytes + *reserved);
        }
        stream.write_all(together)
    }

    /// Calls `wait` with the time that is left until the next reply is due or the device has an event, minus
    /// [`SPIN`]. If no time is left, only yields the processor.
    pub(crate) fn rest(&self, wait: impl FnOnce(Duration) -> io::Result<()>) -> io::Result<()> {
        let looks_at = self.look_at.filter(|_| !self.pending.is_empty());
        let next = self.answers.peek().map(|answer| answer.deadline).into_iter().chain(looks_at).min();
        let Some(next) = next else { return wait(CHECK_INTERVAL) };
        match next.saturating_duration_since(now()).checked_sub(SPIN) {
            Some(time) if !time.is_zero() => wait(time),
            _ => {
                // The client may need this processor.
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
    use crate::serving::Served;
    use crate::shared_memory::{ALLOWED, SharedMemory};
    use crate::socket::Socket;
    use crate::stream::Stream;
    use std::io::Read;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    const LONG: usize = 8 << 20;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the client reads later")]
    fn an_answer_keeps_its_room_until_the_client_has_taken_it() {
        let shared = SharedMemory::of(LONG);
        let (mut client, server) = UnixStream::pair().unwrap();
        let mut stream = Stream::new(Socket::Unix(server));
        let mut others = shared.share();
        std::thread::scope(|scope| {
            let sender = scope.spawn(|| {
                let mut outbox = Outbox::new(&shared);
                for _ in 0..2 {
                    assert!(outbox.makes_room(LONG / 2));
                    outbox.put(vec![7; LONG / 2], Served::AtOnce);
                }
                outbox.take_due(super::now());
                outbox.write_due(&mut stream).unwrap();
                assert_eq!(outbox.bytes, 0);
                outbox
            });
            // The client has received a part of the first reply, and the second reply is still queued.
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
        let shared = SharedMemory::of(0);
        let (_client, server) = UnixStream::pair().unwrap();
        let mut stream = Stream::new(Socket::Unix(server));
        let mut outbox = Outbox::new(&shared);
        for bytes in [1 << 10; 40].into_iter().chain([super::SPARE_BYTES]) {
            outbox.put(vec![7; bytes], Served::AtOnce);
        }
        outbox.take_due(super::now());
        outbox.write_due(&mut stream).unwrap();
        assert_eq!((outbox.spares.len(), outbox.spare_bytes), (40, 40 << 10));
        assert_eq!((outbox.empty_buffer().capacity(), outbox.spare_bytes), (1 << 10, 39 << 10));
    }
}
