//! Recording of requests to a trace.
//!
//! The thread of a client only appends requests to a list. Full batches are sorted, and a separate thread
//! writes them. The trace appears at its path when the recording ends. A failed recording leaves no file and
//! reports the reason, and clients are not affected.

use crate::model::HostRequest;
use crate::threads::afford;
use nacre_files::{Existing, SharedFile};
use nacre_kernel::{ErrorCode, ErrorData, Op, Request, Time, error_code};
use nacre_workload::trace::{TraceError, TraceWriter, WriteOptions, create};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, MutexGuard};
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

#[cfg(test)]
mod tests;

/// Number of requests that are sorted and written together. Threads may append requests out of arrival order,
/// so each batch is sorted.
const BATCH: usize = 4096;
/// Maximum number of batches that wait for the disk. These batches take up to 8 MiB.
const WAITING_MAX: usize = 64;

/// Recorder of an export. It exists whether or not a recording is active.
#[derive(Default)]
pub(crate) struct Recorder {
    /// Whether a recording is active. While no recording is active, clients check only this flag.
    is_on: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    under_way: Option<Recording>,
    last: Option<Recorded>,
}

/// Status of the current recording, or of the last one.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Recorded {
    /// Path of the trace.
    pub path: PathBuf,
    /// Whether the recording is still active.
    pub is_under_way: bool,
    /// Number of requests recorded so far.
    pub requests: u64,
    /// Size of the trace in bytes, or `None` until the trace is complete.
    pub bytes: Option<u64>,
    /// Reason for the failure if the recording failed. In this case, there is no trace.
    pub error: Option<String>,
    /// Faults that were present at the start of the recording, followed by faults that were added or cleared
    /// during the recording.
    pub faults: Vec<RecordedFault>,
}

/// A fault that was present at the start of a recording, or that was added or cleared during the recording.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RecordedFault {
    /// Time in seconds, relative to the start of the trace.
    pub at_s: f64,
    /// Number of the fault.
    pub number: usize,
    /// Settings of a fault that was added; `None` if the fault was cleared.
    pub settings: Option<String>,
}

/// Reason why a recording cannot be started or stopped.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A recording is already in progress.
    #[error("a recording into {} is under way; end it first", .0.display())]
    UnderWay(PathBuf),
    /// No recording is in progress.
    #[error("nothing is being recorded")]
    NotRecording,
    /// The file exists and must not be replaced.
    #[error("{}: the file already exists; name another one, or replace it with --force", .0.display())]
    Exists(PathBuf),
    /// The file is an image that is being served.
    #[error("{}: it is an image that is being served; name another file", .0.display())]
    Image(PathBuf),
    /// The file cannot be written.
    #[error("{}: {problem}", .path.display())]
    System {
        /// Path of the trace.
        path: PathBuf,
        /// Error code.
        code: ErrorCode,
        /// Machine-readable data.
        data: ErrorData,
        /// Message of the system.
        problem: String,
    },
}

impl RecordError {
    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            RecordError::UnderWay(_) | RecordError::Image(_) => ErrorCode::InUse,
            RecordError::NotRecording => ErrorCode::NoData,
            RecordError::Exists(_) => ErrorCode::FileExists,
            RecordError::System { code, .. } => *code,
        }
    }

    /// Returns the machine-readable data of the error.
    pub fn data(&self) -> ErrorData {
        match self {
            RecordError::System { data, .. } => data.clone(),
            _ => ErrorData::new(),
        }
    }
}

struct Recording {
    path: PathBuf,
    from: Instant,
    dilation: f64,
    gathered: Vec<Request>,
    requests: u64,
    to_writer: SyncSender<Message>,
    writer: JoinHandle<Result<u64, String>>,
    /// Whether the writer thread has ended. Joining the thread returns the reason.
    is_writer_gone: bool,
    faults: Vec<RecordedFault>,
}

enum Message {
    Batch(Vec<Request>),
    /// The last requests of a recording, which is then complete. Without this message, the trace does not
    /// appear at its path.
    Finish(Vec<Request>),
}

impl Recorder {
    /// Starts recording to the trace `path`. Arrival times are device times, i.e. wall-clock time divided by
    /// `dilation`. Returns an error if a recording is active or the file cannot be created.
    pub(crate) fn begin(
        &self,
        path: &Path,
        existing: Existing,
        dilation: f64,
        provenance: &str,
    ) -> Result<(), RecordError> {
        if let Some(recording) = &self.state().under_way {
            return Err(RecordError::UnderWay(recording.path.clone()));
        }
        let refused = |code, data, problem| RecordError::System { path: path.into(), code, data, problem };
        let file = SharedFile::begin(path, existing).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => RecordError::Exists(path.into()),
            _ => refused(ErrorCode::of_io(&error), error_code::errno(&error), error.to_string()),
        })?;
        let options = WriteOptions { strict: true, provenance: provenance.into() };
        let writer = create("nacre", Box::new(file.clone()), &options);
        let writer = writer.map_err(|error| refused(error.code(), error.data(), description(error)))?;
        let begun = Recording::begin(path, dilation, file, writer);
        self.begin_with(begun.map_err(|error| {
            refused(ErrorCode::OutOfThreads, error_code::errno(&error), error.to_string())
        })?)
    }

    fn begin_with(&self, recording: Recording) -> Result<(), RecordError> {
        let mut state = self.state();
        if let Some(other) = &state.under_way {
            return Err(RecordError::UnderWay(other.path.clone()));
        }
        *state = State { under_way: Some(recording), last: None };
        self.is_on.store(true, Ordering::Release);
        Ok(())
    }

    /// Records a request that was submitted at `arrived`. `None` means the current time, because no clock was
    /// read.
    #[inline]
    pub(crate) fn note(&self, asked: HostRequest, arrived: Option<Instant>) {
        if self.is_on.load(Ordering::Relaxed) {
            self.add(asked, arrived.unwrap_or_else(now));
        }
    }

    /// Records the faults that were present at the start of the recording.
    pub(crate) fn had_faults(&self, faults: impl Iterator<Item = (usize, String)>) {
        if let Some(recording) = &mut self.state().under_way {
            let before = faults.map(|(number, settings)| RecordedFault {
                at_s: 0.0,
                number,
                settings: Some(settings),
            });
            recording.faults.splice(..0, before);
        }
    }

    /// Records that fault `number` was added with `settings`, or that it was cleared if `settings` is `None`.
    pub(crate) fn note_fault(&self, number: usize, settings: Option<&str>) {
        if let Some(recording) = &mut self.state().under_way {
            let at_s = recording.elapsed(now());
            let settings = settings.map(str::to_string);
            recording.faults.push(RecordedFault { at_s, number, settings });
        }
    }

    fn add(&self, asked: HostRequest, arrived: Instant) {
        let mut state = self.state();
        let Some(recording) = &mut state.under_way else { return };
        if !recording.add(asked, arrived) {
            self.give_up(&mut state);
        }
    }

    /// Gives up a recording that has failed, without waiting for the disk.
    fn give_up(&self, state: &mut State) {
        self.is_on.store(false, Ordering::Release);
        state.last = state.under_way.take().map(Recording::give_up);
    }

    /// Stops the recording. Returns its status: either the trace is complete at its path, or the status
    /// contains the reason for the failure. Returns an error if no recording is active.
    pub(crate) fn end(&self) -> Result<Recorded, RecordError> {
        self.is_on.store(false, Ordering::Release);
        // The lock is released before the wait for the disk, so that clients can continue.
        let recording = self.state().under_way.take().ok_or(RecordError::NotRecording)?;
        let ended = recording.end();
        self.state().last = Some(ended.clone());
        Ok(ended)
    }

    /// Returns the status of the current or last recording, or `None` if there was no recording.
    pub(crate) fn status(&self) -> Option<Recorded> {
        let mut state = self.state();
        if state.under_way.as_ref().is_some_and(|recording| recording.writer.is_finished()) {
            self.give_up(&mut state);
        }
        let going = state.under_way.as_ref().map(|recording| Recorded {
            path: recording.path.clone(),
            is_under_way: true,
            requests: recording.requests,
            faults: recording.faults.clone(),
            ..Recorded::default()
        });
        going.or_else(|| state.last.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("the lock is not poisoned")
    }
}

impl Recording {
    /// Starts the recording and its writer thread. Returns an error if the system cannot create the thread.
    #[expect(clippy::disallowed_methods, reason = "a slow disk is waited for elsewhere")]
    fn begin(
        path: &Path,
        dilation: f64,
        file: SharedFile,
        writer: Box<dyn TraceWriter>,
    ) -> io::Result<Recording> {
        let (to_writer, batches) = sync_channel(WAITING_MAX);
        // Only the thread of the recording waits for a slow disk.
        let begun = afford().and_then(|()| Builder::new().spawn(move || write(&batches, &file, writer)));
        Ok(Recording {
            path: path.into(),
            from: now(),
            dilation,
            gathered: Vec::with_capacity(2 * BATCH),
            requests: 0,
            to_writer,
            writer: begun?,
            is_writer_gone: false,
            faults: Vec::new(),
        })
    }

    /// Returns the device time since the start of the recording, in seconds.
    fn elapsed(&self, at: Instant) -> f64 {
        at.saturating_duration_since(self.from).as_secs_f64() / self.dilation
    }

    /// Adds a request. Returns `false` if the writer has ended, or if the queue is full because the writer is
    /// too slow.
    fn add(&mut self, asked: HostRequest, arrived: Instant) -> bool {
        let arrival = Time::from_secs_f64(self.elapsed(arrived));
        let HostRequest { op, offset, bytes, forced } = asked;
        self.gathered.push(Request { arrival, address: offset, bytes, volume: 0, op });
        self.requests += 1;
        if forced {
            self.gathered.push(Request { arrival, address: 0, bytes: 0, volume: 0, op: Op::Flush });
            self.requests += 1;
        }
        if self.gathered.len() < 2 * BATCH {
            return true;
        }
        self.gathered.sort_by_key(|request| request.arrival);
        let batch = self.gathered.drain(..BATCH).collect();
        match self.to_writer.try_send(Message::Batch(batch)) {
            Ok(()) => true,
            Err(refused) => {
                self.is_writer_gone = matches!(refused, TrySendError::Disconnected(_));
                false
            }
        }
    }

    fn end(mut self) -> Recorded {
        self.gathered.sort_by_key(|request| request.arrival);
        // If the writer has ended, joining it returns the reason.
        let _ = self.to_writer.send(Message::Finish(std::mem::take(&mut self.gathered)));
        self.joined()
    }

    fn give_up(self) -> Recorded {
        if self.is_writer_gone || self.writer.is_finished() {
            return self.joined();
        }
        // Without a final message, the writer leaves no file behind.
        let error = Some("the disk is too slow for the requests".into());
        let Recording { path, requests, faults, .. } = self;
        Recorded { path, is_under_way: false, requests, bytes: None, error, faults }
    }

    fn joined(self) -> Recorded {
        let Recording { path, requests, writer, faults, .. } = self;
        let ended = writer.join().expect("the writer does not panic");
        let (bytes, error) = (ended.as_ref().ok().copied(), ended.err());
        Recorded { path, is_under_way: false, requests, bytes, error, faults }
    }
}

/// Writes incoming requests to the trace. Returns the size of the trace in bytes, or the reason why
/// there is no trace.
fn write(
    batches: &Receiver<Message>,
    file: &SharedFile,
    mut writer: Box<dyn TraceWriter>,
) -> Result<u64, String> {
    let mut latest = Time::ZERO;
    for message in batches {
        let (mut batch, is_last) = match message {
            Message::Batch(batch) => (batch, false),
            Message::Finish(batch) => (batch, true),
        };
        for request in &mut batch {
            // A request that is late by more than a batch gets the arrival time of the previous request.
            latest = latest.max(request.arrival);
            request.arrival = latest;
        }
        writer.write(&batch).map_err(description)?;
        if is_last {
            writer.finish().map_err(description)?;
            return file.finish().map_err(|error| error.to_string());
        }
    }
    Err("it was given up".into())
}

#[expect(clippy::disallowed_methods, reason = "requests arrive in wall time")]
fn now() -> Instant {
    Instant::now()
}

/// Returns the message of `error`, without the path of the trace.
fn description(error: TraceError) -> String {
    match error {
        TraceError::Io { error, .. } => error.to_string(),
        error => error.to_string(),
    }
}
