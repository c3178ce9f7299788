//! Garbage collection policies written in Python.
//!
//! An exception of a policy is raised after the run has stopped. Until then, built-in decisions replace the
//! decisions of the policy.

use crate::arrays;
use crate::errors::{Failure, function_failed};
use crate::policies;
use nacre_controller::cleaning::{Cleaner, Decision, Erased, SegmentState, View};
use nacre_files::ScenarioFiles;
use nacre_kernel::state::{State, StateError, StateReader, StateWriter};
use nacre_machine::policies::{Brought, Decider};
use nacre_machine::{Files, HostMemory};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};
use std::io::{self, BufRead};

/// Python functions, each with the name by which the scenario refers to it.
pub(crate) type Functions = Vec<(String, Py<PyAny>)>;

/// Files of a scenario, together with the Python functions that it uses.
pub(crate) struct WithFunctions {
    pub(crate) scenario: ScenarioFiles,
    functions: Functions,
    failure: Failure,
}

impl WithFunctions {
    pub(crate) fn new(scenario: ScenarioFiles, functions: Option<Functions>) -> WithFunctions {
        WithFunctions { scenario, functions: functions.unwrap_or_default(), failure: Failure::default() }
    }

    /// Returns the function `name`, which was passed as an argument or is imported. Also loads NumPy, because
    /// the arguments of the function are arrays.
    fn function(&self, name: &str) -> Option<Py<PyAny>> {
        let given = self.functions.iter().find(|(known, _)| known == name);
        Python::attach(|py| {
            let found = match given {
                Some((_, function)) => function.clone_ref(py),
                None if name.contains(':') => self.imported(py, name)?,
                None => return None,
            };
            arrays::load(py).map_err(|error| self.failure.remember(error)).ok()?;
            Some(found)
        })
    }

    /// Imports the function `name`, which has the form `module:function`. If this fails, remembers the
    /// exception and returns `None`.
    fn imported(&self, py: Python<'_>, name: &str) -> Option<Py<PyAny>> {
        let found = py
            .import("nacre.scenario.source")
            .and_then(|scenario| scenario.call_method1("imported", (name,)));
        found.map(Bound::unbind).map_err(|error| self.failure.remember(error)).ok()
    }

    /// Returns whether a function failed. The results of the run after the failure are invalid.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_there()
    }

    /// Returns the exception of a failed function as an error, if any function has failed.
    pub(crate) fn outcome(&self, py: Python<'_>) -> PyResult<()> {
        // Another thread that has this lock may wait for the interpreter.
        let failure = py.detach(|| self.failure.take());
        failure.map_or(Ok(()), Err)
    }
}

impl Files for WithFunctions {
    fn text(&self, file: &str) -> io::Result<String> {
        self.scenario.text(file)
    }

    fn trace(&self, file: &str) -> io::Result<Box<dyn BufRead + Send>> {
        self.scenario.trace(file)
    }

    fn shipped_traces(&self) -> Vec<String> {
        self.scenario.shipped_traces()
    }

    fn memory(&self) -> Option<HostMemory> {
        self.scenario.memory()
    }

    fn cleaner(&self, name: &str) -> Option<Box<dyn Cleaner>> {
        let (function, failure) = (self.function(name)?, self.failure.clone());
        let partition_segments = Python::attach(|py| partition_segments(name, function.bind(py)));
        let partition_segments = partition_segments.map_err(|error| failure.remember(error)).ok()?;
        let keeps_erased = Python::attach(|py| {
            let found = function.bind(py).getattr_opt("keeps_erased");
            found.map(|found| found.map(Bound::unbind))
        });
        let keeps_erased = keeps_erased.map_err(|error| failure.remember(error)).ok()?;
        let name = name.to_string();
        Some(Box::new(PythonCleaner { name, function, partition_segments, keeps_erased, failure }))
    }

    fn replacement(&self, name: &str) -> Option<Brought> {
        Some(policies::replacement(name.to_string(), self.function(name)?, self.failure.clone()))
    }

    fn decider(&self, name: &str) -> Option<Box<dyn Decider>> {
        Some(policies::decider(name.to_string(), self.function(name)?, self.failure.clone()))
    }
}

/// Returns the number of segment positions in a partition, which is the attribute `partition_segments` of the
/// function `name`. Returns `None` if all positions form one partition.
fn partition_segments(name: &str, function: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    let Some(given) = function.getattr_opt("partition_segments")? else { return Ok(None) };
    let size = given.extract::<u32>().ok().filter(|&size| size > 0 && !given.is_instance_of::<PyBool>());
    if size.is_none() {
        let shown = given.repr().map_or_else(|_| "a value".into(), |text| text.to_string());
        let problem = format!(
            "the cleaning function {name} has partition_segments = {shown}: give the segments of a partition, an int \
             from 1 on"
        );
        return Err(function_failed(function.py(), problem));
    }
    Ok(size)
}

/// A garbage collection policy that calls a Python function to select each victim.
struct PythonCleaner {
    name: String,
    function: Py<PyAny>,
    partition_segments: Option<u32>,
    /// Function that decides when garbage collection starts, or `None` for the default.
    keeps_erased: Option<Py<PyAny>>,
    failure: Failure,
}

/// Rejects saving, because the state of a Python function cannot be saved.
impl State for PythonCleaner {
    fn save(&self, state: &mut StateWriter) {
        state.refuse(format!(
            "the cleaning policy {:?} is written in Python, so its state cannot be saved; use a built-in \
             policy to save a state",
            self.name
        ));
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        Err(state.error("a built-in policy".into(), format!("{:?}, written in Python", self.name)))
    }
}

impl Cleaner for PythonCleaner {
    fn partition_segments(&self) -> Option<u32> {
        self.partition_segments
    }

    fn decide(&mut self, view: &View<'_>, partition: usize) -> Decision {
        let places = view.places_of(partition);
        let best = places.clone().max_by_key(|&place| view.invalid(place)).expect("a partition has places");
        if self.failure.is_there() {
            return Decision::clean(best);
        }
        let answer = Python::attach(|py| self.ask(py, view, partition));
        answer.unwrap_or_else(|failure| {
            self.failure.remember(failure);
            Decision::clean(best)
        })
    }

    fn keeps_erased(&mut self, view: &View<'_>, partition: usize, erased: Erased) -> u32 {
        let Some(function) = self.keeps_erased.as_ref().filter(|_| !self.failure.is_there()) else {
            return erased.least;
        };
        let answer = Python::attach(|py| {
            let seen = Py::new(py, CleaningView::new(py, view, partition))?;
            let Erased { now, least, most } = erased;
            let answer = function.bind(py).call1((seen, now, least, most))?;
            let wanted = answer.extract::<u32>().ok().filter(|_| !answer.is_instance_of::<PyBool>());
            wanted.filter(|wanted| (least..=most).contains(wanted)).ok_or_else(|| {
                let shown = answer.repr().map_or_else(|_| "a value".into(), |text| text.to_string());
                let problem = format!(
                    "keeps_erased of the cleaning function {} returned {shown}: return an int from {least} to {most}",
                    self.name
                );
                function_failed(py, problem)
            })
        });
        answer.unwrap_or_else(|failure| {
            self.failure.remember(failure);
            erased.least
        })
    }
}

impl PythonCleaner {
    /// Calls the function and returns its decision: an index, or an index with numbers of pages to move to
    /// the previous and the next partition.
    fn ask(&self, py: Python<'_>, view: &View<'_>, partition: usize) -> PyResult<Decision> {
        let seen = Py::new(py, CleaningView::new(py, view, partition))?;
        let answer = self.function.bind(py).call1((seen,))?;
        let start = view.places_of(partition).start;
        if !answer.is_instance_of::<PyTuple>() {
            return Ok(Decision::clean(start + self.index(&answer, view, partition)?));
        }
        let Ok((to_lower, to_higher)) =
            answer.extract::<(Bound<'_, PyAny>, u32, u32)>().map(|all| (all.1, all.2))
        else {
            let shown = answer.repr().map_or_else(|_| "a tuple".into(), |text| text.to_string());
            let problem = format!(
                "the cleaning function {} returned {shown}: return (index, pages for the partition before, pages for \
                 the one behind), ints from 0 on",
                self.name
            );
            return Err(function_failed(py, problem));
        };
        let victim = start + self.index(&answer.get_item(0)?, view, partition)?;
        Ok(Decision { to_lower, to_higher, ..Decision::clean(victim) })
    }

    /// Returns the index in `answer`. Returns an error if the index is invalid.
    fn index(&self, answer: &Bound<'_, PyAny>, view: &View<'_>, partition: usize) -> PyResult<usize> {
        let py = answer.py();
        let places = view.places_of(partition);
        let wrong = |problem: String| {
            let shown = answer.repr().map_or_else(|_| "a value".into(), |text| text.to_string());
            function_failed(py, format!("the cleaning function {} returned {shown}: {problem}", self.name))
        };
        let allowed = format!("return the index of a place, an int from 0 to {}", places.len() - 1);
        if answer.is_instance_of::<PyBool>() {
            return Err(wrong(format!("it is not an int; {allowed}")));
        }
        // An integer that is too large for 64 bits is out of range. Any other value is not an integer.
        let index = match answer.extract::<i64>() {
            Ok(index) => usize::try_from(index).ok().filter(|&index| index < places.len()),
            Err(failure) if failure.is_instance_of::<pyo3::exceptions::PyOverflowError>(py) => None,
            Err(_) => return Err(wrong(format!("it is not an int; {allowed}"))),
        };
        let Some(index) = index else { return Err(wrong(format!("it is out of range; {allowed}"))) };
        if view.fitness(partition, places.start + index).is_err() {
            let others: Vec<String> = (0..places.len())
                .filter(|&other| view.fitness(partition, places.start + other).is_ok())
                .take(10)
                .map(|other| other.to_string())
                .collect();
            let problem = "cleaning a segment without invalid pages gains nothing, and others have some";
            return Err(wrong(format!("{problem}; return one of {}", others.join(", "))));
        }
        Ok(index)
    }
}

/// Input of a garbage collection function for one partition. Each column has one number per segment position.
#[pyclass(frozen, get_all, module = "nacre._core")]
pub(crate) struct CleaningView {
    /// Number of the partition.
    partition: usize,
    /// Number of the first position of the partition.
    first: usize,
    /// Index of the position of the active segment, which received pages most recently and is now full.
    active: usize,
    /// Number of pages per segment.
    pages_per_segment: u32,
    /// Number of pages drained from the write buffer so far. The time columns have this unit.
    drained: u64,
    /// Number of valid pages at each position.
    valid: Py<PyArray1<i64>>,
    /// Number of pages, valid or not, that were programmed at each position since its last erase.
    programmed: Py<PyArray1<i64>>,
    /// Lifetime erase count of the segment at each position.
    erases: Py<PyArray1<i64>>,
    /// Time of the last cleaning of each position, in drained pages.
    cleaned_at: Py<PyArray1<i64>>,
    /// Time at which each position last received a page from the write buffer, in drained pages.
    written_at: Py<PyArray1<i64>>,
}

impl CleaningView {
    fn new(py: Python<'_>, view: &View<'_>, partition: usize) -> CleaningView {
        let places = &view.places[view.places_of(partition)];
        let column =
            |value: fn(&SegmentState) -> i64| PyArray1::from_iter(py, places.iter().map(value)).unbind();
        let state = view.partitions[partition];
        CleaningView {
            partition,
            first: state.first,
            active: state.active - state.first,
            pages_per_segment: view.pages_per_segment,
            drained: view.drained,
            valid: column(|place| place.live.into()),
            programmed: column(|place| place.programmed.into()),
            erases: column(|place| place.erases.into()),
            cleaned_at: column(|place| place.cleaned_at as i64),
            written_at: column(|place| place.written_at as i64),
        }
    }
}

#[pymethods]
impl CleaningView {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let CleaningView { partition, first, drained, .. } = self;
        let valid = self.valid.bind(py).repr()?;
        Ok(format!(
            "CleaningView(partition={partition}, first={first}, drained={drained}, valid={valid}, ...)"
        ))
    }
}
