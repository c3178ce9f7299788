//! Tests of invalid settings.

use super::{BARE, text};
use crate::workbench::{self, MODELS};
use nacre_testkit::Workbench;

/// Error messages for a faulty device with the invalid `fault`.
fn problems(fault: &str) -> String {
    let built = workbench::build(&text(BARE, &[fault]), Workbench::new(MODELS, 1));
    built.err().unwrap_or_else(|| panic!("it is legal:\n{fault}")).to_string()
}

#[test]
fn bad_settings_name_their_place_and_a_remedy() {
    let stall = "kind = \"stall\"\nduration = \"1 ms\"";
    let cases = [
        ("kind = \"error\"\nshare = \"101 %\"".into(), "stack.fault[0].share", "100 %"),
        ("kind = \"error\"\nevery = 0".into(), "stack.fault[0].every", "1"),
        ("kind = \"error\"\nevery = 2\nshare = \"5 %\"".into(), "stack.fault[0].every", "give either"),
        ("kind = \"error\"\nrange_end = \"2 MiB\"".into(), "stack.fault[0].range_end", "1048576 B"),
        ("kind = \"error\"\nrange_start = \"1 MiB\"".into(), "stack.fault[0].range_start", "1048576 B"),
        (
            "kind = \"error\"\nrange_start = \"8 KiB\"\nrange_end = \"8 KiB\"".into(),
            "stack.fault[0].range_end",
            "the range is empty",
        ),
        ("kind = \"stall\"".into(), "stack.fault[0].duration", "give a duration"),
        (format!("{stall}\nperiod = \"0 s\""), "stack.fault[0].period", "1 ps"),
        (format!("{stall}\nperiod = \"1 ms\""), "stack.fault[0].period", "the fault never ends"),
        ("kind = \"error\"\nperiod = \"1 ms\"".into(), "stack.fault[0].period", "give a duration"),
        ("kind = \"limit\"".into(), "stack.fault[0].iops", "give iops, bandwidth or both"),
        ("kind = \"slow\"\nfactor = 0.5".into(), "stack.fault[0].factor", "1"),
        ("kind = \"torn_write\"\noperations = [\"read\"]".into(), "stack.fault[0].operations", "write"),
        (
            "kind = \"error\"\noperations = [\"flush\"]\nrange_end = \"8 KiB\"".into(),
            "stack.fault[0].operations",
            "a flush has no address",
        ),
        ("kind = \"failing_flush\"\nrange_end = \"8 KiB\"".into(), "stack.fault[0].range_end", "no address"),
        ("kind = \"delay\"\nlatency = \"fast\"".into(), "stack.fault[0].latency", ""),
        ("kind = \"gremlin\"".into(), "stack.fault[0]", "delay"),
    ];
    for (fault, place, part) in cases {
        let said = problems(&fault);
        assert!(said.contains(place) && said.contains(part), "{fault}:\n{said}");
    }
}

#[test]
fn problems_of_all_faults_come_at_once() {
    let faults = ["kind = \"error\"\nrange_end = \"2 MiB\"", "kind = \"error\"\nrange_start = \"3 MiB\""];
    let built = workbench::build(&text(BARE, &faults), Workbench::new(MODELS, 1));
    let said = built.err().expect("two problems").to_string();
    assert!(
        said.contains("stack.fault[0].range_end") && said.contains("stack.fault[1].range_start"),
        "{said}"
    );
}
