//! One client from its first byte to its last.

use crate::inbox::Inbox;
use crate::listen::Stream;
use crate::outbox::Outbox;
use crate::serving::Disk;
use nacre_nbd::{Command, Export, HEADER_BYTES, Negotiation, Progress, Request, Session, Tls, Violation};
use std::io::{self, Write};
use std::time::Duration;

/// How long a client may take over a message before an export is chosen.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the end of all connections may take before they are cut.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(5);
/// Answers are sent together up to about this many bytes.
const TOGETHER: usize = 1 << 20;

/// Why a connection ended before its client wished it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Dropped {
    #[error("{0}")]
    Violation(#[from] Violation),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("the client left in the middle of a message")]
    HalfOpen,
}

/// Talks with a client until it leaves.
pub(crate) fn talk(stream: &Stream, disks: &[Disk], exports: &[Export]) -> Result<(), Dropped> {
    stream.set_patience(Some(PATIENCE))?;
    let mut inbox = Inbox::new();
    let Some(session) = negotiate(stream, &mut inbox, exports)? else { return Ok(()) };
    stream.set_patience(None)?;
    let disk = &disks[session.export];
    if disk.model.is_timed() {
        timed(stream, &mut inbox, disk, &session)
    } else {
        at_once(stream, &mut inbox, disk, &session)
    }
}

fn negotiate(mut stream: &Stream, inbox: &mut Inbox, exports: &[Export]) -> Result<Option<Session>, Dropped> {
    let mut negotiation = Negotiation::new(exports, Tls::Off);
    let mut out = Vec::new();
    negotiation.greet(&mut out);
    loop {
        let progress = negotiation.step(inbox.held(), &mut out)?;
        match progress {
            Progress::More => {
                stream.write_all(&out)?;
                out.clear();
                let held = inbox.held().len();
                if !inbox.fill(stream, held + 1)? {
                    return if held == 0 { Ok(None) } else { Err(Dropped::HalfOpen) };
                }
            }
            Progress::Took(bytes) => {
                inbox.take(bytes);
            }
            Progress::Chosen(bytes, session) => {
                inbox.take(bytes);
                stream.write_all(&out)?;
                return Ok(Some(session));
            }
            Progress::Over(_) | Progress::StartTls(_) => {
                stream.write_all(&out)?;
                return Ok(None);
            }
        }
    }
}

/// The next request and its data; `None` where the client leaves.
fn next<'a>(
    stream: &Stream,
    inbox: &'a mut Inbox,
    disk: &Disk,
) -> Result<Option<(Request, &'a [u8])>, Dropped> {
    if !inbox.fill(stream, HEADER_BYTES)? {
        return if inbox.held().is_empty() { Ok(None) } else { Err(Dropped::HalfOpen) };
    }
    let header = inbox.held()[..HEADER_BYTES].try_into().expect("so many were asked for");
    let request = Request::parse(header)?;
    let payload = request.payload(disk.export.block.maximum)?;
    if !inbox.fill(stream, HEADER_BYTES + payload)? {
        return Err(Dropped::HalfOpen);
    }
    if request.command == Command::Disconnect {
        return Ok(None);
    }
    Ok(Some((request, &inbox.take(HEADER_BYTES + payload)[HEADER_BYTES..])))
}

/// Answers as soon as the bytes are there; requests that came together are answered together.
fn at_once(mut stream: &Stream, inbox: &mut Inbox, disk: &Disk, session: &Session) -> Result<(), Dropped> {
    let mut out = Vec::with_capacity(TOGETHER);
    let mut answered = Vec::new();
    while let Some((request, payload)) = next(stream, inbox, disk)? {
        let served = disk.serve(session, &request, payload, &mut out);
        answered.extend(served.asked);
        if inbox.held().len() < HEADER_BYTES || out.len() >= TOGETHER {
            stream.write_all(&out)?;
            out.clear();
            answered.drain(..).for_each(|(op, verdict)| disk.model.answered(op, verdict));
        }
    }
    stream.write_all(&out)?;
    Ok(())
}

/// Answers when the model says, from a thread of its own.
fn timed(stream: &Stream, inbox: &mut Inbox, disk: &Disk, session: &Session) -> Result<(), Dropped> {
    let outbox = Outbox::default();
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let sent = outbox.send(stream, &disk.model);
            if sent.is_err() {
                stream.end_reading();
            }
            sent
        });
        let received = receive(stream, inbox, disk, session, &outbox);
        outbox.close();
        let sent = sender.join().expect("the sender does not panic");
        received.and(sent.map_err(Dropped::Io))
    })
}

fn receive(
    stream: &Stream,
    inbox: &mut Inbox,
    disk: &Disk,
    session: &Session,
    outbox: &Outbox,
) -> Result<(), Dropped> {
    while let Some((request, payload)) = next(stream, inbox, disk)? {
        let mut out = Vec::new();
        let served = disk.serve(session, &request, payload, &mut out);
        let deadline = served.asked.map_or_else(now, |(_, verdict)| verdict.deadline);
        if !outbox.put(deadline, out, served.asked) {
            return Ok(());
        }
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "answers leave by the wall clock")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}
