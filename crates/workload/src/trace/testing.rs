//! Shared code of trace tests.

use super::{Options, Source, Tally, TraceError, WriteOptions, Written, create, open};
use nacre_kernel::{Op, Request, Time};
use std::io::{BufReader, Cursor, Write};
use std::sync::{Arc, Mutex};

/// Creates a source over `bytes` that returns `buffer` bytes at a time.
pub(super) fn source(name: &str, bytes: &[u8], buffer: usize) -> Source {
    Source::new(name, Box::new(BufReader::with_capacity(buffer, Cursor::new(bytes.to_vec()))))
}

/// Reads all requests of `inputs` in irregular portions. Also returns the tally.
pub(super) fn read_several(inputs: &[&[u8]], options: &Options) -> Result<(Vec<Request>, Tally), TraceError> {
    let names = ["a.trace", "b.trace", "c.trace"];
    let sources = inputs.iter().zip(names).map(|(bytes, name)| source(name, bytes, 4096)).collect();
    let mut reader = open(sources, options)?;
    let mut requests = Vec::new();
    while reader.read(&mut requests, 1001)? > 0 {}
    Ok((requests, reader.tally().clone()))
}

/// Reads all requests of `bytes` in format `kind`.
pub(super) fn read_as(kind: &str, bytes: &[u8]) -> Result<(Vec<Request>, Tally), TraceError> {
    read_several(&[bytes], &of_kind(kind))
}

/// Returns options that only select a format.
pub(super) fn of_kind(kind: &str) -> Options {
    Options { format: Some(kind.into()), ..Options::default() }
}

/// Returns options that select a format and make bad records fatal.
pub(super) fn strictly(kind: &str) -> Options {
    Options { strict: true, ..of_kind(kind) }
}

/// Returns a request that arrives at `ps` picoseconds.
pub(super) fn request(ps: u64, op: Op, volume: u32, address: u64, bytes: u32) -> Request {
    Request { arrival: Time::from_ps(ps), address, bytes, volume, op }
}

/// Returns the output of a writer of `kind` for `requests`.
pub(super) fn written(
    kind: &str,
    requests: &[Request],
    options: &WriteOptions,
) -> Result<(Vec<u8>, Written), TraceError> {
    let store = Store::default();
    let mut writer = create(kind, Box::new(store.clone()), options)?;
    for batch in requests.chunks(777) {
        writer.write(batch)?;
    }
    let written = writer.finish()?;
    Ok((store.bytes(), written))
}

/// A file in memory that outlives its writer.
#[derive(Clone, Default)]
pub(super) struct Store(Arc<Mutex<Vec<u8>>>);

impl Store {
    /// Returns the written bytes.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Store {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Reads the published trace `name` in the folder that the environment variable `NACRE_SAMPLES` names.
/// Tests that use published traces are ignored by default.
#[expect(clippy::disallowed_methods, reason = "the samples are not part of the project")]
pub(super) fn sample(name: &str) -> Vec<u8> {
    let folder = std::env::var_os("NACRE_SAMPLES").expect("NACRE_SAMPLES names the folder of the samples");
    let path = std::path::Path::new(&folder).join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
