//! A trace file that appears at its path only when it is complete.

use super::options::TraceOptions;
use crate::errors::{os_error, trace_error};
use nacre_files::{Existing, SharedFile};
use nacre_kernel::Request;
use nacre_workload::trace::{self, TraceError, TraceReader, TraceWriter, WriteOptions};
use pyo3::prelude::*;
use serde_json::json;
use std::path::Path;

/// A trace file to which requests are being written.
pub(super) struct Output {
    writer: Box<dyn TraceWriter>,
    file: SharedFile,
    path: String,
}

impl Output {
    pub(super) fn begin(
        py: Python<'_>,
        path: &str,
        to: &str,
        options: &TraceOptions,
        inputs: &[String],
    ) -> PyResult<Output> {
        let provenance = inputs.iter().map(|input| {
            Path::new(input).file_name().map_or(input.clone(), |name| name.to_string_lossy().into_owned())
        });
        let provenance = provenance.collect::<Vec<_>>().join(", ");
        let file = SharedFile::begin(Path::new(path), Existing::Replaced);
        let file = file.map_err(|error| os_error(path, &error))?;
        let writing = WriteOptions { strict: options.strict, provenance };
        let writer =
            trace::create(to, Box::new(file.clone()), &writing).map_err(|error| trace_error(py, error))?;
        Ok(Output { writer, file, path: path.into() })
    }

    pub(super) fn end(
        mut self,
        py: Python<'_>,
        reader: &dyn TraceReader,
        complete: bool,
    ) -> PyResult<String> {
        let tally = reader.tally();
        self.writer.name_volumes(&tally.volumes);
        let mut notes = tally.notes.clone();
        let counts = [
            (tally.bad_records, "bad records were skipped"),
            (tally.out_of_order, "requests were out of time order and were sorted"),
            (tally.held_back, "of them were too late to sort and arrive with the previous request"),
        ];
        let counted = counts.into_iter().filter(|&(count, _)| count > 0);
        notes.extend(counted.map(|(count, what)| format!("{count} {what}")));
        self.finish(py, complete, notes)
    }

    pub(super) fn finish(
        mut self,
        py: Python<'_>,
        complete: bool,
        mut notes: Vec<String>,
    ) -> PyResult<String> {
        let written = self.writer.finish().map_err(|error| trace_error(py, self.named(error)))?;
        notes.extend(written.notes());
        let bytes = if complete {
            self.file.finish().map_err(|error| os_error(&self.path, &error))?
        } else {
            notes.push("interrupted: nothing was written".into());
            0
        };
        let report = json!({
            "records": written.records, "bytes": bytes, "complete": complete, "notes": notes,
        });
        Ok(report.to_string())
    }

    pub(super) fn write(&mut self, batch: &[Request]) -> Result<(), TraceError> {
        self.writer.write(batch).map_err(|error| self.named(error))
    }

    /// Adds the path of the file to a write error.
    fn named(&self, error: TraceError) -> TraceError {
        match error {
            TraceError::Io { place, error, .. } => {
                TraceError::Io { source_name: self.path.clone(), place, error }
            }
            error => error,
        }
    }
}
