//! The memory that a C handle refers to, with its last error.

use nacre_files::ScenarioFiles;
use nacre_kernel::ErrorCode;
use nacre_machine::{Document, Files, catalog};
use nacre_memory::{Memory, MemoryError};
use std::any::Any;
use std::ffi::{CStr, CString};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// A memory that a C program uses.
#[derive(Debug)]
pub struct Handle {
    /// The memory, or `None` after a failed assertion.
    memory: Option<Memory>,
    error: Failure,
}

/// An error for C programs.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    pub(crate) text: CString,
    pub(crate) code: CString,
}

impl Failure {
    pub(crate) fn new(code: ErrorCode, text: &str) -> Failure {
        Failure { text: c_text(text), code: c_text(code.name()) }
    }

    fn of_panic(cause: &(dyn Any + Send)) -> Failure {
        let text = cause.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("an assertion failed");
        Failure::new(ErrorCode::Bug, &format!("a bug in Nacre {}: {text}", env!("CARGO_PKG_VERSION")))
    }
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Failure {
        Failure::new(error.code(), &error.to_string())
    }
}

/// Converts `text` to a C string. Zero bytes, which would end the string, become spaces.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).expect("no byte is zero")
}

/// Calls `work`, and converts a failed assertion to an error.
fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|cause| Err(Failure::of_panic(&*cause)))
}

impl Handle {
    /// Opens the memory of a scenario with settings `path=value`. The data is in the file `image`, or in
    /// RAM if `image` is `None`.
    ///
    /// Returns an error for a setting without `=`, and the errors of [`Memory::open`] and
    /// [`Memory::open_image`].
    pub(crate) fn open(scenario: &str, settings: &[&str], image: Option<&str>) -> Result<Handle, Failure> {
        let memory = guarded(|| {
            let overrides =
                settings.iter().map(|setting| assignment(setting)).collect::<Result<Vec<_>, _>>()?;
            let (text, files) = scenario_of(scenario)?;
            let document = Document { text: &text, name: scenario, overrides: &overrides, seed: None };
            let checked = nacre_memory::check(&document).map_err(MemoryError::Scenario)?;
            Ok(match image {
                Some(image) => Memory::open_image(&checked, &files, Path::new(image), true)?,
                None => Memory::open(&checked, &files)?,
            })
        })?;
        Ok(Handle { memory: Some(memory), error: Failure::default() })
    }

    /// Closes the memory. Returns the errors of [`Memory::close`].
    pub(crate) fn close(self) -> Result<(), Failure> {
        let Handle { memory, error } = self;
        let memory = memory.ok_or(error)?;
        guarded(|| Ok(memory.close()?))
    }

    /// Calls `work` and returns its result. If `work` fails, stores the error in the handle and returns
    /// `None`. A failed assertion also drops the memory.
    pub(crate) fn run<T>(&mut self, work: impl FnOnce(&mut Memory) -> Result<T, MemoryError>) -> Option<T> {
        let mut memory = self.memory.take()?;
        let (done, memory) = match guarded(|| Ok(work(&mut memory))) {
            Ok(done) => (done.map_err(Failure::from), Some(memory)),
            Err(failure) => (Err(failure), None),
        };
        self.memory = memory;
        done.map_err(|failure| self.error = failure).ok()
    }

    /// Returns the result of `read`, or 0 after a failed assertion.
    pub(crate) fn number(&self, read: impl FnOnce(&Memory) -> u64) -> u64 {
        self.memory.as_ref().map_or(0, read)
    }

    /// Returns the message of the last error.
    pub(crate) fn error(&self) -> &CStr {
        &self.error.text
    }

    /// Returns the code of the last error.
    pub(crate) fn error_code(&self) -> &CStr {
        &self.error.code
    }
}

fn assignment(setting: &str) -> Result<(String, String), Failure> {
    let (path, value) = setting.split_once('=').ok_or_else(|| {
        let text = format!("settings: \"{setting}\" is not a setting; write \"PATH=VALUE\"");
        Failure::new(ErrorCode::InvalidSyntax, &text)
    })?;
    Ok((path.trim().into(), value.trim().into()))
}

/// Returns the text of a scenario and access to its files. File names are relative to the folder of the
/// scenario, or to the working directory for a built-in scenario.
fn scenario_of(name: &str) -> Result<(String, ScenarioFiles), Failure> {
    if let Some(shipped) = catalog::scenarios().into_iter().find(|shipped| shipped.name == name) {
        return Ok((shipped.text.into(), ScenarioFiles::new(".", None)));
    }
    let folder = Path::new(name).parent().unwrap_or(Path::new("."));
    let text = ScenarioFiles::new(".", None).text(name).map_err(|error| {
        let code = ErrorCode::of_io(&error);
        Failure::new(code, &format!("{name}: {error}; give a TOML file, or the name of a built-in scenario"))
    })?;
    Ok((text, ScenarioFiles::new(folder, None)))
}
