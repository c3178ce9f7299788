//! Builds the parts of a workload, and opens the traces that it replays.

use super::StackBuilder;
use nacre_config::problem::nearest;
use nacre_config::{ErrorCode, Families, Problem, Problems, Slot, model_of};
use nacre_kernel::{Random, error_code};
use nacre_workload::trace::{self, TraceReader};
use nacre_workload::{
    Arrival, ArrivalFamily, Pattern, PatternFamily, Workload, WorkloadBuilder, WorkloadFamily,
};
use std::io;

impl WorkloadBuilder for StackBuilder<'_, '_> {
    fn families(&self) -> &dyn Families {
        &self.models
    }

    fn random(&self, name: &str) -> Random {
        self.streams.stream(&format!("{}{name}", self.draws))
    }

    fn placement(&self, name: &str) -> Random {
        self.streams.stream(name)
    }

    fn arrival(&mut self, slot: &Slot<ArrivalFamily>) -> Result<Box<dyn Arrival>, Problems> {
        (model_of(nacre_workload::ARRIVALS, slot).build)(slot, self)
    }

    fn workload(&mut self, slot: &Slot<WorkloadFamily>) -> Result<Box<dyn Workload>, Problems> {
        (model_of(nacre_workload::WORKLOADS, slot).build)(slot, self)
    }

    fn pattern(&mut self, slot: &Slot<PatternFamily>) -> Result<Box<dyn Pattern>, Problems> {
        (model_of(nacre_workload::PATTERNS, slot).build)(slot, self)
    }

    fn open_trace(
        &mut self,
        path: &str,
        files: &[String],
        options: &trace::Options,
    ) -> Result<Box<dyn TraceReader>, Problems> {
        let mut sources = Vec::new();
        let mut problems = Vec::new();
        for file in files {
            match self.files.trace(file) {
                Ok(stream) => sources.push(trace::Source::new(file, stream)),
                Err(error) => problems.push(trace_problem(path, file, &error, &self.files.shipped_traces())),
            }
        }
        if !problems.is_empty() {
            return Err(Problems(problems));
        }
        trace::open(sources, options).map_err(|error| {
            Problem::new(error.code(), path, None, error.problem())
                .all_data(error.data())
                .remedy(error.remedy())
                .into()
        })
    }
}

/// Description of the folder to which file names are relative, for error messages.
const RELATIVE: &str = "relative to the scenario (or to the working directory for --set)";

/// Returns the error for a trace that cannot be opened. The error suggests a built-in trace with a similar
/// name, if there is one.
fn trace_problem(path: &str, file: &str, error: &io::Error, shipped: &[String]) -> Problem {
    let problem = file_problem(path, file, error);
    if error.kind() != io::ErrorKind::NotFound || shipped.is_empty() {
        return problem;
    }
    let names: Vec<&str> = shipped.iter().map(String::as_str).collect();
    let problem = problem.known_data(file, &names);
    let known = names.join(", ");
    let meant = nearest(file, names);
    let meant = meant.map_or_else(String::new, |name| format!("did you mean \"{name}\"? "));
    problem.remedy(format!("{meant}give a file, {RELATIVE}, or the name of a shipped trace: {known}"))
}

pub(super) fn file_problem(path: &str, file: &str, error: &io::Error) -> Problem {
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => format!("give a file that exists, {RELATIVE}"),
        io::ErrorKind::PermissionDenied => "make it readable".into(),
        _ => "check the file".into(),
    };
    let code = ErrorCode::of_io(error);
    let problem = Problem::new(code, path, None, format!("the file cannot be read: {error}"));
    problem.all_data(error_code::errno(error)).given(format!("{file:?}")).remedy(remedy)
}
