//! One request: what the model says of it, and what it does to the bytes.

use crate::image::Image;
use crate::model::{Asked, Model, Verdict};
use nacre_kernel::{Op, Status};
use nacre_nbd::{Command, Errno, Export, Extent, Refusal, Reply, Request, Session};
use std::io;

/// Most extents told in one answer; a client asks again for the rest.
const EXTENTS_MAX: usize = 1024;

/// A device that is served: its bytes and its model.
pub(crate) struct Disk {
    pub(crate) export: Export,
    pub(crate) image: Image,
    pub(crate) model: Model,
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
        if let Err(refusal) = session.check(request, &self.export) {
            Reply::new(session, request, out).failed(refusal);
            return Served { asked: None };
        }
        let asked = asked(request).and_then(|asked| Some((asked.op, self.model.ask(asked)?)));
        if asked.is_some_and(|(_, verdict)| verdict.status != Status::Done) {
            Reply::new(session, request, out).failed(Refusal::medium());
            return Served { asked };
        }
        let mark = out.len();
        if let Err(error) = self.apply(session, request, payload, out) {
            // What was begun of the answer goes: an error is an answer of its own.
            out.truncate(mark);
            Reply::new(session, request, out).failed(refusal_of(&error));
        }
        Served { asked }
    }

    fn apply(
        &self,
        session: &Session,
        request: &Request,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let Request { offset, length, .. } = *request;
        let (image, reply) = (&self.image, Reply::new(session, request, out));
        match request.command {
            Command::Read => return image.read(offset, reply.data(offset, length as usize)),
            Command::BlockStatus => {
                reply.extents(&self.extents(request)?);
                return Ok(());
            }
            Command::Write => image.write(offset, payload)?,
            Command::WriteZeroes => image.zero(offset, u64::from(length), request.keeps_room())?,
            Command::Trim => image.zero(offset, u64::from(length), false)?,
            Command::Flush => image.sync()?,
            Command::Cache | Command::Disconnect | Command::Unknown(_) => {}
        }
        if request.is_forced() && request.command != Command::Flush {
            image.sync()?;
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
