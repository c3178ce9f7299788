//! Shapes of configuration values, from which schemas and classes are generated.

use crate::node::{Node, Value};
use crate::origin::Origin;

/// A field of a configuration.
#[derive(Clone, Debug)]
pub struct Field {
    /// Key of the field.
    pub name: &'static str,
    /// Documentation for users.
    pub doc: &'static str,
    /// Type of the values.
    pub shape: Shape,
    /// Default value.
    pub default: Option<Literal>,
    /// Minimum value.
    pub min: Option<Literal>,
    /// Maximum value.
    pub max: Option<Literal>,
    /// Source of the default: `"<confidence>: <source>"`.
    pub source: Option<&'static str>,
}

impl Field {
    /// Returns whether a document must contain the field.
    pub fn is_required(&self) -> bool {
        self.default.is_none() && !matches!(self.shape, Shape::Optional(_))
    }

    /// If an override sets settings of the field but no kind, the override modifies the default. In this
    /// case, returns `node` with the kind of the default. Returns `None` for every other value, e.g. for
    /// tables from files, which must name their kind.
    pub(crate) fn with_default_kind(&self, node: &Node) -> Option<Node> {
        let (default, source) = (self.default?, self.source?);
        let is_partial = matches!((&node.value, &node.origin), (Value::Table(_), Origin::Override(_)))
            && ["kind", "preset"].iter().all(|key| node.get(key).is_none());
        (is_partial && matches!(self.shape, Shape::Slot(_) | Shape::Kinds(..))).then(|| {
            let mut whole = node.clone();
            whole.insert("kind", default.node(Origin::Default(source)));
            whole
        })
    }
}

impl Field {
    /// Returns the field as it appears in the configuration into which it is flattened, with the overrides in
    /// `uses`.
    pub(crate) fn used(self, uses: &[Use]) -> Field {
        let Some(by) = uses.iter().find(|by| by.of == self.name) else { return self };
        Field {
            name: by.name.unwrap_or(self.name),
            doc: by.doc.unwrap_or(self.doc),
            shape: self.shape,
            default: by.default.or(self.default),
            min: by.min.or(self.min),
            max: by.max.or(self.max),
            source: by.source.or(self.source),
        }
    }
}

/// Overrides of a setting in a flattened configuration. Values that are `Some` replace the values of the
/// setting.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// Name of the setting in the flattened configuration.
    pub of: &'static str,
    /// Key of the setting in documents.
    pub name: Option<&'static str>,
    /// Documentation for users.
    pub doc: Option<&'static str>,
    /// Default value.
    pub default: Option<Literal>,
    /// Minimum value.
    pub min: Option<Literal>,
    /// Maximum value.
    pub max: Option<Literal>,
    /// Source of the default.
    pub source: Option<&'static str>,
}

/// Returns the fields of a flattened configuration after applying overrides. The derived code calls this.
///
/// # Panics
/// Panics if an override names an unknown field.
#[must_use]
pub fn used(fields: Vec<Field>, uses: &[Use]) -> Vec<Field> {
    for by in uses {
        assert!(fields.iter().any(|field| field.name == by.of), "there is no setting {} to be used", by.of);
    }
    fields.into_iter().map(|field| field.used(uses)).collect()
}

/// Moves the first field of each pair directly after the second field, and returns all fields.
/// The derived code calls this.
///
/// # Panics
///
/// Panics if a named field does not exist.
#[must_use]
pub fn placed(mut fields: Vec<Field>, places: &[(&str, &str)]) -> Vec<Field> {
    let index = |fields: &[Field], key: &str| {
        let found = fields.iter().position(|field| field.name == key);
        found.unwrap_or_else(|| panic!("there is no setting {key} to be placed"))
    };
    for (key, after) in places {
        let moved = fields.remove(index(&fields, key));
        let place = index(&fields, after) + 1;
        fields.insert(place, moved);
    }
    fields
}

/// A literal value in the code of a component, e.g. a default value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// A text, a quantity, a choice, or the kind of a slot.
    Text(&'static str),
    /// An integer.
    Integer(i64),
    /// A number.
    Float(f64),
    /// True or false.
    Flag(bool),
}

impl Literal {
    /// Converts the literal to a node with this `origin`.
    pub fn node(self, origin: Origin) -> Node {
        let value = match self {
            Literal::Text(text) => Value::Text(text.into()),
            Literal::Integer(number) => Value::Integer(number),
            Literal::Float(number) => Value::Float(number),
            Literal::Flag(flag) => Value::Flag(flag),
        };
        Node { value, origin }
    }

    /// Formats the literal without quotes.
    pub fn plain(self) -> String {
        match self {
            Literal::Text(text) => text.into(),
            Literal::Integer(number) => number.to_string(),
            Literal::Float(number) => format!("{number:?}"),
            Literal::Flag(flag) => flag.to_string(),
        }
    }
}

/// One kind of a setting that has several kinds.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Name of the kind in documents.
    pub name: &'static str,
    /// Description of the kind.
    pub doc: &'static str,
    /// Function that returns the settings of the kind.
    pub fields: fn() -> Vec<Field>,
}

impl Kind {
    /// Returns the first sentence of the documentation, without the period.
    pub fn summary(&self) -> &'static str {
        let end = [". ", ".\n"].iter().filter_map(|end| self.doc.find(end)).min();
        self.doc[..end.unwrap_or(self.doc.len())].trim_end_matches('.')
    }
}

/// Returns the schema name and the kinds of every setting with kinds in `fields`, including nested tables.
/// The result has no duplicates.
pub fn kinds_within(fields: &[Field]) -> Vec<(&'static str, &'static [Kind])> {
    let mut found: Vec<(&'static str, &'static [Kind])> = Vec::new();
    for (name, kinds) in fields.iter().flat_map(|field| field.shape.kinds()) {
        if found.iter().all(|(known, _)| *known != name) {
            found.push((name, kinds));
        }
    }
    found
}

/// Type of the values that a field accepts.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A number with a unit, written as text.
    Quantity {
        /// Name of the quantity: `duration`, `size`, ...
        name: &'static str,
        /// Phrase that completes "is not ...", with an example.
        wanted: &'static str,
        /// Accepted units.
        units: &'static [&'static str],
    },
    /// A non-negative integer.
    Integer {
        /// Maximum value that both the type and a document can represent.
        most: i64,
    },
    /// A number.
    Float,
    /// True or false.
    Flag,
    /// Any text.
    Text,
    /// Text that matches a pattern.
    Form {
        /// Phrase that completes "give ...", with an example.
        wanted: &'static str,
        /// Regular expression (of JSON Schema) for the whole text.
        pattern: &'static str,
    },
    /// One of several words, each with a description.
    Choice(&'static [(&'static str, &'static str)]),
    /// A component of the family with this name.
    Slot(&'static str),
    /// A list of at least one value of this shape.
    List(Box<Shape>),
    /// A table with these fields.
    Table(fn() -> Vec<Field>),
    /// A table with these fields, or the value of the named field instead of the whole table.
    Short(&'static str, fn() -> Vec<Field>),
    /// An integer, or a component of the family with this name.
    CountOr(&'static str),
    /// One of several kinds, each with settings. The text is the schema name.
    Kinds(&'static str, &'static [Kind]),
    /// An optional value of this shape.
    Optional(Box<Shape>),
}

impl Shape {
    /// Returns whether the shape is a quantity that may be a plain number without unit and quotes.
    pub fn takes_plain_numbers(&self) -> bool {
        matches!(self, Shape::Quantity { units, .. } if units.contains(&""))
    }

    /// Returns whether `false` disables the setting, as if it were absent. This requires an optional shape
    /// that is not a boolean.
    pub fn can_be_off(&self) -> bool {
        let Shape::Optional(shape) = self else { return false };
        match &**shape {
            Shape::Flag => false,
            Shape::Short(key, fields) => !matches!(Shape::short(key, *fields).shape, Shape::Flag),
            _ => true,
        }
    }

    /// Returns the settings with kinds in this shape, including the shape itself, each with its schema name
    /// and its kinds.
    fn kinds(&self) -> Vec<(&'static str, &'static [Kind])> {
        match self {
            Shape::Kinds(name, kinds) => {
                let within = kinds.iter().flat_map(|kind| kinds_within(&(kind.fields)()));
                std::iter::once((*name, *kinds)).chain(within).collect()
            }
            Shape::Table(fields) | Shape::Short(_, fields) => kinds_within(&fields()),
            Shape::List(shape) | Shape::Optional(shape) => shape.kinds(),
            _ => Vec::new(),
        }
    }

    /// Returns the field of a [`Shape::Short`] that can replace the whole table.
    ///
    /// # Panics
    ///
    /// Panics if there is no such field.
    pub fn short(key: &str, fields: fn() -> Vec<Field>) -> Field {
        let found = fields().into_iter().find(|field| field.name == key);
        found.unwrap_or_else(|| panic!("there is no setting {key} to stand for its table"))
    }

    /// Describes the expected value for messages.
    pub fn expected(&self) -> String {
        match self {
            Shape::Quantity { wanted, .. } | Shape::Form { wanted, .. } => (*wanted).into(),
            Shape::Integer { .. } => "a whole number".into(),
            Shape::Float => "a number".into(),
            Shape::Flag => "true or false".into(),
            Shape::Text => "text".into(),
            Shape::Choice(words) => {
                let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                format!("one of {}", words.join(", "))
            }
            Shape::Slot(family) => format!("a {family}: a table with `kind` or `preset`"),
            Shape::CountOr(family) => {
                format!("a whole number, or a {family}: a table with `kind` or `preset`")
            }
            Shape::Kinds(_, kinds) => {
                let names: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
                format!("one of {}, or a table with `kind`", names.join(", "))
            }
            Shape::List(shape) => format!("a list; each entry is {}", shape.expected()),
            Shape::Table(fields) => table_example(&fields()),
            Shape::Short(key, fields) => {
                let short = Shape::short(key, *fields);
                format!("{}, or a table", short.shape.expected())
            }
            Shape::Optional(shape) => shape.expected(),
        }
    }
}

/// Returns an example such as `a table such as { share = "100 %" }`. The example contains the first of
/// `fields` that has a default.
pub(crate) fn table_example(fields: &[Field]) -> String {
    match fields.iter().find_map(|field| Some((field.name, field.default?))) {
        Some((name, default)) => {
            format!("a table such as {{ {name} = {} }}", default.node(Origin::Default("")))
        }
        None => "a table".into(),
    }
}
