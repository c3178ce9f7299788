//! The state of a run as bytes, from which another run continues.
//!
//! It contains the state of the device and, if requests were served, that of the workload and the driver. A
//! run of the same workload continues with the next request. A different workload starts from its beginning
//! when the device is at rest. The stack must equal the stack of the saved run: all settings are compared.
//!
//! The file starts with [`MAGIC`] and a version, and ends with a checksum of all preceding bytes.

mod preparation;
#[cfg(test)]
mod tests;

use crate::drive::{Driver, Outstanding, Standing};
use crate::identity::{identity, settings_of};
use crate::models::Models;
use crate::record::Steadiness;
use crate::scenario::Checked;
use crate::stack::{Files, build_alone};
use nacre_config::{ErrorCode, Families, Problem, Problems};
use nacre_kernel::event::{Device, Slab};
use nacre_kernel::identity::{Difference, differences};
use nacre_kernel::state::{self, State, StateReader, StateWriter, Value};
use nacre_kernel::{ErrorData, Request, Time};
use nacre_workload::{Clock, Issued};

pub use crate::rest::comes_to_rest;
pub use preparation::{Preparations, preparation};

/// Magic number of state files.
pub const MAGIC: &[u8; 8] = b"NACRERUN";

/// Version of the format.
const VERSION: u32 = 9;

/// Reason why a file is not a valid state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The file does not start with [`MAGIC`].
    #[error("it is not a saved state: it does not start with NACRERUN")]
    NoState,
    /// The file has the format of another version of Nacre.
    #[error(
        "its format is version {0}, but this Nacre supports version {VERSION}; save it again with this Nacre"
    )]
    OtherVersion(u32),
    /// The checksum does not match.
    #[error("it is damaged or truncated: its checksum is wrong; save it again")]
    Damaged,
}

impl Unreadable {
    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Unreadable::NoState => ErrorCode::InvalidContent,
            Unreadable::OtherVersion(_) => ErrorCode::WrongVersion,
            Unreadable::Damaged => ErrorCode::Damaged,
        }
    }

    /// Returns the machine-readable data of the error.
    pub fn data(&self) -> ErrorData {
        match self {
            Unreadable::OtherVersion(found) => {
                vec![("found", u64::from(*found).into()), ("known", u64::from(VERSION).into())]
            }
            Unreadable::NoState | Unreadable::Damaged => ErrorData::new(),
        }
    }
}

/// A saved state whose identity is decoded.
#[derive(Debug)]
pub struct SavedRun<'a> {
    stack: String,
    workload: String,
    preparation: String,
    /// Time from which the device may receive requests, if the state was saved without a run; otherwise
    /// zero.
    quiet: Time,
    steadiness: Option<Steadiness>,
    /// State of the driver and the workload, if requests were served. `None` for a preconditioned state or a
    /// device without a run.
    under_way: Option<&'a [u8]>,
    device: &'a [u8],
}

/// State of the driver from which another run continues. The states of the workload and the host follow it
/// in the file.
#[derive(State)]
struct UnderWay {
    at_device: usize,
    now: Time,
    outstanding: Slab<Outstanding>,
    clock: Clock,
    /// Requests that the workload generated but that were not served.
    #[state(varies)]
    rest: Vec<Request>,
    #[state(varies)]
    issued: Vec<Issued>,
    issued_at: Time,
    served: u64,
    stood_at: Time,
}

impl UnderWay {
    fn of(standing: Standing) -> UnderWay {
        let Standing { clock, rest, issued: (issued, issued_at), served, stood_at, outstanding, .. } =
            standing;
        let (at_device, now) = (standing.at_device, standing.now);
        UnderWay { at_device, now, outstanding, clock, rest, issued, issued_at, served, stood_at }
    }

    fn standing(self) -> Standing {
        let UnderWay { at_device, now, outstanding, clock, rest, issued, issued_at, served, stood_at } = self;
        Standing { clock, rest, issued: (issued, issued_at), served, stood_at, outstanding, at_device, now }
    }
}

/// Decodes the first fields of `UnderWay`: the number of requests outstanding at the device, and the time
/// before which the device processed all events.
fn at_device(under_way: Option<&[u8]>) -> Result<(usize, Time), state::StateError> {
    let Some(under_way) = under_way else { return Ok((0, Time::ZERO)) };
    let mut state = StateReader::new(under_way);
    state.section("under way")?;
    Value::read(&mut state)
}

impl<'a> SavedRun<'a> {
    /// Reads a state file. Returns an error if `bytes` is not a complete state of this version.
    pub fn read(bytes: &'a [u8]) -> Result<SavedRun<'a>, Unreadable> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(Unreadable::NoState)?;
        let (version, rest) = rest.split_first_chunk().ok_or(Unreadable::Damaged)?;
        let version = u32::from_le_bytes(*version);
        if version != VERSION {
            return Err(Unreadable::OtherVersion(version));
        }
        let (body, checksum) = rest.split_last_chunk().ok_or(Unreadable::Damaged)?;
        if crc32fast::hash(&bytes[..bytes.len() - 4]) != u32::from_le_bytes(*checksum) {
            return Err(Unreadable::Damaged);
        }
        SavedRun::of(body).map_err(|_| Unreadable::Damaged)
    }

    fn of(body: &'a [u8]) -> Result<SavedRun<'a>, state::StateError> {
        let mut state = StateReader::new(body);
        state.section("run")?;
        let [stack, workload, preparation] = Value::read(&mut state)?;
        let (quiet, steadiness, is_under_way) = Value::read(&mut state)?;
        let under_way = state.bytes("the run")?;
        let under_way = if is_under_way { Some(under_way) } else { None };
        let device = state.rest();
        Ok(SavedRun { stack, workload, preparation, quiet, steadiness, under_way, device })
    }

    /// Restores the new `driver` to this state. Returns an error if the state belongs to another stack.
    pub(crate) fn restore(&self, driver: &mut Driver<'_>) -> Result<(), Problems> {
        same("stack", &self.stack, &identity(driver.serving.checked))?;
        self.restore_prepared(driver)
    }

    /// Restores the preconditioned state of `driver`, like [`SavedRun::restore`]. The timings of the stack
    /// may differ from those of the saved stack.
    pub(crate) fn restore_prepared(&self, driver: &mut Driver<'_>) -> Result<(), Problems> {
        let checked = driver.serving.checked;
        let asked = preparation(checked).unwrap_or_default();
        if !asked.is_empty() {
            same("run.precondition", &self.preparation, &asked).map_err(|problems| {
                let remedy =
                    "remove run.fill, run.precondition and run.until_steady: the state is used instead";
                Problems(problems.0.into_iter().map(|problem| problem.remedy(remedy)).collect())
            })?;
            driver.steadiness.clone_from(&self.steadiness);
        }
        state::restored(&mut *driver.serving.device, self.device)
            .map_err(|error| misread("stack", &error))?;
        let workload = workload_identity(checked);
        let differing = differences(&self.workload, &workload);
        if self.under_way.is_some() && differ_in_version(&differing) {
            return same("workload", &self.workload, &workload).map_err(|problems| {
                let remedy = "save the state again with this Nacre, or change a setting of the workload: a different \
                    workload starts from its beginning when the stack is at rest";
                Problems(problems.0.into_iter().map(|problem| problem.remedy(remedy)).collect())
            });
        }
        match self.under_way.filter(|_| differing.is_empty()) {
            Some(under_way) => self.continue_workload(driver, under_way),
            None => {
                let at_device = at_device(self.under_way).map_err(|error| misread("stack", &error))?;
                driver.begin_at(self.quiet, at_device);
                Ok(())
            }
        }
    }

    /// Restores the new `device` of `checked` to this state after outstanding requests have completed and the
    /// device is at rest; returns that time. A run stores no data, so outstanding requests complete in a copy
    /// of the device that stores no data.
    ///
    /// Returns an error if the state belongs to another stack, or the stack cannot be built.
    pub fn restore_device(
        &self,
        checked: &Checked,
        files: &dyn Files,
        device: &mut dyn Device,
    ) -> Result<Time, Problems> {
        same("stack", &self.stack, &identity(checked))?;
        let misread = |error| misread("stack", &error);
        let (outstanding, now) = at_device(self.under_way).map_err(misread)?;
        let mut without = build_alone(checked, files)?;
        state::restored(&mut *without, self.device).map_err(misread)?;
        let rested = comes_to_rest(&mut *without, outstanding);
        let at_rest = state::saved(&*without).map_err(|error| cannot(&error))?;
        state::restored(device, &at_rest).map_err(misread)?;
        Ok(rested.max(now).max(self.quiet))
    }

    /// Continues the workload from its saved state.
    fn continue_workload(&self, driver: &mut Driver<'_>, bytes: &[u8]) -> Result<(), Problems> {
        let mut state = StateReader::new(bytes);
        let mut under_way = UnderWay::of(driver.standing());
        let restored = under_way.restore(&mut state).and_then(|()| driver.workload.restore(&mut state));
        let restored = restored.and_then(|()| match &mut driver.serving.host {
            None => Ok(()),
            Some(host) => host.restore(&mut state),
        });
        restored.and_then(|()| state.finish()).map_err(|error| misread("workload", &error))?;
        driver.resume(under_way.standing());
        Ok(())
    }
}

/// Returns the state of `driver`. Returns an error if a component of the stack cannot be saved.
pub(crate) fn save(driver: &Driver<'_>) -> Result<Vec<u8>, Problems> {
    let checked = driver.serving.checked;
    let preparation = preparation(checked).unwrap_or_default();
    let mut under_way = None;
    if driver.served() > 0 {
        let mut state = StateWriter::new();
        UnderWay::of(driver.standing()).save(&mut state);
        driver.workload.save(&mut state);
        if let Some(host) = &driver.serving.host {
            host.save(&mut state);
        }
        under_way = Some(state.finished().map_err(|error| cannot(&error))?);
    }
    let steadiness = driver.steadiness.clone();
    let kept = Parts { quiet: Time::ZERO, steadiness, under_way };
    write(checked, preparation, kept, |state| driver.serving.device.save(state))
}

/// Returns the state of `device`, which was built from the stack in `checked`. The device must be at rest
/// and must not receive requests before `quiet`. Returns an error if a component cannot be saved.
pub fn of_device(checked: &Checked, device: &dyn Device, quiet: Time) -> Result<Vec<u8>, Problems> {
    let parts = Parts { quiet, steadiness: None, under_way: None };
    write(checked, String::new(), parts, |state| device.save(state))
}

/// Parts of a state file other than the state of the device.
struct Parts {
    quiet: Time,
    steadiness: Option<Steadiness>,
    under_way: Option<Vec<u8>>,
}

fn write(
    checked: &Checked,
    preparation: String,
    parts: Parts,
    save_device: impl FnOnce(&mut StateWriter),
) -> Result<Vec<u8>, Problems> {
    let mut state = StateWriter::beginning(&[&MAGIC[..], &VERSION.to_le_bytes()].concat());
    state.section("run");
    [identity(checked), workload_identity(checked), preparation].save(&mut state);
    (parts.quiet, parts.steadiness, parts.under_way.is_some()).save(&mut state);
    state.put_bytes(&parts.under_way.unwrap_or_default());
    save_device(&mut state);
    let mut bytes = state.finished().map_err(|error| cannot(&error))?;
    let checksum = crc32fast::hash(&bytes);
    bytes.extend(checksum.to_le_bytes());
    Ok(bytes)
}

fn cannot(error: &state::CannotSave) -> Problems {
    Problem::new(ErrorCode::CannotSave, "stack", None, error.to_string()).into()
}

/// Returns the settings and the model version of the workload of `checked`, the settings of its host, and
/// the seed.
fn workload_identity(checked: &Checked) -> String {
    let kind = checked.scenario.workload.kind();
    let descriptor = Models::new().descriptor("workload", kind).expect("the scenario was checked");
    let mut lines = settings_of(checked, "workload.");
    lines.extend(settings_of(checked, "host."));
    lines.push(format!("run.seed = {}", checked.run.seed));
    lines.push(format!("{MODEL_VERSION}{kind} = {}", descriptor.model_version));
    lines.join("\n")
}

/// Prefix of a line with the version of a model.
const MODEL_VERSION: &str = "version of the model of ";

/// Returns whether two workloads differ only in the versions of their models.
fn differ_in_version(differences: &[Difference]) -> bool {
    let is_version = |difference: &Difference| difference.path.starts_with(MODEL_VERSION);
    !differences.is_empty() && differences.iter().all(is_version)
}

/// Returns an error if settings differ between the saved state and the scenario. The error lists all of
/// these settings.
fn same(path: &str, saved: &str, requested: &str) -> Result<(), Problems> {
    let differences = differences(saved, requested);
    if differences.is_empty() {
        return Ok(());
    }
    let paths: Vec<String> = differences.iter().map(|difference| difference.path.clone()).collect();
    let shown = |difference: &Difference| {
        let [saved, requested] = difference.shown();
        format!("{} is {saved} in the state and {requested} here", difference.path)
    };
    let shown: Vec<String> = differences.iter().map(shown).collect();
    let problem = format!("the state has other settings: {}", shown.join("; "));
    Err(Problem::new(ErrorCode::WrongDevice, path, None, problem)
        .data("differences", paths)
        .remedy("use equal settings, or save a state with these settings")
        .into())
}

fn misread(path: &str, error: &state::StateError) -> Problems {
    let problem = format!("the state does not fit: {error}");
    Problem::new(ErrorCode::WrongDevice, path, None, problem).remedy("save it again with this Nacre").into()
}
