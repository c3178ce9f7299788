//! Schemas and descriptions generated from the settings of all components: the JSON Schema of a scenario, and
//! the description from which Python classes and the model reference are generated.

use crate::models::{FamilyDescriptor, families, kinds};
use crate::record::Record;
use crate::scenario::{RunConfig, Scenario};
use nacre_config::{Configuration, Descriptor, Field, Literal, Shape};
use serde_json::{Map, Value, json};

/// Returns the JSON Schema (2020-12) of a scenario, for editors.
pub fn scenario_schema() -> Value {
    let mut definitions = Map::new();
    for family in families() {
        let models: Vec<Value> = family
            .descriptors
            .iter()
            .map(|descriptor| json!({ "$ref": definition_ref(family.name, descriptor.kind) }))
            .collect();
        let kinds: Vec<&str> = family.descriptors.iter().map(|descriptor| descriptor.kind).collect();
        let mut choices = vec![
            json!({ "type": "string", "description": "the kind alone, with its defaults" }),
            json!({ "type": "object", "required": ["preset"], "properties": { "preset": { "type": "string" } } }),
        ];
        choices.extend(models);
        definitions.insert(
            family.name.into(),
            json!({ "description": family.summary, "examples": kinds, "anyOf": choices }),
        );
        for descriptor in &family.descriptors {
            definitions.insert(format!("{}.{}", family.name, descriptor.kind), model_schema(descriptor));
        }
    }
    for (name, kinds) in kinds() {
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
        let mut choices = vec![json!({ "enum": names, "description": "the kind alone, with its defaults" })];
        for kind in kinds {
            choices.push(json!({ "$ref": definition_ref(name, kind.name) }));
            let schema = with_kind(table_schema(kind.summary(), &(kind.fields)()), kind.name);
            definitions.insert(format!("{name}.{}", kind.name), schema);
        }
        definitions.insert(name.into(), json!({ "examples": names, "anyOf": choices }));
    }
    let mut root = table_schema(Scenario::DOC, &Scenario::fields());
    let object = root.as_object_mut().expect("a table schema is an object");
    object.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    object.insert("title".into(), json!("Nacre scenario"));
    object.insert("$defs".into(), Value::Object(definitions));
    root
}

/// Returns the JSON Schema of a record.
pub fn record_schema() -> Value {
    schemars::schema_for!(Record).to_value()
}

/// Returns all families, components, and fields as JSON, from which Python classes and the model reference
/// are generated.
pub fn models_description() -> Value {
    let scenario = json!({
        "doc": Scenario::DOC,
        "fields": fields_description(&Scenario::fields()),
        "run": { "doc": RunConfig::DOC, "fields": fields_description(&RunConfig::fields()) },
    });
    let families: Vec<Value> = families().iter().map(family_description).collect();
    json!({ "scenario": scenario, "families": families })
}

fn family_description(family: &FamilyDescriptor) -> Value {
    let models: Vec<Value> =
        family.descriptors.iter().map(|descriptor| model_description(descriptor)).collect();
    json!({ "name": family.name, "summary": family.summary, "models": models })
}

fn model_description(descriptor: &Descriptor) -> Value {
    json!({
        "kind": descriptor.kind,
        "summary": descriptor.summary,
        "sources": descriptor.sources,
        "model_version": descriptor.model_version,
        "doc": module_doc(descriptor.doc),
        "fields": fields_description(&(descriptor.fields)()),
    })
}

/// Returns the text of the `//!` lines in a component's source text.
fn module_doc(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

fn fields_description(fields: &[Field]) -> Vec<Value> {
    fields
        .iter()
        .map(|field| {
            let mut described = json!({
                "name": field.name,
                "doc": field.doc,
                "required": field.is_required(),
                "default": field.default.map(literal_json),
                "source": field.source,
                "min": field.min.map(Literal::plain),
                "max": field.max.map(Literal::plain),
            });
            described["shape"] = shape_description(&field.shape);
            described
        })
        .collect()
}

fn shape_description(shape: &Shape) -> Value {
    match shape {
        Shape::Quantity { name, units, .. } => json!({ "is": "quantity", "of": name, "units": units }),
        Shape::Integer { .. } => json!({ "is": "integer" }),
        Shape::Float => json!({ "is": "number" }),
        Shape::Flag => json!({ "is": "flag" }),
        Shape::Text | Shape::Form { .. } => json!({ "is": "text" }),
        Shape::Choice(words) => {
            let words: Vec<Value> =
                words.iter().map(|(word, doc)| json!({ "word": word, "doc": doc })).collect();
            json!({ "is": "choice", "words": words })
        }
        Shape::Slot(family) => json!({ "is": "slot", "family": family }),
        Shape::CountOr(family) => json!({ "is": "count_or", "family": family }),
        Shape::Kinds(name, kinds) => {
            let described = kinds.iter().map(|kind| {
                let fields = fields_description(&(kind.fields)());
                json!({ "kind": kind.name, "doc": kind.doc, "fields": fields })
            });
            json!({ "is": "kinds", "name": name, "kinds": described.collect::<Vec<Value>>() })
        }
        Shape::List(shape) => json!({ "is": "list", "of": shape_description(shape) }),
        Shape::Table(fields) => json!({ "is": "table", "fields": fields_description(&fields()) }),
        Shape::Short(key, fields) => {
            json!({ "is": "table", "short": key, "fields": fields_description(&fields()) })
        }
        Shape::Optional(shape) => json!({ "is": "optional", "of": shape_description(shape) }),
    }
}

fn definition_ref(family: &str, kind: &str) -> String {
    format!("#/$defs/{family}.{kind}")
}

fn model_schema(descriptor: &Descriptor) -> Value {
    let schema = table_schema(descriptor.summary, &(descriptor.fields)());
    let mut schema = with_kind(schema, descriptor.kind);
    let properties = schema["properties"].as_object_mut().expect("a table schema has properties");
    properties.insert("preset".into(), json!({ "type": "string" }));
    schema
}

/// Adds the setting `kind` with the value `kind` to the schema of a table.
fn with_kind(mut schema: Value, kind: &str) -> Value {
    let properties = schema["properties"].as_object_mut().expect("a table schema has properties");
    properties.insert("kind".into(), json!({ "const": kind }));
    let required = schema["required"].as_array_mut().expect("a table schema lists what is required");
    required.insert(0, "kind".into());
    schema
}

fn table_schema(doc: &str, fields: &[Field]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in fields {
        let mut schema = shape_schema(&field.shape);
        let object = schema.as_object_mut().expect("a shape's schema is an object");
        object.insert("description".into(), field.doc.into());
        if let Some(default) = field.default {
            object.insert("default".into(), literal_json(default));
        }
        let shape = match &field.shape {
            Shape::Optional(shape) => shape.as_ref(),
            shape => shape,
        };
        if matches!(shape, Shape::Integer { .. } | Shape::Float) {
            for (key, bound) in [("minimum", field.min), ("maximum", field.max)] {
                object.extend(bound.map(|bound| (key.to_string(), literal_json(bound))));
            }
        }
        if field.is_required() {
            required.push(Value::from(field.name));
        }
        properties.insert(field.name.into(), schema);
    }
    json!({
        "description": doc,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// Returns a regular expression for a unit. For the prefix micro, the expression matches `u` and both micro
/// characters.
fn unit_pattern(unit: &str) -> String {
    let unit = unit.replace('/', "\\/");
    unit.strip_prefix('u').map_or_else(|| unit.clone(), |rest| format!("[u\u{b5}\u{3bc}]{rest}"))
}

fn shape_schema(shape: &Shape) -> Value {
    match shape {
        Shape::Quantity { wanted, units, .. } => {
            let units: Vec<String> = units.iter().map(|unit| unit_pattern(unit)).collect();
            let number = "([0-9][0-9_]*(\\.[0-9_]*)?|\\.[0-9][0-9_]*)([eE][-+]?[0-9]+)?";
            let pattern = format!("^\\s*{number}\\s*({})\\s*$", units.join("|"));
            let text = json!({ "type": "string", "pattern": pattern });
            if shape.takes_plain_numbers() {
                json!({ "anyOf": [text, { "type": "number", "minimum": 0 }], "title": wanted })
            } else {
                json!({ "type": "string", "pattern": pattern, "title": wanted })
            }
        }
        Shape::Form { wanted, pattern } => json!({ "type": "string", "pattern": pattern, "title": wanted }),
        Shape::Integer { most: i64::MAX } => json!({ "type": "integer", "minimum": 0 }),
        Shape::Integer { most } => json!({ "type": "integer", "minimum": 0, "maximum": most }),
        Shape::Float => json!({ "type": "number" }),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Text => json!({ "type": "string" }),
        Shape::Choice(words) => {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            json!({ "enum": words })
        }
        Shape::Slot(name) | Shape::Kinds(name, _) => json!({ "$ref": format!("#/$defs/{name}") }),
        Shape::CountOr(family) => json!({
            "anyOf": [
                { "type": "integer", "minimum": 0 },
                { "$ref": format!("#/$defs/{family}") },
            ],
        }),
        Shape::List(shape) => json!({ "type": "array", "items": shape_schema(shape), "minItems": 1 }),
        Shape::Table(fields) => table_schema("", &fields()),
        Shape::Short(key, fields) => json!({
            "anyOf": [shape_schema(&Shape::short(key, *fields).shape), table_schema("", &fields())],
        }),
        optional @ Shape::Optional(shape) if optional.can_be_off() => {
            json!({ "anyOf": [shape_schema(shape), { "const": false }] })
        }
        Shape::Optional(shape) => shape_schema(shape),
    }
}

fn literal_json(literal: Literal) -> Value {
    match literal {
        Literal::Text(text) => text.into(),
        Literal::Integer(number) => number.into(),
        Literal::Float(number) => number.into(),
        Literal::Flag(flag) => flag.into(),
    }
}
