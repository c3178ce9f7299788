//! Presets: catalog settings that serve as defaults for the settings of a scenario.

use crate::catalog;
use nacre_config::problem::nearest;
use nacre_config::{ErrorCode, Node, Problem, Value};
use std::collections::BTreeMap;

/// Settings of catalog entries, each read on first use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Presets {
    read: BTreeMap<String, Node>,
}

impl Presets {
    /// Merges the catalog entries that `node`, the table at `path`, and its nested tables name into these
    /// tables. Settings of the user have priority.
    pub(crate) fn apply(&mut self, node: &mut Node, path: &str, problems: &mut Vec<Problem>) {
        if let Some(preset) = node.get("preset").cloned() {
            match preset.text().map(|name| (name, self.settings(name))) {
                Some((_, Some(settings))) => merge_under(node, settings),
                Some((name, None)) => problems.push(unknown_preset(path, name, &preset)),
                None => problems.push(
                    Problem::new(
                        ErrorCode::WrongType,
                        &format!("{path}.preset"),
                        Some(&preset.origin),
                        "it is not a name",
                    )
                    .given(preset.brief())
                    .remedy("give the name of a catalog entry; `nacre catalog` lists them"),
                ),
            }
        }
        match &mut node.value {
            Value::Table(entries) => {
                for (key, node) in entries {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    self.apply(node, &path, problems);
                }
            }
            Value::List(nodes) => {
                for (index, node) in nodes.iter_mut().enumerate() {
                    self.apply(node, &format!("{path}[{index}]"), problems);
                }
            }
            _ => {}
        }
    }

    /// Returns the settings of the entry with this name, or `None` if there is no such entry or it has no
    /// settings.
    fn settings(&mut self, name: &str) -> Option<&Node> {
        if !self.read.contains_key(name) {
            let entry = catalog::find(name).filter(|entry| entry.family != catalog::ROADMAP)?;
            self.read.insert(name.into(), entry.settings);
        }
        self.read.get(name)
    }
}

fn unknown_preset(path: &str, name: &str, preset: &Node) -> Problem {
    let entries = catalog::entries();
    let settings = entries.iter().filter(|entry| entry.family != catalog::ROADMAP);
    let names: Vec<&str> = settings.map(|entry| entry.name).collect();
    let nearest = nearest(name, names.iter().copied());
    let hint = nearest.map_or_else(String::new, |name| format!("did you mean \"{name}\"? "));
    Problem::new(
        ErrorCode::UnknownName,
        &format!("{path}.preset"),
        Some(&preset.origin),
        "there is no such catalog entry",
    )
    .given(preset.brief())
    .known_data(name, &names)
    .remedy(format!("{hint}known: {}", names.join(", ")))
}

/// Adds the settings of `below` that `node` lacks. Nested tables are merged in the same manner.
fn merge_under(node: &mut Node, below: &Node) {
    let Value::Table(entries) = &below.value else { return };
    for (key, value) in entries {
        match (node.get(key).map(|mine| &mine.value), &value.value) {
            (None, _) => node.insert(key, value.clone()),
            // If the user selected another kind, the settings of the preset's kind do not apply.
            (Some(Value::Table(_)), Value::Table(_)) => {
                let mut mine = node.get(key).cloned().expect("just found");
                let chose = |node: &Node| node.get("kind").or_else(|| node.get("preset")).is_some();
                if !chose(&mine) {
                    merge_under(&mut mine, value);
                    node.insert(key, mine);
                }
            }
            _ => {}
        }
    }
}
