//! A simulated memory that Python programs use.

use crate::bugs::detached;
use crate::errors::{config_error, error, failed, memory_error};
use crate::run::state_of_run;
use crate::source::{Settings, Source};
use nacre_kernel::{ErrorCode, ErrorData, Time, ZoneCommand};
use nacre_memory::MemoryError;
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

/// Implementation of `nacre.devices.Memory`. A mutex serializes access from several threads.
#[pyclass(frozen, module = "nacre._core")]
pub(crate) struct Memory {
    /// The memory, or `None` when it is closed.
    held: Mutex<Option<nacre_memory::Memory>>,
    capacity: u64,
    word_bytes: u64,
}

/// Reason why an operation on a memory failed.
enum Failure {
    Memory(MemoryError),
    Closed,
    /// An assertion of Nacre failed earlier.
    Broken,
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Failure {
        Failure::Memory(error)
    }
}

#[pymethods]
impl Memory {
    /// Opens the stack of a scenario as a memory. The optional `image` is the path of an image file. If the
    /// file `start` is given, the memory starts from the run state that was saved in this file.
    #[staticmethod]
    #[pyo3(signature = (source, overrides, image, start=None, checksums=true))]
    fn open(
        py: Python<'_>,
        source: Source,
        overrides: Settings,
        image: Option<PathBuf>,
        start: Option<PathBuf>,
        checksums: bool,
    ) -> PyResult<Memory> {
        let checked = nacre_memory::check(&source.document(&overrides, None))
            .map_err(|problems| config_error(py, &problems))?;
        let files = source.files(py)?;
        let state = start.as_deref().map(|path| state_of_run(py, path)).transpose()?;
        let opened = detached(py, || match (image, state) {
            (path, Some(state)) => {
                let image = path.as_deref().map(|path| (path, checksums));
                nacre_memory::Memory::open_from(&checked, &files, image, &state)
            }
            (Some(path), None) => nacre_memory::Memory::open_image(&checked, &files, &path, checksums),
            (None, None) => nacre_memory::Memory::open(&checked, &files),
        })?;
        let memory = opened.map_err(|error| memory_error(py, &error))?;
        let (capacity, word_bytes) = (memory.capacity(), memory.word_bytes());
        Ok(Memory { held: Mutex::new(Some(memory)), capacity, word_bytes })
    }

    #[getter]
    fn capacity(&self) -> u64 {
        self.capacity
    }

    #[getter]
    fn word_bytes(&self) -> u64 {
        self.word_bytes
    }

    fn read<'py>(
        &self,
        py: Python<'py>,
        address: &Bound<'py, PyAny>,
        size: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (from, bytes) = (self.number(address, address, size)?, self.number(size, address, size)?);
        let read = self.with(py, |memory| memory.read(from, bytes))?;
        Ok(PyBytes::new(py, &read))
    }

    fn write(&self, address: &Bound<'_, PyAny>, data: &Bound<'_, PyBytes>) -> PyResult<()> {
        let (py, bytes) = (address.py(), data.as_bytes());
        let size = bytes.len().into_pyobject(py)?;
        let to = self.number(address, address, &size)?;
        self.with(py, |memory| memory.write(to, bytes))
    }

    /// Returns the first byte, the end, the write pointer, and the state of the zone that contains `address`.
    fn zone(&self, address: &Bound<'_, PyAny>) -> PyResult<(u64, u64, u64, &'static str)> {
        let at = self.zone_address(address)?;
        let zone = self.with(address.py(), |memory| memory.zone(at))?;
        Ok((zone.start, zone.end, zone.write_pointer, zone.state.name()))
    }

    fn append(&self, address: &Bound<'_, PyAny>, data: &Bound<'_, PyBytes>) -> PyResult<u64> {
        let (at, bytes) = (self.zone_address(address)?, data.as_bytes());
        self.with(address.py(), |memory| memory.append(at, bytes))
    }

    fn zone_command(&self, command: &str, address: &Bound<'_, PyAny>) -> PyResult<()> {
        let at = self.zone_address(address)?;
        let Some(command) = ZoneCommand::named(command).filter(|&known| known != ZoneCommand::Append) else {
            return Err(PyValueError::new_err(format!("{command:?} is not a zone command")));
        };
        self.with(address.py(), |memory| memory.zone_command(command, at))
    }

    fn idle(&self, py: Python<'_>, seconds: f64) -> PyResult<()> {
        if seconds.is_nan() || seconds < 0.0 {
            return Err(PyValueError::new_err(format!("idle time cannot be negative; given {seconds}")));
        }
        self.with(py, |memory| memory.idle(Time::from_secs_f64(seconds)))
    }

    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, nacre_memory::Memory::begin)
    }

    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, nacre_memory::Memory::commit)
    }

    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, nacre_memory::Memory::abort)
    }

    fn power_fail(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, nacre_memory::Memory::power_fail)
    }

    /// Recovers the memory after a power loss. Returns the report as JSON text.
    fn recover(&self, py: Python<'_>) -> PyResult<String> {
        let (recovery, duration) =
            self.with(py, |memory| memory.recover().map(|recovery| (recovery, memory.latency())))?;
        let document = serde_json::json!({
            "programs_repeated": recovery.programs_repeated,
            "erases_repeated": recovery.erases_repeated,
            "is_cleaning": recovery.is_cleaning,
            "pages_rolled_back": recovery.pages_rolled_back,
            "programs_finished": recovery.programs_finished,
            "programs_lost": recovery.programs_lost,
            "bytes_lost": recovery.bytes_lost,
            "pages_damaged": recovery.pages_damaged,
            "duration_s": duration.as_secs_f64(),
        });
        Ok(document.to_string())
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, nacre_memory::Memory::flush)
    }

    /// Closes the memory. Does nothing if the memory is already closed.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let taken = py.detach(|| {
            // A broken memory is dropped without closing it.
            self.held
                .lock()
                .map_or_else(|broken| (broken.into_inner().take(), false), |mut held| (held.take(), true))
        });
        match taken {
            (Some(memory), true) => {
                detached(py, || memory.close())?.map_err(|error| memory_error(py, &error))
            }
            (memory, _) => {
                py.detach(|| drop(memory));
                Ok(())
            }
        }
    }

    /// Returns statistics of the device since the memory was opened, as JSON text.
    fn statistics(&self, py: Python<'_>) -> PyResult<String> {
        let statistics = self.with(py, |memory| Ok(memory.statistics()))?;
        serde_json::to_string(&statistics).map_err(|failure| failed(py, failure.to_string()))
    }

    /// Returns simulated times in seconds: the current time, and the latency of the last operation.
    fn clock(&self, py: Python<'_>) -> PyResult<(f64, f64)> {
        self.with(py, |memory| Ok((memory.now().as_secs_f64(), memory.latency().as_secs_f64())))
    }

    #[getter]
    fn in_transaction(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |memory| Ok(memory.is_in_transaction()))
    }

    #[getter]
    fn has_power(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |memory| Ok(memory.has_power()))
    }

    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        py.detach(|| self.held.lock().is_ok_and(|held| held.is_none()))
    }
}

impl Memory {
    /// Releases the interpreter lock and calls `work` with the memory.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut nacre_memory::Memory) -> Result<T, MemoryError> + Send,
    ) -> PyResult<T> {
        let done = detached(py, || {
            let mut held: MutexGuard<'_, _> = self.held.lock().map_err(|_| Failure::Broken)?;
            Ok(work(held.as_mut().ok_or(Failure::Closed)?)?)
        })?;
        done.map_err(|failure| match failure {
            Failure::Memory(failure) => memory_error(py, &failure),
            Failure::Closed => {
                let text = "the memory is closed; open it again".into();
                error(py, ErrorCode::Closed, ErrorData::new(), text)
            }
            Failure::Broken => {
                failed(py, "the memory is invalid after a bug in Nacre; close it and open it again".into())
            }
        })
    }

    /// Converts the address of a zone to 64 bits.
    fn zone_address(&self, address: &Bound<'_, PyAny>) -> PyResult<u64> {
        let size = 1_u64.into_pyobject(address.py())?;
        self.number(address, address, &size)
    }

    /// Converts a Python integer, e.g. an address, to 64 bits. Raises `IndexError` if the integer is too
    /// large, because it is then past the end of the memory.
    fn number(
        &self,
        value: &Bound<'_, PyAny>,
        address: &Bound<'_, PyAny>,
        size: &Bound<'_, PyAny>,
    ) -> PyResult<u64> {
        value.extract::<u64>().map_err(|failure| {
            if !failure.is_instance_of::<PyOverflowError>(value.py()) {
                return failure;
            }
            let end = self.capacity;
            PyIndexError::new_err(format!("address {address}, size {size}: the memory ends at byte {end}"))
        })
    }
}
