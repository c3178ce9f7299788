//! Catalog entries and scenarios that Nacre ships.
//!
//! Every file of `catalog/` and `scenarios/` is compiled into the binary.

use nacre_config::{Node, Value};

include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// Family of the catalog entries that are technology projections and not settings.
pub const ROADMAP: &str = "roadmap";

/// A catalog entry: settings that a scenario uses with `preset = "name"`.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name that a scenario uses for the entry.
    pub name: &'static str,
    /// Family of the entry.
    pub family: &'static str,
    /// Summary of the entry in one line.
    pub summary: String,
    /// Settings of the entry, each with its source.
    pub settings: Node,
}

/// Returns all entries, ordered by family and name. Panics if a built-in file is invalid; a test reads every
/// file.
pub fn entries() -> Vec<Entry> {
    texts().map(|(family, name, text)| entry(family, name, text)).collect()
}

/// Returns the entry with this name. Reads only that entry, because each point of a study looks up its
/// entries, thousands of times in total.
pub fn find(name: &str) -> Option<Entry> {
    texts().find(|&(_, called, _)| called == name).map(|(family, name, text)| entry(family, name, text))
}

/// Returns the family, name, and text of all entries.
fn texts() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let families =
        [("device", CATALOG_DEVICES), ("workload", CATALOG_WORKLOADS), (ROADMAP, CATALOG_ROADMAPS)];
    families
        .into_iter()
        .flat_map(|(family, files)| files.iter().map(move |&(name, text)| (family, name, text)))
}

/// Returns the name and text of every device in the catalog.
#[cfg(test)]
pub(crate) fn device_texts() -> &'static [(&'static str, &'static str)] {
    CATALOG_DEVICES
}

/// A built-in scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// Name by which `nacre run` finds the scenario.
    pub name: &'static str,
    /// The TOML text.
    pub text: &'static str,
}

/// Returns all built-in scenarios, ordered by name.
pub fn scenarios() -> Vec<Shipped> {
    SCENARIOS.iter().map(|&(name, text)| Shipped { name, text }).collect()
}

fn entry(family: &'static str, name: &'static str, text: &str) -> Entry {
    let mut settings =
        Node::parse_toml(text, name).unwrap_or_else(|problems| panic!("catalog entry {name}: {problems}"));
    let summary = settings.get("summary").and_then(Node::text).unwrap_or_default().to_string();
    if let Value::Table(entries) = &mut settings.value {
        entries.retain(|(key, _)| key != "summary");
    }
    Entry { name, family, summary, settings }
}
