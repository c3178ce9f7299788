//! Checks that device reports are consistent.

use nacre_kernel::{Activity, ComponentId, ComponentReport, Resource, Time};

/// Creates an empty report of a component, which a test can fill in.
pub fn empty_report(id: u8, kind: &'static str, path: &str) -> ComponentReport {
    ComponentReport {
        id: ComponentId(id),
        kind,
        path: path.into(),
        resources: Vec::new(),
        is_energy_modeled: false,
        idle_energy: None,
        counters: Vec::new(),
        cost: None,
        area_mm2: None,
        lifetime_days: None,
        wear: None,
        columns: Vec::new(),
        drive_share: None,
        faults: Vec::new(),
        children: Vec::new(),
    }
}

/// Returns the identifiers of the components in `report`.
pub(crate) fn components(report: &ComponentReport) -> Vec<ComponentId> {
    std::iter::once(report.id).chain(report.children.iter().flat_map(components)).collect()
}

/// Panics if a resource was busy for longer than its servers were available, or if the report contains
/// energy although the component has no energy model.
pub(crate) fn the_ledger_fits(report: &ComponentReport, elapsed: Time) {
    let path = &report.path;
    for (index, Resource { name, servers, ledger }) in report.resources.iter().enumerate() {
        let others = &report.resources[..index];
        assert!(others.iter().all(|other| other.name != *name), "{path}: two resources are called {name}");
        let available_ps = u128::from(elapsed.as_ps()) * u128::from(*servers);
        let (busy, most) = (ledger.total_busy_s(), available_ps as f64 / 1e12);
        assert!(busy <= most, "{path}: {name} was busy for {busy} s of {most} s");
    }
    if !report.is_energy_modeled {
        assert_eq!(report.idle_energy, None, "{path}: idle energy, though energy is not modeled");
        for activity in Activity::ALL {
            let energy = report.energy(activity).0;
            assert!(energy == 0.0, "{path}: energy of {}, though it is not modeled", activity.name());
        }
    }
    report.children.iter().for_each(|child| the_ledger_fits(child, elapsed));
}

/// Panics unless all counters and charges in `report` are zero.
pub(crate) fn assert_forgotten(report: &ComponentReport) {
    for Resource { name, ledger, .. } in &report.resources {
        assert!(ledger.total_busy_s() == 0.0, "{}: busy time of {name} outlived the restart", report.path);
    }
    for activity in Activity::ALL {
        let energy = report.energy(activity).0;
        assert!(energy == 0.0, "{}: energy of {} outlived the restart", report.path, activity.name());
    }
    for (name, count) in &report.counters {
        assert_eq!(*count, 0, "{}: {name} outlived the restart", report.path);
    }
    report.children.iter().for_each(assert_forgotten);
}
