//! One request: what the model says of it, and what it does to the bytes.

use crate::harm::Harmed;
use crate::image::Image;
use crate::model::{HostRequest, Model, Outcome, TimedReply, Timing};
use crate::recorder::{RecordError, Recorded, Recorder};
use crate::statistics::ExportStatistics;
use crate::tally::Tally;
use crate::undo::Undo;
use nacre_files::Existing;
use nacre_kernel::{Op, Status};
use nacre_nbd::{Command, Errno, Export, Extent, Refusal, Reply, Request, Session};
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, RwLock};

/// Most extents told in one answer; a client asks again for the rest.
const EXTENTS_MAX: usize = 1024;

/// A device that is served: its bytes, its model and what fails in it.
pub(crate) struct Disk {
    pub(crate) export: Export,
    pub(crate) image: Image,
    pub(crate) model: Model,
    pub(crate) tally: Tally,
    pub(crate) recorder: Recorder,
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
    pub(crate) asked: Option<(Op, TimedReply)>,
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
            self.tally.failed(request.command);
            Reply::new(session, request, out).failed(refusal);
            return Served { asked: None };
        }
        let is_zeroing = request.command == Command::WriteZeroes && request.is_fast();
        if is_zeroing && !self.image.zeroes_fast(request.keeps_room()) {
            let reason = "the file system of the image zeroes no faster than it writes";
            self.tally.failed(request.command);
            Reply::new(session, request, out).failed(Refusal { error: Errno::NotSupported, reason });
            return Served { asked: None };
        }
        let asked = asked(request);
        let reply = match asked.map(|asked| self.ask(asked)).transpose() {
            Ok(reply) => reply.flatten(),
            Err(error) => {
                self.tally.failed(request.command);
                Reply::new(session, request, out).failed(refusal_of(&error));
                return Served { asked: None };
            }
        };
        let said = reply.map(|reply| reply.said);
        let is_done = reply.is_none_or(|reply| reply.status == Status::Done);
        let served = Served { asked: asked.map(|asked| asked.op).zip(reply) };
        if !is_done || asked.is_some_and(|asked| self.fails(asked)) {
            self.tally.failed(request.command);
            Reply::new(session, request, out).failed(Refusal::medium());
            return served;
        }
        let mark = out.len();
        if let Err(error) = self.apply(session, request, said, payload, out) {
            // What was begun of the answer goes: an error is an answer of its own.
            out.truncate(mark);
            self.tally.failed(request.command);
            Reply::new(session, request, out).failed(refusal_of(&error));
        } else {
            self.tally.served(request.command, request.length);
        }
        served
    }

    /// Asks the model, where it is to be asked. That it was asked is in the image when this returns. Errors: it
    /// cannot be written there.
    fn ask(&self, asked: HostRequest) -> io::Result<Option<TimedReply>> {
        // What could not be written keeps its place: nothing more is asked before.
        self.image.catch_up()?;
        if asked.op == Op::Write && self.model.is_timed() {
            self.settle(&(asked.offset..asked.offset + u64::from(asked.bytes)));
        }
        let reply = self.model.ask(asked, &self.image);
        if reply.is_some() {
            self.image.commit()?;
        }
        self.recorder.note(asked, reply.map(|reply| reply.sent));
        Ok(reply)
    }

    /// Everything that is known of it.
    pub(crate) fn statistics(&self) -> ExportStatistics {
        let reported = self.model.reported();
        ExportStatistics {
            name: self.export.name.clone(),
            bytes: self.export.bytes,
            read_only: self.export.read_only,
            timing: self.model.timing(),
            requests: self.tally.counted(),
            latencies: self.model.latencies(),
            simulated: reported.now,
            stack: reported.stack,
            recording: self.recorder.told(),
        }
    }

    /// Requests from now on go into the trace `path`. Errors: others do already, or the file cannot be begun.
    pub(crate) fn record_to(&self, path: &Path, existing: Existing) -> Result<(), RecordError> {
        let dilation = match self.model.timing() {
            Timing::Emulated { dilation } => dilation,
            Timing::None => 1.0,
        };
        self.recorder.begin(path, existing, dilation, &format!("requests to {}", self.export.name))
    }

    /// The recording ends; what became of it. Errors: there is none.
    pub(crate) fn record_end(&self) -> Result<Recorded, RecordError> {
        self.recorder.end()
    }

    fn apply(
        &self,
        session: &Session,
        request: &Request,
        said: Option<Outcome>,
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

fn asked(request: &Request) -> Option<HostRequest> {
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
    Some(HostRequest { op, offset: request.offset, bytes: request.length, forced })
}

fn refusal_of(error: &io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Refusal { error: Errno::NoSpace, reason: "the disk under the image is full" }
        }
        _ => Refusal { error: Errno::Io, reason: "the image cannot be read or written" },
    }
}
