//! The document tree. Every node has an origin.

use crate::origin::Origin;
use crate::problem::{Problem, Problems};
use nacre_kernel::ErrorCode;
use std::fmt;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value of a document with its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Value of the node.
    pub value: Value,
    /// Origin of the value.
    pub origin: Origin,
}

/// Value of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text, including quantities.
    Text(String),
    /// An integer.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// True or false.
    Flag(bool),
    /// List of values.
    List(Vec<Node>),
    /// Named values in the order in which they were written.
    Table(Vec<(String, Node)>),
}

impl fmt::Display for Node {
    /// Formats the value as TOML on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Value::Text(text) => write!(f, "{text:?}"),
            Value::Integer(number) => write!(f, "{number}"),
            Value::Float(number) => write!(f, "{number:?}"),
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::List(nodes) => {
                let nodes: Vec<String> = nodes.iter().map(Node::to_string).collect();
                write!(f, "[{}]", nodes.join(", "))
            }
            Value::Table(entries) => {
                let entries: Vec<String> =
                    entries.iter().map(|(key, node)| format!("{key} = {node}")).collect();
                write!(f, "{{ {} }}", entries.join(", "))
            }
        }
    }
}

impl Node {
    /// Creates an empty table.
    pub fn table(origin: Origin) -> Node {
        Node { value: Value::Table(Vec::new()), origin }
    }

    /// Returns the settings of a slot or a kind: this table without `keys`, which select the kind.
    ///
    /// A text such as `policy = "lru"` is short for `policy = { kind = "lru" }`, so it has no settings.
    pub(crate) fn without(&self, keys: &[&str]) -> Node {
        let value = match &self.value {
            Value::Table(entries) => {
                entries.iter().filter(|(key, _)| !keys.contains(&key.as_str())).cloned().collect()
            }
            _ => Vec::new(),
        };
        Node { value: Value::Table(value), origin: self.origin.clone() }
    }

    /// Parses a TOML document. `name` is the file name in messages.
    ///
    /// A table `{ value = ..., source = "...", confidence = "..." }` is read as the value with its source.
    /// Returns every syntax error with its line.
    pub fn parse_toml(text: &str, name: &str) -> Result<Node, Problems> {
        let lines = Lines::new(text, name);
        let (table, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            let problems = errors.iter().map(|error| {
                let origin = lines.origin(error.span().map_or(0, |span| span.start));
                let message = error.message().trim().replace('\n', ", ");
                Problem::new(ErrorCode::InvalidSyntax, "", Some(&origin), message)
            });
            return Err(Problems(problems.collect()));
        }
        let mut problems = Vec::new();
        let node = lines.table(table.get_ref(), lines.origin(0), "", &mut problems);
        if problems.is_empty() { Ok(node) } else { Err(Problems(problems)) }
    }

    /// Parses a TOML value from the command line. Text that is not valid TOML becomes a string.
    pub fn parse_value(text: &str, origin: &Origin) -> Node {
        let parsed = DeValue::parse(text).ok().and_then(|value| {
            let lines = Lines::new(text, "");
            let mut problems = Vec::new();
            let node = lines.value(&value, "", &mut problems);
            problems.is_empty().then_some(node)
        });
        let mut node =
            parsed.unwrap_or_else(|| Node { value: Value::Text(text.into()), origin: origin.clone() });
        node.set_origin(origin);
        node
    }

    /// Returns the entry with this key, if this node is a table with such an entry.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// Returns the text, if this node is a text.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Sets `key` of this table to `node`.
    pub fn insert(&mut self, key: &str, node: Node) {
        let Value::Table(entries) = &mut self.value else { panic!("insert into a node that is not a table") };
        match entries.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = node,
            None => entries.push((key.into(), node)),
        }
    }

    /// Sets the value at the dotted `path` (`stack.level[0].capacity` or `stack.level.0.capacity`).
    ///
    /// Creates missing tables. List items must exist.
    pub fn set(&mut self, path: &str, node: Node) -> Result<(), Problem> {
        let origin = node.origin.clone();
        let dotted = path.replace('[', ".").replace(']', "");
        let steps: Vec<&str> = dotted.split('.').collect();
        if steps.iter().any(|step| step.is_empty()) {
            return Err(Problem::new(ErrorCode::InvalidPath, path, Some(&origin), "it is not a path")
                .remedy("write names with dots between them"));
        }
        let mut here = self;
        for (index, step) in steps.iter().enumerate() {
            here = here.step_into(step, &origin).map_err(|(what, remedy)| {
                let path = steps[..=index].join(".");
                Problem::new(ErrorCode::InvalidPath, &path, Some(&origin), what).remedy(remedy)
            })?;
        }
        *here = node;
        Ok(())
    }

    /// Returns the type of the value as a word for messages.
    pub fn kind_name(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "text",
            Value::Integer(_) => "a whole number",
            Value::Float(number) if !number.is_finite() => "not finite",
            Value::Float(_) => "a number",
            Value::Flag(_) => "a truth value",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// Returns a short form for messages: the type of a table or list, and any other value as written.
    pub fn brief(&self) -> String {
        match self.value {
            Value::List(_) | Value::Table(_) => self.kind_name().into(),
            _ => self.to_string(),
        }
    }

    fn step_into(&mut self, step: &str, origin: &Origin) -> Result<&mut Node, (String, String)> {
        // `policy = "lru"` is short for `policy = { kind = "lru" }`, and an override may set a value in that
        // table.
        if let Value::Text(kind) = &self.value {
            let kind = Node { value: Value::Text(kind.clone()), origin: self.origin.clone() };
            self.value = Value::Table(vec![("kind".into(), kind)]);
        }
        match &mut self.value {
            Value::List(nodes) => {
                let last = nodes.len().saturating_sub(1);
                let Ok(place) = step.parse::<usize>() else {
                    let remedy = format!("choose one of its entries, [0] to [{last}]: [0].{step}");
                    return Err(("it follows a list".into(), remedy));
                };
                nodes.get_mut(place).ok_or_else(|| {
                    (
                        format!("the list has no entry {step}"),
                        format!(
                            "its entries are 0 to \
                        {last}"
                        ),
                    )
                })
            }
            Value::Table(entries) => {
                let place = entries.iter().position(|(name, _)| name == step).unwrap_or_else(|| {
                    entries.push((step.into(), Node::table(origin.clone())));
                    entries.len() - 1
                });
                Ok(&mut entries[place].1)
            }
            _ => Err(("it is a value, not a table".into(), "set the value itself".into())),
        }
    }

    fn set_origin(&mut self, origin: &Origin) {
        self.origin = origin.clone();
        match &mut self.value {
            Value::List(nodes) => nodes.iter_mut().for_each(|node| node.set_origin(origin)),
            Value::Table(entries) => entries.iter_mut().for_each(|(_, node)| node.set_origin(origin)),
            _ => {}
        }
    }
}

/// Converts byte offsets to line numbers, and parsed TOML to nodes.
struct Lines {
    name: Arc<str>,
    starts: Vec<usize>,
}

impl Lines {
    fn new(text: &str, name: &str) -> Lines {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Lines { name: name.into(), starts }
    }

    fn origin(&self, offset: usize) -> Origin {
        let line = self.starts.partition_point(|&start| start <= offset) as u32;
        Origin::File { name: self.name.clone(), line }
    }

    fn table(&self, table: &DeTable<'_>, origin: Origin, path: &str, problems: &mut Vec<Problem>) -> Node {
        let mut written: Vec<(usize, String, Node)> = table
            .iter()
            .map(|(key, value)| {
                let key_text = key.get_ref().to_string();
                let path = if path.is_empty() { key_text.clone() } else { format!("{path}.{key_text}") };
                (key.span().start, key_text, self.value(value, &path, problems))
            })
            .collect();
        written.sort_by_key(|&(start, ..)| start);
        let entries: Vec<_> = written.into_iter().map(|(_, key, node)| (key, node)).collect();
        Node { value: Value::Table(entries), origin }.with_source()
    }

    fn value(&self, value: &Spanned<DeValue<'_>>, path: &str, problems: &mut Vec<Problem>) -> Node {
        let origin = self.origin(value.span().start);
        let converted = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(number) => {
                let digits = number.as_str().replace('_', "");
                match i64::from_str_radix(&digits, number.radix()) {
                    Ok(number) => Value::Integer(number),
                    Err(_) => {
                        let problem = "whole numbers end at 9223372036854775807";
                        let problem = Problem::new(ErrorCode::OutOfRange, path, Some(&origin), problem);
                        problems.push(problem.data("max", i64::MAX as u64).given(digits));
                        Value::Integer(0)
                    }
                }
            }
            DeValue::Float(number) => {
                Value::Float(number.as_str().replace('_', "").parse().unwrap_or(f64::NAN))
            }
            DeValue::Boolean(flag) => Value::Flag(*flag),
            DeValue::Datetime(date) => Value::Text(date.to_string()),
            DeValue::Array(values) => Value::List(
                values
                    .iter()
                    .enumerate()
                    .map(|(index, value)| self.value(value, &format!("{path}[{index}]"), problems))
                    .collect(),
            ),
            DeValue::Table(table) => return self.table(table, origin, path, problems),
        };
        Node { value: converted, origin }
    }
}

impl Node {
    /// Converts `{ value, source, confidence, note }` to a node with the value and a catalog origin.
    fn with_source(self) -> Node {
        let has_only = |allowed: &[&str]| match &self.value {
            Value::Table(entries) => entries.iter().all(|(key, _)| allowed.contains(&key.as_str())),
            _ => false,
        };
        let (Some(value), Some(source)) = (self.get("value"), self.get("source").and_then(Node::text)) else {
            return self;
        };
        if !has_only(&["value", "source", "confidence", "note"]) {
            return self;
        }
        let Origin::File { name, .. } = &self.origin else { return self };
        let text = |key: &str| self.get(key).and_then(Node::text).unwrap_or_default().to_string();
        let note = text("note");
        let source = if note.is_empty() { source.to_string() } else { format!("{source}: {note}") };
        let origin = Origin::Catalog {
            entry: name.clone(),
            source: source.into(),
            confidence: text("confidence").into(),
        };
        // The entries of a list have the origin of the list.
        let mut sourced = value.clone();
        sourced.set_origin(&origin);
        sourced
    }
}
