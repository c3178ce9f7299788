//! The reader of a document. In one pass, it collects every error and every component.

use crate::node::{Node, Value};
use crate::origin::Origin;
use crate::problem::{Problem, Problems, known_names};
use crate::shape::{Field, Shape, Use, table_example};
use nacre_kernel::ErrorCode;

/// A resolved value with its path and origin. The origin is a document, an override, a catalog entry, or a
/// default.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// Dotted path of the value.
    pub path: String,
    /// The value and its origin.
    pub node: Node,
    /// Model version of the component that the value selects; `None` for other values.
    pub model_version: Option<u32>,
    /// Whether the value is optional and the user disabled it with `false`.
    pub is_off: bool,
}

/// Reads a document in one pass.
pub struct Reader<'a> {
    pub(crate) families: &'a dyn Families,
    pub(crate) path: String,
    pub(crate) problems: Vec<Problem>,
    resolved: Vec<Resolved>,
    /// Overrides of settings in the flattened configurations that are being read, outermost first.
    pub(crate) uses: Vec<&'static [Use]>,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the root of a document whose slots hold components of `families`.
    pub fn new(families: &'a dyn Families) -> Reader<'a> {
        Reader::at(families, "")
    }

    /// Creates a reader at `path` of a document.
    pub fn at(families: &'a dyn Families, path: &str) -> Reader<'a> {
        Reader { families, path: path.into(), problems: Vec::new(), resolved: Vec::new(), uses: Vec::new() }
    }

    /// Returns the document key of `setting`, a setting of the configuration that is being read. The
    /// overrides of flattened configurations can rename the setting.
    pub fn key<'n>(&self, setting: &'n str) -> &'n str {
        let renamed = |name, uses: &&'static [Use]| {
            uses.iter().find(|by| by.of == name).and_then(|by| by.name).unwrap_or(name)
        };
        self.uses.iter().rev().fold(setting, renamed)
    }

    /// Returns every leaf value in reading order, or every error. A list of plain values counts as one leaf.
    pub fn finish(self) -> Result<Vec<Resolved>, Problems> {
        if self.problems.is_empty() { Ok(self.resolved) } else { Err(Problems(self.problems)) }
    }

    /// Returns the current path in the document.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Reports every unknown key of `table`. Returns `None` if `table` is not a table.
    pub fn only_known(&mut self, table: &Node, fields: &[Field]) -> Option<()> {
        let Value::Table(entries) = &table.value else {
            return self.unlike(table, &format!("it is {}", table.kind_name()), table_example(fields));
        };
        let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
        let is_misplaced = table.get("preset").is_some() && !known.contains(&"preset");
        for (key, node) in entries {
            // If a preset is in the wrong location, its settings are not reported separately.
            let is_brought = key == "kind" || matches!(node.origin, Origin::Catalog { .. });
            if known.contains(&key.as_str()) || (is_misplaced && is_brought) {
                continue;
            }
            self.within(key, |reader| {
                let problem = Problem::new(
                    ErrorCode::UnknownSetting,
                    &reader.path,
                    Some(&node.origin),
                    "there is no such setting",
                )
                .known_data(key, &known);
                let slots = fields.iter().filter(|field| matches!(field.shape, Shape::Slot(_)));
                let remedy = match (key.as_str(), node.text(), slots.map(|field| field.name).next()) {
                    ("preset", Some(preset), Some(slot)) => {
                        format!("write {slot} = {{ preset = \"{preset}\" }}; {}", known_names(key, &known))
                    }
                    _ => known_names(key, &known),
                };
                reader.problems.push(problem.remedy(remedy));
            });
        }
        Some(())
    }

    /// Calls `read` with the path extended by one step. Index steps are written `[n]`.
    pub fn within<T>(&mut self, step: &str, read: impl FnOnce(&mut Reader<'a>) -> T) -> T {
        let length = self.path.len();
        if !self.path.is_empty() && !step.starts_with('[') {
            self.path.push('.');
        }
        self.path.push_str(step);
        let result = read(self);
        self.path.truncate(length);
        result
    }

    /// Returns the number of errors so far.
    pub fn problem_count(&self) -> usize {
        self.problems.len()
    }

    /// Reports that `node` does not have the expected shape.
    pub fn expected<T>(&mut self, node: &Node, shape: &Shape) -> Option<T> {
        let problem = match node.value {
            Value::Float(number) if number.is_finite() && matches!(shape, Shape::Integer { .. }) => {
                "it is not a whole number".into()
            }
            _ => format!("it is {}", node.kind_name()),
        };
        self.unlike(node, &problem, shape.expected())
    }

    /// Reports that `node` is not of the `expected` type.
    fn unlike<T>(&mut self, node: &Node, problem: &str, expected: String) -> Option<T> {
        let problem = self.problem(ErrorCode::WrongType, node, problem);
        self.report(problem.remedy(format!("give {expected}")).data("expected", expected));
        None
    }

    /// Reports an error in `node`, with a remedy.
    pub fn wrong(&mut self, code: ErrorCode, node: &Node, problem: &str, remedy: &str) {
        let problem = self.problem(code, node, problem);
        self.report(problem.remedy(remedy));
    }

    /// Creates an error in `node`, which can be reported with [`Reader::report`].
    pub fn problem(&self, code: ErrorCode, node: &Node, problem: &str) -> Problem {
        Problem::new(code, &self.path, Some(&node.origin), problem).given(node.brief())
    }

    /// Reports an error.
    pub fn report(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Reports an error that involves several fields of the current table. `field` is the name of the field
    /// to change.
    pub fn conflict(&mut self, field: &str, given: &str, problem: &str, remedy: &str) {
        let field = self.key(field);
        let path = if self.path.is_empty() { field.into() } else { format!("{}.{field}", self.path) };
        let origin = self.resolved.iter().rev().find(|resolved| resolved.path == path);
        let origin = origin.map(|resolved| &resolved.node.origin);
        let problem = Problem::new(ErrorCode::ConflictingSettings, &path, origin, problem);
        self.problems.push(problem.given(given).remedy(remedy));
    }

    /// Returns the word in `node`. Reports an error and returns `None` if it is not one of `words`.
    pub fn choice<'n>(&mut self, node: &'n Node, words: &[&str]) -> Option<&'n str> {
        let Some(word) = node.text() else {
            let problem = self.problem(ErrorCode::WrongType, node, &format!("it is {}", node.kind_name()));
            let expected = format!("one of {}", words.join(", "));
            self.report(problem.remedy(format!("use {expected}")).data("expected", expected));
            return None;
        };
        if words.contains(&word) {
            return Some(word);
        }
        let problem = self.problem(ErrorCode::UnknownName, node, "there is no such choice");
        self.report(problem.known(word, words));
        None
    }

    /// Records the value at the current path as used.
    pub(crate) fn resolve(&mut self, node: &Node, model_version: Option<u32>) {
        let (path, node) = (self.path.clone(), node.clone());
        self.resolved.push(Resolved { path, node, model_version, is_off: false });
    }

    /// Records that the optional value at the current path was disabled.
    pub(crate) fn resolve_off(&mut self, node: &Node) {
        let (path, node) = (self.path.clone(), node.clone());
        self.resolved.push(Resolved { path, node, model_version: None, is_off: true });
    }
}

/// The numbers of values and errors that a reader has collected up to a point of the document.
#[derive(Clone, Copy, Debug)]
pub struct Mark(usize, usize);

impl Reader<'_> {
    /// Returns the current numbers of values and errors. The derived code calls this.
    pub fn mark(&self) -> Mark {
        Mark(self.resolved.len(), self.problems.len())
    }

    /// Sorts the values and errors that were collected since `mark` in the order of `fields`. The derived
    /// code calls this if the fields of a flattened configuration are not adjacent.
    pub fn in_order_of(&mut self, Mark(resolved, problems): Mark, fields: &[Field]) {
        let keys: Vec<&str> = fields.iter().map(|field| self.key(field.name)).collect();
        let steps = if self.path.is_empty() { 0 } else { self.path.len() + 1 };
        let place = |path: &str| {
            let key = path.get(steps..).and_then(|path| path.split(['.', '[']).next());
            keys.iter().position(|&known| Some(known) == key)
        };
        self.resolved[resolved..].sort_by_key(|resolved| place(&resolved.path));
        self.problems[problems..].sort_by_key(|problem| place(&problem.path));
    }
}

/// Description of a component, from which all files about it are generated.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    /// Name of the component in documents, equal to the name of its folder.
    pub kind: &'static str,
    /// Summary in one line.
    pub summary: &'static str,
    /// Publications on which the model is based.
    pub sources: &'static [&'static str],
    /// Version of the model, which is incremented when its results change.
    pub model_version: u32,
    /// Module documentation with the sections Model, Not modeled, Sources, and Checks.
    pub doc: &'static str,
    /// Function that returns the fields of the component's configuration.
    pub fields: fn() -> Vec<Field>,
    /// Function that checks a table against the configuration.
    pub check: fn(&Node, &mut Reader<'_>),
    /// Requirement of the component for its slot; empty for most components.
    pub needs: &'static str,
}

impl Descriptor {
    /// Returns this descriptor with the requirement `what` for the slot.
    #[must_use]
    pub const fn needing(self, what: &'static str) -> Descriptor {
        Descriptor { needs: what, ..self }
    }
}

/// All families of components. The crate that depends on all components implements this trait.
pub trait Families {
    /// Returns the descriptor of `kind` in `family`, if there is such a kind.
    fn descriptor(&self, family: &str, kind: &str) -> Option<&'static Descriptor>;
    /// Returns the kinds of the components in `family`.
    fn kinds(&self, family: &str) -> Vec<&'static str>;
}
