//! Identity of the device in an image: settings of the stack, seed, and model versions.

use crate::{Checked, Files};
use nacre_config::{Node, Resolved, Value};
use nacre_kernel::units::Quantity;
use nacre_kernel::{Bytes, Ratio, Time};

/// Returns lines `path = value` for everything that determines the device of `checked`: settings of the
/// stack, model version of each component, and seed. The workload and the run settings have no effect.
pub fn identity(checked: &Checked) -> String {
    of_stack(&checked.resolved, checked.run.seed)
}

/// Like [`identity`], with the content of every file that the stack reads. Images store this text, because
/// before its first checkpoint an image has no state to compare. Unreadable files are reported when the stack
/// is built.
pub fn identity_with_files(checked: &Checked, files: &dyn Files) -> String {
    let mut lines = vec![identity(checked)];
    let stack = checked.resolved.iter().filter(|resolved| resolved.path.starts_with("stack."));
    for Resolved { path, node, .. } in stack.filter(|resolved| resolved.path.ends_with(".file")) {
        let text = node.text().and_then(|file| files.text(file).ok());
        lines
            .extend(text.map(|text| format!("content of {path} = {:08x}", crc32fast::hash(text.as_bytes()))));
    }
    lines.join("\n")
}

fn of_stack(resolved: &[Resolved], seed: u64) -> String {
    let mut lines = of_settings(resolved, "stack.");
    lines.push(format!("run.seed = {seed}"));
    lines.join("\n")
}

/// Returns lines `path = value` for the settings whose paths start with `beginning`, and for the versions of
/// their models.
pub(crate) fn settings_of(checked: &Checked, beginning: &str) -> Vec<String> {
    of_settings(&checked.resolved, beginning)
}

fn of_settings(resolved: &[Resolved], beginning: &str) -> Vec<String> {
    // A preset only abbreviates settings, which are all listed, and the currency has no effect on the device.
    let decides = |path: &str| {
        path.starts_with(beginning) && !path.ends_with(".preset") && !path.ends_with(".price_basis")
    };
    let mut lines = Vec::new();
    // A setting that was switched off counts as absent.
    let given = resolved.iter().filter(|resolved| !resolved.is_off && decides(&resolved.path));
    for Resolved { path, node, model_version, .. } in given {
        match &node.value {
            Value::List(nodes) if !nodes.is_empty() => {
                let placed = nodes.iter().enumerate();
                lines.extend(placed.map(|(place, node)| format!("{path}[{place}] = {}", canonical(node))));
            }
            _ => lines.push(format!("{path} = {}", canonical(node))),
        }
        if let (Some(version), Some(model)) = (model_version, path.strip_suffix(".kind")) {
            lines.push(format!("version of the model of {model} = {version}"));
        }
    }
    lines
}

/// Returns the value in canonical form, so that 1 KiB equals 1024 B.
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

#[cfg(test)]
mod tests;
