//! The state of a run as bytes: where another run continues.
//!
//! It holds the device as it stood and, where requests were served, the workload and the driver too. A run of the
//! same workload continues with the next request; another workload begins anew when the device is quiet. The stack
//! has to be the same, which is compared setting by setting.
//!
//! The file begins with [`MAGIC`] and a version, and ends with a checksum of all before.

mod preparation;
#[cfg(test)]
mod tests;

use crate::drive::{Driver, Outstanding, Standing};
use crate::identity::{identity, settings_of};
use crate::record::Steadiness;
use crate::rooms::Rooms;
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

/// The version of what follows.
const VERSION: u32 = 9;

/// Why bytes are no state of a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// They begin otherwise.
    #[error("it is not a saved state: it does not begin as one")]
    NoState,
    /// Another Nacre wrote them.
    #[error(
        "its format is version {0}, and this Nacre knows version {VERSION}; save it again with this Nacre"
    )]
    OtherVersion(u32),
    /// They are not what was written.
    #[error("it is damaged or cut short: its checksum does not hold; save it again")]
    Damaged,
}

impl Unreadable {
    /// Error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Unreadable::NoState => ErrorCode::InvalidContent,
            Unreadable::OtherVersion(_) => ErrorCode::WrongVersion,
            Unreadable::Damaged => ErrorCode::Damaged,
        }
    }

    /// Data for programs.
    pub fn data(&self) -> ErrorData {
        match self {
            Unreadable::OtherVersion(found) => {
                vec![("found", u64::from(*found).into()), ("known", u64::from(VERSION).into())]
            }
            Unreadable::NoState | Unreadable::Damaged => ErrorData::new(),
        }
    }
}

/// A saved state, read as far as what it is of.
#[derive(Debug)]
pub struct SavedRun<'a> {
    stack: String,
    workload: String,
    preparation: String,
    /// When nothing was left to do, of a device that served no run.
    quiet: Time,
    steadiness: Option<Steadiness>,
    /// The driver and the workload, where requests were served.
    under_way: Option<&'a [u8]>,
    device: &'a [u8],
}

/// What a run that continues takes over in addition to the device: of the driver, and then of the workload.
#[derive(State)]
struct UnderWay {
    at_device: usize,
    now: Time,
    outstanding: Slab<Outstanding>,
    clock: Clock,
    /// Requests that the workload gave and nobody served.
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

/// How many requests were outstanding at the device, and until when events were processed: the first fields of `UnderWay`.
fn at_device(under_way: Option<&[u8]>) -> Result<(usize, Time), state::StateError> {
    let Some(under_way) = under_way else { return Ok((0, Time::ZERO)) };
    let mut state = StateReader::new(under_way);
    state.section("under way")?;
    Value::read(&mut state)
}

impl<'a> SavedRun<'a> {
    /// Reads what `bytes` are of. Errors: they are not a state, or not a whole one.
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

    /// Puts `driver`, just built, where this state stood. Errors: it is of another stack.
    pub(crate) fn restore(&self, driver: &mut Driver<'_>) -> Result<(), Problems> {
        same("stack", &self.stack, &identity(driver.serving.checked))?;
        self.restore_prepared(driver)
    }

    /// The same for a state that is kept as the preparation of `driver`: what its stack takes may be another.
    pub(crate) fn restore_prepared(&self, driver: &mut Driver<'_>) -> Result<(), Problems> {
        let checked = driver.serving.checked;
        let asked = preparation(checked).unwrap_or_default();
        if !asked.is_empty() {
            same("run.precondition", &self.preparation, &asked).map_err(|problems| {
                let remedy =
                    "leave run.fill, run.precondition and run.until_steady out: the state takes their place";
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
                let remedy = "save the state again with this Nacre, or change a setting of the workload: another one \
                    begins anew when the stack is quiet";
                Problems(problems.0.into_iter().map(|problem| problem.remedy(remedy)).collect())
            });
        }
        match self.under_way.filter(|_| differing.is_empty()) {
            Some(under_way) => self.go_on(driver, under_way),
            None => {
                let at_device = at_device(self.under_way).map_err(|error| misread("stack", &error))?;
                driver.begin_at(self.quiet, at_device);
                Ok(())
            }
        }
    }

    /// Puts `device`, just built for `checked`, where this state leads when nothing is asked any more: outstanding requests
    /// have completed, and the device is at rest. Returns when that is. What the run wrote had no bytes, so this is done on
    /// another device, without bytes.
    ///
    /// Errors: the state is of another stack, or the stack cannot be built.
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

    /// The same workload continues where it was.
    fn go_on(&self, driver: &mut Driver<'_>, bytes: &[u8]) -> Result<(), Problems> {
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

/// The state that `driver` stands in. Errors: a part of the stack cannot be saved.
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

/// The state of `device`, of the stack of `checked`, that is at rest, and that nobody asks for anything before `quiet`.
/// Errors: a part of it cannot be saved.
pub fn of_device(checked: &Checked, device: &dyn Device, quiet: Time) -> Result<Vec<u8>, Problems> {
    let parts = Parts { quiet, steadiness: None, under_way: None };
    write(checked, String::new(), parts, |state| device.save(state))
}

/// What is kept in addition to the device.
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

/// Everything that decides what the workload of `checked` asks for, and how its host handles that.
fn workload_identity(checked: &Checked) -> String {
    let kind = checked.scenario.workload.kind();
    let descriptor = Rooms::new().descriptor("workload", kind).expect("the scenario was checked");
    let mut lines = settings_of(checked, "workload.");
    lines.extend(settings_of(checked, "host."));
    lines.push(format!("run.seed = {}", checked.run.seed));
    lines.push(format!("{MODEL_VERSION}{kind} = {}", descriptor.model_version));
    lines.join("\n")
}

/// How the line of a model's version begins.
const MODEL_VERSION: &str = "version of the model of ";

/// Whether two workloads have the same settings, and their model is not the same.
fn differ_in_version(differences: &[Difference]) -> bool {
    let is_version = |difference: &Difference| difference.path.starts_with(MODEL_VERSION);
    !differences.is_empty() && differences.iter().all(is_version)
}

/// Errors: what was saved and what is asked for differ; every setting that does is named.
fn same(path: &str, saved: &str, asked: &str) -> Result<(), Problems> {
    let differences = differences(saved, asked);
    if differences.is_empty() {
        return Ok(());
    }
    let paths: Vec<String> = differences.iter().map(|difference| difference.path.clone()).collect();
    let told = |difference: &Difference| {
        let [kept, asked] = difference.shown();
        format!("{} is {kept} in the state and {asked} here", difference.path)
    };
    let told: Vec<String> = differences.iter().map(told).collect();
    let problem = format!("the state is of another one: {}", told.join("; "));
    Err(Problem::new(ErrorCode::WrongDevice, path, None, problem)
        .data("differences", paths)
        .remedy("make them alike, or save a state of this one")
        .into())
}

fn misread(path: &str, error: &state::StateError) -> Problems {
    let problem = format!("the state does not fit: {error}");
    Problem::new(ErrorCode::WrongDevice, path, None, problem).remedy("save it again with this Nacre").into()
}
