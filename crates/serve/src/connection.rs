//! Handling of one connection, from its first byte to its last byte.

use crate::awake::Hold;
use crate::clients::Clients;
use crate::dropped::{Dropped, PATIENCE};
use crate::inbox::Inbox;
use crate::linger::{Linger, PollingSlots};
use crate::model::{Early, Model};
use crate::outbox::Outbox;
use crate::serving::{Body, Disk, answer_bytes};
use crate::shared_memory::{ALLOWED, SharedMemory};
use crate::stream::Stream;
use crate::tls::Certificates;
use crate::turnaround::Turnaround;
use nacre_nbd::{BlockSizes, Command, Export, HEADER_BYTES, Negotiation, Parsed, Request, Session, Tls};
use std::io;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

/// Interval at which a client's thread checks whether the server is stopping while it waits until a reply
/// is due.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// Time without requests from a client after which processors may sleep.
const SILENCE: Duration = Duration::from_secs(1);
/// Maximum number of replies that are sent in one write. If the server waited for more replies, the client
/// would be idle.
const ANSWERS_TOGETHER: usize = 4;
/// Approximate maximum number of bytes of replies that are sent in one write.
const TOGETHER: usize = 32 << 10;
/// Maximum size of a reply buffer that is reused after a long reply, in bytes.
const KEPT_BYTES: usize = 4 << 20;

/// State of the server that its connections share.
pub(crate) struct ServerContext<'a> {
    pub(crate) disks: &'a [Disk],
    pub(crate) exports: &'a [Export],
    pub(crate) certificates: Option<&'a Certificates>,
    pub(crate) places: &'a PollingSlots,
    pub(crate) shared: &'a SharedMemory,
}

/// Serves client `number` of `clients` until the client disconnects or the server disconnects it.
pub(crate) fn talk(
    stream: &mut Stream,
    context: &ServerContext<'_>,
    clients: &Clients,
    number: u64,
) -> Result<(), Dropped> {
    stream.socket().set_read_patience(Some(PATIENCE))?;
    stream.socket().set_write_patience(Some(PATIENCE))?;
    let mut inbox = Inbox::new(context.shared);
    let chosen = negotiate(stream, &mut inbox, context.exports, context.certificates)?;
    let Some(session) = chosen else { return Ok(()) };
    clients.chose(number);
    stream.socket().set_write_patience(None)?;
    let disk = &context.disks[session.export];
    let mut line = Line {
        stream,
        inbox,
        shared: context.shared,
        disk,
        session,
        clients,
        linger: Linger::new(context.places),
        hold: Hold::default(),
    };
    match &disk.body {
        Body::Device(model) => line.timed(model),
        Body::Raw(_) => line.at_once(),
    }
}

fn negotiate(
    stream: &mut Stream,
    inbox: &mut Inbox<'_>,
    exports: &[Export],
    certificates: Option<&Certificates>,
) -> Result<Option<Session>, Dropped> {
    let began = now();
    let tls = certificates.map_or(Tls::Off, |_| Tls::Required);
    let mut negotiation = Negotiation::new(exports, tls);
    let mut out = Vec::new();
    negotiation.greet(&mut out);
    loop {
        let progress = negotiation.step(inbox.held(), &mut out)?;
        if let Parsed::Took(bytes) = progress {
            inbox.take(bytes);
            continue;
        }
        stream.write_all(&out)?;
        out.clear();
        match progress {
            Parsed::Took(_) => {}
            Parsed::More => {
                let held = inbox.held().len();
                if now() - began > PATIENCE {
                    return Err(Dropped::Undecided);
                }
                if !inbox.fill(stream, held + 1).map_err(unheard)? {
                    return if held == 0 { Ok(None) } else { Err(Dropped::HalfOpen) };
                }
            }
            Parsed::StartTls(bytes) => {
                inbox.take(bytes);
                // Data that was injected after the option must not be treated as sent by the client.
                if !inbox.held().is_empty() {
                    return Err(Dropped::TooEarly);
                }
                let certificates = certificates.expect("encryption was offered");
                stream.encrypt(certificates).map_err(Dropped::Encryption)?;
                negotiation = negotiation.encrypted();
            }
            Parsed::Chosen(bytes, session) => {
                inbox.take(bytes);
                return Ok(Some(session));
            }
            Parsed::Over(_) => return Ok(None),
        }
    }
}

/// Returns the reason for a failed read during negotiation. A timeout means that the client did not select an
/// export in time.
fn unheard(error: io::Error) -> Dropped {
    if error.kind() == io::ErrorKind::WouldBlock { Dropped::Undecided } else { Dropped::Io(error) }
}

/// State of a client that has selected an export.
struct Line<'a> {
    stream: &'a mut Stream,
    inbox: Inbox<'a>,
    shared: &'a SharedMemory,
    disk: &'a Disk,
    session: Session,
    clients: &'a Clients,
    linger: Linger<'a>,
    hold: Hold,
}

/// Type of the message at the start of the inbox.
enum Received {
    /// A complete request, and the size of its data in bytes.
    Request(Request, usize),
    /// Part of a message. The complete message has at least the given number of bytes.
    Part(usize),
    /// Disconnect request of the client.
    Farewell,
}

impl Line<'_> {
    fn find(&self) -> Result<Received, Dropped> {
        let Some(header) = self.inbox.held().first_chunk::<HEADER_BYTES>() else {
            return Ok(Received::Part(HEADER_BYTES));
        };
        let request = Request::parse(header)?;
        let BlockSizes { maximum, .. } = self.disk.export.block;
        let payload = request.payload(maximum)?;
        if request.command == Command::Disconnect {
            return Ok(Received::Farewell);
        }
        let whole = HEADER_BYTES + payload;
        Ok(if self.inbox.held().len() < whole {
            Received::Part(whole)
        } else {
            Received::Request(request, payload)
        })
    }

    /// Waits until more bytes of a message of `count` bytes arrive. Returns `false` if the client
    /// disconnects.
    fn listen(&mut self, count: usize) -> Result<bool, Dropped> {
        let Line { stream, inbox, linger, hold, .. } = self;
        let is_between = inbox.held().is_empty();
        let ended = |came| if came || is_between { Ok(came) } else { Err(Dropped::HalfOpen) };
        if let Some(came) = linger.look(|| inbox.fill_now(stream, count))? {
            return ended(came);
        }
        if hold.is_held() {
            stream.wait(SILENCE)?;
            if let Some(came) = inbox.fill_now(stream, count)? {
                linger.woken();
                return ended(came);
            }
            hold.let_go();
        }
        loop {
            match inbox.fill(stream, count) {
                Ok(came) => {
                    linger.woken();
                    return ended(came);
                }
                // Between requests, a client may be silent for any time.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && is_between => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(Dropped::Slow),
                Err(error) => return Err(Dropped::Io(error)),
            }
        }
    }

    /// Returns whether the waiting replies need not be sent, because the client has closed the connection, or
    /// has stopped sending without a disconnect request.
    fn is_abandoned(&self, said_farewell: bool) -> bool {
        let socket = self.stream.socket();
        !self.clients.are_last() && if said_farewell { socket.is_closed() } else { socket.sends_no_more() }
    }

    /// Serves requests with immediate replies. Requests that arrive together are answered together.
    fn at_once(&mut self) -> Result<(), Dropped> {
        let mut out = Vec::with_capacity(TOGETHER);
        let mut share = self.shared.share();
        let mut answers = 0;
        loop {
            match self.find()? {
                Received::Request(request, payload) => {
                    share.wait_for(out.capacity().max(out.len() + answer_bytes(&request)))?;
                    make_room(&mut out, &request)?;
                    let payload = &self.inbox.take(HEADER_BYTES + payload)[HEADER_BYTES..];
                    self.disk.serve(&self.session, (&request, payload), Early::Not, 0, &mut out);
                    answers += 1;
                    if out.len() >= TOGETHER || answers == ANSWERS_TOGETHER {
                        answers = 0;
                        self.stream.write_all(&out)?;
                        out.clear();
                        if out.capacity() > if share.is_scarce() { ALLOWED } else { KEPT_BYTES } {
                            out = Vec::with_capacity(TOGETHER);
                            share.hold(0);
                        }
                    }
                }
                Received::Part(count) => {
                    // If the next request has already arrived, its reply is sent together with waiting
                    // replies.
                    let is_short = count <= TOGETHER;
                    if answers > 0 && is_short && self.inbox.fill_now(self.stream, count)? == Some(true) {
                        continue;
                    }
                    answers = 0;
                    self.stream.write_all(&out)?;
                    out.clear();
                    if !self.listen(count)? {
                        return Ok(());
                    }
                }
                Received::Farewell => return Ok(self.stream.write_all(&out)?),
            }
        }
    }

    /// Serves requests whose replies are sent at the completion time of the device. A single thread reads
    /// requests while replies wait, and runs the device when wall-clock time reaches its next event.
    fn timed(&mut self, model: &Model) -> Result<(), Dropped> {
        self.hold = Hold::begin();
        sleep_exactly();
        let mut outbox = Outbox::new(self.shared);
        let talked = self.talk_timed(model, &mut outbox);
        outbox.leave(model);
        talked
    }

    fn talk_timed(&mut self, model: &Model, outbox: &mut Outbox<'_>) -> Result<(), Dropped> {
        let mut hungry_since = None;
        let mut turnaround = model.subtracts_way().then(Turnaround::new);
        let outages = model.outages();
        let mut is_leaving = false;
        // Replies may be due in an hour, so a stopping server does not wait for them. No reply is sent after
        // a power loss.
        while !self.clients.are_out() && model.outages() == outages {
            outbox.collect(self.disk, model, &self.session, outages)?;
            match outbox.send_due(self.stream, model, outages) {
                Ok(left) => {
                    if let (Some(turnaround), Some(left)) = (&mut turnaround, left) {
                        turnaround.answered(left);
                    }
                }
                Err(_) if model.outages() != outages => break,
                Err(error) => return Err(Dropped::Io(error)),
            }
            let found = if is_leaving || outbox.is_full() { None } else { Some(self.find()?) };
            match found {
                Some(Received::Request(request, _)) if !outbox.makes_room(2 * answer_bytes(&request)) => {
                    if self.is_abandoned(false) {
                        return Ok(());
                    }
                    match outbox.is_empty() {
                        true => outbox.rest_for_room(&mut hungry_since)?,
                        false => outbox.rest(|time| pause(time.min(CHECK_INTERVAL)))?,
                    }
                }
                Some(Received::Request(request, payload)) => {
                    hungry_since = None;
                    if let Some(turnaround) = &mut turnaround {
                        turnaround.requested(now(), request.length, model.transport());
                    }
                    let early = turnaround.as_ref().map_or(Early::Not, |of| Early::By(of.beyond()));
                    let payload = &self.inbox.take(HEADER_BYTES + payload)[HEADER_BYTES..];
                    let mut out = outbox.empty_buffer();
                    let served =
                        self.disk.serve(&self.session, (&request, payload), early, outages, &mut out);
                    outbox.put(out, served);
                }
                Some(Received::Farewell) => {
                    is_leaving = true;
                    outbox.probe(self.stream, &self.session)?;
                }
                Some(Received::Part(count)) => match self.inbox.fill_now(self.stream, count)? {
                    Some(true) => {}
                    Some(false) if !self.inbox.held().is_empty() => return Err(Dropped::HalfOpen),
                    Some(false) if self.clients.are_last() => is_leaving = true,
                    Some(false) => return Ok(()),
                    None if !outbox.is_empty() && self.is_abandoned(false) => return Ok(()),
                    None if outbox.is_empty() => {
                        is_leaving = !self.listen(count)?;
                        self.hold.again();
                    }
                    None => outbox.rest(|time| self.stream.wait(time.min(CHECK_INTERVAL)))?,
                },
                None if outbox.is_empty() || self.is_abandoned(is_leaving) => return Ok(()),
                None => outbox.rest(|time| pause(time.min(CHECK_INTERVAL)))?,
            }
        }
        Ok(())
    }
}

/// Reserves memory for the reply to `request` before the reply is written. If there is not enough memory,
/// returns an error, which disconnects only this client.
fn make_room(out: &mut Vec<u8>, request: &Request) -> io::Result<()> {
    out.try_reserve_exact(answer_bytes(request)).map_err(|_| io::ErrorKind::OutOfMemory.into())
}

#[expect(clippy::disallowed_methods, reason = "answers leave by the wall clock")]
fn now() -> Instant {
    Instant::now()
}

/// Requests precise timers for this thread. Otherwise, the kernel may wake the thread 50 us late, together
/// with other threads. If the kernel rejects the request, replies are later.
fn sleep_exactly() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

#[expect(clippy::disallowed_methods, reason = "answers leave by the wall clock")]
fn pause(time: Duration) -> io::Result<()> {
    std::thread::sleep(time);
    Ok(())
}
