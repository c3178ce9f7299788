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
    assert_eq!(pieces(BINS, None, Direction::Read), Ok(expected));
}

#[test]
fn notes_around_the_document_are_skipped_and_a_second_document_is_refused() {
    let expected = pieces(BINS, None, Direction::Read);
    let noted =
        format!("fio: job {{randread}} uses ${{BS}}\n{BINS}\n\nfio: terminating on signal 2\nfio: {{x}}\n");
    assert_eq!(pieces(&noted, None, Direction::Read), expected);
    let twice = format!("{BINS}\n{BINS}");
    let mistake = pieces(&twice, None, Direction::Read).expect_err("which of them?");
    assert!(mistake.problem.starts_with("it holds several JSON documents"), "{mistake:?}");
    let cut = &BINS[..BINS.len() - 3];
    assert!(pieces(cut, None, Direction::Read).is_err(), "a document that is cut off is none");
}

#[test]
fn percentiles_become_lines_between_minimum_and_maximum() {
    let line = |share, from, to| Piece { share, from: ns(from), to: ns(to) };
    let expected = vec![line(50.0, 1000, 2000), line(49.0, 2000, 5000), line(1.0, 5000, 9000)];
    assert_eq!(pieces(PERCENTILES, Some("a"), Direction::Write), Ok(expected));
    let past_the_maximum = vec![line(50.0, 1000, 1012), line(50.0, 1012, 1012)];
    assert_eq!(pieces(PERCENTILES, Some("b"), Direction::Write), Ok(past_the_maximum));
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
        let mistake = pieces(text, job, direction).expect_err("it is refused");
        format!("{}; {}", mistake.problem, mistake.remedy)
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
