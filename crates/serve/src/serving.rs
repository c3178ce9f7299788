//! One request: what the model says of it, and what it does to the bytes.

use crate::harm::Harmed;
use crate::image::Image;
use crate::model::{Asked, Model, Said, Verdict};
use crate::undo::Undo;
use nacre_kernel::{Op, Status};
use nacre_nbd::{Command, Errno, Export, Extent, Refusal, Reply, Request, Session};
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, RwLock};

/// Most extents told in one answer; a client asks again for the rest.
const EXTENTS_MAX: usize = 1024;

/// A device that is served: its bytes, its model and what fails in it.
pub(crate) struct Disk {
    pub(crate) export: Export,
    pub(crate) image: Image,
    pub(crate) model: Model,
    /// Chooses what a loss of power leaves.
    pub(crate) seed: u64,
    /// Held by every request while it is served; who needs the device for itself writes.
    pub(crate) gate: RwLock<()>,
    pub(crate) undo: Mutex<Undo>,
    pub(crate) harmed: Mutex<Harmed>,
    /// Whether anything is harmed, to be asked without the lock.
    pub(crate) is_harmed: AtomicBool,
}

/// What became of a request whose answer is written.
#[derive(Clone, Copy)]
pub(crate) struct Served {
    /// What the model was asked and said; `None` where it was not asked.
    pub(crate) asked: Option<(Op, Verdict)>,
}

impl Disk {
    /// Serves `request`, whose data is `payload`, and appends the answer to `out`.
    pub(crate) fn serve(
        &self,
        session: &Session,
        request: &Request,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Served {
        let _held = self.gate.read().expect("nobody panics with the lock");
        if let Err(refusal) = session.check(request, &self.export) {
            Reply::new(session, request, out).failed(refusal);
            return Served { asked: None };
        }
        let verdict = match self.ask(request) {
            Ok(verdict) => verdict,
            Err(error) => {
                Reply::new(session, request, out).failed(refusal_of(&error));
                return Served { asked: None };
            }
        };
        let asked = verdict.map(|(asked, verdict)| (asked.op, verdict));
        if verdict.is_some_and(|(asked, verdict)| verdict.status != Status::Done || self.fails(asked)) {
            Reply::new(session, request, out).failed(Refusal::medium());
            return Served { asked };
        }
        let mark = out.len();
        let said = verdict.map(|(_, verdict)| verdict.said);
        if let Err(error) = self.apply(session, request, said, payload, out) {
            // What was begun of the answer goes: an error is an answer of its own.
            out.truncate(mark);
            Reply::new(session, request, out).failed(refusal_of(&error));
        }
        Served { asked }
    }

    /// Asks the model. That it was asked is in the image when this returns. Errors: it cannot be written there.
    fn ask(&self, request: &Request) -> io::Result<Option<(Asked, Verdict)>> {
        let Some(asked) = asked(request) else { return Ok(None) };
        // What could not be written keeps its place: nothing more is asked before.
        self.image.catch_up()?;
        if asked.op == Op::Write && self.model.is_timed() {
            self.settle(&(asked.offset..asked.offset + u64::from(asked.bytes)));
        }
        let verdict = self.model.ask(asked, &self.image);
        if self.model.is_timed() {
            self.image.commit()?;
        }
        Ok(Some((asked, verdict)))
    }

    fn apply(
        &self,
        session: &Session,
        request: &Request,
        said: Option<Said>,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let Request { offset, length, .. } = *request;
        let (image, reply) = (&self.image, Reply::new(session, request, out));
        let bytes = u64::from(length);
        let range = offset..offset + bytes;
        match request.command {
            Command::Read => return image.read(offset, reply.data(offset, length as usize)),
            Command::BlockStatus => {
                reply.extents(&self.extents(request)?);
                return Ok(());
            }
            Command::Write => self.replace(said, range, || image.write(offset, payload))?,
            Command::WriteZeroes => {
                self.replace(said, range, || image.zero(offset, bytes, request.keeps_room()))?;
            }
            Command::Trim => self.trim(said, range)?,
            Command::Flush => self.flush(said)?,
            Command::Cache | Command::Disconnect | Command::Unknown(_) => {}
        }
        if request.is_forced() && request.command != Command::Flush {
            self.flush(said)?;
        }
        reply.done();
        Ok(())
    }

    fn extents(&self, request: &Request) -> io::Result<Vec<Extent>> {
        let most = if request.wants_one_extent() { 1 } else { EXTENTS_MAX };
        let end = request.offset + u64::from(request.length);
        let mut extents = Vec::new();
        let mut at = request.offset;
        while at < end && extents.len() < most {
            let (stored, bytes) = self.image.stored(at, end - at)?;
            extents.push(Extent { bytes: bytes as u32, is_hole: !stored });
            at += bytes;
        }
        Ok(extents)
    }
}

fn asked(request: &Request) -> Option<Asked> {
    let op = match request.command {
        Command::Read => Op::Read,
        Command::Write => Op::Write,
        Command::Trim => Op::Trim,
        Command::WriteZeroes => {
            if request.keeps_room() {
                Op::Write
            } else {
                Op::Trim
            }
        }
        Command::Flush => Op::Flush,
        Command::Cache | Command::BlockStatus | Command::Disconnect | Command::Unknown(_) => return None,
    };
    let forced = request.is_forced() && op != Op::Flush;
    Some(Asked { op, offset: request.offset, bytes: request.length, forced })
}

fn refusal_of(error: &io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Refusal { error: Errno::NoSpace, reason: "the disk under the image is full" }
        }
        _ => Refusal { error: Errno::Io, reason: "the image cannot be read or written" },
    }
}
