//! The resolved scenario: every used value with its origin.

use super::ValueOrigin;
use nacre_config::{Node, Origin, Resolved, Value};

/// Returns the resolved values as one nested JSON document.
pub fn resolved_json(resolved: &[Resolved]) -> serde_json::Value {
    let mut root = serde_json::Value::Object(serde_json::Map::new());
    for value in resolved {
        let mut here = &mut root;
        for step in value.path.replace('[', ".[").split('.') {
            here = match step.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                Some(index) => list_place(here, index.parse().expect("an index")),
                None => table_place(here, step),
            };
        }
        *here = json(&value.node);
    }
    root
}

fn list_place(here: &mut serde_json::Value, index: usize) -> &mut serde_json::Value {
    if !here.is_array() {
        *here = serde_json::Value::Array(Vec::new());
    }
    let list = here.as_array_mut().expect("made an array above");
    if list.len() <= index {
        list.resize(index + 1, serde_json::Value::Null);
    }
    &mut list[index]
}

fn table_place<'a>(here: &'a mut serde_json::Value, key: &str) -> &'a mut serde_json::Value {
    if !here.is_object() {
        *here = serde_json::Value::Object(serde_json::Map::new());
    }
    here.as_object_mut().expect("made an object above").entry(key).or_insert(serde_json::Value::Null)
}

/// Converts a leaf value to JSON.
pub(crate) fn json(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Text(text) => text.as_str().into(),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Flag(flag) => (*flag).into(),
        Value::List(nodes) => nodes.iter().map(json).collect(),
        Value::Table(entries) => {
            serde_json::Value::Object(entries.iter().map(|(key, node)| (key.clone(), json(node))).collect())
        }
    }
}

/// Returns a resolved value with its origin.
pub fn value_origin(resolved: &Resolved) -> ValueOrigin {
    let origin = &resolved.node.origin;
    let (from, source, confidence) = match origin {
        Origin::File { .. } => ("file", String::new(), String::new()),
        Origin::Override(_) => ("override", String::new(), String::new()),
        Origin::Catalog { source, confidence, .. } => ("catalog", source.to_string(), confidence.to_string()),
        Origin::Default(source) => {
            let (confidence, source) = source.split_once(':').unwrap_or(("assumed", source));
            ("default", source.trim().to_string(), confidence.trim().to_string())
        }
    };
    let place = match origin {
        Origin::Default(_) => String::new(),
        origin => origin.place(),
    };
    ValueOrigin { path: resolved.path.clone(), value: json(&resolved.node), from, place, source, confidence }
}
