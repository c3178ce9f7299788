//! Tests of drives that were filled and written randomly before a different workload starts.

use crate::{Document, Files, Record, check, run};
use std::io;
use std::ops::ControlFlow;

struct NoFiles;

impl Files for NoFiles {
    fn text(&self, _file: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn trace(&self, _file: &str) -> io::Result<Box<dyn io::BufRead + Send>> {
        let trace = "timestamp_us,op,offset,length\n0,read,0,512\n5,write,4096,512\n9,write,8192,512\n";
        Ok(Box::new(io::Cursor::new(trace)))
    }

    fn shipped_traces(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A drive with a host capacity of 48 MiB, i.e. 12,288 units of 4 KiB. A page of the mapping table maps
/// 1,024 units.
const DRIVE: &str = "[stack]\nkind = \"ssd\"\nchannels = 2\nways = 2\nblocks = 64\npages = 64\npage = \"4 KiB\"\n\
    read = [\"50 us\"]\nprogram = [\"500 us\"]\nerase = \"3 ms\"\nbus = \"400 MB/s\"\nbuffer = \"256 KiB\"\n\
    link = \"4 GB/s\"\nover_provisioning = \"33 %\"\n";
const READS: &str = "[workload]\nkind = \"uniform\"\nrequests = 2_000\nfootprint = \"48 MiB\"\n";
const RANDOM: &str =
    "{ kind = \"uniform\", requests = 12_288, footprint = \"48 MiB\", read_share = \"0 %\" }";

fn outcome(stack: &str, settings: &str) -> Result<Record, String> {
    let text = format!("{READS}{stack}[run]\n{settings}\n");
    let document = Document { text: &text, name: "test.toml", overrides: &[], seed: None };
    let checked = check(&document).map_err(|problems| problems.to_string())?;
    let outcome = run(&checked, &NoFiles, &mut |_| ControlFlow::Continue(()));
    outcome.map(|outcome| outcome.record).map_err(|problems| problems.to_string())
}

fn record(stack: &str, settings: &str) -> Record {
    outcome(stack, settings).unwrap_or_else(|problems| panic!("{problems}"))
}

fn counter(record: &Record, name: &str) -> u64 {
    let counters = &record.components[0].counters;
    let count = counters.get(name).and_then(serde_json::Value::as_u64);
    count.unwrap_or_else(|| panic!("{name} is not among {counters:?}"))
}

#[test]
fn reads_of_a_filled_drive_find_data_and_those_of_a_new_one_do_not() {
    assert_eq!(counter(&record(DRIVE, ""), "unwritten_reads"), 2_000);
    assert_eq!(counter(&record(DRIVE, "fill = {}"), "unwritten_reads"), 0);
    // Half of the drive is filled, so half of 2,000 random addresses are unwritten, within four standard
    // deviations of 22.4.
    let half = counter(&record(DRIVE, "fill = { share = \"50 %\", request = \"4 KiB\" }"), "unwritten_reads");
    assert!(half.abs_diff(1_000) < 90, "{half}");
}

#[test]
fn a_drive_that_was_filled_misses_its_cached_mapping() {
    // 2 of 12 pages of the mapping table: 10 of 12 reads miss, within four standard deviations of .8 %.
    let cached = format!("{DRIVE}mapping = {{ kind = \"cached_pages\", size = \"8 KiB\" }}\n");
    let new = counter(&record(&format!("{cached}unwritten = \"zeros\"\n"), ""), "mapping_reads");
    assert_eq!(new, 0, "nothing is mapped");
    let reads = counter(&record(&cached, "fill = {}"), "mapping_reads") as f64;
    assert!((reads / 2_000.0 - 10.0 / 12.0).abs() < 0.034, "{reads}");
}

#[test]
fn reads_are_measured_on_a_drive_that_another_workload_made_steady() {
    let tolerance = "until_steady = { tolerance = \"4 %\" }";
    let aged = record(DRIVE, &format!("fill = {{}}\nprecondition = {RANDOM}\n{tolerance}"));
    let steadiness = aged.steadiness.as_ref().expect("it was requested");
    assert!(steadiness.reached && aged.requests.writes == 0, "{steadiness:?}");
    // The drive is written once on average. Sequential writes need no garbage collection, but random ones do.
    let last = steadiness.write_amplification.last().copied().flatten().expect("there were writes");
    assert!((1.5..4.0).contains(&last), "{last}");
    assert_eq!(counter(&aged, "unwritten_reads"), 0);
}

#[test]
fn a_workload_of_its_own_that_cannot_prepare_is_named() {
    let error = |settings: &str| outcome(DRIVE, settings).expect_err("an error");
    let reads = RANDOM.replace(", read_share = \"0 %\"", "");
    assert_eq!(
        error(&format!("precondition = {reads}")),
        "run.precondition: the workload has only 0 writes; give it a workload with writes, e.g. one with \
         read_share = \"0 %\""
    );
    let wide = RANDOM.replace("48 MiB", "4 GiB");
    assert!(error(&format!("precondition = {wide}")).starts_with("run.precondition: it reaches to byte"));
    let text = error("precondition = [1]");
    assert!(text.contains("give a whole number, or a workload"), "{text}");
    assert!(error("fill = { share = \"0 %\" }").contains("nothing would be filled"));
    let measured = "[stack]\nkind = \"measured\"\nread = \"1 us\"\nwrite = \"1 us\"\n";
    let text = outcome(measured, "fill = {}").expect_err("it has no such state");
    assert!(text.starts_with("run.fill") && text.contains("has no state to precondition"), "{text}");
}

#[test]
fn a_trace_gives_all_its_writes_and_a_workload_that_never_ends_is_refused() {
    let trace = "precondition = { kind = \"trace\", file = \"t\", format = \"nacre_csv\" }";
    assert_eq!(counter(&record(DRIVE, &format!("{trace}\nfill = {{}}")), "unwritten_reads"), 0);
    let bank = "precondition = { kind = \"tpca\", rate = \"10 kHz\", branches = 1 }";
    let text = outcome(DRIVE, bank).expect_err("it never ends");
    assert!(text.contains("set its number of requests"), "{text}");
}

/// A workload that sends 90 % of the writes to 10 % of the data. Some of the other data is written for the
/// first time only after many writes.
const HOT: &str = "{ kind = \"hot_cold\", requests = 12_288, footprint = \"48 MiB\", read_share = \"0 %\" }";

#[test]
fn a_drive_is_not_steady_while_cold_data_is_still_written_for_the_first_time() {
    let amplified = |fill: &str| {
        let aged = record(DRIVE, &format!("{fill}\nprecondition = {HOT}\nuntil_steady = {{}}"));
        let found = aged.steadiness.expect("it was requested");
        assert!(found.reached && found.growth.is_some_and(|growth| growth <= 0.001), "{found:?}");
        let valid = found.valid_pages.last().copied().flatten().expect("an ssd counts them");
        let last = &found.write_amplification[found.write_amplification.len() - 5..];
        (valid, last.iter().flatten().sum::<f64>() / 5.0)
    };
    // 48 MiB are 12,288 units.
    let (filled, right) = amplified("fill = \"footprint\"");
    assert_eq!(filled, 12_288);
    let (valid, found) = amplified("");
    assert!(valid * 1_000 >= filled * 997, "{valid} units of {filled} were ever written");
    assert!((found / right - 1.0).abs() < 0.1, "{found} without a fill, {right} with it");
}

#[test]
fn a_search_that_ends_while_data_grows_says_so() {
    let gave_up = record(DRIVE, &format!("precondition = {HOT}\nuntil_steady = {{ windows_max = 8 }}"));
    let found = gave_up.steadiness.as_ref().expect("it was requested");
    assert!(!found.reached && found.growth.is_some_and(|growth| growth > 0.01), "{found:?}");
    let said = gave_up.findings.iter().find(|caution| caution.kind == "not_steady").expect("it has the note");
    assert!(
        said.text.contains("valid data still grew by") && said.text.contains("run.fill"),
        "{}",
        said.text
    );
}

#[test]
fn the_footprint_is_filled_and_nothing_else() {
    let parts = |footprint: &str| {
        let workload = format!(
            "[workload]\nkind = \"mix\"\nrequests = 2_000\n\
             [[workload.part]]\nshare = \"50 %\"\npattern = {{ kind = \"uniform\", start = \"4 MiB\", footprint = \"{footprint}\" }}\n\
             [[workload.part]]\npattern = {{ kind = \"uniform\", start = \"40 MiB\", footprint = \"1 MiB\" }}\n"
        );
        let text = format!("{workload}{DRIVE}[run]\nfill = \"footprint\"\n");
        let document = Document { text: &text, name: "test.toml", overrides: &[], seed: None };
        let checked = check(&document).unwrap_or_else(|problems| panic!("{problems}"));
        let outcome = run(&checked, &NoFiles, &mut |_| ControlFlow::Continue(()));
        outcome.unwrap_or_else(|problems| panic!("{problems}")).record
    };
    for (footprint, units) in [("1 MiB", 512), ("8 MiB", 2_304)] {
        let record = parts(footprint);
        assert_eq!(counter(&record, "unwritten_reads"), 0);
        let wear = record.components[0].wear.as_ref().expect("an ssd wears");
        assert_eq!(wear.valid, Some(units), "{footprint} and 1 MiB in units of 4 KiB");
    }
}

#[test]
fn the_footprint_of_a_trace_is_what_it_touches() {
    let text = format!(
        "[workload]\nkind = \"trace\"\nfile = \"t\"\nformat = \"nacre_csv\"\n{DRIVE}[run]\nfill = \"footprint\"\n"
    );
    let valid = |overrides: &[(String, String)]| {
        let document = Document { text: &text, name: "test.toml", overrides, seed: None };
        let checked = check(&document).unwrap_or_else(|problems| panic!("{problems}"));
        let outcome = run(&checked, &NoFiles, &mut |_| ControlFlow::Continue(()));
        let record = outcome.unwrap_or_else(|problems| panic!("{problems}")).record;
        assert_eq!(counter(&record, "unwritten_reads"), 0);
        record.components[0].wear.as_ref().and_then(|wear| wear.valid)
    };
    // The trace has a read at 0, and writes at 4,096 and at 8,192.
    assert_eq!(valid(&[]), Some(3));
    assert_eq!(valid(&[("run.requests".into(), "1".into())]), Some(1), "only the footprint is filled");
}

#[test]
fn reads_of_what_was_never_written_are_said() {
    let kinds = |record: &Record| record.findings.iter().map(|caution| caution.kind).collect::<Vec<_>>();
    let new = record(DRIVE, "");
    let said =
        new.findings.iter().find(|caution| caution.kind == "unwritten_reads").expect("it has the note");
    assert!(said.text.starts_with("stack read 2000 mapping units that were never written"), "{}", said.text);
    assert_eq!(said.paths, ["stack"]);
    assert!(!kinds(&record(DRIVE, "fill = \"footprint\"")).contains(&"unwritten_reads"));
}

#[test]
fn an_invalid_fill_is_rejected_with_the_valid_values() {
    let text = outcome(DRIVE, "fill = true").expect_err("an error");
    assert!(text.contains("give one of capacity, footprint, or a table"), "{text}");
}
