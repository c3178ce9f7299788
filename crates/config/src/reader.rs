//! Reading a document into configurations, collecting every mistake on the way.

use crate::field::{Field, FieldType, Shape, bound_problem, missing_problem, whole};
use crate::node::{Node, Origin, Value};
use crate::problem::{Problem, Problems, known_names};
use crate::room::{Descriptor, Families};

/// A value that a room will use, with its place and origin: explicit, from a catalogue, or a default.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// Dotted path.
    pub path: String,
    /// The value and where it came from.
    pub node: Node,
    /// The version of the model of the room it names; `None` for what names no room.
    pub model_version: Option<u32>,
}

/// One pass over a document.
pub struct Reader<'a> {
    families: &'a dyn Families,
    path: String,
    problems: Vec<Problem>,
    resolved: Vec<Resolved>,
}

impl<'a> Reader<'a> {
    /// A reader at the root of a document whose slots hold rooms of `families`.
    pub fn new(families: &'a dyn Families) -> Reader<'a> {
        Reader::at(families, "")
    }

    /// A reader at `path` of a document.
    pub fn at(families: &'a dyn Families, path: &str) -> Reader<'a> {
        Reader { families, path: path.into(), problems: Vec::new(), resolved: Vec::new() }
    }

    /// Every leaf value read, in reading order, or every mistake. A list of plain values is one leaf.
    pub fn finish(self) -> Result<Vec<Resolved>, Problems> {
        if self.problems.is_empty() { Ok(self.resolved) } else { Err(Problems(self.problems)) }
    }

    /// Where the reader is.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Reads the field of `table` that `field` describes. Used by the derived code.
    pub fn field<T: FieldType>(&mut self, table: &Node, field: &Field) -> Option<T> {
        self.within(field.name, |reader| match (table.get(field.name), field.default) {
            (Some(node), _) => reader.bounded(node, field),
            (None, Some(default)) => {
                let source = field.source.expect("the derive demands a source with a default");
                let node = default.node(Origin::Default(source));
                let value = reader.bounded(&node, field);
                assert!(value.is_some(), "the default of {} is not legal: {node}", reader.path);
                value
            }
            (None, None) => T::absent().or_else(|| {
                let problem = missing_problem(&reader.path, table, field);
                reader.problems.push(problem);
                None
            }),
        })
    }

    /// Reports every key of `table` that no field has. `None` if this is no table at all.
    pub fn only_known(&mut self, table: &Node, fields: &[Field]) -> Option<()> {
        let Value::Table(entries) = &table.value else {
            return self.expected(table, &Shape::Table(Vec::new));
        };
        let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
        for (key, node) in entries {
            if !known.contains(&key.as_str()) {
                self.within(key, |reader| {
                    let problem = Problem::new(&reader.path, Some(&node.origin), "there is no such setting");
                    reader.problems.push(problem.remedy(known_names(key, &known)));
                });
            }
        }
        Some(())
    }

    /// Runs `read` with the path one step further down. Index steps are written `[n]`.
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

    /// Reports that `node` is not of the expected shape.
    pub fn expected<T>(&mut self, node: &Node, shape: &Shape) -> Option<T> {
        self.wrong(node, &format!("it is {}", node.kind_name()), &format!("give {}", shape.expected()));
        None
    }

    /// Reports a mistake in `node`, with a remedy.
    pub fn wrong(&mut self, node: &Node, problem: &str, remedy: &str) {
        let problem = Problem::new(&self.path, Some(&node.origin), problem).given(node.brief());
        self.problems.push(problem.remedy(remedy));
    }

    /// Reports a mistake that spans fields of the table the reader is in; `field` names the one to change.
    pub fn conflict(&mut self, field: &str, given: &str, problem: &str, remedy: &str) {
        let path = if self.path.is_empty() { field.into() } else { format!("{}.{field}", self.path) };
        let origin = self.resolved.iter().rev().find(|resolved| resolved.path == path);
        let problem = Problem::new(&path, origin.map(|resolved| &resolved.node.origin), problem);
        self.problems.push(problem.given(given).remedy(remedy));
    }

    /// The word of a choice, if it is one of `words`.
    pub fn choice<'n>(&mut self, node: &'n Node, words: &[&str]) -> Option<&'n str> {
        let Some(word) = node.text() else {
            self.wrong(
                node,
                &format!("it is {}", node.kind_name()),
                &format!("use one of {}", words.join(", ")),
            );
            return None;
        };
        if words.contains(&word) {
            return Some(word);
        }
        self.wrong(node, "there is no such choice", &known_names(word, words));
        None
    }

    /// Finds the room a slot asks for and checks its configuration. Used by [`crate::Slot`].
    pub fn slot(&mut self, node: &Node, family: &str) -> Option<&'static Descriptor> {
        let kind = match &node.value {
            Value::Text(_) => node,
            Value::Table(_) => match node.get("kind") {
                Some(kind) => kind,
                // A preset without a kind is unknown, which whoever resolves presets has reported.
                None if node.get("preset").is_some() => return None,
                None => {
                    let kinds = self.families.kinds(family);
                    let remedy =
                        format!("give `kind`, one of {}, or a `preset` from the catalogue", kinds.join(", "));
                    self.wrong(node, &format!("it does not say which {family}"), &remedy);
                    return None;
                }
            },
            _ => return self.expected(node, &Shape::Text),
        };
        let Some(word) = kind.text() else { return self.expected(kind, &Shape::Text) };
        let Some(descriptor) = self.families.descriptor(family, word) else {
            let remedy = known_names(word, &self.families.kinds(family));
            self.wrong(kind, &format!("there is no {family} called {word:?}"), &remedy);
            return None;
        };
        if let Some(preset) = node.get("preset") {
            self.within("preset", |reader| reader.resolve(preset, None));
        }
        self.within("kind", |reader| reader.resolve(kind, Some(descriptor.model_version)));
        let before = self.problems.len();
        (descriptor.check)(&settings(node), self);
        (self.problems.len() == before).then_some(descriptor)
    }

    fn bounded<T: FieldType>(&mut self, node: &Node, field: &Field) -> Option<T> {
        let value = T::read(node, self)?;
        if let Some((problem, remedy)) = bound_problem(&value, field) {
            self.wrong(node, &problem, &remedy);
            return None;
        }
        if !holds_tables(&field.shape, node) {
            self.resolve(node, None);
        }
        Some(value)
    }

    /// The value at the place where the reader is will be used.
    fn resolve(&mut self, node: &Node, model_version: Option<u32>) {
        self.resolved.push(Resolved { path: self.path.clone(), node: node.clone(), model_version });
    }
}

/// Whether `node`, which has this shape, is tables, whose values are resolved one by one.
fn holds_tables(shape: &Shape, node: &Node) -> bool {
    match shape {
        Shape::Slot(_) | Shape::Table(_) => true,
        Shape::CountOr(_) => whole(&node.value).is_none(),
        Shape::Optional(shape) | Shape::List(shape) => holds_tables(shape, node),
        _ => false,
    }
}

/// The settings of the room in a slot: its table without the keys that chose the room.
///
/// `policy = "lru"` is short for `policy = { kind = "lru" }`, which has no settings.
pub(crate) fn settings(node: &Node) -> Node {
    let value = match &node.value {
        Value::Table(entries) => {
            let chose = |key: &str| matches!(key, "kind" | "preset");
            entries.iter().filter(|(key, _)| !chose(key)).cloned().collect()
        }
        _ => Vec::new(),
    };
    Node { value: Value::Table(value), origin: node.origin.clone() }
}
