//! Components of a family, and the document slots that hold a component.

use crate::field::{Configuration, FieldType, whole};
use crate::node::{Node, Value};
use crate::problem::Problems;
use crate::reader::{Descriptor, Families, Reader};
use crate::shape::Shape;
use nacre_kernel::{Bytes, ErrorCode};
use std::marker::PhantomData;

impl Descriptor {
    /// Creates the descriptor of a component with the configuration `C`. `doc` is the source text that
    /// contains the module documentation: pass `include_str!("mod.rs")`.
    pub const fn of<C: Configuration>(
        kind: &'static str,
        summary: &'static str,
        sources: &'static [&'static str],
        model_version: u32,
        doc: &'static str,
    ) -> Descriptor {
        assert!(!sources.is_empty(), "a model needs a source");
        Descriptor {
            kind,
            summary,
            sources,
            model_version,
            doc,
            fields: C::fields,
            check: |node, reader| {
                let _ = C::read(node, reader);
            },
            needs: "",
        }
    }
}

/// A model of the family `F`: its descriptor and its constructor.
pub struct Model<F: Family> {
    /// Descriptor of the component.
    pub descriptor: Descriptor,
    /// Function that builds the component from a checked slot. It returns an error e.g. for a missing file or
    /// an unsuitable size.
    pub build: Build<F>,
}

/// Constructor of a component of the family `F`.
pub type Build<F> = fn(&Slot<F>, &mut <F as Family>::Context<'_>) -> Result<<F as Family>::Built, Problems>;

/// A family of components, e.g. devices, replacement policies, or workloads.
pub trait Family: Sized + 'static {
    /// Name of the family in messages and schemas.
    const NAME: &'static str;
    /// Type that a component of the family builds.
    type Built;
    /// Data that a constructor needs in addition to the slot.
    type Context<'a>: ?Sized;

    /// Converts a text that is not the name of a kind to a kind, and the setting of this kind to which the
    /// text applies.
    ///
    /// For example, a family of latencies expands `"6.7 us"` to `{ kind = "constant", latency = "6.7 us" }`.
    fn shorthand(_text: &str) -> Option<(&'static str, &'static str)> {
        None
    }
}

/// Components of one family, in documentation order.
pub type Table<F> = [Model<F>];

/// Returns the component that `slot` selects. The slot was checked against `table`.
pub fn model_of<F: Family>(table: &'static Table<F>, slot: &Slot<F>) -> &'static Model<F> {
    let found = table.iter().find(|model| model.descriptor.kind == slot.kind);
    found.unwrap_or_else(|| panic!("{} holds {:?}, which is not in the table", slot.path, slot.kind))
}

/// A slot of a document that holds a component of family `F`.
pub struct Slot<F> {
    kind: &'static str,
    path: String,
    node: Node,
    family: PhantomData<fn() -> F>,
}

impl<F> Clone for Slot<F> {
    fn clone(&self) -> Slot<F> {
        Slot { kind: self.kind, path: self.path.clone(), node: self.node.clone(), family: PhantomData }
    }
}

impl<F> std::fmt::Debug for Slot<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.node)
    }
}

impl<F: Family> Slot<F> {
    /// Returns the kind of the selected component.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the dotted path in the document. Names of random streams also use this path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns a copy of the slot in which the field `field` of its component has the value `bytes`.
    #[must_use]
    pub fn with_bytes(&self, field: &str, bytes: Bytes) -> Slot<F> {
        let mut slot = self.clone();
        let text = format!("{} B", bytes.0);
        let origin = self.node.origin.clone();
        slot.node.insert(field, Node { value: Value::Text(text), origin });
        slot
    }

    /// Returns a copy of the slot. If the field `other` is given and the field `field` is not, `field` has
    /// the value of `other` in the copy.
    #[must_use]
    pub fn with_default_of(&self, field: &str, other: &str) -> Slot<F> {
        let mut slot = self.clone();
        if let (None, Some(node)) = (self.node.get(field), self.node.get(other)) {
            slot.node.insert(field, node.clone());
        }
        slot
    }

    /// Returns whether the component has a field `field`.
    pub fn has_field(&self, families: &dyn Families, field: &str) -> bool {
        let descriptor = families.descriptor(F::NAME, self.kind).expect("the slot was checked");
        (descriptor.fields)().iter().any(|known| known.name == field)
    }

    /// Returns the configuration of the component. The slot was checked, so reading cannot fail.
    pub fn config<C: Configuration>(&self, families: &dyn Families) -> C {
        let mut reader = Reader::at(families, &self.path);
        let config = C::read(&self.node, &mut reader);
        config.unwrap_or_else(|| {
            panic!("{} was checked and is not legal: {:?}", self.path, reader.finish().err())
        })
    }
}

impl<F: Family> FieldType for Slot<F> {
    fn shape() -> Shape {
        Shape::Slot(F::NAME)
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Slot<F>> {
        let in_full = in_full::<F>(node);
        let node = in_full.as_ref().unwrap_or(node);
        if matches!(node.value, Value::Integer(_))
            || matches!(node.value, Value::Float(number) if number.is_finite())
        {
            // The text may be a quantity without a unit. Kinds are not numbers, so this is safe.
            let with_unit = format!("{} us", node.brief());
            if F::shorthand(&with_unit).is_some() {
                let remedy = format!("write \"{with_unit}\"");
                reader.wrong(ErrorCode::NeedsUnit, node, "it has no unit", &remedy);
                return None;
            }
        }
        let descriptor = reader.slot(node, F::NAME)?;
        Some(Slot {
            kind: descriptor.kind,
            path: reader.path().into(),
            node: node.without(&SLOT_KEYS),
            family: PhantomData,
        })
    }
}

/// An integer, or a component of the family `F`.
pub enum CountOr<F> {
    /// A number.
    Count(u64),
    /// A component.
    Model(Slot<F>),
}

impl<F> Clone for CountOr<F> {
    fn clone(&self) -> CountOr<F> {
        match self {
            CountOr::Count(count) => CountOr::Count(*count),
            CountOr::Model(slot) => CountOr::Model(slot.clone()),
        }
    }
}

impl<F> std::fmt::Debug for CountOr<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CountOr::Count(count) => write!(f, "{count}"),
            CountOr::Model(slot) => write!(f, "{slot:?}"),
        }
    }
}

impl<F: Family> FieldType for CountOr<F> {
    fn shape() -> Shape {
        Shape::CountOr(F::NAME)
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<CountOr<F>> {
        if whole(&node.value).is_some() {
            return u64::read(node, reader).map(CountOr::Count);
        }
        match node.value {
            Value::Text(_) | Value::Table(_) => Slot::read(node, reader).map(CountOr::Model),
            _ => reader.expected(node, &Self::shape()),
        }
    }
}

/// Expands the shorthand of the family. Returns `None` if the text is not a shorthand.
///
/// If an override sets a setting of a shorthand, `node` is a table whose `kind` is the shorthand. The result
/// contains the overridden setting, too.
fn in_full<F: Family>(node: &Node) -> Option<Node> {
    let short = if matches!(node.value, Value::Table(_)) { node.get("kind")? } else { node };
    let (kind, setting) = F::shorthand(short.text()?)?;
    let mut full = Node::table(node.origin.clone());
    full.insert(setting, short.clone());
    if let Value::Table(entries) = &node.value {
        entries.iter().for_each(|(key, node)| full.insert(key, node.clone()));
    }
    full.insert("kind", Node { value: Value::Text(kind.into()), origin: short.origin.clone() });
    Some(full)
}

impl Reader<'_> {
    /// Finds the component that a slot selects, and checks its configuration. [`crate::Slot`] calls this.
    pub fn slot(&mut self, node: &Node, family: &str) -> Option<&'static Descriptor> {
        let kind = match &node.value {
            Value::Text(_) => node,
            Value::Table(_) => match node.get("kind") {
                Some(kind) => kind,
                // A preset without a kind is unknown, which the resolution of presets has already reported.
                None if node.get("preset").is_some() => return None,
                None => {
                    let problem = format!("it does not name a {family}");
                    return self.nameless(ErrorCode::MissingSetting, node, &problem, family);
                }
            },
            _ => return self.nameless_type(node, family),
        };
        let Some(word) = kind.text() else { return self.nameless_type(kind, family) };
        let Some(descriptor) = self.families.descriptor(family, word) else {
            let problem = format!("there is no {family} called {word:?}");
            let problem = self.problem(ErrorCode::UnknownName, kind, &problem);
            self.report(problem.known(word, &self.families.kinds(family)));
            return None;
        };
        if let Some(preset) = node.get("preset") {
            self.within("preset", |reader| reader.resolve(preset, None));
        }
        self.within("kind", |reader| reader.resolve(kind, Some(descriptor.model_version)));
        let before = self.problems.len();
        (descriptor.check)(&node.without(&SLOT_KEYS), self);
        (self.problems.len() == before).then_some(descriptor)
    }

    /// Reports that the type of `node` cannot select a component of `family`.
    fn nameless_type(&mut self, node: &Node, family: &str) -> Option<&'static Descriptor> {
        self.nameless(ErrorCode::WrongType, node, &format!("it is {}", node.kind_name()), family)
    }

    /// Reports that `node` does not select a component of `family`.
    fn nameless(
        &mut self,
        code: ErrorCode,
        node: &Node,
        problem: &str,
        family: &str,
    ) -> Option<&'static Descriptor> {
        let kinds = self.families.kinds(family).join(", ");
        let remedy = format!("give `kind`, one of {kinds}, or a `preset` from the catalog");
        let problem = self.problem(code, node, problem);
        self.report(problem.data("expected", format!("one of {kinds}")).remedy(remedy));
        None
    }
}

/// Keys that select the component of a slot.
const SLOT_KEYS: [&str; 2] = ["kind", "preset"];
