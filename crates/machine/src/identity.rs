//! Which device an image holds: the settings of the stack, the seed and the version of the model.

use crate::Checked;
use crate::rooms::Rooms;
use nacre_config::{Families, Node, Value};
use nacre_kernel::units::Quantity;
use nacre_kernel::{Bytes, Ratio, Time};

/// Lines `key = value` of everything that decides what the device of `checked` does. Neither the workload nor
/// how a scenario is run has a part in it.
pub fn identity(checked: &Checked) -> String {
    let mut lines = settings_of(checked, "stack.");
    let kind = checked.scenario.stack.kind();
    let descriptor = Rooms::new().descriptor("device", kind).expect("the scenario was checked");
    lines.push(format!("run.seed = {}", checked.run.seed));
    lines.push(format!("version of the model of {kind} = {}", descriptor.model_version));
    lines.join("\n")
}

/// Lines `key = value` of the settings whose paths begin with `beginning`.
pub(crate) fn settings_of(checked: &Checked, beginning: &str) -> Vec<String> {
    let settings = checked.resolved.iter().filter(|resolved| resolved.path.starts_with(beginning));
    // A preset is a way to write settings, and they are all here; what money is counted in decides nothing.
    let is_left_out = |path: &str| path.ends_with(".preset") || path.ends_with(".price_basis");
    let settings = settings.filter(|resolved| !is_left_out(&resolved.path));
    settings.map(|resolved| format!("{} = {}", resolved.path, canonical(&resolved.node))).collect()
}

/// The value in one way of writing it, so that 1 KiB is 1024 B.
fn canonical(node: &Node) -> String {
    let Value::Text(text) = &node.value else { return one_line(&node.to_string()) };
    let bytes = Bytes::parse(text).map(|bytes| bytes.to_string());
    let time = || Time::parse(text).map(|time| time.to_string());
    let ratio = || Ratio::parse(text).map(|ratio| ratio.0.to_string());
    bytes.or_else(|_| time()).or_else(|_| ratio()).unwrap_or_else(|_| one_line(text))
}

fn one_line(text: &str) -> String {
    text.escape_default().to_string()
}
