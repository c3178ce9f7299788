//! Tests of the wear results of a stack with two media that wear.

use super::{NoFiles, WORKLOAD};
use crate::meter::{Meter, Noted};
use crate::record::Measured;
use crate::record::{Ending, Findings, Outcome, outcome};
use crate::stack::build;
use crate::{Document, check};
use nacre_kernel::event::{Agenda, Completions, Device, Payload, RequestId};
use nacre_kernel::state::State;
use nacre_kernel::{
    Activity, Bytes, Capabilities, Column, ComponentReport, Persistence, Random, Recovery, Request, Status,
    Time, Wear,
};
use nacre_testkit::empty_report;

/// A device that serves every request in a microsecond and returns a given report.
#[derive(State)]
struct Worn {
    #[state(skip = "it never changes")]
    report: ComponentReport,
    due: Agenda<RequestId>,
}

impl Device for Worn {
    fn submit(&mut self, now: Time, id: RequestId, _request: &Request, _data: Payload) {
        self.due.schedule(now + Time::from_us(1), id);
    }

    fn next_event(&self) -> Time {
        self.due.next()
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        let Some((at, id)) = self.due.pop_before(until) else { return };
        completions.push(id, at, Status::Done, self.report.id, [(Activity::Write, Time::from_us(1))]);
        while let Some((at, id)) = self.due.pop_before(at + Time::from_ps(1)) {
            completions.push(id, at, Status::Done, self.report.id, [(Activity::Write, Time::from_us(1))]);
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        None
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            carries_bytes: false,
            persistence: Persistence::OnAcknowledgement,
            atomic_unit: 512,
            transactions: false,
            preconditions: false,
            uses_addresses: true,
            wears_out_ahead: false,
        }
    }

    fn restart_ledger(&mut self, _now: Time) {}

    fn report(&self, _elapsed: Time) -> ComponentReport {
        self.report.clone()
    }

    fn check_invariants(&self) {}

    fn power_fail(&mut self, _at: Time, _chance: &mut Random) {}

    fn recover(&mut self, at: Time) -> Recovery {
        Recovery { done: at, ..Recovery::default() }
    }
}

fn component(id: u8, path: &str) -> ComponentReport {
    empty_report(id, "worn", path)
}

fn flash() -> ComponentReport {
    let wear = Wear {
        host: 100,
        cleaned: 150,
        leveled: 20,
        metadata: 5,
        padding: 0,
        erases: 12,
        block_erases: vec![2, 4, 4, 4, 5, 5, 7, 9],
        endurance: Some(10_000),
        worn_out_at: None,
        row_programs: None,
        valid: Some(60),
    };
    let columns = vec![
        Column { name: "blocks.valid_share", values: vec![0.8; 8] },
        Column { name: "cleaning.end_s", values: vec![0.5, 1.0] },
        Column { name: "cleaning.cost", values: vec![f64::NAN, 1.5] },
    ];
    ComponentReport {
        wear: Some(wear),
        columns,
        area_mm2: None,
        lifetime_days: Some(900.0),
        ..component(1, "stack.level[0]")
    }
}

fn run(report: ComponentReport) -> Outcome {
    let text = format!("{WORKLOAD}[stack]\nkind = \"measured\"\nread = \"1 us\"\nwrite = \"1 us\"\n");
    let checked = check(&Document { text: &text, name: "test.toml", overrides: &[], seed: None }).unwrap();
    let workload = build(&checked, &NoFiles).unwrap_or_else(|problems| panic!("{problems}")).workload;
    let mut meter = Meter::new(0, Time::ZERO);
    meter.finish(&mut Noted::new(2));
    let measured = Measured { issued: 0, drained: Time::ZERO, units: None };
    let device = Worn { report, due: Agenda::new() };
    let findings = Findings::of((&device, None), &*workload, &meter, measured, Ending::Complete);
    outcome(&checked, &findings)
}

#[test]
fn wear_is_reported_for_each_medium_and_in_total() {
    let pcm = Wear { host: 300, metadata: 25, ..Wear::default() };
    let stack = ComponentReport {
        wear: Some(pcm),
        area_mm2: None,
        lifetime_days: Some(2000.0),
        children: vec![flash()],
        ..component(0, "stack")
    };
    let record = run(stack).record;
    assert_eq!(record.write_amplification, Some((275.0 + 325.0) / 400.0));
    assert_eq!(record.cleaning_cost, Some(150.0 / 400.0));
    assert_eq!((record.erases, record.lifetime_days), (Some(12), Some(900.0)));
    let [pcm, flash] = &record.components[..] else { panic!("two components") };
    let (pcm, flash) = (pcm.wear.as_ref().unwrap(), flash.wear.as_ref().unwrap());
    assert!(pcm.block_erases.is_none(), "it has no blocks");
    assert_eq!(
        (flash.programs, flash.write_amplification, flash.cleaning_cost),
        (275, Some(2.75), Some(1.5))
    );
    assert_eq!((flash.erases, flash.endurance), (12, Some(10_000)));
    let blocks = flash.block_erases.as_ref().unwrap();
    // This is the usual example of a standard deviation: the squares of the deviations add up to 32.
    assert_eq!((blocks.blocks, blocks.min, blocks.mean, blocks.max, blocks.stddev), (8, 2, 5.0, 9, 2.0));
}

#[test]
fn without_wear_or_host_data_there_is_no_ratio() {
    let record = run(component(0, "stack")).record;
    assert_eq!((record.write_amplification, record.cleaning_cost, record.erases), (None, None, None));
    assert!(record.components[0].wear.is_none() && record.components[0].tables.is_empty());
    let idle = Wear { metadata: 3, block_erases: vec![0], ..Wear::default() };
    let record = run(ComponentReport { wear: Some(idle), ..component(0, "stack") }).record;
    assert_eq!((record.write_amplification, record.cleaning_cost, record.erases), (None, None, Some(0)));
}

#[test]
fn columns_of_a_component_carry_its_path_and_the_record_lists_their_tables() {
    let Outcome { record, columns } =
        run(ComponentReport { children: vec![flash()], ..component(0, "stack") });
    let tables = &record.components[1].tables;
    let listed: Vec<_> = tables.iter().map(|(name, table)| (*name, table.rows, &table.columns[..])).collect();
    assert_eq!(
        listed,
        [("blocks", 8, &["erases", "valid_share"][..]), ("cleaning", 2, &["end_s", "cost"][..])]
    );
    let counts = columns.counts.iter().find(|(name, _)| name == "stack.level[0].blocks.erases").unwrap();
    assert_eq!(counts.1, [2, 4, 4, 4, 5, 5, 7, 9]);
    let ends = columns.floats.iter().find(|(name, _)| name == "stack.level[0].cleaning.end_s").unwrap();
    assert_eq!(ends.1, [0.5, 1.0]);
    assert!(columns.floats.iter().any(|(name, _)| name == "stack.level[0].blocks.valid_share"));
}

#[test]
fn erases_by_block_are_reported_once_even_if_they_are_a_column() {
    let mut report = flash();
    let values = report.wear.as_ref().unwrap().block_erases.iter().map(|&count| f64::from(count)).collect();
    report.columns.push(Column { name: "blocks.erases", values });
    let Outcome { record, columns } = run(report);
    assert_eq!(record.components[0].tables["blocks"].columns, ["erases", "valid_share"]);
    assert!(!columns.floats.iter().any(|(name, _)| name.ends_with("erases")));
}

#[test]
#[should_panic(expected = "stack.level[0]: column blocks.erases: not as its wear says")]
fn erases_by_block_that_contradict_the_wear_are_a_bug() {
    let mut report = flash();
    report.columns.push(Column { name: "blocks.erases", values: vec![0.0; 8] });
    run(report);
}

#[test]
#[should_panic(expected = "stack.level[0]: column blocks.valid_share: as long as the others of its table")]
fn a_column_of_another_length_than_its_table_is_a_bug() {
    let mut report = flash();
    report.columns[0].values.pop();
    run(report);
}

#[test]
#[should_panic(expected = "stack: column latency.cost: the record has a file latency")]
fn a_table_named_like_another_file_of_the_record_is_a_bug() {
    let columns = vec![Column { name: "latency.cost", values: Vec::new() }];
    run(ComponentReport { columns, ..component(0, "stack") });
}
