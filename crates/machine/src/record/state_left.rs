//! Cautions about the state of the medium after the writes before and during a run.

use super::{Caution, Component, GROWTH_MAX, Record};
use nacre_kernel::Bytes;

/// Maximum relative difference between the write amplification of the run and that of the steady state before
/// the run.
const AMPLIFIED: f64 = 0.1;
/// Number of unwritten units per read above which the record contains a caution.
const UNWRITTEN: f64 = 0.01;

/// Returns a caution if the search for a steady state found none.
pub(super) fn not_steady(record: &Record) -> Option<Caution> {
    let steadiness = record.steadiness.as_ref().filter(|steadiness| !steadiness.reached)?;
    let mut text = "write amplification was not steady when the run began".to_string();
    if let Some(growth) = steadiness.growth.filter(|&growth| growth > GROWTH_MAX) {
        text.push_str(&format!(
            ": valid data still grew by {:.1} % over the last windows; precondition it with run.fill = \
             \"footprint\"",
            100.0 * growth
        ));
    }
    Some(Caution { kind: "not_steady", text, paths: Vec::new() })
}

/// Returns the caution that write amplification and lifetime are unreliable if garbage collection has not
/// processed the whole medium. This is the case if the run erased no block or, without an earlier steady
/// state, if the blocks were erased less than once each since the medium was new.
pub(super) fn few_erases(record: &Record) -> Option<Caution> {
    let is_steady = record.steadiness.as_ref().is_some_and(|steadiness| steadiness.reached);
    let few = record.components.iter().filter(|component| {
        component.wear.as_ref().is_some_and(|wear| {
            let blocks = wear.block_erases.as_ref();
            wear.programs > 0
                && blocks.is_some_and(|blocks| wear.erases == 0 || (!is_steady && blocks.mean < 1.0))
        })
    });
    let few: Vec<&Component> = few.collect();
    let first = few.first()?;
    let wear = first.wear.as_ref().expect("they have it");
    let mut figures: Vec<String> =
        wear.write_amplification.iter().map(|value| format!("write amplification {value:.2}")).collect();
    figures.extend(first.lifetime_days.map(|_| "the lifetime".into()));
    let happened = match wear.erases {
        0 => "erased nothing".to_string(),
        erases => format!("erased {erases} blocks, fewer than one erase per block"),
    };
    let text = format!(
        "{} of {} {} before garbage collection cycled through the flash: the run {happened}; precondition \
         longer (run.until_steady), or run more requests",
        figures.join(" and "),
        first.path,
        if figures.len() == 1 { "is that" } else { "are those" },
    );
    let paths = few.iter().map(|component| component.path.clone()).collect();
    Some(Caution { kind: "few_writes", text, paths })
}

/// Returns a caution if the run read unwritten units, and there are more than [`UNWRITTEN`] of them per
/// read.
pub(super) fn unwritten(record: &Record) -> Option<Caution> {
    let count = |component: &Component, name: &str| {
        component.counters.get(name).and_then(serde_json::Value::as_u64).unwrap_or(0)
    };
    let read = record.components.iter().filter(|component| {
        let (unwritten, reads) = (count(component, "unwritten_reads"), count(component, "reads"));
        unwritten as f64 > UNWRITTEN * reads as f64
    });
    let read: Vec<&Component> = read.collect();
    let first = read.first()?;
    let text = format!(
        "{} read {} mapping units that were never written, in {} reads: their location is assumed, and \
         their space acts as over-provisioning; write them first with run.fill = \"footprint\"",
        first.path,
        count(first, "unwritten_reads"),
        count(first, "reads"),
    );
    let paths = read.iter().map(|component| component.path.clone()).collect();
    Some(Caution { kind: "unwritten_reads", text, paths })
}

/// Returns the caution that write amplification is unreliable if the run wrote less than one window of the
/// steady-state search and the value differs from the steady state. Garbage collection works on whole
/// blocks, so values for small amounts of data are unreliable.
pub(super) fn few_writes(record: &Record) -> Option<Caution> {
    let steadiness = record.steadiness.as_ref().filter(|steadiness| steadiness.reached)?;
    let steady = steadiness.write_amplification.last().copied().flatten()?;
    let measured = record.write_amplification?;
    let (written, window) = (record.bytes.written, steadiness.window_bytes);
    if written >= window || (measured / steady - 1.0).abs() <= AMPLIFIED {
        return None;
    }
    let text = format!(
        "write amplification {measured:.2} covers only {}, too few for garbage collection to cycle through \
         the flash; in windows of {} before the run it was {steady:.2}; run more requests",
        Bytes(written),
        Bytes(window)
    );
    let paths = record.components.iter().filter(|component| component.wear.is_some());
    Some(Caution { kind: "few_writes", text, paths: paths.map(|component| component.path.clone()).collect() })
}
