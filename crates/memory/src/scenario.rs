//! Scenarios of which only the stack is used, and not the workload.

use nacre_config::Node;
use nacre_machine::{Checked, Document, Problems};

/// Workload for a scenario that has none. This workload is never run.
const PLACEHOLDER: &str = "{ kind = \"uniform\", requests = 1_000_000_000, footprint = \"4 KiB\" }";

/// Reads and checks a scenario, whose workload is optional. Returns all errors together.
pub fn check(document: &Document<'_>) -> Result<Checked, Problems> {
    let names_workload = Node::parse_toml(document.text, document.name)?.get("workload").is_some();
    let mut overrides = document.overrides.to_vec();
    if !names_workload && !overrides.iter().any(|(path, _)| path.starts_with("workload")) {
        overrides.push(("workload".into(), PLACEHOLDER.into()));
    }
    nacre_machine::check(&Document { overrides: &overrides, ..*document })
}
