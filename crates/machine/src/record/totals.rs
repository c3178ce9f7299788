//! Totals of a record, and the components that the totals exclude.

use super::Component;
use crate::host::KIND as HOST;
use crate::models::Models;
use crate::scenario::Checked;
use nacre_config::{Descriptor, Families, Field, Shape, Value};
use nacre_kernel::ComponentReport;
use std::collections::BTreeMap;

/// Key of [`Cost::by_basis`] for prices without a stated currency.
const NOT_STATED: &str = "not stated";

/// The cost of a stack.
pub(super) struct Cost {
    /// Total cost, or `None` if no cost is known or if prices are in several currencies.
    pub(super) sum: Option<f64>,
    /// Currency of the total, if stated.
    pub(super) basis: Option<String>,
    /// Total cost by currency.
    pub(super) by_basis: BTreeMap<String, f64>,
}

/// Returns the currency of the price of the device at `path`, if the scenario states it.
pub fn price_basis<'a>(checked: &'a Checked, path: &str) -> Option<&'a str> {
    let wanted = |resolved: &&nacre_config::Resolved| {
        resolved.path.strip_suffix(".price_basis").is_some_and(|device| device == path)
    };
    match &checked.resolved.iter().find(wanted)?.node.value {
        Value::Text(basis) => Some(basis),
        _ => None,
    }
}

/// Sums the costs of `components` by currency. Omits components without a cost.
pub(super) fn cost(components: &[Component]) -> Cost {
    let mut by_basis: BTreeMap<String, f64> = BTreeMap::new();
    let mut basis = None;
    for component in components {
        let Some(cost) = component.cost else { continue };
        if cost == 0.0 && component.cost_basis.is_none() {
            continue;
        }
        basis.clone_from(&component.cost_basis);
        let key = component.cost_basis.clone().unwrap_or_else(|| NOT_STATED.into());
        *by_basis.entry(key).or_default() += cost;
    }
    let is_one = by_basis.len() <= 1;
    let known = components.iter().filter_map(|component| component.cost);
    let sum = known.reduce(|sum, cost| sum + cost).filter(|_| is_one);
    Cost { sum, basis: basis.filter(|_| is_one), by_basis }
}

/// Returns the devices in `reports`, i.e. the components without children, except the host. `reports` lists
/// parents before children.
pub(super) fn devices(reports: &[ComponentReport]) -> impl Iterator<Item = &ComponentReport> {
    let has_children = |index: usize| {
        let own: &str = &reports[index].path;
        let next = reports.get(index + 1).and_then(|next| next.path.strip_prefix(own));
        next.is_some_and(|rest| rest.starts_with('.'))
    };
    reports
        .iter()
        .enumerate()
        .filter(move |&(index, report)| report.kind != HOST && !has_children(index))
        .map(|(_, report)| report)
}

/// Returns the paths of the devices whose energy is not modeled, and of energy and power settings that are
/// not set.
pub(super) fn energy_unknown(checked: &Checked, reports: &[ComponentReport]) -> Vec<String> {
    let missing = |report: &ComponentReport| {
        if report.is_energy_modeled { energies_not_given(checked, report) } else { vec![report.path.clone()] }
    };
    let without_children: Vec<&ComponentReport> = devices(reports).collect();
    // A cache with separate memory also counts as a device.
    let is_device = |report: &&ComponentReport| {
        let has_energies = || {
            let descriptor = Models::new().descriptor("device", report.kind);
            descriptor.is_some_and(|descriptor| !energy_fields(descriptor).is_empty())
        };
        without_children.iter().any(|device| device.path == report.path) || has_energies()
    };
    reports.iter().filter(is_device).flat_map(missing).collect()
}

/// Returns the paths of the energy and power settings that are not set, for a device and the components in
/// its slots.
fn energies_not_given(checked: &Checked, report: &ComponentReport) -> Vec<String> {
    let is_given =
        |path: &String| checked.resolved.iter().any(|resolved| resolved.path == *path && !resolved.is_off);
    let mut paths = Vec::new();
    let mut left = vec![(report.path.clone(), Models::new().descriptor("device", report.kind))];
    while let Some((at, descriptor)) = left.pop() {
        let Some(descriptor) = descriptor else { continue };
        paths.extend(energy_fields(descriptor).into_iter().map(|name| format!("{at}.{name}")));
        for (name, family) in parts((descriptor.fields)()) {
            let slot = format!("{at}.{name}");
            let kind = kind_of(checked, &slot);
            left.push((slot, kind.and_then(|kind| Models::new().descriptor(family, &kind))));
        }
    }
    paths.retain(|path| !is_given(path));
    paths
}

/// Returns the slots in `fields` and in their tables that hold components other than devices, each with its
/// family.
fn parts(fields: Vec<Field>) -> Vec<(String, &'static str)> {
    let of_field = |field: Field| {
        let shape = match field.shape {
            Shape::Optional(inner) => *inner,
            shape => shape,
        };
        let within = |fields: Vec<Field>| -> Vec<(String, &'static str)> {
            let below = |(name, family)| (format!("{}.{name}", field.name), family);
            parts(fields).into_iter().map(below).collect()
        };
        match shape {
            Shape::Slot(family) if family != "device" => vec![(field.name.to_string(), family)],
            Shape::Table(fields) | Shape::Short(_, fields) => within(fields()),
            Shape::Kinds(_, kinds) => within(kinds.iter().flat_map(|kind| (kind.fields)()).collect()),
            _ => Vec::new(),
        }
    };
    fields.into_iter().flat_map(of_field).collect()
}

/// Returns the kind of the component in the slot at `path`.
fn kind_of(checked: &Checked, path: &str) -> Option<String> {
    let named = format!("{path}.kind");
    match &checked.resolved.iter().find(|resolved| resolved.path == named)?.node.value {
        Value::Text(kind) => Some(kind.clone()),
        _ => None,
    }
}

fn energy_fields(descriptor: &Descriptor) -> Vec<&'static str> {
    let is_energy = |field: &Field| match &field.shape {
        // The energy that capacitors store does not count as consumed energy.
        Shape::Optional(inner) if !field.name.starts_with("capacitor") => {
            matches!(&**inner, Shape::Quantity { name, .. } if ["energy", "power"].contains(name))
        }
        _ => false,
    };
    (descriptor.fields)().iter().filter(|field| is_energy(field)).map(|field| field.name).collect()
}

/// Returns the paths of the devices that were written to and whose endurance is unknown.
pub(super) fn lifetime_unknown(reports: &[ComponentReport]) -> Vec<String> {
    let is_written =
        |report: &ComponentReport| report.counters.iter().any(|&(name, count)| name == "writes" && count > 0);
    let unknown = devices(reports).filter(|report| report.lifetime_days.is_none() && is_written(report));
    unknown.map(|report| report.path.clone()).collect()
}
