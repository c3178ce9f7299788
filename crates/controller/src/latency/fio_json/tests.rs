use super::parse::pieces;
use crate::latency::tests::latency;
use crate::latency::{Direction, inverse::Piece};
use crate::workbench::workbench;
use nacre_kernel::Time;
use nacre_testkit::assert_close;

const BINS: &str = r#"fio: this platform does not support process shared mutexes
{ "fio version": "fio-3.33", "jobs": [ { "jobname": "randread",
  "read": { "total_ios": 10, "clat_ns": { "min": 6000, "max": 20100, "mean": 9700.0, "stddev": 1.0, "N": 10,
    "percentile": { "50.000000": 7000 }, "bins": { "20096": 2, "6112": 5, "8160": 3 } } },
  "write": { "clat_ns": { "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0, "percentile": {} } } } ] }"#;

const PERCENTILES: &str = r#"{ "jobs": [
  { "jobname": "a", "write": { "clat_ns": { "min": 1000, "max": 9000, "percentile": { "50.000000": 2000, "99.000000": 5000 } } } },
  { "jobname": "b", "write": { "clat_ns": { "min": 1000, "max": 1010, "percentile": { "50.000000": 1012 } } } } ] }"#;

fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

#[test]
fn bins_are_taken_before_percentiles() {
    let step = |share, at| Piece { share, from: ns(at), to: ns(at) };
    let expected = vec![step(5.0, 6112), step(3.0, 8160), step(2.0, 20096)];
    assert_eq!(pieces(BINS, None, Direction::Read, 1), Ok(expected));
}

#[test]
fn notes_around_the_document_are_skipped_and_a_second_document_is_refused() {
    let expected = pieces(BINS, None, Direction::Read, 1);
    let noted =
        format!("fio: job {{randread}} uses ${{BS}}\n{BINS}\n\nfio: terminating on signal 2\nfio: {{x}}\n");
    assert_eq!(pieces(&noted, None, Direction::Read, 1), expected);
    let twice = format!("{BINS}\n{BINS}");
    let error = pieces(&twice, None, Direction::Read, 1).expect_err("which of them?");
    assert!(error.problem.starts_with("it holds several JSON documents"), "{error:?}");
    let cut = &BINS[..BINS.len() - 3];
    assert!(pieces(cut, None, Direction::Read, 1).is_err(), "a document that is cut off is none");
}

#[test]
fn percentiles_become_lines_between_minimum_and_maximum() {
    let line = |share, from, to| Piece { share, from: ns(from), to: ns(to) };
    let expected = vec![line(50.0, 1000, 2000), line(49.0, 2000, 5000), line(1.0, 5000, 9000)];
    assert_eq!(pieces(PERCENTILES, Some("a"), Direction::Write, 1), Ok(expected));
    let past_the_maximum = vec![line(50.0, 1000, 1012), line(50.0, 1012, 1012)];
    assert_eq!(pieces(PERCENTILES, Some("b"), Direction::Write, 1), Ok(past_the_maximum));
}

#[test]
fn draws_follow_the_counts_of_the_file() {
    let value = "{ kind = \"fio_json\", file = \"r.json\", direction = \"read\" }";
    let mut drawn = latency(&mut workbench(5).file("r.json", BINS), value).expect("the file is legal");
    let values: Vec<Time> = (0..100_000).map(|_| drawn.draw()).collect();
    for (at, share) in [(6112, 0.5), (8160, 0.3), (20096, 0.2)] {
        let found = values.iter().filter(|&&value| value == ns(at)).count() as f64 / 1e5;
        assert_close("share", found, share, 0.02);
    }
    assert!((drawn.mean_s() - (5.0 * 6112.0 + 3.0 * 8160.0 + 2.0 * 20096.0) / 10.0 * 1e-9).abs() < 1e-15);
}

#[test]
fn a_wrong_file_is_refused_with_a_remedy() {
    let refused = |text: &str, job, direction| {
        let error = pieces(text, job, direction, 1).expect_err("it is refused");
        format!("{}; {}", error.problem, error.remedy)
    };
    assert!(refused("clat (nsec): min=1", None, Direction::Read).starts_with("it is not fio's JSON"));
    assert_eq!(
        refused(BINS, None, Direction::Write),
        "it holds no completion latencies of writes; \
         run fio 3.0 or newer with --output-format=json+, and check `direction` and `job`"
    );
    assert_eq!(
        refused(PERCENTILES, None, Direction::Write),
        "it holds several jobs; name one with `job`: a, b"
    );
    assert_eq!(refused(PERCENTILES, Some("c"), Direction::Write), "it holds no job \"c\"; known: a, b");
    let negative = BINS.replace("\"6112\"", "\"-1\"");
    assert!(refused(&negative, None, Direction::Read).contains("bin \"-1\""));
    let value = "{ kind = \"fio_json\", file = \"r.json\", direction = \"write\" }";
    let problems = latency(&mut workbench(5).file("r.json", BINS), value).err().expect("it is refused");
    assert!(problems.to_string().starts_with("latency.file: it holds no completion latencies"), "{problems}");
}

/// The fio output of a job with these options and queue depths.
fn measured(options: &str, global: &str, levels: &str) -> String {
    format!(
        r#"{{ "global options": {{ {global} }}, "jobs": [ {{ "jobname": "j", "job options": {{ {options} }},
        {levels} "read": {{ "clat_ns": {{ "bins": {{ "587000": 10 }} }} }} }} ] }}"#
    )
}

#[test]
fn latencies_of_requests_that_waited_for_each_other_are_refused() {
    let at_32 =
        r#""iodepth_level": { "1": 0.1, "2": 0.1, "4": 0.1, "8": 0.1, "16": 0.2, "32": 99.4, ">=64": 0.0 },"#;
    let alone = r#""iodepth_level": { "1": 100.0, "2": 0.0, "4": 0.0, "8": 0.0, "16": 0.0, "32": 0.0, ">=64": 0.0 },"#;
    let iodepth = |depth: u32| format!("\"iodepth\": \"{depth}\"");
    let deep = measured(&iodepth(32), "", at_32);
    let refused =
        pieces(&deep, None, Direction::Read, 1).expect_err("587 us of 32 at a time are no service time");
    assert!(refused.problem.starts_with("32 requests were outstanding"), "{}", refused.problem);
    assert!(
        refused.remedy.contains("iodepth=1") && refused.remedy.contains("depth = 32"),
        "{}",
        refused.remedy
    );
    assert!(pieces(&deep, None, Direction::Read, 31).is_err());
    assert!(pieces(&deep, None, Direction::Read, 32).is_ok(), "the user says so");
    for (options, global, levels, outstanding) in [
        // Without levels, the options determine the depth, including the global ones.
        (iodepth(32), String::new(), "", 32),
        (String::new(), iodepth(8), "", 8),
        // A synchronous engine has at most one outstanding request.
        (iodepth(32), String::new(), alone, 1),
        // Parallel jobs of one kind are reported as one job.
        (format!("{}, \"numjobs\": \"4\"", iodepth(1)), String::new(), alone, 4),
        // A depth of 48 is in the level that starts at 32, and a depth of 100 in the last level.
        (iodepth(48), String::new(), r#""iodepth_level": { "1": 0.1, "32": 99.9, ">=64": 0.0 },"#, 48),
        (iodepth(100), String::new(), r#""iodepth_level": { "1": 0.1, "32": 0.0, ">=64": 99.9 },"#, 100),
        (String::new(), String::new(), at_32, 32),
        (iodepth(1), String::new(), "", 1),
    ] {
        let text = measured(&options, &global, levels);
        assert!(pieces(&text, None, Direction::Read, outstanding).is_ok(), "{text}");
        assert!(pieces(&text, None, Direction::Read, outstanding - 1).is_err(), "{text}");
    }
}
