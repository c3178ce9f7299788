//! The health of devices whose media wear, and of arrays.

use nacre_kernel::ComponentReport;
use nacre_kernel::ledger::{FAILED_MEMBERS, LOST_PAGES};
use schemars::JsonSchema;
use serde::Serialize;

/// Names of the counters of data that a device could not read correctly.
const MEDIA_ERRORS: [&str; 2] = ["uncorrectable_units", LOST_PAGES];
const RETRIES: &str = "read_retries";
/// Name of the counter of writes that a worn-out medium rejected.
const REFUSED: &str = "refused_writes";
/// Names of the columns with the number of spare blocks, and with the number of blocks that were replaced
/// by spare blocks.
const SPARE: &str = "blocks_by_state.spare";
const WORN_OUT: &str = "blocks_by_state.worn_out";

/// Health of a device whose medium wears, or of an array.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Health {
    /// Remaining spare blocks as a share of those of a new device, or null without spare blocks.
    pub spare_left: Option<f64>,
    /// Mean lifetime erases or programs of a block or row, as a share of its endurance. May exceed 1. Null if
    /// either is unknown.
    pub used: Option<f64>,
    /// Whether the device is worn out, or has rejected writes since measurement started because it is worn
    /// out.
    pub read_only: bool,
    /// Units or pages that the device could not correct or has lost since measurement started.
    pub media_errors: u64,
    /// Read retries with other reference voltages since measurement started, or null if not modeled.
    pub retries: Option<u64>,
    /// Failed members that an array has removed since it was new, or null for other devices.
    pub failed_members: Option<u64>,
}

/// Returns the health of one component, or `None` if its medium does not wear and it is not an array.
pub(super) fn health(report: &ComponentReport) -> Option<Health> {
    let counter = |name: &str| report.counters.iter().find(|(of, _)| *of == name).map(|(_, count)| *count);
    let failed_members = counter(FAILED_MEMBERS);
    let Some(wear) = &report.wear else {
        return failed_members.map(|_| Health {
            spare_left: None,
            used: None,
            read_only: false,
            media_errors: 0,
            retries: None,
            failed_members,
        });
    };
    let column = |name: &str| {
        let found = report.columns.iter().find(|column| column.name == name);
        found.and_then(|column| column.values.first().copied())
    };
    let erases = wear.block_erases.iter().map(|&erases| f64::from(erases)).sum::<f64>();
    let mean = match (wear.block_erases.len(), wear.row_programs) {
        (0, rows) => rows.map(|rows| rows.mean),
        (blocks, _) => Some(erases / blocks as f64),
    };
    let endurance = wear.endurance.filter(|&cycles| cycles > 0);
    let spare_left = column(SPARE).zip(column(WORN_OUT)).and_then(|(spare, replaced)| {
        let new = spare + replaced;
        (new > 0.0).then(|| spare / new)
    });
    Some(Health {
        spare_left,
        used: mean.zip(endurance).map(|(mean, cycles)| mean / cycles as f64),
        read_only: wear.worn_out_at.is_some() || counter(REFUSED).is_some_and(|refused| refused > 0),
        media_errors: MEDIA_ERRORS.iter().filter_map(|name| counter(name)).sum(),
        retries: counter(RETRIES),
        failed_members,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nacre_kernel::{Column, Time, Wear};
    use nacre_testkit::empty_report;

    #[test]
    fn health_is_what_the_report_of_a_component_says() {
        let mut report = empty_report(0, "ssd", "stack");
        assert_eq!(health(&report), None, "nothing wears");
        report.wear = Some(Wear { block_erases: vec![10, 30], endurance: Some(100), ..Wear::default() });
        report.counters = vec![("uncorrectable_units", 2), (LOST_PAGES, 3), ("read_retries", 7)];
        report.columns =
            vec![Column { name: SPARE, values: vec![6.0] }, Column { name: WORN_OUT, values: vec![2.0] }];
        let expected = Health {
            spare_left: Some(0.75),
            used: Some(0.2),
            read_only: false,
            media_errors: 5,
            retries: Some(7),
            failed_members: None,
        };
        assert_eq!(health(&report), Some(expected.clone()));
        report.counters.push((REFUSED, 1));
        assert_eq!(health(&report), Some(Health { read_only: true, ..expected.clone() }));
        report.counters.pop();
        report.wear = Some(Wear { worn_out_at: Some(Time::ZERO), ..Wear::default() });
        assert_eq!(health(&report), Some(Health { used: None, read_only: true, ..expected }));
    }

    #[test]
    fn an_array_tells_how_many_members_failed() {
        let mut report = empty_report(0, "mirror", "stack");
        report.counters = vec![("read_errors", 9), (FAILED_MEMBERS, 1)];
        let found = health(&report).expect("it is an array");
        assert_eq!((found.failed_members, found.media_errors, found.read_only), (Some(1), 0, false));
    }
}
