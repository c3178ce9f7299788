//! The catalog and the models, as JSON text.

use nacre_config::{Node, Origin, Value};
use nacre_machine::catalog as shipped;
use nacre_machine::record::value_origin;
use nacre_machine::schema;
use pyo3::prelude::*;
use serde_json::json;

/// Returns the catalog as JSON: every entry with every number and its source.
#[pyfunction]
pub(crate) fn catalog() -> String {
    let entries: Vec<_> = shipped::entries()
        .iter()
        .map(|entry| {
            let mut values = Vec::new();
            flatten(&entry.settings, "", &mut values);
            let kind = entry.settings.get("kind").and_then(Node::text).unwrap_or_default();
            json!({
                "name": entry.name,
                "family": entry.family,
                "kind": kind,
                "summary": entry.summary,
                "values": values,
            })
        })
        .collect();
    json!(entries).to_string()
}

/// Returns the name, summary, and TOML text of each built-in scenario.
#[pyfunction]
pub(crate) fn shipped_scenarios() -> Vec<(String, String, String)> {
    let summary = |text: &str, name: &str| {
        let node = Node::parse_toml(text, name).ok();
        node.as_ref().and_then(|node| node.get("summary")?.text().map(String::from)).unwrap_or_default()
    };
    shipped::scenarios()
        .into_iter()
        .map(|scenario| (scenario.name.into(), summary(scenario.text, scenario.name), scenario.text.into()))
        .collect()
}

/// Returns every family, component, and field as JSON.
#[pyfunction]
pub(crate) fn models() -> String {
    schema::models_description().to_string()
}

/// Returns the JSON Schema of records if `records` is set, and of scenarios otherwise.
#[pyfunction]
pub(crate) fn schema_of(records: bool) -> String {
    let schema = if records { schema::record_schema() } else { schema::scenario_schema() };
    schema.to_string()
}

/// Returns every trace format as JSON.
#[pyfunction]
pub(crate) fn formats() -> String {
    let formats: Vec<_> = nacre_workload::trace::FORMATS
        .iter()
        .map(|format| {
            json!({
                "kind": format.kind,
                "summary": format.summary,
                "extensions": format.extensions,
                "time_unit": format.time_unit.map(|unit| unit.name()),
                "writable": format.create.is_some(),
            })
        })
        .collect();
    json!(formats).to_string()
}

/// Appends the values of an entry to `into`, each with its path and source. Tables are flattened.
fn flatten(node: &Node, path: &str, into: &mut Vec<serde_json::Value>) {
    match &node.value {
        Value::Table(entries) => {
            for (key, node) in entries.iter().filter(|(key, _)| !(path.is_empty() && key == "kind")) {
                flatten(node, &if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, into);
            }
        }
        _ => {
            let resolved = nacre_config::Resolved {
                path: path.into(),
                node: node.clone(),
                model_version: None,
                is_off: false,
            };
            let origin = value_origin(&resolved);
            let (source, confidence) = match node.origin {
                Origin::Catalog { .. } => (origin.source, origin.confidence),
                _ => (String::new(), String::new()),
            };
            into.push(json!({
                "path": path, "value": origin.value, "source": source, "confidence": confidence,
            }));
        }
    }
}
