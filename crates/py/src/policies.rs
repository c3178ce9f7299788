//! Replacement policies and placements written in Python.

use crate::errors::{Failure, function_failed};
use nacre_kernel::state::{State, StateError, StateReader, StateWriter};
use nacre_machine::policies::{Access, Brought, Decider, Exchange, PlacementView, Replacement};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeSet;

/// Returns a constructor of a replacement policy that a Python class implements. The constructor calls the
/// class with the number of blocks of the cache.
pub(crate) fn replacement(name: String, class: Py<PyAny>, failure: Failure) -> Brought {
    Box::new(move |capacity| {
        let made = Python::attach(|py| class.call1(py, (capacity,)));
        let policy = made.map_err(|raised| failure.remember(raised)).ok();
        Box::new(PythonReplacement { name, policy, capacity, resident: BTreeSet::new(), failure })
    })
}

/// Creates a placement that calls a Python function.
pub(crate) fn decider(name: String, function: Py<PyAny>, failure: Failure) -> Box<dyn Decider> {
    Box::new(PythonDecider { name, function, failure })
}

/// A replacement policy implemented in Python. This struct tracks the resident blocks. The Python object
/// receives hits and insertions, and selects victims.
struct PythonReplacement {
    name: String,
    /// The Python object, or `None` if its class could not be called.
    policy: Option<Py<PyAny>>,
    capacity: usize,
    resident: BTreeSet<u64>,
    failure: Failure,
}

impl PythonReplacement {
    /// Calls a method of the Python object with `block` as its argument. Does nothing if a Python function
    /// has failed before.
    fn call<T>(
        &self,
        method: &str,
        block: u64,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let policy = self.policy.as_ref().filter(|_| !self.failure.is_there())?;
        let answer = Python::attach(|py| read(&policy.bind(py).call_method1(method, (block,))?));
        answer.map_err(|raised| self.failure.remember(raised)).ok()
    }

    fn notify(&self, method: &str, block: u64) {
        self.call(method, block, |_| Ok(()));
    }

    /// Returns the block to evict when `block` is inserted: a resident block, or `block` itself.
    fn victim(&self, block: u64) -> u64 {
        let first = *self.resident.first().expect("a full cache is not empty");
        let asked = self.call("evict", block, |answer| {
            let victim: Option<u64> = answer.extract().ok();
            victim.filter(|victim| *victim == block || self.resident.contains(victim)).ok_or_else(|| {
                let shown = answer.repr().map_or_else(|_| "a value".into(), |text| text.to_string());
                let problem = "return a block in the cache, or the new block, which is then not inserted";
                function_failed(
                    answer.py(),
                    format!("the policy {}.evict returned {shown}: {problem}", self.name),
                )
            })
        });
        asked.unwrap_or(first)
    }
}

impl State for PythonReplacement {
    fn save(&self, state: &mut StateWriter) {
        refuse(state, "replacement policy", &self.name);
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        Err(state.error("a built-in policy".into(), format!("{:?}, written in Python", self.name)))
    }
}

impl Replacement for PythonReplacement {
    fn touch(&mut self, block: u64) -> bool {
        let is_there = self.resident.contains(&block);
        if is_there {
            self.notify("hit", block);
        }
        is_there
    }

    fn admit(&mut self, block: u64) -> Option<u64> {
        assert!(!self.resident.contains(&block), "block {block} comes in but is resident already");
        let mut left = None;
        if self.resident.len() == self.capacity {
            let victim = self.victim(block);
            if victim == block {
                return Some(block);
            }
            self.resident.remove(&victim);
            left = Some(victim);
        }
        self.resident.insert(block);
        self.notify("insert", block);
        left
    }

    fn remove(&mut self, block: u64) -> bool {
        let was_there = self.resident.remove(&block);
        if was_there {
            self.notify("remove", block);
        }
        was_there
    }

    fn contains(&self, block: u64) -> bool {
        self.resident.contains(&block)
    }

    fn len(&self) -> usize {
        self.resident.len()
    }

    fn capacity(&self) -> usize {
        self.capacity
    }

    fn access(&mut self, block: u64) -> Access {
        if self.touch(block) { Access::Hit } else { Access::Miss { evicted: self.admit(block) } }
    }

    fn prefetch(&self, _blocks: &[u64]) {}

    fn check_invariants(&self) {
        assert!(self.resident.len() <= self.capacity, "more blocks than there is room for");
    }
}

/// A placement that calls a Python function at the end of every epoch.
struct PythonDecider {
    name: String,
    function: Py<PyAny>,
    failure: Failure,
}

impl State for PythonDecider {
    fn save(&self, state: &mut StateWriter) {
        refuse(state, "placement", &self.name);
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        Err(state.error("a built-in placement".into(), format!("{:?}, written in Python", self.name)))
    }
}

impl Decider for PythonDecider {
    fn decide(&mut self, view: &PlacementView<'_>, moves: &mut Vec<Exchange>) {
        if self.failure.is_there() {
            return;
        }
        match Python::attach(|py| self.ask(py, view)) {
            Ok(asked) => moves.extend(asked),
            Err(raised) => self.failure.remember(raised),
        }
    }
}

impl PythonDecider {
    /// Calls the function, and returns the pairs of extents that it selects for exchange. Returns an error if
    /// the pairs are invalid.
    fn ask(&self, py: Python<'_>, view: &PlacementView<'_>) -> PyResult<Vec<Exchange>> {
        let columns = PyDict::new(py);
        let homes = view.homes.iter().map(|&tier| i64::from(tier));
        columns.set_item("homes", PyArray1::from_iter(py, homes))?;
        let counts = |of: fn(&(u64, u64)) -> u64| {
            let each = view.accesses.iter().map(move |counted| of(&(counted.reads, counted.writes)) as i64);
            PyArray1::from_iter(py, each)
        };
        columns.set_item("reads", counts(|counted| counted.0))?;
        columns.set_item("writes", counts(|counted| counted.1))?;
        columns.set_item("skipped", view.skipped)?;
        let seen = py.import("nacre.policies")?.getattr("PlacementView")?.call((), Some(&columns))?;
        let answer = self.function.bind(py).call1((seen,))?;
        let wrong = |problem: String| {
            function_failed(py, format!("the placement function {} returned {problem}", self.name))
        };
        let pairs: Vec<(u32, u32)> = answer.extract().map_err(|_| {
            wrong("not a list of pairs; return a list of (extent, partner), numbers of extents".into())
        })?;
        let home = |extent: u32| view.homes.get(extent as usize);
        for &(extent, partner) in &pairs {
            if home(extent).is_none() || home(partner).is_none() || home(extent) == home(partner) {
                let last = view.homes.len() - 1;
                return Err(wrong(format!(
                    "the pair ({extent}, {partner}): name two extents, 0 to {last}, of different tiers"
                )));
            }
        }
        Ok(pairs.into_iter().map(|(extent, partner)| Exchange { extent, partner }).collect())
    }
}

fn refuse(state: &mut StateWriter, what: &str, name: &str) {
    state.refuse(format!(
        "the {what} {name:?} is written in Python, so its state cannot be saved; use a built-in one to \
         save a state"
    ));
}
