//! Processing of a request: access to the data, submission to the device, and reply.

use crate::model::{Answer, Early, HostRequest, Latencies, Model, Payload, Ticket, TimedReply, Timing};
use crate::outage::io_error;
use crate::raw::RawDisk;
use crate::recorder::{RecordError, Recorded, Recorder};
use crate::statistics::ExportStatistics;
use crate::tally::Tally;
use crate::turnaround::Beyond;
use nacre_files::Existing;
use nacre_image::Image;
use nacre_kernel::{Op, Status, Time};
use nacre_memory::persistent_device::WRITE_MAX;
use nacre_nbd::{Command, Errno, Export, Extent, Refusal, Reply, Request, Session};
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Maximum number of bytes for the headers of a structured reply.
const HEADS_BYTES: usize = 64;
/// Maximum number of extents in one reply. The client has to request the remaining extents separately.
const EXTENTS_MAX: usize = 1024;

/// A device with its export name.
pub(crate) struct Disk {
    pub(crate) export: Export,
    pub(crate) body: Body,
    pub(crate) tally: Tally,
    pub(crate) recorder: Recorder,
}

/// Storage of the data.
pub(crate) enum Body {
    /// A modeled device.
    Device(Box<Model>),
    /// Raw bytes only.
    Raw(Box<RawDisk>),
}

/// State of the reply after [`Disk::serve`] or [`Disk::answer`] has returned.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Served {
    /// The reply is complete and is to be sent immediately.
    AtOnce,
    /// The reply is complete and is to be sent when it is due.
    Due(HostRequest, TimedReply),
    /// The device processes the request. The reply is written when the device completes it.
    Asked(Pending),
}

/// A request that the device processes, possibly in several parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    request: Request,
    /// Part of the request that was submitted last.
    asked: HostRequest,
    pub(crate) ticket: Ticket,
    /// Ticket of the first part. Its arrival is the start of the whole request.
    first: Ticket,
    early: Early,
    /// Number of bytes of a zero write that are zero once the current part is complete.
    zeroed: u64,
}

impl Pending {
    /// Returns the size of the reply in bytes, including its headers.
    pub(crate) fn answer_bytes(&self) -> usize {
        answer_bytes(&self.request)
    }

    /// Returns the number of bytes reserved for the request until its reply is written.
    pub(crate) fn held_bytes(&self) -> usize {
        held_bytes(&self.request)
    }

    /// Returns the time by which the reply precedes the completion.
    pub(crate) fn ahead(&self, model: &Model) -> Duration {
        let way = model.transport().of(self.request.length);
        match self.early {
            Early::Not => Duration::ZERO,
            Early::By(Beyond::Sooner(by)) => way + by,
            Early::By(Beyond::Later(by)) => way.saturating_sub(by),
        }
    }

    /// Returns the magic number at the start of the reply, or `None` if it depends on the result.
    pub(crate) fn head(&self, session: &Session) -> Option<[u8; 4]> {
        let mut answer = Vec::new();
        Reply::new(session, &self.request, &mut answer).failed(Refusal::medium());
        answer.first_chunk().copied()
    }
}

/// Returns the size of the reply in bytes, including its headers. An oversized request gets a short error
/// reply.
pub(crate) fn answer_bytes(request: &Request) -> usize {
    let bytes = request.length as usize;
    if request.command == Command::Read && bytes <= WRITE_MAX { bytes + HEADS_BYTES } else { 0 }
}

/// Returns the number of bytes reserved for a request until its reply is written: the data of a write, or,
/// for a read, both the data that the device returns and the reply to which this data is copied.
pub(crate) fn held_bytes(request: &Request) -> usize {
    match request.command {
        Command::Write | Command::WriteZeroes => (request.length as usize).min(WRITE_MAX),
        _ => 2 * answer_bytes(request),
    }
}

impl Disk {
    /// Serves `request` with the data `payload` for a client that connected after `outages` power losses.
    /// `early` determines the time by which replies precede completions. Appends the reply to `out` if the
    /// reply is known immediately.
    pub(crate) fn serve(
        &self,
        session: &Session,
        (request, payload): (&Request, &[u8]),
        early: Early,
        outages: u64,
        out: &mut Vec<u8>,
    ) -> Served {
        let mark = out.len();
        let served = session.check(request, &self.export).map_err(Failed::Refused).and_then(|()| match &self
            .body
        {
            Body::Raw(raw) => self.serve_raw(raw, session, request, payload, out).map(|()| Served::AtOnce),
            Body::Device(model) => {
                self.serve_device(model, session, (request, payload), (early, outages), out)
            }
        });
        served.unwrap_or_else(|failed| {
            // A partial reply is discarded, because an error requires a separate reply.
            out.truncate(mark);
            self.tally.failed(request.command);
            Reply::new(session, request, out).failed(failed.refusal());
            Served::AtOnce
        })
    }

    /// Handles a completion by the device: writes the reply to `out`, or submits the next part of the
    /// request.
    pub(crate) fn answer(
        &self,
        session: &Session,
        pending: &Pending,
        answer: &Answer,
        outages: u64,
        out: &mut Vec<u8>,
    ) -> Served {
        let Body::Device(model) = &self.body else { unreachable!("without a model nothing is waited for") };
        let Pending { request, first, early, .. } = *pending;
        let next = match &answer.failure {
            Some(failure) => Err(io_error(failure.clone())),
            None if answer.said.status == Status::Done => {
                self.next_part(model, pending, answer.said.done, outages)
            }
            None => Ok(None),
        };
        match next {
            Ok(Some(next)) => return Served::Asked(next),
            Ok(None) => {}
            Err(error) => {
                self.tally.failed(request.command);
                Reply::new(session, &request, out).failed(refusal_of(&error));
                return Served::AtOnce;
            }
        }
        let reply = Reply::new(session, &request, out);
        let bytes = answer.data.bytes().unwrap_or_default();
        if answer.said.status != Status::Done {
            self.tally.failed(request.command);
            reply.failed(Refusal::medium());
        } else {
            self.tally.served(request.command, request.length);
            match request.command {
                Command::Read => reply.data(request.offset, request.length as usize).copy_from_slice(bytes),
                _ => reply.done(),
            }
        }
        let asked = of_device(&request).unwrap_or(SAFE);
        if asked.forced && answer.said.status == Status::Done {
            model.forced(asked, first, answer.said.done);
        }
        Served::Due(asked, model.reply(first, request.length, early, answer.said))
    }

    fn serve_device(
        &self,
        model: &Model,
        session: &Session,
        (request, payload): (&Request, &[u8]),
        (early, outages): (Early, u64),
        out: &mut Vec<u8>,
    ) -> Result<Served, Failed> {
        let is_zeroing = request.command == Command::WriteZeroes;
        if is_zeroing && request.is_fast() {
            return Err(Failed::Refused(not_fast("a modeled device zeroes as slowly as it writes")));
        }
        let Some(asked) = of_device(request) else {
            let reply = Reply::new(session, request, out);
            match request.command {
                Command::BlockStatus => {
                    reply.extents(&extents(request, |at, bytes| Ok(model.written(at..at + bytes)))?);
                }
                _ => reply.done(),
            }
            self.tally.served(request.command, request.length);
            return Ok(Served::AtOnce);
        };
        let first = HostRequest { bytes: asked.bytes.min(part_of(request)), ..asked };
        let payload = match request.command {
            Command::Write => Payload::Write(payload),
            Command::WriteZeroes => Payload::Zeroes,
            _ => Payload::None,
        };
        let ticket = model.ask(first, payload, Time::ZERO, outages)?;
        self.recorder.note(asked, Some(ticket.arrived - model.transport().of(first.bytes)));
        if asked.op == Op::Flush || asked.forced {
            model.sync().inspect_err(|_| model.forget(ticket))?;
        }
        let zeroed = u64::from(first.bytes);
        Ok(Served::Asked(Pending { request: *request, asked: first, ticket, first: ticket, early, zeroed }))
    }

    /// Submits the next part of a request after the device has completed a part at `done`. Returns `None` if
    /// the request is complete.
    fn next_part(
        &self,
        model: &Model,
        pending: &Pending,
        done: Time,
        outages: u64,
    ) -> io::Result<Option<Pending>> {
        let Some((asked, payload)) = pending.next(model) else { return Ok(None) };
        let ticket = model.ask(asked, payload, done, outages)?;
        if asked.op == Op::Flush {
            model.sync().inspect_err(|_| model.forget(ticket))?;
        }
        let zeroed = pending.zeroed + u64::from(asked.bytes);
        Ok(Some(Pending { asked, ticket, zeroed, ..*pending }))
    }

    fn serve_raw(
        &self,
        raw: &RawDisk,
        session: &Session,
        request: &Request,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Failed> {
        let _held = raw.gate.read().expect("the lock is not poisoned");
        let Request { offset, length, .. } = *request;
        let (bytes, reply) = (u64::from(length), Reply::new(session, request, out));
        let range = offset..offset + bytes;
        let keeps_room = request.keeps_room();
        if request.command == Command::WriteZeroes && request.is_fast() && !raw.bytes.zeroes_fast(keeps_room)
        {
            let why = "the file system of the image zeroes as slowly as it writes";
            return Err(Failed::Refused(not_fast(why)));
        }
        raw.answered.fetch_add(1, Ordering::Relaxed);
        if let Some(asked) = host_request(request) {
            self.recorder.note(asked, None);
            let fails = match asked.op {
                Op::Read => raw.fails_reads(&range),
                Op::Write | Op::Trim => raw.fails_writes(&range),
                Op::Flush => false,
            };
            if fails {
                return Err(Failed::Refused(Refusal::medium()));
            }
        }
        match request.command {
            Command::Read => raw.bytes.read(offset, reply.data(offset, length as usize))?,
            Command::BlockStatus => {
                reply.extents(&extents(request, |at, bytes| raw.bytes.stored(at, bytes))?);
            }
            command => {
                match command {
                    Command::Write => raw.bytes.write(offset, payload)?,
                    Command::WriteZeroes => raw.bytes.zero(offset, bytes, keeps_room)?,
                    Command::Trim => raw.bytes.zero(offset, bytes, false)?,
                    _ => {}
                }
                if matches!(command, Command::Write | Command::WriteZeroes | Command::Trim) {
                    raw.overwritten(range)?;
                }
                let is_forced = command == Command::Flush || request.is_forced();
                if is_forced && !self.export.read_only {
                    raw.bytes.sync()?;
                }
                reply.done();
            }
        }
        self.tally.served(request.command, length);
        Ok(())
    }

    /// Returns the image that stores the data.
    pub(crate) fn image(&self) -> &Image {
        match &self.body {
            Body::Raw(raw) => raw.image(),
            Body::Device(model) => model.image().expect("a served device has an image"),
        }
    }

    /// Makes all data durable, and writes a checkpoint if there is space. If an error is returned, the image
    /// contains all acknowledged data, but it may not be durable.
    pub(crate) fn close(&self) -> io::Result<()> {
        match &self.body {
            _ if self.export.read_only => Ok(()),
            Body::Raw(raw) => raw.bytes.sync(),
            Body::Device(model) => model.close().or_else(|_| model.sync()),
        }
    }

    /// Returns all statistics of the device.
    pub(crate) fn statistics(&self) -> ExportStatistics {
        let (latencies, simulated, stack, unsafe_shutdowns) = match &self.body {
            Body::Raw(raw) => {
                let answered = raw.answered.load(Ordering::Relaxed);
                (Latencies { answered, ..Latencies::default() }, Time::ZERO, raw.unused.clone(), 0)
            }
            Body::Device(model) => {
                let reported = model.reported();
                (model.latencies(), reported.now, reported.stack, reported.unsafe_shutdowns)
            }
        };
        ExportStatistics {
            name: self.export.name.clone(),
            bytes: self.export.bytes,
            read_only: self.export.read_only,
            timing: self.timing(),
            requests: self.tally.counted(),
            latencies,
            simulated,
            stack,
            faults: self.faults(),
            unsafe_shutdowns,
            recording: self.recorder.status(),
        }
    }

    /// Returns the timing of replies.
    pub(crate) fn timing(&self) -> Timing {
        match &self.body {
            Body::Raw(_) => Timing::None,
            Body::Device(model) => model.timing(),
        }
    }

    /// Starts recording to the trace `path`. Returns an error if a recording is active or the file cannot be
    /// created.
    pub(crate) fn record_to(&self, path: &Path, existing: Existing) -> Result<(), RecordError> {
        let dilation = match self.timing() {
            Timing::Emulated { dilation, .. } => dilation,
            Timing::None => 1.0,
        };
        self.recorder.begin(path, existing, dilation, &format!("requests to {}", self.export.name))?;
        let active = self.faults().into_iter().filter(|fault| !fault.cleared);
        self.recorder.had_faults(active.map(|fault| (fault.number, fault.settings)));
        Ok(())
    }

    /// Stops the recording and returns its status. Returns an error if no recording is active.
    pub(crate) fn record_end(&self) -> Result<Recorded, RecordError> {
        self.recorder.end()
    }
}

impl Pending {
    /// Returns the next part of the request, or `None` if the request is complete. The next part is a range
    /// to zero, or, after all data of a forced request, the flush that makes this data durable.
    fn next(&self, model: &Model) -> Option<(HostRequest, Payload<'static>)> {
        let asked = of_device(&self.request)?;
        let left = u64::from(asked.bytes).saturating_sub(self.zeroed);
        if left > 0 && self.request.command == Command::WriteZeroes {
            let bytes = left.min(part_of(&self.request).into()) as u32;
            let offset = asked.offset + self.zeroed;
            return Some((HostRequest { offset, bytes, ..asked }, Payload::Zeroes));
        }
        let is_last = self.asked.op == Op::Flush || asked.op == Op::Read;
        (asked.forced && !is_last && model.needs_flushes()).then_some((SAFE, Payload::None))
    }
}

/// Flush that makes the data of a forced request durable.
const SAFE: HostRequest = HostRequest { op: Op::Flush, offset: 0, bytes: 0, forced: true };

/// Reason why a request gets an error reply.
enum Failed {
    Refused(Refusal),
    Io(io::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Failed {
        Failed::Io(error)
    }
}

impl Failed {
    fn refusal(self) -> Refusal {
        match self {
            Failed::Refused(refusal) => refusal,
            Failed::Io(error) => refusal_of(&error),
        }
    }
}

/// Returns the maximum number of bytes per part of `request`. Zero writes are divided into parts, because the
/// zeros that a device writes need memory.
fn part_of(request: &Request) -> u32 {
    if request.command == Command::WriteZeroes { WRITE_MAX as u32 } else { u32::MAX }
}

/// Returns the extents of a request, starting at its first byte. `look` gets an offset and a number of bytes,
/// and returns whether data is stored at the offset, and the size of the extent.
fn extents(request: &Request, look: impl Fn(u64, u64) -> io::Result<(bool, u64)>) -> io::Result<Vec<Extent>> {
    let most = if request.wants_one_extent() { 1 } else { EXTENTS_MAX };
    let end = request.offset + u64::from(request.length);
    let mut extents = Vec::new();
    let mut at = request.offset;
    while at < end && extents.len() < most {
        let (stored, bytes) = look(at, end - at)?;
        extents.push(Extent { bytes: bytes as u32, is_hole: !stored });
        at += bytes;
    }
    Ok(extents)
}

fn host_request(request: &Request) -> Option<HostRequest> {
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

/// Converts a client request to a device request, or returns `None` if the device does not process the
/// request. A zero write becomes a write, because trimmed data may keep its content.
fn of_device(request: &Request) -> Option<HostRequest> {
    let asked = host_request(request)?;
    let op = if request.command == Command::WriteZeroes { Op::Write } else { asked.op };
    Some(HostRequest { op, ..asked })
}

fn not_fast(reason: &'static str) -> Refusal {
    Refusal { error: Errno::NotSupported, reason }
}

fn refusal_of(error: &io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Refusal { error: Errno::NoSpace, reason: "the host disk is full" }
        }
        _ => Refusal { error: Errno::Io, reason: "the image cannot be read or written" },
    }
}
