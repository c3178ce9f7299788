use super::{BATCH, RecordError, Recorder, Recording};
use crate::model::HostRequest;
use nacre_files::{Existing, ShareRead, SharedFile, open as open_file};
use nacre_kernel::{Op, Request, Time};
use nacre_workload::trace::{Options, Source, TraceError, TraceWriter, Written, open};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Temporary folder of a test, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("nacre-recorder-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn requests(path: &Path) -> Vec<Request> {
    let source = Source::new("t.nacre", open_file(path, &ShareRead::default()).unwrap());
    let mut reader = open(vec![source], &Options::default()).unwrap();
    let mut found = Vec::new();
    while reader.read(&mut found, 1000).unwrap() > 0 {}
    assert_eq!(reader.tally().bad_records, 0);
    found
}

fn host_request(op: Op, offset: u64, bytes: u32) -> HostRequest {
    HostRequest { op, offset, bytes, forced: false }
}

/// Returns the instant that is `time` later than `from`.
fn after(from: Instant, time: Duration) -> Option<Instant> {
    Some(from + time)
}

/// Returns the time at which the current recording started.
fn start(recorder: &Recorder) -> Instant {
    recorder.state().under_way.as_ref().expect("it has begun").from
}

#[test]
fn what_clients_ask_for_is_in_the_trace_in_time_of_the_device() {
    let folder = Folder::new();
    let path = folder.0.join("io.nacre");
    let recorder = Recorder::default();
    recorder.note(host_request(Op::Read, 0, 512), None);
    recorder.begin(&path, Existing::Kept, 20.0, "requests to ssd").unwrap();
    let from = start(&recorder);
    recorder.note(host_request(Op::Read, 4096, 8192), after(from, Duration::from_millis(40)));
    let forced = HostRequest { op: Op::Write, offset: 1 << 40, bytes: 512, forced: true };
    recorder.note(forced, after(from, Duration::from_millis(60)));
    recorder.note(host_request(Op::Trim, 0, 1 << 30), after(from, Duration::from_millis(80)));
    let status = recorder.status().unwrap();
    assert_eq!((status.requests, status.is_under_way, status.bytes), (4, true, None));
    let ended = recorder.end().unwrap();
    assert_eq!((ended.requests, ended.is_under_way, &ended.error), (4, false, &None));
    assert_eq!(ended.bytes, Some(std::fs::metadata(&path).unwrap().len()));
    assert_eq!(recorder.status(), Some(ended));
    let request = |arrival, op, address, bytes| Request { arrival, address, bytes, volume: 0, op };
    let expected = [
        request(Time::ZERO, Op::Read, 4096, 8192),
        request(Time::from_ms(1), Op::Write, 1 << 40, 512),
        request(Time::from_ms(1), Op::Flush, 0, 0),
        request(Time::from_ms(2), Op::Trim, 0, 1 << 30),
    ];
    // A reader reports times relative to the first request.
    assert_eq!(requests(&path), expected);
}

#[test]
fn requests_that_come_out_of_order_are_put_into_it() {
    let folder = Folder::new();
    let path = folder.0.join("io.nacre");
    let recorder = Recorder::default();
    recorder.begin(&path, Existing::Kept, 1.0, "").unwrap();
    let from = start(&recorder);
    let count = 5 * BATCH as u64 + 17;
    // Each group of 64 requests arrives in reverse order, which is the worst order that threads can cause.
    for number in 0..count {
        let place = (number / 64 * 64 + 63 - number % 64).min(count - 1);
        recorder.note(host_request(Op::Write, place * 512, 512), after(from, Duration::from_micros(place)));
    }
    assert_eq!(recorder.end().unwrap().requests, count);
    let found = requests(&path);
    assert_eq!(found.len() as u64, count);
    assert!(found.is_sorted_by_key(|request| request.address), "in the order of arrival");
}

#[test]
fn a_trace_appears_when_it_is_whole_and_never_before() {
    let folder = Folder::new();
    let path = folder.0.join("io.nacre");
    let recorder = Recorder::default();
    recorder.begin(&path, Existing::Kept, 1.0, "").unwrap();
    recorder.note(host_request(Op::Read, 0, 512), None);
    assert!(!path.exists());
    let other = recorder.begin(&folder.0.join("other.nacre"), Existing::Kept, 1.0, "");
    assert!(matches!(other, Err(RecordError::UnderWay(into)) if into == path));
    // The writer ends before the recording.
    let writer = recorder.state().under_way.take().map(|Recording { writer, .. }| writer);
    let left = writer.unwrap().join().unwrap();
    assert_eq!(left, Err("it was given up".into()));
    assert_eq!(folder.names(), Vec::<String>::new(), "nothing is left behind");
}

#[test]
fn what_cannot_be_begun_or_ended_is_said() {
    let folder = Folder::new();
    let recorder = Recorder::default();
    assert!(matches!(recorder.end(), Err(RecordError::NotRecording)));
    let nowhere = folder.0.join("no/such/io.nacre");
    let refused = recorder.begin(&nowhere, Existing::Kept, 1.0, "").unwrap_err().to_string();
    assert!(refused.contains("no/such/io.nacre: "), "{refused}");
    assert_eq!(recorder.status(), None);
}

/// A file on a full disk, to which every write fails.
struct Full;

impl TraceWriter for Full {
    fn write(&mut self, _: &[Request]) -> Result<(), TraceError> {
        let full = std::io::ErrorKind::StorageFull.into();
        let place = nacre_workload::trace::Location::Byte(0);
        Err(TraceError::Io { source_name: "io.nacre".into(), place, error: full })
    }

    fn finish(&mut self) -> Result<Written, TraceError> {
        panic!("what failed is not finished")
    }
}

#[test]
fn a_recording_whose_name_was_taken_is_kept_under_another() {
    let folder = Folder::new();
    let path = folder.0.join("io.nacre");
    let recorder = Recorder::default();
    recorder.begin(&path, Existing::Kept, 1.0, "a test").unwrap();
    recorder.note(host_request(Op::Read, 0, 512), None);
    std::os::unix::fs::symlink("meanwhile", &path).unwrap();
    let status = recorder.end().unwrap();
    let other = folder.0.join("io-2.nacre");
    assert!(status.error.as_ref().is_some_and(|why| why.contains(&*other.to_string_lossy())), "{status:?}");
    assert_eq!(path.read_link().unwrap().as_os_str(), "meanwhile");
    assert_eq!(requests(&other).len(), 1);
}

#[test]
fn a_full_disk_ends_the_recording_and_nothing_else() {
    let folder = Folder::new();
    let path = folder.0.join("io.nacre");
    let recorder = Recorder::default();
    let file = SharedFile::begin(&path, Existing::Kept).unwrap();
    recorder.begin_with(Recording::begin(&path, 1.0, file, Box::new(Full)).unwrap()).unwrap();
    // Clients never wait, and requests do not accumulate in memory, however long this continues.
    while recorder.status().is_some_and(|status| status.is_under_way) {
        recorder.note(host_request(Op::Read, 0, 512), None);
    }
    let status = recorder.status().unwrap();
    assert!(status.error.as_ref().is_some_and(|why| why.contains("no storage space")), "{status:?}");
    assert_eq!(status.bytes, None);
    recorder.note(host_request(Op::Read, 0, 512), None);
    assert!(matches!(recorder.end(), Err(RecordError::NotRecording)));
    assert_eq!(folder.names(), Vec::<String>::new());
}
