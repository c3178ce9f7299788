//! Types of configuration fields. Each type has a description and code that reads its values.

use crate::node::{Node, Value};
use crate::origin::Origin;
use crate::problem::Problem;
use crate::reader::Reader;
use crate::shape::{Field, Kind, Literal, Shape, Use};
use nacre_kernel::units::{Decimal, Quantity};
use nacre_kernel::{Area, Bandwidth, BitArea, Bytes, Energy, Power, Price, Rate, Ratio, Time};
use nacre_kernel::{Datum, ErrorCode};
use std::cmp::Ordering;

/// A struct that is read from a table of a document. The derive macro implements this trait.
pub trait Configuration: Sized {
    /// Doc comment of the struct.
    const DOC: &'static str;
    /// Fields of the struct, in order.
    fn fields() -> Vec<Field>;
    /// Reads the fields from `table`, which may also have other keys. Reports errors to `reader` and then
    /// returns `None`.
    fn read_fields(table: &Node, reader: &mut Reader<'_>) -> Option<Self>;

    /// Reads `table`, which must not have keys other than the fields. Reports errors to `reader` and then
    /// returns `None`.
    fn read(table: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        reader.only_known(table, &Self::fields())?;
        Self::read_fields(table, reader)
    }
}

/// A type that a field can have.
pub trait FieldType: Sized {
    /// Returns the shape of the values.
    fn shape() -> Shape;

    /// Reads a value from `node`. Reports errors to `reader` and then returns `None`.
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self>;

    /// Returns the value of an optional field that is missing and has no default. Returns `None` if the field
    /// is required.
    fn absent() -> Option<Self> {
        None
    }

    /// Returns whether values can be compared with `bound`. The result is false for types without an order.
    fn takes_bound(_bound: Literal) -> bool {
        false
    }

    /// Compares the value with `bound`. Returns `None` if they cannot be compared.
    fn compare(&self, _bound: Literal) -> Option<Ordering> {
        None
    }
}

impl Field {
    /// Describes a field with values of type `T`. The derived code calls this.
    ///
    /// # Panics
    ///
    /// Panics if a bound is invalid for this type.
    #[must_use]
    pub fn of<T: FieldType>(self) -> Field {
        for bound in [self.min, self.max].into_iter().flatten() {
            assert!(
                T::takes_bound(bound),
                "{:?} is not a bound for {}: give {}",
                bound.plain(),
                self.name,
                self.shape.expected()
            );
        }
        self
    }
}

impl Reader<'_> {
    /// Reads the configuration `C` from `table`, whose configuration contains the fields of `C`. `uses`
    /// contains overrides of settings of `C`. The derived code calls this.
    pub fn flattened<C: Configuration>(&mut self, table: &Node, uses: &'static [Use]) -> Option<C> {
        self.uses.push(uses);
        let read = C::read_fields(table, self);
        self.uses.pop();
        read
    }

    /// Reads the value of `field` from `table`. The derived code calls this.
    pub fn field<T: FieldType>(&mut self, table: &Node, field: &Field) -> Option<T> {
        if self.uses.is_empty() {
            return self.plain_field(table, field);
        }
        // The overrides do not apply to tables inside the value.
        let uses = std::mem::take(&mut self.uses);
        let field = uses.iter().rev().fold(field.clone(), |field, uses| field.used(uses));
        let value = self.plain_field(table, &field.of::<T>());
        self.uses = uses;
        value
    }

    fn plain_field<T: FieldType>(&mut self, table: &Node, field: &Field) -> Option<T> {
        self.within(field.name, |reader| match (table.get(field.name), field.default) {
            (Some(node), _) => reader.bounded(field.with_default_kind(node).as_ref().unwrap_or(node), field),
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

    fn bounded<T: FieldType>(&mut self, node: &Node, field: &Field) -> Option<T> {
        if node.value == Value::Flag(false) && field.shape.can_be_off() {
            self.resolve_off(node);
            return T::absent();
        }
        if let Some(breach) = negative_problem(node, field) {
            self.out_of_range(node, &breach);
            return None;
        }
        let value = T::read(node, self)?;
        if let Some(breach) = bound_problem(&value, field) {
            self.out_of_range(node, &breach);
            return None;
        }
        if !holds_tables(&field.shape, node) {
            self.resolve(node, None);
        }
        Some(value)
    }

    fn out_of_range(&mut self, node: &Node, breach: &Breach) {
        let mut problem = self.problem(ErrorCode::OutOfRange, node, breach.problem);
        for (key, bound) in [("min", &breach.min), ("max", &breach.max)] {
            if let Some(bound) = bound {
                problem = problem.data(key, bound.clone());
            }
        }
        self.report(problem.remedy(&breach.remedy));
    }

    /// Reports an integer that is out of range for a field with this shape.
    fn out_of_type<T>(&mut self, node: &Node, is_negative: bool, shape: &Shape) -> Option<T> {
        let problem = if is_negative { "it is too small" } else { "it is too large" };
        let Shape::Integer { most } = *shape else { unreachable!("only whole numbers have such types") };
        let [min, max] = [0, most].map(|bound| Some(Datum::Integer(bound.into())));
        self.out_of_range(node, &Breach::new(problem, format!("use 0 to {most}"), min, max));
        None
    }
}

/// Returns `Some` if `node` is an integer outside the range of TOML integers, which the parser leaves as
/// text. The value states whether the integer is negative.
fn beyond_integers(node: &Node) -> Option<bool> {
    let text = node.text()?;
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text).replace('_', "");
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (is_whole && digits.parse::<i64>().is_err()).then(|| text.starts_with('-'))
}

/// Violation of the bounds of a field.
struct Breach {
    problem: &'static str,
    remedy: String,
    min: Option<Datum>,
    max: Option<Datum>,
}

impl Breach {
    fn new(problem: &'static str, remedy: String, min: Option<Datum>, max: Option<Datum>) -> Breach {
        Breach { problem, remedy, min, max }
    }
}

/// Converts a bound to error data: integers to numbers, and other values to text.
fn datum(bound: Literal) -> Datum {
    match bound {
        Literal::Integer(number) => Datum::Integer(number.into()),
        _ => Datum::Text(bound.plain()),
    }
}

/// Reads a configuration for which the value of `key` may replace the whole table: `"word"` is short for `{
/// key = "word" }`. The derived code calls this.
///
/// If an override sets another setting of a short form, `node` is a table whose `kind` is the word. The word
/// then becomes the value of `key`, and the other settings are kept.
pub fn read_short<C: Configuration>(key: &'static str, node: &Node, reader: &mut Reader<'_>) -> Option<C> {
    let full = |word: &Node, entries: &[(String, Node)]| {
        let mut full = Node::table(node.origin.clone());
        entries
            .iter()
            .filter(|(key, _)| key != "kind")
            .for_each(|(key, node)| full.insert(key, node.clone()));
        full.insert(key, word.clone());
        full
    };
    match (&node.value, node.get("kind")) {
        (Value::Text(_), _) => C::read(&full(node, &[]), reader),
        (Value::Table(entries), Some(word)) if node.get(key).is_none() => {
            C::read(&full(word, entries), reader)
        }
        (Value::Table(_), _) => C::read(node, reader),
        _ => reader.expected(node, &Shape::Short(key, C::fields)),
    }
}

/// Returns the kind in `node`, which must be one of `kinds`, and the table of its settings. `"word"` is short
/// for `{ kind = "word" }`. Reports errors to `reader` and then returns `None`. The derived code calls this.
pub fn read_kind(
    name: &'static str,
    kinds: &'static [Kind],
    node: &Node,
    reader: &mut Reader<'_>,
) -> Option<(&'static str, Node)> {
    let shape = Shape::Kinds(name, kinds);
    let word = match &node.value {
        Value::Table(_) => node.get("kind"),
        Value::Text(_) => Some(node),
        _ => return reader.expected(node, &shape),
    };
    let Some(word) = word else {
        let problem = reader.problem(ErrorCode::MissingSetting, node, "it has no `kind`");
        reader
            .report(problem.data("expected", shape.expected()).remedy(format!("give {}", shape.expected())));
        return None;
    };
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
    let kind = match &node.value {
        Value::Table(_) => reader.within("kind", |reader| reader.choice(word, &names)),
        _ => reader.choice(word, &names),
    }?;
    reader.within("kind", |reader| reader.resolve(word, None));
    let kind = kinds.iter().find(|known| known.name == kind).expect("it is one of their names");
    Some((kind.name, node.without(&["kind"])))
}

/// Returns whether a `node` with this shape consists of tables whose values are resolved individually.
fn holds_tables(shape: &Shape, node: &Node) -> bool {
    match shape {
        Shape::Slot(_) | Shape::Table(_) | Shape::Short(..) | Shape::Kinds(..) => true,
        Shape::CountOr(_) => whole(&node.value).is_none(),
        Shape::Optional(shape) | Shape::List(shape) => holds_tables(shape, node),
        _ => false,
    }
}

macro_rules! quantity_field {
    ($($type:ty),+) => {$(
        impl FieldType for $type {
            fn shape() -> Shape {
                Shape::Quantity { name: <$type>::NAME, wanted: <$type>::WANTED, units: <$type>::UNITS }
            }

            fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
                let plain = Self::shape().takes_plain_numbers();
                let text = match node.value {
                    Value::Text(ref text) => text.clone(),
                    Value::Integer(number) if plain => number.to_string(),
                    Value::Float(number) if !number.is_finite() => return reader.expected(node, &Self::shape()),
                    Value::Float(number) if plain => format!("{number}"),
                    Value::Integer(_) | Value::Float(_) => {
                        let wanted = <$type as Quantity>::WANTED;
                        let problem = reader.problem(ErrorCode::NeedsUnit, node, "it has no unit");
                        reader.report(problem.data("expected", wanted).remedy(format!("write {wanted} in quotes")));
                        return None;
                    }
                    _ => return reader.expected(node, &Self::shape()),
                };
                match <$type as Quantity>::parse(&text) {
                    Ok(quantity) => Some(quantity),
                    Err(error) => {
                        let mut problem = reader.problem(error.code, node, &error.problem);
                        if error.code.keys().contains(&"expected") {
                            problem = problem.data("expected", error.wanted);
                        }
                        reader.report(problem.remedy(format!("write {}", error.wanted)));
                        None
                    }
                }
            }

            fn takes_bound(bound: Literal) -> bool {
                <$type as Quantity>::parse(&bound.plain()).is_ok()
            }

            fn compare(&self, bound: Literal) -> Option<Ordering> {
                let bound = <$type as Quantity>::parse(&bound.plain()).ok()?;
                self.partial_cmp(&bound)
            }
        }
    )+};
}

quantity_field!(Time, Bytes, Ratio, Rate, Bandwidth, Energy, Power, Price, Area, BitArea);

macro_rules! integer_field {
    ($($type:ty),+) => {$(
        impl FieldType for $type {
            fn shape() -> Shape {
                // Integers in TOML are at most i64::MAX, even if the type has larger values.
                Shape::Integer { most: i64::try_from(<$type>::MAX).unwrap_or(i64::MAX) }
            }

            fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
                let Some(number) = whole(&node.value) else {
                    return match beyond_integers(node) {
                        Some(is_negative) => reader.out_of_type(node, is_negative, &Self::shape()),
                        None => reader.expected(node, &Self::shape()),
                    };
                };
                let fits = <$type>::try_from(number).ok();
                if fits.is_none() {
                    reader.out_of_type::<Self>(node, number < 0, &Self::shape());
                }
                fits
            }

            fn takes_bound(bound: Literal) -> bool {
                matches!(bound, Literal::Integer(_))
            }

            fn compare(&self, bound: Literal) -> Option<Ordering> {
                let Literal::Integer(bound) = bound else { return None };
                Some(i128::from(*self).cmp(&i128::from(bound)))
            }
        }
    )+};
}

integer_field!(u32, u64);

/// Parses an integer such as `1000`, `1e3`, or `"1k"`. [`PREFIXES`] lists the suffixes.
pub(crate) fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(number) => Some(*number),
        // Floats represent every whole number up to this limit exactly.
        Value::Float(number) if number.fract() == 0.0 && number.abs() <= 9e15 => Some(*number as i64),
        Value::Text(text) => {
            let (number, factor) = PREFIXES.iter().find_map(|&(prefix, factor)| {
                text.strip_suffix(prefix).map(|number| (number.trim_end(), factor))
            })?;
            Decimal::parse(number)?.times_exactly(factor)?.try_into().ok()
        }
        _ => None,
    }
}

/// Suffixes of integers, each with its factor.
const PREFIXES: [(&str, u64); 4] =
    [("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000), ("T", 1_000_000_000_000)];

impl FieldType for f64 {
    fn shape() -> Shape {
        Shape::Float
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<f64> {
        match node.value {
            Value::Float(number) if number.is_finite() => Some(number),
            Value::Integer(number) => Some(number as f64),
            _ => reader.expected(node, &Shape::Float),
        }
    }

    fn takes_bound(bound: Literal) -> bool {
        float_bound(bound).is_some()
    }

    fn compare(&self, bound: Literal) -> Option<Ordering> {
        self.partial_cmp(&float_bound(bound)?)
    }
}

fn float_bound(bound: Literal) -> Option<f64> {
    match bound {
        Literal::Float(bound) => Some(bound),
        Literal::Integer(bound) => Some(bound as f64),
        _ => None,
    }
}

impl FieldType for bool {
    fn shape() -> Shape {
        Shape::Flag
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<bool> {
        match node.value {
            Value::Flag(flag) => Some(flag),
            _ => reader.expected(node, &Shape::Flag),
        }
    }
}

impl FieldType for String {
    fn shape() -> Shape {
        Shape::Text
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<String> {
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            _ => reader.expected(node, &Shape::Text),
        }
    }
}

impl<T: FieldType> FieldType for Option<T> {
    fn shape() -> Shape {
        Shape::Optional(Box::new(T::shape()))
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Option<T>> {
        T::read(node, reader).map(Some)
    }

    fn absent() -> Option<Option<T>> {
        Some(None)
    }

    fn takes_bound(bound: Literal) -> bool {
        T::takes_bound(bound)
    }

    fn compare(&self, bound: Literal) -> Option<Ordering> {
        self.as_ref().and_then(|value| value.compare(bound))
    }
}

impl<T: FieldType> FieldType for Vec<T> {
    fn shape() -> Shape {
        Shape::List(Box::new(T::shape()))
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Vec<T>> {
        if !matches!(node.value, Value::List(_)) && matches!(T::shape(), Shape::Table(_)) {
            let remedy = format!("write [[{}]] with two brackets", reader.path());
            let problem = match node.value {
                Value::Table(_) => "it is one table; several are allowed here".into(),
                _ => format!("it is {}", node.kind_name()),
            };
            let problem = reader.problem(ErrorCode::WrongType, node, &problem);
            reader.report(problem.data("expected", Self::shape().expected()).remedy(remedy));
            return None;
        }
        let Value::List(nodes) = &node.value else { return reader.expected(node, &Self::shape()) };
        if nodes.is_empty() {
            reader.wrong(ErrorCode::InvalidValue, node, "the list is empty", "give at least one entry");
            return None;
        }
        let entries: Vec<Option<T>> = nodes
            .iter()
            .enumerate()
            .map(|(index, node)| reader.within(&format!("[{index}]"), |reader| T::read(node, reader)))
            .collect();
        entries.into_iter().collect()
    }
}

/// Returns the error for a negative number in an integer field. Returns `None` if the number is not
/// negative, or if the field has no bounds.
fn negative_problem(node: &Node, field: &Field) -> Option<Breach> {
    let shape = if let Shape::Optional(shape) = &field.shape { shape } else { &field.shape };
    if !matches!(shape, Shape::Integer { .. }) || whole(&node.value)? >= 0 {
        return None;
    }
    let (remedy, min, max) = match (field.min, field.max) {
        (Some(Literal::Integer(min)), max) => (format!("the smallest allowed is {min}"), min, max),
        (_, Some(Literal::Integer(max))) => (format!("use 0 to {max}"), 0, field.max),
        _ => return None,
    };
    Some(Breach::new("it is too small", remedy, Some(Datum::Integer(min.into())), max.map(datum)))
}

/// Returns the error for a value that violates a bound, if any.
fn bound_problem<T: FieldType>(value: &T, field: &Field) -> Option<Breach> {
    let breach = |problem, remedy| {
        let [min, max] = [field.min, field.max].map(|bound| bound.map(datum));
        Some(Breach::new(problem, remedy, min, max))
    };
    if let Some(min) = field.min
        && value.compare(min) == Some(Ordering::Less)
    {
        return breach("it is too small", format!("the smallest allowed is {}", min.plain()));
    }
    if let Some(max) = field.max
        && value.compare(max) == Some(Ordering::Greater)
    {
        return breach("it is too large", format!("the largest allowed is {}", max.plain()));
    }
    None
}

/// Returns the error for a missing field.
fn missing_problem(path: &str, table: &Node, field: &Field) -> Problem {
    let expected = field.shape.expected();
    Problem::new(ErrorCode::MissingSetting, path, Some(&table.origin), "it is missing")
        .remedy(format!("give {expected}"))
        .data("expected", expected)
}
