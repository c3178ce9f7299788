//! Drives that were filled and written at random before a workload of another kind begins.

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

/// 48 MiB for the host in 12,288 units of 4 KiB; a page of the mapping table stands for 1,024 of them.
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
    // Half of the drive: so many of 2,000 draws lie beyond it, within four standard deviations of 22.4.
    let half = counter(&record(DRIVE, "fill = { share = \"50 %\", request = \"4 KiB\" }"), "unwritten_reads");
    assert!(half.abs_diff(1_000) < 90, "{half}");
}

#[test]
fn a_drive_that_was_filled_misses_its_cached_mapping() {
    // 2 of 12 pages of the mapping table: 10 of 12 reads miss, within four standard deviations of .8 %.
    let cached = format!("{DRIVE}mapping_cache = \"8 KiB\"\n");
    assert_eq!(counter(&record(&cached, ""), "mapping_reads"), 0, "nothing is mapped");
    let reads = counter(&record(&cached, "fill = {}"), "mapping_reads") as f64;
    assert!((reads / 2_000.0 - 10.0 / 12.0).abs() < 0.034, "{reads}");
}

#[test]
fn reads_are_measured_on_a_drive_that_another_workload_made_steady() {
    let tolerance = "until_steady = { tolerance = \"4 %\" }";
    let aged = record(DRIVE, &format!("fill = {{}}\nprecondition = {RANDOM}\n{tolerance}"));
    let steadiness = aged.steadiness.as_ref().expect("it was asked for");
    assert!(steadiness.reached && aged.requests.writes == 0, "{steadiness:?}");
    // A write of every place on average: sequential ones need no cleaning, random ones do.
    let last = steadiness.write_amplification.last().copied().flatten().expect("there were writes");
    assert!((1.5..4.0).contains(&last), "{last}");
    assert_eq!(counter(&aged, "unwritten_reads"), 0);
}

#[test]
fn a_workload_of_its_own_that_cannot_prepare_is_named() {
    let mistake = |settings: &str| outcome(DRIVE, settings).expect_err("a mistake");
    let reads = RANDOM.replace(", read_share = \"0 %\"", "");
    assert_eq!(
        mistake(&format!("precondition = {reads}")),
        "run.precondition: the workload has 0 writes and no more; give it a workload that writes, such as one with \
         read_share = \"0 %\""
    );
    let wide = RANDOM.replace("48 MiB", "4 GiB");
    assert!(mistake(&format!("precondition = {wide}")).starts_with("run.precondition: it reaches to byte"));
    let text = mistake("precondition = [1]");
    assert!(text.contains("give a whole number, or a workload"), "{text}");
    assert!(mistake("fill = { share = \"0 %\" }").contains("nothing would be filled"));
    let measured = "[stack]\nkind = \"measured\"\nread = \"1 us\"\nwrite = \"1 us\"\n";
    let text = outcome(measured, "fill = {}").expect_err("it has no such state");
    assert!(
        text.starts_with("run.fill") && text.contains("keeps no state that writes leave behind"),
        "{text}"
    );
}

#[test]
fn a_trace_gives_all_its_writes_and_a_workload_that_never_ends_is_refused() {
    let trace = "precondition = { kind = \"trace\", file = \"t\", format = \"nacre_csv\" }";
    assert_eq!(counter(&record(DRIVE, &format!("{trace}\nfill = {{}}")), "unwritten_reads"), 0);
    let bank = "precondition = { kind = \"tpca\", rate = \"10 kHz\", branches = 1 }";
    let text = outcome(DRIVE, bank).expect_err("it never ends");
    assert!(text.contains("say how many requests it has"), "{text}");
}
