//! Speed of trace readers: records per second from files in memory.

use crate::Result;
use crate::report::{Report, best_of};
use crate::streams::{STREAMS, requests};
use nacre_kernel::Request;
use nacre_workload::trace::{self, Options, Source, WriteOptions};
use std::io::{BufRead, Cursor, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Trace formats with their speed budgets in millions of records per second.
const FORMATS: [(&str, f64); 6] =
    [("nacre", 20.0), ("vscsi", 20.0), ("msr", 3.0), ("spc", 3.0), ("ssdsim", 3.0), ("nacre_csv", 3.0)];
/// Number of records per file.
const RECORDS: usize = 2_000_000;
/// Number of records per batch.
const BATCH: usize = 8192;

/// Measures every format that Nacre can write.
pub(crate) fn measure(report: &Report) -> Result<()> {
    let mut requests = requests(&STREAMS[0].scenario(RECORDS as u64), RECORDS as u64);
    requests.truncate(RECORDS);
    for (kind, budget) in FORMATS {
        let file = written(kind, &requests)?;
        let seconds = best_of(|| {
            read(kind, Box::new(Cursor::new(file.clone())), |_| {}).expect("a file we wrote");
        });
        let name = format!("read {kind}, {:.1} B a record", file.len() as f64 / RECORDS as f64);
        report.line(&name, RECORDS as u64, seconds, Some(budget), &[]);
    }
    Ok(())
}

/// Reads a whole file in format `kind` in batches.
pub(crate) fn read(
    kind: &str,
    file: Box<dyn BufRead + Send>,
    mut some: impl FnMut(&[Request]),
) -> Result<()> {
    let mut reader = trace::open(vec![Source::new(kind, file)], &Options::default())?;
    let mut batch = Vec::with_capacity(BATCH);
    while reader.read(&mut batch, BATCH)? > 0 {
        some(&batch);
        batch.clear();
    }
    Ok(())
}

/// Writes the requests in Nacre's trace format.
pub(crate) fn write(path: &Path, requests: &[Request]) -> Result<()> {
    std::fs::write(path, written("nacre", requests)?)?;
    Ok(())
}

/// Returns the requests as the content of a file in format `kind`.
pub(crate) fn written(kind: &str, requests: &[Request]) -> Result<Vec<u8>> {
    let bytes = Shared::default();
    let options = WriteOptions { strict: false, provenance: "benchmark".into() };
    let mut writer = trace::create(kind, Box::new(bytes.clone()), &options)?;
    writer.write(requests)?;
    writer.finish()?;
    drop(writer);
    Ok(std::mem::take(&mut *bytes.0.lock().expect("the lock is not poisoned")))
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("the lock is not poisoned").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
