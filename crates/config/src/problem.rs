//! User errors. Each error names its location, the given value, the allowed values, and a remedy.

use crate::origin::Origin;
use nacre_kernel::{Datum, ErrorCode, ErrorData};
use std::fmt;

/// An error in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Error code for programs.
    pub code: ErrorCode,
    /// Machine-readable data, e.g. the limit. The error code determines the keys.
    pub data: ErrorData,
    /// Dotted path of the value, for example `stack.level[0].capacity`.
    pub path: String,
    /// Location of the value, e.g. `server.toml:9`; empty if the value was not written.
    pub place: String,
    /// Path of the override that set the value, e.g. `stack.policy`; empty for other values.
    pub set_by: String,
    /// The value as written; empty if no value was written.
    pub given: String,
    /// Description of the error.
    pub problem: String,
    /// Allowed values or a remedy; empty if there is none.
    pub remedy: String,
}

impl Problem {
    /// Creates an error for the value at `path` with this `origin`.
    pub fn new(code: ErrorCode, path: &str, origin: Option<&Origin>, problem: impl Into<String>) -> Problem {
        Problem {
            code,
            data: ErrorData::new(),
            path: path.to_string(),
            place: origin.map_or_else(String::new, Origin::place),
            set_by: origin.and_then(Origin::overridden).unwrap_or_default().to_string(),
            given: String::new(),
            problem: problem.into(),
            remedy: String::new(),
        }
    }

    /// Adds the value that the user gave.
    #[must_use]
    pub fn given(mut self, given: impl fmt::Display) -> Problem {
        self.given = given.to_string();
        self
    }

    /// Adds machine-readable data.
    ///
    /// # Panics
    ///
    /// Panics if `key` is not documented for the code.
    #[must_use]
    pub fn data(mut self, key: &'static str, value: impl Into<Datum>) -> Problem {
        assert!(self.code.keys().contains(&key), "data of {} has no key {key}", self.code);
        self.data.push((key, value.into()));
        self
    }

    /// Adds all `data` of another error with the same code.
    #[must_use]
    pub fn all_data(self, data: ErrorData) -> Problem {
        data.into_iter().fold(self, |problem, (key, value)| problem.data(key, value))
    }

    /// Adds the known names as data and as the remedy, for an error about an unknown name.
    #[must_use]
    pub fn known(self, given: &str, known: &[&str]) -> Problem {
        self.known_data(given, known).remedy(known_names(given, known))
    }

    /// Adds the known names as data, for an error about an unknown name.
    #[must_use]
    pub fn known_data(self, given: &str, known: &[&str]) -> Problem {
        let problem = self.data("known", known);
        match nearest(given, known.iter().copied()) {
            Some(name) => problem.data("nearest", name),
            None => problem,
        }
    }

    /// Adds the allowed values or the remedy.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Problem {
        self.remedy = remedy.into();
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "the document" } else { &self.path };
        write!(f, "{path}")?;
        if !self.place.is_empty() {
            write!(f, " ({})", self.place)?;
        }
        write!(f, ": {}", self.problem)?;
        // "it is a table, given a table" would say the same twice.
        if !self.given.is_empty() && self.problem.strip_prefix("it is ") != Some(&self.given) {
            write!(f, ", given {}", self.given)?;
        }
        if !self.remedy.is_empty() {
            write!(f, "; {}", self.remedy)?;
        }
        Ok(())
    }
}

/// All errors of a document, in document order. A function that fails returns at least one error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Problems {
        Problems(vec![problem])
    }
}

/// Returns the values of both results, or the errors of both.
pub fn both<A, B>(a: Result<A, Problems>, b: Result<B, Problems>) -> Result<(A, B), Problems> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(mut first), Err(second)) => {
            first.0.extend(second.0);
            Err(first)
        }
        (Err(problems), _) | (_, Err(problems)) => Err(problems),
    }
}

/// Returns the known name that is most similar to `given`, if it is similar enough.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (given.chars().count() / 3).max(1) + 1;
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&given.to_lowercase(), &name.to_lowercase()), name))
        .filter(|&(distance, _)| distance <= limit)
        .min()
        .map(|(_, name)| name)
}

/// Returns the remedy for an unknown name: the most similar known name, and a list of all known names.
pub fn known_names(given: &str, known: &[&str]) -> String {
    let all = if known.is_empty() {
        "nothing is known here".into()
    } else {
        format!("known: {}", known.join(", "))
    };
    match nearest(given, known.iter().copied()) {
        Some(name) => format!("did you mean \"{name}\"? {all}"),
        None => all,
    }
}
