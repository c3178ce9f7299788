//! Rules about the whole tree that no compiler checks. A test in `make test` runs them.

mod code;
mod imports;
mod links;
mod models;
mod names;
mod paths;
mod sizes;
mod text;
mod tree;
mod version;
mod wording;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;
use tree::Tree;

/// A violation of a rule, with its location.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    /// Path of the file from the root, separated by `/`.
    file: String,
    /// Line number, counted from 1.
    line: usize,
    /// Description of the violation, and remedy.
    text: String,
}

impl Problem {
    fn new(file: &str, line: usize, text: impl Into<String>) -> Problem {
        Problem { file: file.into(), line, text: text.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.text)
    }
}

/// Prints every violation. Returns a failure code if there is one.
pub(crate) fn command(root: &Path) -> ExitCode {
    let tree = Tree::read(root);
    for near in sizes::near(&tree) {
        println!("{near} (not a failure yet)");
    }
    let problems = problems(&tree);
    for problem in &problems {
        println!("{problem}");
    }
    println!("tidy: {} files, {} problems", tree.files.len(), problems.len());
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns every violation, ordered by file.
fn problems(tree: &Tree) -> Vec<Problem> {
    let rules = [
        sizes::check,
        names::check,
        text::check,
        paths::check,
        links::check,
        models::check,
        imports::check,
        version::check,
        wording::check,
    ];
    let mut problems: Vec<Problem> = rules.iter().flat_map(|rule| rule(tree)).collect();
    problems.sort();
    problems
}

#[cfg(test)]
mod tests {
    use super::{Tree, problems};

    #[test]
    fn the_tree_is_tidy() {
        let problems = problems(&Tree::read(crate::root()));
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "{} problems\n{}", lines.len(), lines.join("\n"));
    }
}
